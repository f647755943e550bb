"""Elementwise functions against NumPy, over dtypes, shapes and awkward values."""

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
REAL = [dtype for dtype in ALL if dtype.kind in ("unsigned", "signed", "floating")]
FLOATS = [dtype for dtype in ALL if dtype.kind == "floating"]
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.0, 20.0, 1e-30, INF, -INF, NAN]
TOLERANCE = {lm.float16: 2e-3, lm.bfloat16: 2e-2, lm.float32: 1e-6, lm.float64: 1e-13}

UNARY = {
    name: getattr(np, name)
    for name in (
        "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh",
        "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "sqrt", "floor",
        "ceil", "trunc", "round", "abs", "negative", "square", "reciprocal", "degrees", "radians",
        "sign", "positive", "isnan", "isinf", "isfinite", "isposinf", "isneginf",
    )
}  # fmt: skip
UNARY["rsqrt"] = lambda x: 1 / np.sqrt(x)
UNARY["sigmoid"] = lambda x: np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))
UNARY["erf"] = np.vectorize(math.erf, otypes=[float])


def values(a: lm.array) -> np.ndarray[Any, Any]:
    data = np.array(a)
    return data.astype(np.float64) if data.dtype.kind in "fV" else data


def check(a: lm.array, want: Any, dtype: lm.Dtype) -> None:
    want = np.asarray(want)
    assert a.shape == want.shape
    if a.dtype.kind == "bool":
        assert np.array_equal(np.array(a), want)
        return
    limit = TOLERANCE.get(dtype, 1e-6)
    largest = np.finfo(np.float16).max if dtype is lm.float16 else 3e38
    with np.errstate(all="ignore"):
        big = np.abs(want) > (largest if dtype is not lm.float64 else INF)
        want = np.where(big, np.copysign(INF, want), want)
    np.testing.assert_allclose(values(a), want, rtol=limit, atol=1e-45)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_unary_functions_of_floats(name: str, dtype: lm.Dtype) -> None:
    x = lm.array(EDGES, dtype)
    with np.errstate(all="ignore"):
        want = UNARY[name](values(x))
    result = getattr(lm, name)(x)
    assert result.dtype is (lm.bool_ if name.startswith("is") else dtype)
    check(result, want, dtype)


@pytest.mark.parametrize(
    "name", ["exp", "sin", "sqrt", "log1p", "reciprocal", "degrees", "sigmoid", "erf", "rsqrt"]
)
def test_integers_and_bools_become_float32(name: str) -> None:
    for dtype in ALL:
        if not dtype.is_inexact:
            result = getattr(lm, name)(lm.ones((2,), dtype))
            assert result.dtype is lm.float32
            check(result, np.broadcast_to(UNARY[name](np.ones(2)), (2,)), lm.float32)


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round", "positive"])
def test_rounding_keeps_integers(name: str) -> None:
    for dtype in ALL:
        if not dtype.is_inexact:
            a = lm.array([0, 1], dtype)
            result = getattr(lm, name)(a)
            assert result.dtype is dtype
            assert result.tolist() == a.tolist()


def test_functions_take_numbers() -> None:
    assert lm.exp(0).item() == 1.0
    assert lm.abs(-1).dtype is lm.int32
    assert lm.square(3).item() == 9
    assert lm.sqrt(np.array([4.0])).tolist() == [2.0]
    with pytest.raises(TypeError, match=r"exp: takes arrays and numbers, got str.*test_elem"):
        lm.exp("x")
    with pytest.raises(TypeError, match="make an array of it first"):
        lm.exp([1.0])


def test_unsupported_dtypes_are_named() -> None:
    z = lm.array([1j])
    for name in ("floor", "ceil", "trunc", "erf", "erfinv", "expm1", "sigmoid"):
        with pytest.raises(TypeError, match=rf"{name}\(c64\[1\]\): does not take complex64"):
            getattr(lm, name)(z)
    for name in ("remainder", "floor_divide", "arctan2"):
        with pytest.raises(TypeError, match=rf"{name}\(c64\[1\], c64\[1\]\): does not take"):
            getattr(lm, name)(z, z)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
        with pytest.raises(TypeError, match="does not take float32"):
            getattr(lm, name)(lm.ones((2,)), 1)
    with pytest.raises(TypeError, match="does not take float32"):
        lm.bitwise_invert(lm.ones((2,)))


BINARY = {
    name: getattr(np, name)
    for name in (
        "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "maximum",
        "minimum", "arctan2", "logaddexp", "equal", "not_equal", "less", "less_equal", "greater",
        "greater_equal", "logical_and", "logical_or", "logical_xor",
    )
}  # fmt: skip
# NumPy rounds this way on purpose; here // is the floor of the rounded quotient.
BINARY["floor_divide"] = lambda x, y: np.floor(x / y)


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_of_floats(name: str) -> None:
    x = np.repeat(np.array(EDGES), len(EDGES))
    y = np.tile(np.array(EDGES), len(EDGES))
    for dtype in (lm.float32, lm.float64):
        with np.errstate(all="ignore"):
            want = BINARY[name](x.astype(dtype.numpy), y.astype(dtype.numpy))
        result = getattr(lm, name)(lm.array(x, dtype), lm.array(y, dtype))
        assert result.dtype is (dtype if want.dtype != bool else lm.bool_)
        check(result, want, dtype)


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_binary_functions_over_dtypes(dtype: lm.Dtype) -> None:
    x, y = np.array([7, 3, 0, 5]), np.array([2, 3, 4, 1])
    a, b = lm.array(x, dtype), lm.array(y, dtype)
    for name in ("add", "multiply", "floor_divide", "remainder", "power", "maximum", "minimum"):
        result = getattr(lm, name)(a, b)
        assert result.dtype is dtype
        want = np.array(lm.array(getattr(np, name)(x, y), dtype))
        np.testing.assert_allclose(values(result), want.astype(np.float64), rtol=1e-2)
    quotient = lm.divide(a, b)
    assert quotient.dtype is (dtype if dtype.is_inexact else lm.float32)
    np.testing.assert_allclose(values(quotient), x / y, rtol=5e-3)
    if dtype.is_integer:
        assert lm.left_shift(a, b).tolist() == (x << y).tolist()
        assert lm.right_shift(a, b).tolist() == (x >> y).tolist()


def test_bools() -> None:
    a = lm.array([True, False, True, False])
    b = lm.array([True, True, False, False])
    assert (a + b).tolist() == [True, True, True, False]
    assert (a - b).tolist() == [False, True, True, False]
    assert (a * b).tolist() == [True, False, False, False]
    assert (a // b).tolist() == [True, False, False, False]
    assert (a % b).tolist() == [False] * 4
    assert (a**b).tolist() == [True, False, True, True]
    assert lm.maximum(a, b).tolist() == [True, True, True, False]
    assert lm.minimum(a, b).tolist() == [True, False, False, False]
    assert lm.left_shift(a, b).dtype is lm.uint8
    assert lm.left_shift(a, b).tolist() == [2, 0, 1, 0]
    assert (a / b).tolist()[:3] == [1.0, 0.0, INF]
    assert lm.square(a).dtype is lm.abs(a).dtype is lm.sign(a).dtype is lm.bool_


SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, min_side=0, max_side=3)


@given(SHAPES)
@settings(max_examples=60, deadline=None)
def test_shapes_broadcast(shapes: hnp.BroadcastableShapes) -> None:
    x, y, z = [np.arange(math.prod(s), dtype=np.int32).reshape(s) for s in shapes.input_shapes]
    a, b, c = lm.array(x), lm.array(y), lm.array(z)
    assert np.array_equal(np.array(a + b), x + y)
    result = lm.where(a > 1, b, c)
    assert result.shape == shapes.result_shape
    assert np.array_equal(np.array(result), np.where(x > 1, y, z))
    assert (a + 2).tolist() == (x + 2).tolist()
    assert (2.5 * a).tolist() == (np.float32(2.5) * x).tolist()


def test_shapes_that_do_not_broadcast_are_both_named() -> None:
    a, b = lm.ones((3,)), lm.ones((2, 4), lm.int8)
    text = r"add\(f32\[3\], f32\[2,4\]\): shapes \(3,\) and \(2, 4\) do not broadcast at .*\.py:\d+"
    with pytest.raises(ValueError, match=text) as info:
        a + b
    assert isinstance(info.value, lm.LaminaError)
    with pytest.raises(ValueError, match=r"where.*\(3,\) and \(2, 4\) and \(\) do not broadcast"):
        lm.where(a, b, 1)


@given(
    hnp.arrays(np.int8, 8), hnp.arrays(np.int8, 8),
    st.sampled_from(["add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor"]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_small_integers_wrap(x: Any, y: Any, name: str) -> None:
    result = getattr(lm, name)(lm.array(x), lm.array(y))
    assert np.array_equal(np.array(result), getattr(np, name)(x, y))


def test_integer_division_by_zero_gives_zero() -> None:
    a, zero = lm.array([5, -5, 0]), lm.array([0, 0, 0])
    assert (a // zero).tolist() == [0, 0, 0]
    assert (a % zero).tolist() == [0, 0, 0]
    assert (a // 0).tolist() == [0, 0, 0]
    least = lm.array([-(2**31)])
    assert (least // -1).tolist() == [-(2**31)]
    assert (least % -1).tolist() == [0]


def test_power() -> None:
    assert (lm.array([2]) ** -1).tolist() == [0]
    assert (lm.array([2, 0, 1, -1]) ** lm.array([3, 0, 5, 3])).tolist() == [8, 1, 1, -1]
    assert (lm.array([3, -4]) ** 2).tolist() == [9, 16]
    assert (lm.array([3, -4]) ** 2.0).dtype is lm.float32
    assert (lm.array([1.5, NAN, -0.0]) ** 2).tolist()[::2] == [2.25, 0.0]
    assert math.isnan((lm.array([-8.0]) ** (1 / 3)).item())
    assert lm.power(2, lm.array([0.5])).item() == pytest.approx(2**0.5)
    assert (2 ** lm.array([3, 4])).tolist() == [8, 16]
    assert (lm.array([True]) ** 2).dtype is lm.int32
    assert lm.pow is lm.power


def test_round_with_decimals() -> None:
    x = np.array([1.255, 2.345, -1.5, 12345.6], np.float32)
    for decimals in (-2, -1, 0, 1, 2):
        want = np.round(x, decimals)
        np.testing.assert_allclose(np.array(lm.round(lm.array(x), decimals)), want, rtol=1e-6)
    assert lm.round(lm.array([155, -155, 25, 35, -25]), -1).tolist() == [160, -160, 20, 40, -20]
    assert lm.round(lm.array([155]), 1).tolist() == [155]
    assert lm.round(lm.array([2**31 - 1]), -9).tolist() == [2000000000]
    assert lm.round(lm.array([1.26 + 2.34j]), 1).item() == pytest.approx(1.3 + 2.3j)


def test_nan_and_infinity_of_other_kinds() -> None:
    for dtype in ALL:
        if not dtype.is_inexact:
            a = lm.ones((2,), dtype)
            assert lm.isnan(a).tolist() == lm.isinf(a).tolist() == [False, False]
            assert lm.isfinite(a).tolist() == [True, True]
    z = lm.array([complex(NAN, 1), complex(1, INF), 1 + 1j])
    assert lm.isnan(z).tolist() == [True, False, False]
    assert lm.isinf(z).tolist() == [False, True, False]
    assert lm.isfinite(z).tolist() == [False, False, True]
    assert lm.isposinf(lm.array([complex(INF, 0), complex(INF, 1)])).tolist() == [True, False]
    assert lm.isneginf(lm.array([complex(-INF, 0), 1j])).tolist() == [True, False]


def test_nan_to_num() -> None:
    a = lm.array([NAN, INF, -INF, 1.5])
    largest = lm.finfo(lm.float32).max
    assert lm.nan_to_num(a).tolist() == [0.0, largest, -largest, 1.5]
    assert lm.nan_to_num(a, 1, 2, 3).tolist() == [1.0, 2.0, 3.0, 1.5]
    assert lm.nan_to_num(lm.array([1, 2])).dtype is lm.int32
    z = lm.nan_to_num(lm.array([complex(NAN, INF)]), posinf=5)
    assert z.tolist() == [5j]
    assert lm.nan_to_num(a.astype(lm.bfloat16)).dtype is lm.bfloat16


def test_clip() -> None:
    a = lm.array([1, 2, 3])
    assert lm.clip(a, 2, None).tolist() == [2, 2, 3]
    assert lm.clip(a, None, 2).tolist() == [1, 2, 2]
    assert lm.clip(a, 1.5, 2.5).tolist() == [1.5, 2.0, 2.5]
    assert lm.clip(lm.array([0.0, 5.0]), 2, -2).tolist() == [-2.0, -2.0]
    assert lm.clip(a, lm.array([[0], [3]]), 9).tolist() == [[1, 2, 3], [3, 3, 3]]
    assert math.isnan(lm.clip(lm.array([NAN]), 0, 1).item())
    with pytest.raises(ValueError, match="at most one of a_min and a_max may be None"):
        lm.clip(a, None, None)


def test_where() -> None:
    a = lm.array([1, 2, 3])
    assert lm.where(a > 1, 1.5, a).tolist() == [1.0, 1.5, 1.5]
    assert lm.where(a - 1, a, 0).tolist() == [0, 2, 3]
    assert lm.where(True, 1, 2).item() == 1
    assert lm.where(lm.array([True]), 1, 2.5).dtype is lm.float32
    assert lm.where(lm.array([[True], [False]]), a, -a).shape == (2, 3)
    assert lm.where(lm.array([False]), lm.array([NAN]), 1.0).tolist() == [1.0]


def test_isclose_and_allclose() -> None:
    x = np.array([1.0, 1.0, INF, INF, -INF, NAN, NAN, 0.0, 1e-9], np.float32)
    y = np.array([1.000001, 1.1, INF, -INF, -INF, NAN, 1.0, 1e-9, 0.0], np.float32)
    for equal_nan in (False, True):
        got = lm.isclose(lm.array(x), lm.array(y), equal_nan=equal_nan)
        with np.errstate(invalid="ignore"):
            assert got.tolist() == np.isclose(x, y, equal_nan=equal_nan).tolist()
    assert lm.allclose(lm.array([1, 2]), lm.array([1, 2])).item()
    assert not lm.allclose(lm.array([1.0]), 2.0).item()
    assert lm.isclose(lm.array([1.0]), 1.4, rtol=0, atol=0.5).item()


def test_array_equal() -> None:
    a = lm.array([1, 2, 3])
    assert lm.array_equal(a, a.astype(lm.float32)).item()
    assert not lm.array_equal(a, lm.array([1, 2])).item()
    assert not lm.array_equal(lm.array([NAN]), lm.array([NAN])).item()
    assert lm.array_equal(lm.array([NAN]), lm.array([NAN]), equal_nan=True).item()
    assert lm.array_equal(lm.zeros((0,)), lm.zeros((0,))).item()


def test_divmod() -> None:
    quotient, rest = lm.divmod(lm.array([-7.5, 7.5]), 2)
    assert (quotient.tolist(), rest.tolist()) == ([-4.0, 3.0], [0.5, 1.5])


def test_erfinv() -> None:
    x = lm.erfinv(lm.array([0.5, 1, -1, 2]))
    assert x.tolist()[:3] == [pytest.approx(0.4769363), INF, -INF]
    assert math.isnan(x.tolist()[3])


def test_results_round_once_in_narrow_floats() -> None:
    # 1 + 2**-9 is not a bfloat16; twice that is.
    a = lm.array([1.0], lm.bfloat16)
    assert (a + 2.0**-9).item() == 1.0
    assert (a + 2.0**-7).item() == 1 + 2.0**-7
    assert (lm.array([60000.0], lm.float16) + 60000.0).item() == INF
