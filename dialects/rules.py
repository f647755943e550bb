"""Type rules of the primitives: from operand types and attributes to the result's type."""

from __future__ import annotations

from ..errors import ArgumentError, DTypeError, ShapeError
from .dtypes import DType, bool_, complex64, float32, uint32
from .primitive import Attributes, Shape, TensorType, TypeRule

Types = tuple[TensorType, ...]

ANY = ("bool", "unsigned", "signed", "floating", "complex")
NUMERIC = ("unsigned", "signed", "floating", "complex")
REAL = ("unsigned", "signed", "floating")
ORDERED = ("bool", "unsigned", "signed", "floating")
FLOATING = ("floating",)
INTEGRAL = ("bool", "unsigned", "signed")
INTEGER = ("unsigned", "signed")


def _listed(types: Types) -> str:
    return ", ".join(map(str, types))


def _require_kind(dtype: DType, kinds: tuple[str, ...]) -> None:
    if dtype.kind not in kinds:
        raise DTypeError(f"takes {' or '.join(kinds)} dtypes, got {dtype.name}")


def _require_equal(types: Types) -> TensorType:
    first = types[0]
    for other in types[1:]:
        if other.shape != first.shape:
            raise ShapeError(f"operands must have one shape, got {_listed(types)}")
        if other.dtype is not first.dtype:
            raise DTypeError(f"operands must have one dtype, got {_listed(types)}")
    return first


def _require_axis(axis: int, rank: int) -> None:
    if not 0 <= axis < rank:
        raise ShapeError(f"axis {axis} is out of range for {rank} dimensions")


def elementwise(kinds: tuple[str, ...]) -> TypeRule:
    """Operands of one type; the result has that type."""

    def rule(types: Types, _: Attributes) -> TensorType:
        result = _require_equal(types)
        _require_kind(result.dtype, kinds)
        return result

    return rule


def comparison(kinds: tuple[str, ...]) -> TypeRule:
    """Two operands of one type; the result is bool."""

    def rule(types: Types, _: Attributes) -> TensorType:
        operand = _require_equal(types)
        _require_kind(operand.dtype, kinds)
        return TensorType(operand.shape, bool_)

    return rule


def select(types: Types, _: Attributes) -> TensorType:
    """A bool condition and two values of one type, all of one shape."""
    condition, on_true, on_false = types
    if condition.dtype is not bool_:
        raise DTypeError(f"the condition must be bool, got {condition.dtype.name}")
    result = _require_equal((on_true, on_false))
    if condition.shape != result.shape:
        raise ShapeError(f"operands must have one shape, got {_listed(types)}")
    return result


def cast(types: Types, attributes: Attributes) -> TensorType:
    """Any dtype to any dtype."""
    return TensorType(types[0].shape, attributes[0])


def bitcast(types: Types, attributes: Attributes) -> TensorType:
    """The same bits under another dtype of the same size."""
    (operand,), (dtype,) = types, attributes
    if operand.dtype.size != dtype.size:
        raise DTypeError(f"cannot view {operand.dtype.name} as {dtype.name}: sizes differ")
    return TensorType(operand.shape, dtype)


def complex_part(types: Types, _: Attributes) -> TensorType:
    """A complex operand; the result is float32."""
    _require_kind(types[0].dtype, ("complex",))
    return TensorType(types[0].shape, float32)


def complex_(types: Types, _: Attributes) -> TensorType:
    """Two float32 operands of one shape; the result is complex64."""
    part = _require_equal(types)
    if part.dtype is not float32:
        raise DTypeError(f"parts must be float32, got {part.dtype.name}")
    return TensorType(part.shape, complex64)


def constant(_: Types, attributes: Attributes) -> TensorType:
    """A scalar of the dtype in the attributes."""
    return TensorType((), attributes[1])


def empty(_: Types, attributes: Attributes) -> TensorType:
    """The type in the attributes."""
    return TensorType(attributes[0], attributes[1])


def iota(_: Types, attributes: Attributes) -> TensorType:
    """An array that counts along one axis."""
    shape, dtype, axis = attributes
    _require_kind(dtype, REAL)
    _require_axis(axis, len(shape))
    return TensorType(shape, dtype)


def reduction(kinds: tuple[str, ...]) -> TypeRule:
    """Reduced axes keep their place with size 1."""

    def rule(types: Types, attributes: Attributes) -> TensorType:
        (operand,), (axes,) = types, attributes
        _require_kind(operand.dtype, kinds)
        if tuple(sorted(set(axes))) != axes:
            raise ShapeError(f"axes must be sorted and distinct, got {axes}")
        for axis in axes:
            _require_axis(axis, len(operand.shape))
        shape = tuple(1 if i in axes else extent for i, extent in enumerate(operand.shape))
        return TensorType(shape, operand.dtype)

    return rule


def without_identity(rule: TypeRule, noun: str) -> TypeRule:
    """As ``rule``, and no reduced axis may be empty unless the result is empty too."""

    def checked(types: Types, attributes: Attributes) -> TensorType:
        result = rule(types, attributes)
        if types[0].size == 0 and result.size != 0:
            raise ShapeError(f"{noun} of an empty axis has no value, operand is {types[0]}")
        return result

    return checked


def arg_reduction(types: Types, attributes: Attributes) -> TensorType:
    """One axis is reduced to size 1; the result holds uint32 positions."""
    result = reduction(ORDERED)(types, ((attributes[0],),))
    return TensorType(result.shape, uint32)


def scan(kinds: tuple[str, ...]) -> TypeRule:
    """The operand's type; the axis must exist."""

    def rule(types: Types, attributes: Attributes) -> TensorType:
        _require_kind(types[0].dtype, kinds)
        _require_axis(attributes[0], len(types[0].shape))
        return types[0]

    return rule


def reshape(types: Types, attributes: Attributes) -> TensorType:
    """Another shape with as many elements."""
    result = TensorType(attributes[0], types[0].dtype)
    if any(extent < 0 for extent in result.shape) or result.size != types[0].size:
        raise ShapeError(f"cannot reshape {types[0]} into {result.shape}")
    return result


def transpose(types: Types, attributes: Attributes) -> TensorType:
    """Axes in another order."""
    (operand,), (permutation,) = types, attributes
    if sorted(permutation) != list(range(len(operand.shape))):
        raise ShapeError(f"{permutation} is not a permutation of the axes of {operand}")
    return TensorType(tuple(operand.shape[axis] for axis in permutation), operand.dtype)


def broadcast(types: Types, attributes: Attributes) -> TensorType:
    """Axes of size 1 grow; the rank stays."""
    (operand,), (shape,) = types, attributes
    if len(shape) != len(operand.shape) or any(
        old not in (1, new) for old, new in zip(operand.shape, shape, strict=True)
    ):
        raise ShapeError(f"cannot broadcast {operand} to {shape}")
    return TensorType(shape, operand.dtype)


def _require_window(shape: Shape, start: Shape, size: Shape, step: Shape) -> None:
    if not len(start) == len(size) == len(step) == len(shape):
        raise ShapeError(f"start, size and step must have {len(shape)} entries each")
    for axis, (extent, first, count, stride) in enumerate(
        zip(shape, start, size, step, strict=True)
    ):
        last = first + (count - 1) * stride
        if count < 0 or (count > 0 and not (0 <= first < extent and 0 <= last < extent)):
            raise ShapeError(
                f"start {first}, size {count}, step {stride} leaves axis {axis} of size {extent}"
            )


def slice_(types: Types, attributes: Attributes) -> TensorType:
    """The elements ``start + i * step`` for ``i`` below ``size``, along each axis."""
    start, size, step = attributes
    _require_window(types[0].shape, start, size, step)
    return TensorType(size, types[0].dtype)


def slice_update(types: Types, attributes: Attributes) -> TensorType:
    """The first operand with a window replaced by the second."""
    (operand, update), (start, step) = types, attributes
    if operand.dtype is not update.dtype:
        raise DTypeError(f"operands must have one dtype, got {_listed(types)}")
    if len(operand.shape) != len(update.shape):
        raise ShapeError(f"operands must have one rank, got {_listed(types)}")
    _require_window(operand.shape, start, update.shape, step)
    return operand


def pad(types: Types, attributes: Attributes) -> TensorType:
    """The operand with a scalar value before and after it along each axis."""
    (operand, value), (low, high) = types, attributes
    if value.shape != () or value.dtype is not operand.dtype:
        raise DTypeError(f"the value must be {operand.dtype.short}[], got {value}")
    if not len(low) == len(high) == len(operand.shape) or min((0, *low, *high)) < 0:
        raise ShapeError(f"widths {low} and {high} do not fit {operand}")
    shape = tuple(a + n + b for a, n, b in zip(low, operand.shape, high, strict=True))
    return TensorType(shape, operand.dtype)


def concatenate(types: Types, attributes: Attributes) -> TensorType:
    """Operands that agree in all axes but one, end to end along that one."""
    if not types:
        raise ArgumentError("needs at least one operand")
    (axis,) = attributes
    first = types[0]
    _require_axis(axis, len(first.shape))
    for other in types:
        if other.dtype is not first.dtype:
            raise DTypeError(f"operands must have one dtype, got {_listed(types)}")
        if (
            len(other.shape) != len(first.shape)
            or other.shape[:axis] != first.shape[:axis]
            or other.shape[axis + 1 :] != first.shape[axis + 1 :]
        ):
            raise ShapeError(f"operands must agree but for axis {axis}, got {_listed(types)}")
    total = sum(other.shape[axis] for other in types)
    return TensorType((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)


def matmul(types: Types, _: Attributes) -> TensorType:
    """``(..., m, k) x (..., k, n) -> (..., m, n)`` with equal batch axes."""
    lhs, rhs = types
    _require_kind(lhs.dtype, NUMERIC)
    if lhs.dtype is not rhs.dtype:
        raise DTypeError(f"operands must have one dtype, got {_listed(types)}")
    if (
        len(lhs.shape) < 2
        or lhs.shape[:-2] != rhs.shape[:-2]
        or len(lhs.shape) != len(rhs.shape)
        or lhs.shape[-1] != rhs.shape[-2]
    ):
        raise ShapeError(f"cannot multiply {lhs} by {rhs}")
    return TensorType((*lhs.shape[:-1], rhs.shape[-1]), lhs.dtype)
