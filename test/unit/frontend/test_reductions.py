"""Reductions, moments, softmax and scans against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import lamina as lm
from lamina.frontend.dtypes import ALL

NAN, INF = math.nan, math.inf
RANDOM = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
REDUCTIONS = ("sum", "prod", "mean", "max", "min", "var", "std", "any", "all")
AXES = [None, 0, 1, -1, (0, 1), (0, -1), [2, 0], (0, 1, 2)]


def numpy_axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_axes_and_keepdims(name: str, axis: Any) -> None:
    for keepdims in (False, True):
        got = getattr(lm, name)(lm.array(RANDOM), axis, keepdims)
        want = getattr(np, name)(RANDOM, numpy_axes(axis), keepdims=keepdims)
        assert got.shape == want.shape
        np.testing.assert_allclose(np.array(got), want, rtol=2e-5, atol=1e-6)


def test_no_axes_change_nothing() -> None:
    a = lm.array(RANDOM)
    assert np.array_equal(np.array(lm.sum(a, ())), RANDOM)
    assert np.array_equal(np.array(lm.max(a, [])), RANDOM)
    assert lm.var(a, ()).tolist() == np.zeros((3, 4, 5)).tolist()


@given(
    hnp.arrays(np.int32, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)),
    st.sampled_from(["sum", "prod", "any", "all"]),
)
@settings(max_examples=50, deadline=None)
def test_shapes_with_zeros_and_ones(x: Any, name: str) -> None:
    for axis in (None, *range(-x.ndim, x.ndim)):
        got = getattr(lm, name)(lm.array(x), axis)
        with np.errstate(over="ignore"):
            want = getattr(np, name)(x, axis, **({} if name[0] == "a" else {"dtype": np.int32}))
        assert got.shape == want.shape
        assert np.array_equal(np.array(got), want)


def test_dtypes_of_results() -> None:
    sums = {
        "bool": "int32", "uint8": "uint32", "uint16": "uint32", "int8": "int32", "int16": "int32",
    }  # fmt: skip
    for dtype in ALL:
        a = lm.ones((2, 3), dtype)
        floating = dtype if dtype.is_inexact else lm.float32
        assert lm.sum(a).dtype.name == lm.prod(a).dtype.name == sums.get(dtype.name, dtype.name)
        assert lm.max(a).dtype is lm.min(a).dtype is dtype
        assert lm.mean(a).dtype is lm.softmax(a).dtype is lm.logsumexp(a).dtype is floating
        real = lm.float32 if dtype is lm.complex64 else floating
        assert lm.var(a).dtype is lm.std(a).dtype is real
        assert lm.argmax(a).dtype is lm.argmin(a).dtype is lm.uint32
        assert lm.all(a).dtype is lm.any(a).dtype is lm.bool_
        assert lm.count_nonzero(a).dtype is lm.int32
        assert lm.cumsum(a).dtype is (lm.int32 if dtype is lm.bool_ else dtype)
        assert lm.cumprod(a).dtype is dtype


def test_small_integers_do_not_overflow_in_sums() -> None:
    assert lm.sum(lm.full((300,), 255, lm.uint8)).item() == 76500
    assert lm.sum(lm.full((300,), -128, lm.int8)).item() == -38400
    assert lm.sum(lm.array([True, True, False])).item() == 2
    assert lm.prod(lm.array([100, 100], lm.int8)).item() == 10000
    assert lm.sum(lm.array([2**31 - 1, 1])).item() == -(2**31)


def test_bad_axes_are_refused() -> None:
    a = lm.ones((2, 3))
    for name in ("sum", "max", "mean", "var", "softmax", "logsumexp", "argmax", "cumsum", "all"):
        function = getattr(lm, name)
        with pytest.raises(IndexError, match=rf"{name}\(f32\[2,3\]\): axis 2 is out of range"):
            function(a, 2)
        with pytest.raises(ValueError, match="axis -3 is out of range for 2 dimensions"):
            function(a, -3)
        with pytest.raises(TypeError, match="an axis must be an integer, got float"):
            function(a, 1.0)
    with pytest.raises(ValueError, match=r"axes \(0, -2\) name an axis twice"):
        lm.sum(a, (0, -2))
    with pytest.raises(IndexError, match="axis 0 is out of range for 0 dimensions"):
        lm.sum(lm.array(1.0), 0)


def test_empty_arrays() -> None:
    none = lm.zeros((0,))
    assert (lm.sum(none).item(), lm.prod(none).item()) == (0.0, 1.0)
    assert (lm.any(none).item(), lm.all(none).item()) == (False, True)
    assert math.isnan(lm.mean(none).item())
    assert math.isnan(lm.var(none).item())
    assert lm.softmax(none).shape == (0,)
    assert lm.cumsum(none).shape == (0,)
    assert lm.max(lm.zeros((0, 3)), 1).shape == (0,)
    assert lm.argmax(lm.zeros((0, 3)), 1).shape == (0,)
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError, match=rf"{name}\(f32\[0\]\): axis 0 has no elements"):
            getattr(lm, name)(none)
        with pytest.raises(ValueError, match="axis 0 has no elements"):
            getattr(lm, name)(lm.zeros((0, 3)), 0)
    with pytest.raises(ValueError, match="without elements has no logsumexp"):
        lm.logsumexp(none)


def test_nan_and_infinity() -> None:
    a = lm.array([[1.0, NAN, 5.0], [INF, -INF, 2.0]])
    assert np.array_equal(np.array(lm.max(a, 1)), [NAN, INF], equal_nan=True)
    assert np.array_equal(np.array(lm.min(a, 1)), [NAN, -INF], equal_nan=True)
    assert lm.argmax(a, 1).tolist() == [1, 0]
    assert lm.argmin(a, 1).tolist() == [1, 1]
    assert math.isnan(lm.sum(a[1]).item())
    assert lm.any(lm.array([NAN])).item()
    assert lm.count_nonzero(lm.array([NAN, 0.0, -0.0, 1.0])).item() == 2


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_positions(axis: Any) -> None:
    x = np.array([[3, 1, 3, 0], [3, 5, 0, 5], [0, 0, 0, 0]], np.int32)
    for dtype in (lm.int32, lm.float16, lm.uint8, lm.bool_):
        data = x.astype(dtype.numpy)
        for name in ("argmax", "argmin"):
            got = getattr(lm, name)(lm.array(data), axis)
            assert got.tolist() == getattr(np, name)(data, axis).tolist()
            kept = getattr(lm, name)(lm.array(data), axis, True)
            assert kept.shape == getattr(np, name)(data, axis, keepdims=True).shape
    assert lm.argmax(lm.array(1.0)).item() == 0


def test_minmax_and_count_nonzero() -> None:
    x = np.array([[3, 0], [0, 5]], np.int32)
    low, high = lm.minmax(lm.array(x), 0)
    assert (low.tolist(), high.tolist()) == ([0, 0], [3, 5])
    assert lm.count_nonzero(lm.array(x)).item() == 2
    assert lm.count_nonzero(lm.array(x), axis=0, keepdims=True).tolist() == [[1, 1]]


def test_variance() -> None:
    a = lm.array([1.0, 2.0, 4.0])
    for ddof in (0, 1, 2):
        want = np.var([1.0, 2.0, 4.0], ddof=ddof)
        assert lm.var(a, ddof=ddof).item() == pytest.approx(want)
        assert lm.var(a, correction=ddof).item() == pytest.approx(want)
        assert lm.std(a, ddof=ddof).item() == pytest.approx(want**0.5)
    assert lm.var(a, ddof=3).item() == lm.var(a, ddof=4).item() == INF
    # The squares of these cancel to nothing unless the mean is taken off first.
    assert lm.var(lm.array([10000.0, 10001.0, 10002.0])).item() == pytest.approx(2 / 3, rel=1e-5)


@pytest.mark.parametrize("dtype", [lm.float16, lm.bfloat16], ids=str)
def test_narrow_floats_are_computed_in_float32(dtype: lm.Dtype) -> None:
    a = lm.full((3000,), 100.0, dtype)
    assert lm.mean(a).item() == 100.0
    assert lm.var(a).item() == 0.0
    assert lm.logsumexp(lm.zeros((3000,), dtype)).item() == pytest.approx(math.log(3000), rel=5e-3)
    assert lm.std(lm.array([60000.0, -60000.0], dtype)).item() == pytest.approx(60000, rel=5e-3)
    x = np.linspace(-3, 3, 100).astype(dtype.numpy)
    wide = x.astype(np.float64)
    want = (np.exp(wide) / np.exp(wide).sum()).astype(np.float32).astype(dtype.numpy)
    assert np.array(lm.softmax(lm.array(x))).tolist() == want.tolist()


def test_softmax() -> None:
    for axis in (None, 0, -1, (0, 2)):
        powers = np.exp(RANDOM.astype(np.float64))
        want = powers / powers.sum(numpy_axes(axis), keepdims=True)
        got = lm.softmax(lm.array(RANDOM), axis)
        np.testing.assert_allclose(np.array(got), want, rtol=1e-5)
    large = lm.softmax(lm.array([1000.0, 1000.0, -1000.0]), precise=True)
    assert large.tolist() == [0.5, 0.5, 0.0]
    assert lm.softmax(lm.array([0.0, -INF])).tolist() == [1.0, 0.0]
    assert lm.softmax(lm.array([1, 1])).tolist() == [0.5, 0.5]
    assert lm.softmax(lm.array(3.0)).item() == 1.0


def test_logsumexp() -> None:
    for axis in (None, 0, -1, (0, 2)):
        for keepdims in (False, True):
            sums = np.exp(RANDOM.astype(np.float64)).sum(numpy_axes(axis), keepdims=keepdims)
            got = lm.logsumexp(lm.array(RANDOM), axis, keepdims)
            np.testing.assert_allclose(np.array(got), np.log(sums), rtol=1e-5)
    assert lm.logsumexp(lm.array([1000.0, 1000.0])).item() == pytest.approx(1000 + math.log(2))
    assert lm.logsumexp(lm.array([-INF, -INF])).item() == -INF
    assert lm.logsumexp(lm.array([INF, 1.0])).item() == INF
    assert lm.logsumexp(lm.array([INF, -INF])).item() == INF
    assert math.isnan(lm.logsumexp(lm.array([NAN, INF])).item())


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_running_sums_and_products(name: str, axis: Any) -> None:
    a = lm.array(RANDOM)
    got = getattr(lm, name)(a, axis)
    want = getattr(np, name)(RANDOM, axis)
    np.testing.assert_allclose(np.array(got), want, rtol=1e-4, atol=1e-6)
    if axis is not None:
        back = getattr(lm, name)(lm.flip(a, axis), axis, reverse=True)
        np.testing.assert_allclose(np.array(lm.flip(back, axis)), want, rtol=1e-4, atol=1e-6)


def test_exclusive_scans() -> None:
    a = lm.array([[1, 2, 3], [4, 5, 6]])
    assert lm.cumsum(a, 1, inclusive=False).tolist() == [[0, 1, 3], [0, 4, 9]]
    assert lm.cumsum(a, 1, reverse=True, inclusive=False).tolist() == [[5, 3, 0], [11, 6, 0]]
    assert lm.cumprod(a, 1, inclusive=False).tolist() == [[1, 1, 2], [1, 4, 20]]
    assert lm.cummax(a, 1, inclusive=False).tolist() == [[-(2**31), 1, 2], [-(2**31), 4, 5]]
    assert lm.cummin(a[0] * 1.0, inclusive=False).tolist() == [INF, 1.0, 1.0]


def test_running_extrema() -> None:
    a = lm.array([2, 1, 3, 0])
    assert lm.cummax(a).tolist() == [2, 2, 3, 3]
    assert lm.cummin(a).tolist() == [2, 1, 1, 0]
    assert lm.cummax(a, reverse=True).tolist() == [3, 3, 3, 0]
    assert lm.cummax(lm.array([False, True, False])).tolist() == [False, True, True]
    assert lm.cummin(lm.array([True, False, True])).tolist() == [True, False, False]
    values = lm.cummax(lm.array([1.0, NAN, 2.0])).tolist()
    assert values[0] == 1.0
    assert math.isnan(values[2])


def test_scan_dtypes() -> None:
    assert lm.cumsum(lm.array([True, True])).tolist() == [1, 2]
    assert lm.cumprod(lm.array([True, False])).tolist() == [True, False]
    assert lm.cumprod(lm.array([True, False]), dtype=lm.int32).tolist() == [1, 0]
    assert lm.cumsum(lm.array([1, 2]), dtype=lm.float32).dtype is lm.float32
    assert lm.cumsum(lm.array([127, 1], lm.int8)).tolist() == [127, -128]
    assert lm.cumsum(lm.array(3)).tolist() == [3]
    assert lm.cumulative_sum is lm.cumsum
    assert lm.cumulative_prod is lm.cumprod
