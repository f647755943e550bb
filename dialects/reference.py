"""The NumPy reference of every primitive: test oracle, exact folder, and interpreter.

Written to be obviously right rather than fast. Operands and results are NumPy arrays of the dtypes'
NumPy kinds. Floating functions are computed in float64 and rounded once, so a result is the dtype's
value nearest to the exact one in all but a few cases; f32 and f64 arithmetic is IEEE arithmetic;
f16 and bf16 arithmetic is that of f32 rounded once, at the op.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import ops
from .dtypes import DType, bfloat16, complex64, float16
from .primitive import Attributes, Primitive, TensorType
from .program import Program

Array = np.ndarray[Any, Any]
Rule = Callable[[list[Array], Attributes, TensorType], Array]

REFERENCE: dict[Primitive, Rule] = {}
"""The reference of each primitive: ``rule(operands, attributes, type) -> result``."""


def evaluate(
    primitive: Primitive, operands: Sequence[Array], attributes: Attributes, type_: TensorType
) -> Array:
    """The result of a primitive on NumPy arrays, as an array of ``type_``; no warnings leak.

    The result may share memory with an operand where the primitive only views it.
    """
    with np.errstate(all="ignore"):
        result = REFERENCE[primitive](list(operands), attributes, type_)
    result = np.asarray(result)
    assert result.dtype == type_.dtype.numpy, (primitive, result.dtype, type_)
    return result.reshape(type_.shape)


def run(program: Program, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of a program on NumPy arrays."""
    values = list(inputs)
    for primitive, operands, attributes, type_ in program.instructions:
        values.append(evaluate(primitive, [values[i] for i in operands], attributes, type_))
    return [values[i] for i in program.outputs]


def _rule(primitive: Primitive) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        REFERENCE[primitive] = rule
        return rule

    return register


# Rounding


@np.errstate(all="ignore")
def round_to(values: Array, dtype: DType) -> Array:
    """Real values rounded to nearest even in a floating dtype, once."""
    if dtype in (float16, bfloat16) and values.dtype == np.float64:
        # A detour over float32 may round twice; put the value on the dtype's grid first.
        precision, least = (11, -24) if dtype is float16 else (8, -133)
        is_finite = np.isfinite(values)
        _, exponent = np.frexp(np.where(is_finite, values, 0.0))
        quantum = np.ldexp(1.0, np.maximum(exponent - precision, least))
        values = np.where(is_finite, np.rint(values / quantum) * quantum, values)
    return values.astype(dtype.numpy)


def _widen(values: Array) -> Array:
    """f16 and bf16 in f32, anything else as it is."""
    return values.astype(np.float32) if values.dtype in _NARROW else values


_NARROW = (float16.numpy, bfloat16.numpy)


def _is_floating(values: Array) -> bool:
    return values.dtype in _NARROW or values.dtype.kind == "f"


def _unsigned(values: Array) -> Array:
    return values.view(f"u{values.dtype.itemsize}")


def _arithmetic(compute: Callable[..., Array]) -> Rule:
    """IEEE arithmetic in the dtype, f16 and bf16 in f32; integers wrap."""

    def rule(operands: list[Array], _: Attributes, type_: TensorType) -> Array:
        return compute(*map(_widen, operands)).astype(type_.dtype.numpy)

    return rule


def _function(compute: Callable[..., Array]) -> Rule:
    """A floating function computed in float64 and rounded once."""

    def rule(operands: list[Array], _: Attributes, type_: TensorType) -> Array:
        wide = [operand.astype(np.float64) for operand in operands]
        return round_to(compute(*wide), type_.dtype)

    return rule


# Creation


@_rule(ops.constant)
def _constant(_: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return np.array(attributes[0]).astype(type_.dtype.numpy)


@_rule(ops.iota)
def _iota(_: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    shape, dtype, axis = attributes
    counts = np.arange(shape[axis], dtype=np.int64)
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return np.broadcast_to(cast(counts, dtype).reshape(along), shape)


@_rule(ops.empty)
def _empty(_: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return np.zeros(type_.shape, type_.dtype.numpy)


# Elementwise, one operand


def _sign(x: Array) -> Array:
    return np.where(np.isnan(x) | (x == 0), x, np.where(x > 0, 1, -1)).astype(x.dtype)


def _sigmoid(x: Array) -> Array:
    decay = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + decay), decay / (1 + decay))


def _erfinv(y: Array) -> Array:
    """Newton's method on the logarithm of erfc, which stays well scaled far out in the tail."""
    return np.vectorize(_erfinv_scalar, otypes=[np.float64])(y)


def _erfinv_scalar(y: float) -> float:
    if math.isnan(y) or abs(y) > 1:
        return math.nan
    if abs(y) == 1:
        return math.copysign(math.inf, y)
    if abs(y) < 1e-9:
        return y * (math.sqrt(math.pi) / 2)
    # Winitzki's approximation starts within 1e-2 of the root; each step squares the error.
    spread = math.log1p(-y * y)
    middle = 2 / (math.pi * 0.147) + spread / 2
    x = math.sqrt(math.sqrt(middle * middle - spread / 0.147) - middle)
    tail = 1 - abs(y)
    for _ in range(6):
        slope = 2 / math.sqrt(math.pi) * math.exp(-x * x)
        error = math.erfc(x) - tail if tail < 0.5 else abs(y) - math.erf(x)
        step = error / slope
        x += step / (1 - x * step) if abs(x * step) < 0.5 else step
    return math.copysign(x, y)


_erf = np.vectorize(math.erf, otypes=[np.float64])

for _primitive, _compute in {
    ops.negative: np.negative,
    ops.abs_: np.abs,
    ops.sign: _sign,
    ops.floor: np.floor,
    ops.ceil: np.ceil,
    ops.trunc: np.trunc,
    ops.rint: np.rint,
    ops.sqrt: np.sqrt,
    ops.rsqrt: lambda x: x.dtype.type(1) / np.sqrt(x),
    ops.bitwise_invert: np.invert,
}.items():
    REFERENCE[_primitive] = _arithmetic(_compute)

for _primitive, _compute in {
    ops.exp: np.exp,
    ops.expm1: np.expm1,
    ops.log: np.log,
    ops.log1p: np.log1p,
    ops.log2: np.log2,
    ops.log10: np.log10,
    ops.sin: np.sin,
    ops.cos: np.cos,
    ops.tan: np.tan,
    ops.sinh: np.sinh,
    ops.cosh: np.cosh,
    ops.tanh: np.tanh,
    ops.arcsin: np.arcsin,
    ops.arccos: np.arccos,
    ops.arctan: np.arctan,
    ops.arcsinh: np.arcsinh,
    ops.arccosh: np.arccosh,
    ops.arctanh: np.arctanh,
    ops.erf: lambda x: _erf(x) if x.size else x,
    ops.erfinv: lambda x: _erfinv(x) if x.size else x,
    ops.sigmoid: _sigmoid,
    ops.arctan2: np.arctan2,
    ops.logaddexp: np.logaddexp,
}.items():
    REFERENCE[_primitive] = _function(_compute)


@_rule(ops.real)
def _real(operands: list[Array], _: Attributes, type_: TensorType) -> Array:
    return operands[0].real.copy()


@_rule(ops.imag)
def _imag(operands: list[Array], _: Attributes, type_: TensorType) -> Array:
    return operands[0].imag.copy()


@_rule(ops.cast)
def _cast(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return cast(operands[0], attributes[0])


def cast(x: Array, dtype: DType) -> Array:
    """Values in another dtype, as :data:`lamina.dialects.ops.cast` says."""
    if x.dtype == dtype.numpy:
        return x
    if dtype.kind == "bool":
        return x != 0
    if dtype is complex64:
        return _pair(x.astype(np.float32), np.zeros(x.shape, np.float32))
    if x.dtype == complex64.numpy:
        x = x.real
    if dtype.kind == "floating":
        # Integers reach f16 and bf16 by way of f32.
        is_narrow = dtype in (float16, bfloat16)
        wide = x.astype(np.float32) if is_narrow and not _is_floating(x) else x
        return round_to(wide, dtype)
    return _saturate(x, dtype) if _is_floating(x) else x.astype(dtype.numpy)


def _pair(real: Array, imag: Array) -> Array:
    result = np.empty(real.shape, np.complex64)
    result.real, result.imag = real, imag
    return result


def _saturate(x: Array, dtype: DType) -> Array:
    """Floats truncated to integers; beyond the range its end, NaN 0."""
    wide = np.trunc(x.astype(np.float64))
    limits = np.iinfo(dtype.numpy)
    above, below = wide >= 2.0 ** (dtype.size * 8 - (limits.min < 0)), wide <= float(limits.min)
    inside = np.where(np.isnan(wide) | above | below, 0, wide).astype(dtype.numpy)
    return np.select(
        [above, below], [dtype.numpy.type(limits.max), dtype.numpy.type(limits.min)], inside
    )


@_rule(ops.bitcast)
def _bitcast(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return np.ascontiguousarray(operands[0]).view(attributes[0].numpy)


# Elementwise, two and three operands


def _floor_divide(x: Array, y: Array) -> Array:
    if _is_floating(x):
        return np.floor(x / y)
    safe = np.where(y == 0, 1, y).astype(y.dtype)
    return np.where(y == 0, 0, np.floor_divide(x, safe)).astype(x.dtype)


def _remainder(x: Array, y: Array) -> Array:
    if _is_floating(x):
        return np.remainder(x, y)
    safe = np.where(y == 0, 1, y).astype(y.dtype)
    return np.where(y == 0, 0, np.remainder(x, safe)).astype(x.dtype)


def _integer_power(x: Array, y: Array) -> Array:
    """Repeated squaring with wrap-around; negative exponents give the truncated reciprocal."""
    result, factor = np.ones_like(x), x.copy()
    count = np.where(y < 0, 0, y).astype(np.uint64)
    while count.any():
        result = np.where(count & np.uint64(1), result * factor, result).astype(x.dtype)
        factor = (factor * factor).astype(x.dtype)
        count >>= np.uint64(1)
    is_odd = (y & y.dtype.type(1)) != 0
    reciprocal = np.where(x == 1, 1, 0).astype(x.dtype)
    if x.dtype.kind == "i":
        minus_one = np.where(is_odd, -1, 1).astype(x.dtype)
        reciprocal = np.where(x == -1, minus_one, reciprocal)
    return np.where(y < 0, reciprocal, result).astype(x.dtype)


@_rule(ops.power)
def _power(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    if not _is_floating(operands[0]):
        return _integer_power(*operands)
    return _function(np.power)(operands, attributes, type_)


def _maximum(x: Array, y: Array) -> Array:
    """The larger; NaN if either is; 0.0 is larger than -0.0, as in IEEE 754-2019."""
    larger = np.where((x > y) | np.isnan(x), x, y)
    return np.where(_is_plus_zero(x) & (y == 0), x, larger) if _is_floating(x) else larger


def _minimum(x: Array, y: Array) -> Array:
    """The smaller; NaN if either is; -0.0 is smaller than 0.0, as in IEEE 754-2019."""
    smaller = np.where((x < y) | np.isnan(x), x, y)
    return np.where(_is_plus_zero(y) & (x == 0), x, smaller) if _is_floating(x) else smaller


def _is_plus_zero(x: Array) -> Array:
    return (x == 0) & ~np.signbit(x)


def _complex_divide(x: Array, y: Array) -> Array:
    if x.dtype == np.complex64:
        return x.astype(np.complex128) / y.astype(np.complex128)
    return x / y


def _left_shift(x: Array, y: Array) -> Array:
    bits, count = 8 * x.dtype.itemsize, _unsigned(y)
    shifted = np.left_shift(_unsigned(x), np.where(count < bits, count, 0).astype(count.dtype))
    return np.where(count < bits, shifted, 0).astype(count.dtype).view(x.dtype)


def _right_shift(x: Array, y: Array) -> Array:
    bits, count = 8 * x.dtype.itemsize, _unsigned(y)
    inside = np.where(count < bits, count, 0).astype(count.dtype).view(x.dtype)
    beyond = np.where(x < 0, -1, 0).astype(x.dtype)
    return np.where(count < bits, np.right_shift(x, inside), beyond)


for _primitive, _compute in {
    ops.add: np.add,
    ops.subtract: np.subtract,
    ops.multiply: np.multiply,
    ops.divide: _complex_divide,
    ops.floor_divide: _floor_divide,
    ops.remainder: _remainder,
    ops.maximum: _maximum,
    ops.minimum: _minimum,
    ops.bitwise_and: np.bitwise_and,
    ops.bitwise_or: np.bitwise_or,
    ops.bitwise_xor: np.bitwise_xor,
    ops.left_shift: _left_shift,
    ops.right_shift: _right_shift,
    ops.equal: np.equal,
    ops.not_equal: np.not_equal,
    ops.less: np.less,
    ops.less_equal: np.less_equal,
    ops.greater: np.greater,
    ops.greater_equal: np.greater_equal,
}.items():
    REFERENCE[_primitive] = _arithmetic(_compute)


@_rule(ops.complex_)
def _complex(operands: list[Array], _: Attributes, type_: TensorType) -> Array:
    return _pair(*operands)


@_rule(ops.select)
def _select(operands: list[Array], _: Attributes, type_: TensorType) -> Array:
    return np.where(*operands)


# Views


@_rule(ops.reshape)
def _reshape(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return operands[0].reshape(attributes[0])


@_rule(ops.transpose)
def _transpose(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return operands[0].transpose(attributes[0])


@_rule(ops.broadcast)
def _broadcast(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return np.broadcast_to(operands[0], attributes[0])


def _window(start: Sequence[int], size: Sequence[int], step: Sequence[int]) -> Any:
    """The index of the elements ``start + i * step`` for ``i`` below ``size``, along each axis."""
    along = zip(start, size, step, strict=True)
    return np.ix_(*[first + np.arange(count) * stride for first, count, stride in along])


@_rule(ops.slice_)
def _slice(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return operands[0][_window(*attributes)] if type_.shape else operands[0]


# Updates


@_rule(ops.slice_update)
def _slice_update(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    operand, update = operands
    start, step = attributes
    if not type_.shape:
        return update
    result = operand.copy()
    result[_window(start, update.shape, step)] = update
    return result


@_rule(ops.pad)
def _pad(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    operand, value = operands
    low, _ = attributes
    result = np.full(type_.shape, value, type_.dtype.numpy)
    inner = tuple(slice(a, a + n) for a, n in zip(low, operand.shape, strict=True))
    result[inner] = operand
    return result


@_rule(ops.concatenate)
def _concatenate(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return np.concatenate(operands, attributes[0])


# Reductions and scans


def _accumulator(x: Array) -> Any:
    """The dtype that sums and products of a dtype are computed in."""
    if x.dtype == np.complex64:
        return np.complex128
    return np.float64 if _is_floating(x) else x.dtype


def _rounded(values: Array, dtype: DType) -> Array:
    return round_to(values, dtype) if dtype.kind == "floating" else values.astype(dtype.numpy)


@_rule(ops.reduce_sum)
def _reduce_sum(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    (x,) = operands
    wide = x.astype(_accumulator(x))
    total = np.sum(wide, attributes[0], dtype=wide.dtype, keepdims=True, initial=_sum_start(wide))
    return _rounded(total, type_.dtype)


def _sum_start(x: Array) -> Any:
    """The identity of addition, -0.0 for floats; a sum of nothing is 0 all the same."""
    if x.size == 0 or x.dtype.kind not in "fc":
        return 0
    return complex(-0.0, -0.0) if x.dtype.kind == "c" else -0.0


@_rule(ops.reduce_prod)
def _reduce_prod(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    (x,) = operands
    wide = x.astype(_accumulator(x))
    return _rounded(np.prod(wide, attributes[0], dtype=wide.dtype, keepdims=True), type_.dtype)


def _fold(
    combine: Callable[[Array, Array], Array], x: Array, axes: Sequence[int], type_: TensorType
) -> Array:
    """A reduction without an identity, one element of the reduced axes after the other."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    kept_shape = [x.shape[axis] for axis in kept]
    if type_.size == 0:
        return np.empty(type_.shape, x.dtype)
    rows = x.transpose(*axes, *kept).reshape(-1, *kept_shape)
    while len(rows) > 1:
        half = len(rows) // 2
        joined = combine(rows[:half], rows[half : 2 * half])
        rows = np.concatenate([joined, rows[2 * half :]])
    return rows.reshape(type_.shape)


@_rule(ops.reduce_max)
def _reduce_max(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return _fold(_maximum, operands[0], attributes[0], type_)


@_rule(ops.reduce_min)
def _reduce_min(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return _fold(_minimum, operands[0], attributes[0], type_)


@_rule(ops.reduce_and)
def _reduce_and(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return np.all(operands[0], attributes[0], keepdims=True)


@_rule(ops.reduce_or)
def _reduce_or(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
    return np.any(operands[0], attributes[0], keepdims=True)


def _first(compute: Callable[..., Array]) -> Rule:
    """NumPy's argmax and argmin: the first NaN, else the first of the equals."""

    def rule(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
        if type_.size == 0:
            return np.empty(type_.shape, np.uint32)
        found = compute(_widen(operands[0]), attributes[0], keepdims=True)
        return found.astype(np.uint32)

    return rule


REFERENCE[ops.argmax] = _first(np.argmax)
REFERENCE[ops.argmin] = _first(np.argmin)


def _scan(combine: Callable[[Array, Array], Array], identity: Callable[[Array], Any]) -> Rule:
    """Running values along an axis, one after the other; exclusive ones start at the identity."""

    def rule(operands: list[Array], attributes: Attributes, type_: TensorType) -> Array:
        axis, reverse, inclusive = attributes
        (x,) = operands
        rows = np.moveaxis(x, axis, 0)[:: -1 if reverse else 1].astype(_accumulator(x))
        result = np.empty_like(rows)
        total = np.full(rows.shape[1:], identity(x), rows.dtype)
        for i, row in enumerate(rows):
            is_start = inclusive and i == 0
            before, total = total, row if is_start else combine(total, row)
            result[i] = total if inclusive else before
        return _rounded(np.moveaxis(result[:: -1 if reverse else 1], 0, axis), type_.dtype)

    return rule


def _least(x: Array) -> Any:
    return -np.inf if _is_floating(x) else np.iinfo(x.dtype).min


def _greatest(x: Array) -> Any:
    return np.inf if _is_floating(x) else np.iinfo(x.dtype).max


REFERENCE[ops.cumsum] = _scan(np.add, lambda x: 0)
REFERENCE[ops.cumprod] = _scan(np.multiply, lambda x: 1)
REFERENCE[ops.cummax] = _scan(_maximum, _least)
REFERENCE[ops.cummin] = _scan(_minimum, _greatest)


# Contractions


@_rule(ops.matmul)
def _matmul(operands: list[Array], _: Attributes, type_: TensorType) -> Array:
    wide = [operand.astype(_accumulator(operand)) for operand in operands]
    return _rounded(np.matmul(*wide), type_.dtype)
