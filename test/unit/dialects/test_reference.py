"""The NumPy reference against definitions that are written here on their own."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lamina.dialects import dtypes, ops, reference
from lamina.dialects.dtypes import DType
from lamina.dialects.primitive import TABLE, Primitive, TensorType
from lamina.dialects.program import ProgramBuilder

INT8 = np.arange(-128, 128)
LEFT = np.repeat(INT8, 256)
RIGHT = np.tile(INT8, 256)


def apply(primitive: Primitive, *operands: Any, attributes: Any = ()) -> np.ndarray[Any, Any]:
    types = tuple(TensorType(np.shape(x), dtypes.BY_NUMPY[np.asarray(x).dtype]) for x in operands)
    type_ = primitive.rule(types, attributes)
    result = reference.evaluate(primitive, [np.asarray(x) for x in operands], attributes, type_)
    assert result.shape == type_.shape
    assert result.dtype == type_.dtype.numpy
    return result


def wrap(value: int, bits: int = 8, signed: bool = True) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def test_every_primitive_has_a_reference() -> None:
    assert set(reference.REFERENCE) == set(TABLE.values())


def signed_power(x: int, y: int) -> int:
    if y >= 0:
        return wrap(pow(x, y, 256))
    return {1: 1, -1: -1 if y % 2 else 1}.get(x, 0)


SIGNED = {
    ops.add: lambda x, y: x + y,
    ops.subtract: lambda x, y: x - y,
    ops.multiply: lambda x, y: x * y,
    ops.floor_divide: lambda x, y: math.floor(x / y) if y else 0,
    ops.remainder: lambda x, y: x - y * math.floor(x / y) if y else 0,
    ops.power: signed_power,
    ops.maximum: lambda x, y: x if x > y else y,
    ops.minimum: lambda x, y: x if x < y else y,
    ops.bitwise_and: lambda x, y: x & y,
    ops.bitwise_or: lambda x, y: x | y,
    ops.bitwise_xor: lambda x, y: x ^ y,
    ops.left_shift: lambda x, y: x << y if 0 <= y < 8 else 0,
    ops.right_shift: lambda x, y: x >> y if 0 <= y < 8 else -(x < 0),
}
UNSIGNED = {
    **SIGNED,
    ops.power: lambda x, y: pow(x, y, 256),
}
COMPARED = {
    ops.equal: lambda x, y: x == y,
    ops.not_equal: lambda x, y: x != y,
    ops.less: lambda x, y: x < y,
    ops.less_equal: lambda x, y: x <= y,
    ops.greater: lambda x, y: x > y,
    ops.greater_equal: lambda x, y: x >= y,
}


@pytest.mark.parametrize("primitive", SIGNED, ids=str)
def test_all_pairs_of_int8(primitive: Primitive) -> None:
    result = apply(primitive, LEFT.astype(np.int8), RIGHT.astype(np.int8))
    want = [wrap(SIGNED[primitive](x, y)) for x, y in zip(LEFT.tolist(), RIGHT.tolist())]
    assert result.tolist() == want


@pytest.mark.parametrize("primitive", UNSIGNED, ids=str)
def test_all_pairs_of_uint8(primitive: Primitive) -> None:
    left, right = LEFT + 128, RIGHT + 128
    result = apply(primitive, left.astype(np.uint8), right.astype(np.uint8))
    rule = UNSIGNED[primitive]
    want = [wrap(rule(x, y), signed=False) for x, y in zip(left.tolist(), right.tolist())]
    assert result.tolist() == want


@pytest.mark.parametrize("primitive", COMPARED, ids=str)
def test_comparisons_of_all_pairs_of_int8(primitive: Primitive) -> None:
    result = apply(primitive, LEFT.astype(np.int8), RIGHT.astype(np.int8))
    rule = COMPARED[primitive]
    assert result.tolist() == [rule(x, y) for x, y in zip(LEFT.tolist(), RIGHT.tolist())]


def test_unary_ops_of_every_int8() -> None:
    x = INT8.astype(np.int8)
    values = INT8.tolist()
    assert apply(ops.negative, x).tolist() == [wrap(-v) for v in values]
    assert apply(ops.abs_, x).tolist() == [wrap(abs(v)) for v in values]
    assert apply(ops.bitwise_invert, x).tolist() == [~v for v in values]
    assert apply(ops.sign, x).tolist() == [(v > 0) - (v < 0) for v in values]


@pytest.mark.parametrize("dtype", [dtypes.int16, dtypes.int32, dtypes.int64], ids=str)
def test_ends_of_wider_integers(dtype: DType) -> None:
    bits = 8 * dtype.size
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    x = np.array([low, low, high, low, high, 1], dtype.numpy)
    y = np.array([-1, 0, 0, 1, -1, bits], dtype.numpy)
    assert apply(ops.floor_divide, x, y).tolist() == [low, 0, 0, low, -high, 0]
    assert apply(ops.remainder, x, y).tolist() == [0, 0, 0, 0, 0, 1]
    assert apply(ops.add, x, y).tolist() == [high, low, high, low + 1, high - 1, 1 + bits]
    assert apply(ops.left_shift, x, y).tolist() == [0, low, high, 0, 0, 0]
    assert apply(ops.right_shift, x, y).tolist() == [-1, low, high, low >> 1, 0, 0]
    assert apply(ops.abs_, x).tolist() == [low, low, high, low, high, 1]


def test_integer_powers_wrap() -> None:
    x = np.array([3, -3, 7, 2, 2], np.int32)
    y = np.array([21, 21, 100, 31, 32], np.int32)
    want = [wrap(pow(a, b), 32) for a, b in zip(x.tolist(), y.tolist())]
    assert apply(ops.power, x, y).tolist() == want
    large = apply(ops.power, np.array([3], np.uint64), np.array([2**63 + 5], np.uint64))
    assert large.tolist() == [pow(3, 2**63 + 5, 2**64)]


# Casts

FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
INTEGERS = tuple(dtype for dtype in dtypes.ALL if dtype.is_integer)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_floats_to_integers_truncate_and_saturate(source: DType, dtype: DType) -> None:
    limits = np.iinfo(dtype.numpy)
    values = np.array(
        [0.0, -0.0, 0.99, -0.99, 1.5, -1.5, 1e4, -1e4, 3e38, -3e38, math.inf, -math.inf, math.nan]
    )
    with np.errstate(over="ignore"):
        x = values.astype(source.numpy)

    def convert(value: float) -> int:
        if math.isnan(value):
            return 0
        if math.isinf(value):
            return limits.max if value > 0 else limits.min
        return min(max(math.trunc(value), limits.min), limits.max)

    result = apply(ops.cast, x, attributes=(dtype,))
    assert result.tolist() == [convert(value) for value in x.astype(np.float64).tolist()]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_casts_near_the_ends_of_the_range(dtype: DType) -> None:
    limits = np.iinfo(dtype.numpy)
    ends = [float(limits.max), float(limits.min)]
    x = np.array([np.nextafter(end, to) for end in ends for to in (-math.inf, math.inf)] + ends)
    want = [min(max(math.trunc(v), int(limits.min)), int(limits.max)) for v in x.tolist()]
    assert apply(ops.cast, x, attributes=(dtype,)).tolist() == want


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_integers_to_integers_wrap(source: DType, dtype: DType) -> None:
    limits = np.iinfo(source.numpy)
    x = np.array([limits.min, limits.max, 0, 1, limits.max // 2 + 3], source.numpy)
    signed = dtype.kind == "signed"
    want = [wrap(value, 8 * dtype.size, signed) for value in x.tolist()]
    assert apply(ops.cast, x, attributes=(dtype,)).tolist() == want


def test_casts_to_bool_are_true_for_anything_but_zero() -> None:
    x = np.array([0.0, -0.0, 1e-45, math.nan, math.inf], np.float32)
    assert apply(ops.cast, x, attributes=(dtypes.bool_,)).tolist() == [
        False,
        False,
        True,
        True,
        True,
    ]
    z = np.array([0, 1j, 1], np.complex64)
    assert apply(ops.cast, z, attributes=(dtypes.bool_,)).tolist() == [False, True, True]


def test_casts_of_complex_numbers() -> None:
    z = np.array([1.5 + 2j, -3.7j], np.complex64)
    assert apply(ops.cast, z, attributes=(dtypes.float32,)).tolist() == [1.5, 0.0]
    assert apply(ops.cast, z, attributes=(dtypes.int32,)).tolist() == [1, 0]
    x = np.array([2, -1], np.int32)
    assert apply(ops.cast, x, attributes=(dtypes.complex64,)).tolist() == [2, -1]


def test_float64_rounds_to_narrow_floats_once() -> None:
    # Just above a tie of float16, but on the tie once rounded to float32.
    tie = 1 + 2.0**-11
    x = np.array([tie, tie + 2.0**-40, 1 + 3 * 2.0**-11 - 2.0**-40, 65520.0, 2.0**-25])
    result = apply(ops.cast, x, attributes=(dtypes.float16,))
    assert result.tolist() == [1.0, 1 + 2.0**-10, 1 + 2.0**-10, math.inf, 0.0]
    tie = 1 + 2.0**-8
    x = np.array([tie, tie + 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-40, 1e39, -0.0])
    result = apply(ops.cast, x, attributes=(dtypes.bfloat16,))
    assert result.astype(np.float64).tolist() == [1.0, 1 + 2.0**-7, 1 + 2.0**-7, math.inf, -0.0]


def test_rounding_agrees_with_numpy_on_every_float16() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        wide = every.astype(np.float64)
    assert np.array_equal(reference.round_to(wide, dtypes.float16), every, equal_nan=True)
    bits = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):
        wide = bits.astype(np.float64)
    back = reference.round_to(wide, dtypes.bfloat16)
    assert np.array_equal(back.astype(np.float32), bits, equal_nan=True)


def test_bitcast_keeps_the_bits() -> None:
    x = np.array([1.0, -0.0, math.nan], np.float32)
    bits = apply(ops.bitcast, x, attributes=(dtypes.uint32,))
    assert bits.tolist() == [0x3F800000, 0x80000000, 0x7FC00000]
    assert apply(ops.bitcast, bits, attributes=(dtypes.float32,)).tobytes() == x.tobytes()


# Floats

EDGES = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.5, 1e-40, 3e38, np.inf, -np.inf, np.nan])


def same(a: Any, b: Any) -> bool:
    """Equal, NaN to NaN, and zeros by sign."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return np.array_equal(a, b, equal_nan=True) and np.array_equal(
        np.signbit(a) | np.isnan(a), np.signbit(b) | np.isnan(b)
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rounding_keeps_zeros_and_nan(dtype: DType) -> None:
    x = np.array([-0.0, 0.0, -0.4, 0.5, 1.5, 2.5, -2.5, np.nan, np.inf], dtype.numpy)
    nan, inf = math.nan, math.inf
    assert same(apply(ops.rint, x), [-0.0, 0, -0.0, 0, 2, 2, -2, nan, inf])
    assert same(apply(ops.floor, x), [-0.0, 0, -1, 0, 1, 2, -3, nan, inf])
    assert same(apply(ops.ceil, x), [-0.0, 0, -0.0, 1, 2, 3, -2, nan, inf])
    assert same(apply(ops.trunc, x), [-0.0, 0, -0.0, 0, 1, 2, -2, nan, inf])
    assert same(apply(ops.sign, x), [-0.0, 0, -1, 1, 1, 1, -1, nan, 1])
    assert same(apply(ops.abs_, x)[:2], [0.0, 0.0])
    assert same(apply(ops.negative, x)[:2], [0.0, -0.0])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_maximum_and_minimum_propagate_nan_and_order_zeros(dtype: DType) -> None:
    with np.errstate(over="ignore", under="ignore"):
        values = EDGES.astype(dtype.numpy)
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))

    def pick(a: float, b: float, larger: bool) -> float:
        if math.isnan(a) or math.isnan(b):
            return math.nan
        first, second = sorted([a, b], key=lambda v: (v, math.copysign(1, v)))
        return second if larger else first

    pairs = list(zip(x.astype(np.float64).tolist(), y.astype(np.float64).tolist()))
    assert same(apply(ops.maximum, x, y), [pick(a, b, True) for a, b in pairs])
    assert same(apply(ops.minimum, x, y), [pick(a, b, False) for a, b in pairs])
    column = np.stack([x, y])
    reduced = apply(ops.reduce_max, column, attributes=((0,),))[0]
    assert same(reduced, [pick(a, b, True) for a, b in pairs])


def test_comparisons_with_nan() -> None:
    nan, one = np.array([np.nan], np.float32), np.array([1], np.float32)
    for primitive, rule in COMPARED.items():
        for a, b in ((nan, nan), (nan, one), (one, nan)):
            assert apply(primitive, a, b).tolist() == [rule(float(a[0]), float(b[0]))]


def test_float_division_and_remainder() -> None:
    inf, nan = math.inf, math.nan
    x = np.array([7.5, -7.5, 7.5, -7.5, 1.0, -1.0, 0.0, 5.0, -5.0, inf, 0.0, -0.0], np.float32)
    y = np.array([2.0, 2.0, -2.0, -2.0, 0.0, 0.0, 0.0, inf, inf, 2.0, 3.0, 3.0], np.float32)
    assert same(
        apply(ops.floor_divide, x, y), [3, -4, -4, 3, inf, -inf, nan, 0, -0.0, inf, 0, -0.0]
    )
    assert same(
        apply(ops.remainder, x, y)[:11], [1.5, 0.5, -0.5, -1.5, nan, nan, nan, 5, inf, nan, 0]
    )


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16], ids=str)
def test_narrow_arithmetic_is_float32_rounded_once(dtype: DType) -> None:
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, 1000)).astype(np.float32).astype(dtype.numpy)
    wide_x, wide_y = x.astype(np.float32), y.astype(np.float32)
    for primitive, rule in {
        ops.add: np.add,
        ops.multiply: np.multiply,
        ops.divide: np.divide,
    }.items():
        want = rule(wide_x, wide_y).astype(dtype.numpy)
        assert np.array_equal(apply(primitive, x, y), want)


def test_functions_are_within_an_ulp_of_the_exact_value() -> None:
    rules = {
        ops.exp: math.exp,
        ops.expm1: math.expm1,
        ops.log1p: math.log1p,
        ops.sin: math.sin,
        ops.tanh: math.tanh,
        ops.arctan: math.atan,
        ops.arcsinh: math.asinh,
        ops.erf: math.erf,
        ops.sigmoid: lambda v: 1 / (1 + math.exp(-v)),
        ops.sqrt: math.sqrt,
        ops.log: math.log,
    }
    x = np.concatenate([np.linspace(0.01, 80, 200), [1e-30, 1e-5, 1 - 2**-20]]).astype(np.float32)
    for primitive, rule in rules.items():
        want = np.array([rule(float(v)) for v in x], np.float32)
        np.testing.assert_array_max_ulp(apply(primitive, x), want, maxulp=1)


def test_functions_at_their_edges() -> None:
    inf, nan = math.inf, math.nan
    x = np.array([0.0, -0.0, inf, -inf, nan, -1.0], np.float32)
    assert same(apply(ops.sqrt, x), [0.0, -0.0, inf, nan, nan, nan])
    assert same(apply(ops.log, x), [-inf, -inf, inf, nan, nan, nan])
    assert same(apply(ops.exp, x)[:5], [1, 1, inf, 0, nan])
    assert same(apply(ops.tanh, x)[:5], [0.0, -0.0, 1, -1, nan])
    assert same(apply(ops.sigmoid, x)[:5], [0.5, 0.5, 1, 0, nan])
    assert same(apply(ops.rsqrt, x), [inf, -inf, 0.0, nan, nan, nan])
    assert same(apply(ops.erf, x)[:5], [0.0, -0.0, 1, -1, nan])
    assert same(apply(ops.arctanh, np.array([1, -1, 2], np.float32)), [inf, -inf, nan])
    assert same(apply(ops.logaddexp, x[:4], x[:4])[2:], [inf, -inf])
    sigmoid = apply(ops.sigmoid, np.array([-88.0, -1000.0, 1000.0], np.float32))
    assert sigmoid[0] > 0
    assert sigmoid[1:].tolist() == [0.0, 1.0]


def test_erfinv_inverts_erf() -> None:
    y = np.array([0.0, -0.0, 1e-12, 0.1, -0.5, 0.9, 0.999, 1 - 1e-10, -(1 - 2**-50), 5e-324])
    x = apply(ops.erfinv, y)
    back = np.array([math.erf(v) for v in x.tolist()])
    np.testing.assert_allclose(back, y, rtol=4e-16, atol=1e-320)
    inf, nan = math.inf, math.nan
    ends = apply(ops.erfinv, np.array([1, -1, 1.5, -2, np.nan], np.float32))
    assert same(ends, [inf, -inf, nan, nan, nan])
    tail = apply(ops.erfinv, np.array([1 - 2**-53]))
    assert math.erfc(tail[0]) == pytest.approx(2**-53, rel=1e-12)


# Views, updates, creation


def test_constant_and_iota() -> None:
    type_ = TensorType((), dtypes.float16)
    value = reference.evaluate(ops.constant, [], (1.5, dtypes.float16), type_)
    assert value.tolist() == 1.5
    attributes = ((2, 3), dtypes.int32, 1)
    counts = reference.evaluate(ops.iota, [], attributes, TensorType((2, 3), dtypes.int32))
    assert counts.tolist() == [[0, 1, 2], [0, 1, 2]]
    attributes = ((300,), dtypes.uint8, 0)
    counts = reference.evaluate(ops.iota, [], attributes, TensorType((300,), dtypes.uint8))
    assert counts.tolist() == [i % 256 for i in range(300)]


def test_views() -> None:
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    assert np.array_equal(apply(ops.reshape, x, attributes=((4, 6),)), x.reshape(4, 6))
    assert np.array_equal(apply(ops.transpose, x, attributes=((2, 0, 1),)), x.transpose(2, 0, 1))
    row = np.arange(3, dtype=np.int32).reshape(1, 3)
    assert np.array_equal(apply(ops.broadcast, row, attributes=((4, 3),)), np.tile(row, (4, 1)))
    window = ((1, 2, 3), (1, 2, 2), (1, -2, -3))
    assert np.array_equal(apply(ops.slice_, x, attributes=window), x[1:2, 2::-2, 3::-3])
    empty = ((0, 0, 0), (2, 0, 4), (1, 1, 1))
    assert apply(ops.slice_, x, attributes=empty).shape == (2, 0, 4)
    scalar = np.array(5, np.int32)
    assert apply(ops.slice_, scalar, attributes=((), (), ())).tolist() == 5


def test_updates_leave_their_operands_alone() -> None:
    x = np.zeros((3, 4), np.int32)
    update = np.array([[1, 2], [3, 4]], np.int32)
    result = apply(ops.slice_update, x, update, attributes=((2, 0), (-2, 3)))
    assert result.tolist() == [[3, 0, 0, 4], [0, 0, 0, 0], [1, 0, 0, 2]]
    assert not x.any()
    padded = apply(ops.pad, update, np.array(7, np.int32), attributes=((1, 0), (0, 2)))
    assert padded.tolist() == [[7, 7, 7, 7], [1, 2, 7, 7], [3, 4, 7, 7]]
    joined = apply(ops.concatenate, update, x[:, :2], attributes=(0,))
    assert np.array_equal(joined, np.concatenate([update, x[:, :2]]))


def test_select_and_complex_parts() -> None:
    condition = np.array([True, False])
    x, y = np.array([1.0, 2.0], np.float32), np.array([3.0, np.nan], np.float32)
    assert same(apply(ops.select, condition, x, y), [1.0, np.nan])
    z = apply(ops.complex_, x, y)
    assert same(apply(ops.real, z), x)
    assert same(apply(ops.imag, z), y)


# Reductions, scans, products


def test_reductions_over_several_axes() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for primitive, rule in {
        ops.reduce_sum: np.sum,
        ops.reduce_prod: np.prod,
        ops.reduce_max: np.max,
        ops.reduce_min: np.min,
    }.items():
        for axes in ((0,), (1,), (0, 2), (0, 1, 2)):
            result = apply(primitive, x, attributes=(axes,))
            np.testing.assert_allclose(result, rule(x, axis=axes, keepdims=True), rtol=1e-6)


def test_empty_reductions() -> None:
    x = np.zeros((0, 3), np.float32)
    assert apply(ops.reduce_sum, x, attributes=((0,),)).tolist() == [[0, 0, 0]]
    assert apply(ops.reduce_prod, x, attributes=((0,),)).tolist() == [[1, 1, 1]]
    assert apply(ops.reduce_max, x, attributes=((1,),)).shape == (0, 1)
    assert apply(ops.argmax, x, attributes=(1,)).shape == (0, 1)
    none = np.zeros((0,), bool)
    assert apply(ops.reduce_and, none, attributes=((0,),)).tolist() == [True]
    assert apply(ops.reduce_or, none, attributes=((0,),)).tolist() == [False]


def test_integer_sums_wrap() -> None:
    x = np.array([127, 1, 1], np.int8)
    assert apply(ops.reduce_sum, x, attributes=((0,),)).tolist() == [-127]
    assert apply(ops.reduce_prod, x, attributes=((0,),)).tolist() == [127]
    assert apply(ops.cumsum, x, attributes=(0, False, True)).tolist() == [127, -128, -127]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_positions_of_extrema(dtype: DType) -> None:
    x = np.array([[1, 3, 3, 0], [1, np.nan, 5, np.nan], [0, -0.0, 0, 0]]).astype(dtype.numpy)
    assert apply(ops.argmax, x, attributes=(1,)).tolist() == [[1], [1], [0]]
    assert apply(ops.argmin, x, attributes=(1,)).tolist() == [[3], [1], [0]]


def test_scans() -> None:
    x = np.array([[1.0, 3.0, 2.0], [4.0, np.nan, 5.0]], np.float32)
    inf, nan = math.inf, math.nan
    forward, backward = (1, False, True), (1, True, True)
    assert same(apply(ops.cummax, x, attributes=forward), [[1, 3, 3], [4, nan, nan]])
    assert same(apply(ops.cummin, x, attributes=backward), [[1, 2, 2], [nan, nan, 5]])
    assert same(apply(ops.cummax, x, attributes=(1, False, False)), [[-inf, 1, 3], [-inf, 4, nan]])
    assert same(apply(ops.cumsum, x[:1], attributes=(1, True, False)), [[5, 2, 0]])
    assert same(apply(ops.cumprod, x[:1], attributes=(1, False, False)), [[1, 1, 3]])
    low = apply(ops.cummax, np.array([3, 5], np.int8), attributes=(0, False, False))
    assert low.tolist() == [-128, 3]


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.float16, dtypes.float32, dtypes.complex64])
def test_matmul(dtype: DType) -> None:
    generator = np.random.default_rng(1)
    x = generator.integers(-5, 5, (2, 3, 4)).astype(dtype.numpy)
    y = generator.integers(-5, 5, (2, 4, 5)).astype(dtype.numpy)
    want = np.einsum("bij,bjk->bik", x.astype(np.complex128), y.astype(np.complex128))
    assert np.array_equal(apply(ops.matmul, x, y), want)
    assert apply(ops.matmul, x[:, :, :0], y[:, :0]).tolist() == np.zeros((2, 3, 5)).tolist()


def test_bfloat16_sums_are_rounded_once() -> None:
    x = np.full(1000, 1.0, ml_dtypes.bfloat16)
    assert float(apply(ops.reduce_sum, x, attributes=((0,),))[0]) == 1000.0


def test_run_evaluates_a_program() -> None:
    vector = TensorType((3,), dtypes.float32)
    builder = ProgramBuilder((vector, vector))
    total = builder.add(ops.add, (0, 1), (), vector)
    square = builder.add(ops.multiply, (total, total), (), vector)
    program = builder.finish([square, 0, total])
    x, y = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
    results = reference.run(program, [x, y])
    assert [result.tolist() for result in results] == [
        [121.0, 484.0, 1089.0],
        [1.0, 2.0, 3.0],
        [11.0, 22.0, 33.0],
    ]
