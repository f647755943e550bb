"""Arrays made from sizes and numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamina as lm


def test_constant_arrays() -> None:
    assert lm.zeros(3).tolist() == [0.0, 0.0, 0.0]
    assert lm.zeros(3).dtype is lm.float32
    assert lm.ones((2, 1), lm.int8).tolist() == [[1], [1]]
    assert lm.zeros(()).item() == 0.0
    assert lm.ones([0, 2]).shape == (0, 2)
    assert lm.ones((2,), None).dtype is lm.float32
    assert lm.empty((2, 2)).shape == (2, 2)
    a = lm.array([[1, 2]], lm.int16)
    assert (lm.zeros_like(a).tolist(), lm.zeros_like(a).dtype) == ([[0, 0]], lm.int16)
    assert lm.ones_like(a, lm.float32).dtype is lm.float32
    assert lm.empty_like(a).shape == (1, 2)


def test_full() -> None:
    assert lm.full((2,), 3).dtype is lm.int32
    assert lm.full((2,), True).dtype is lm.bool_
    assert lm.full((2,), 1j).tolist() == [1j, 1j]
    assert lm.full((2,), 3, lm.float16).dtype is lm.float16
    assert lm.full((2, 2), lm.array([1, 2])).tolist() == [[1, 2], [1, 2]]
    assert lm.full((2,), lm.array(2.5), lm.int8).tolist() == [2, 2]
    assert lm.full_like(lm.array([1, 2]), 2.5).tolist() == [2, 2]
    with pytest.raises(ValueError, match=r"values of shape \(2,\) do not broadcast to \(3,\)"):
        lm.full((3,), lm.array([1, 2]))
    with pytest.raises(TypeError, match="full: takes arrays and numbers, got list"):
        lm.full((2,), [1, 2])


def test_bad_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"zeros: sizes must not be negative, got \(2, -1\)"):
        lm.zeros((2, -1))
    with pytest.raises(TypeError, match="a size must be an integer, got float"):
        lm.ones((2.0,))
    with pytest.raises(TypeError, match="must be one of Lamina's"):
        lm.zeros((2,), np.float32)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("arguments", "dtype"),
    [
        ((5,), lm.int32), ((5.0,), lm.float32), ((1, 5), lm.int32), ((1, 9, 3), lm.int32),
        ((0, 1, 0.25), lm.float32), ((5, 1, -1), lm.int32), ((5, 1), lm.int32),
        ((2**40, 2**40 + 2), lm.int64), ((-3, 3), lm.int32), ((0.5, 4), lm.float32),
        ((10, -10, -3.5), lm.float32), ((0,), lm.int32), ((0, 1, 0.1), lm.float32),
    ],
)  # fmt: skip
def test_arange(arguments: tuple[Any, ...], dtype: lm.Dtype) -> None:
    a = lm.arange(*arguments)
    assert a.dtype is dtype
    want = np.arange(*arguments)
    assert a.shape == want.shape
    np.testing.assert_allclose(np.array(a), want, rtol=1e-6)


def test_arange_in_a_dtype() -> None:
    assert lm.arange(10, 0, -3, lm.uint8).tolist() == [10, 7, 4, 1]
    assert lm.arange(0, 2.5, 0.5, lm.int32).tolist() == [0, 0, 0, 0, 0]
    assert lm.arange(0.5, 4, dtype=lm.int32).tolist() == [0, 1, 2, 3]
    assert lm.arange(2.5, dtype=lm.int32).tolist() == [0, 1, 2]
    assert lm.arange(stop=3).tolist() == [0, 1, 2]
    assert lm.arange(lm.array(3)).tolist() == lm.arange(np.int64(3)).tolist() == [0, 1, 2]
    want = np.arange(0, 1, 0.1).astype(np.float32).astype(np.float16)
    assert lm.arange(0, 1, 0.1, lm.float16).tolist() == want.tolist()
    assert lm.arange(3000, dtype=lm.float16).tolist()[-1] == 3000.0


def test_bad_ranges_are_refused() -> None:
    with pytest.raises(ValueError, match="the step must not be 0"):
        lm.arange(0, 3, 0)
    with pytest.raises(ValueError, match="has no length"):
        lm.arange(0.0, math.nan)
    with pytest.raises(ValueError, match="has no length"):
        lm.arange(math.inf)
    with pytest.raises(TypeError, match="takes integers and floats, got bool"):
        lm.arange(True)
    with pytest.raises(TypeError, match="takes integers and floats, got complex"):
        lm.arange(1j)
    with pytest.raises(TypeError, match="does not make bool"):
        lm.arange(3, dtype=lm.bool_)


@given(
    st.floats(-100, 100, width=32), st.floats(-100, 100, width=32), st.integers(0, 40),
    st.booleans(),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_linspace(start: float, stop: float, num: int, endpoint: bool) -> None:
    a = np.array(lm.linspace(start, stop, num, endpoint))
    np.testing.assert_allclose(a, np.linspace(start, stop, num, endpoint), rtol=1e-5, atol=2e-5)
    if num and (num == 1 or not endpoint):
        assert a[0] == start
    elif num:
        assert (a[0], a[-1]) == (start, stop)


def test_linspace_in_a_dtype() -> None:
    assert lm.linspace(0, 10, 5, dtype=lm.int32).tolist() == [0, 2, 5, 7, 10]
    assert lm.linspace(0, 1).shape == (50,)
    assert lm.linspace(0, 1, 3, dtype=lm.float64).dtype is lm.float64
    with pytest.raises(ValueError, match="num must not be negative, got -1"):
        lm.linspace(0, 1, -1)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (1, 3), (0, 2)])
@pytest.mark.parametrize("k", [-5, -1, 0, 1, 5])
def test_triangles_and_diagonals(shape: tuple[int, int], k: int) -> None:
    assert np.array_equal(np.array(lm.eye(*shape, k)), np.eye(*shape, k))
    assert np.array_equal(np.array(lm.tri(*shape, k)), np.tri(*shape, k))
    x = np.arange(1, 2 * math.prod(shape) + 1, dtype=np.int32).reshape(2, *shape)
    assert np.array_equal(np.array(lm.tril(lm.array(x), k)), np.tril(x, k))
    assert np.array_equal(np.array(lm.triu(lm.array(x), k)), np.triu(x, k))


def test_triangles_keep_nan_out() -> None:
    a = lm.array([[1.0, math.nan], [math.inf, 2.0]])
    assert lm.tril(a).tolist() == [[1.0, 0.0], [math.inf, 2.0]]
    with pytest.raises(ValueError, match="at least two axes"):
        lm.tril(lm.ones((3,)))
    assert lm.identity(2, lm.int32).tolist() == [[1, 0], [0, 1]]
    assert lm.eye(2).dtype is lm.tri(2).dtype is lm.float32
    with pytest.raises(ValueError, match="eye"):
        lm.eye(-1)


def test_meshgrid() -> None:
    x, y, z = [1, 2], [3, 4, 5], [6]
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            got = lm.meshgrid(
                lm.array(x), lm.array(y), lm.array(z), indexing=indexing, sparse=sparse
            )
            want = np.meshgrid(x, y, z, indexing=indexing, sparse=sparse)
            for a, b in zip(got, want, strict=True):
                assert np.array_equal(np.array(a), b)
    assert lm.meshgrid() == ()
    assert lm.meshgrid(lm.array(1))[0].shape == (1,)
    with pytest.raises(ValueError, match="indexing must be 'xy' or 'ij', got 'yx'"):
        lm.meshgrid(lm.array(x), indexing="yx")
