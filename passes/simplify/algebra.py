"""Identities of arithmetic, bits, comparisons and selection that hold to the bit.

For floats only what IEEE 754 makes exact is here: ``x * 1``, ``x / 1``, ``x - 0.0``, ``x + -0.0``.
``x + 0.0`` (-0.0 becomes 0.0), ``x * 0``, ``x - x`` and ``x / x`` (NaN, infinity) stay. The payload
and sign of a NaN are not kept: IEEE 754 leaves them open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dialects import ops
from ...dialects.primitive import TABLE
from ...dialects.program import is_lifted
from .rewriter import (
    LOOK_THROUGH,
    Rewriter,
    dtype_of,
    is_negative_zero,
    is_splat,
    pattern,
    splat_of,
)

if TYPE_CHECKING:
    from .dataflow import Op

COMMUTATIVE = tuple(op for op in TABLE.values() if "commutative" in op.traits)
SWAPPED = {
    ops.less: ops.greater,
    ops.less_equal: ops.greater_equal,
    ops.greater: ops.less,
    ops.greater_equal: ops.less_equal,
}
INVERTED = {
    ops.less: ops.greater_equal,
    ops.less_equal: ops.greater,
    ops.greater: ops.less_equal,
    ops.greater_equal: ops.less,
    ops.equal: ops.not_equal,
    ops.not_equal: ops.equal,
}
ROUNDINGS = (ops.floor, ops.ceil, ops.trunc, ops.rint)


def _is_exact(op: Op) -> bool:
    """True for integers and bool, whose arithmetic has no rounding, NaN or signed zero."""
    return not dtype_of(op).is_inexact


def _is_float(op: Op) -> bool:
    return dtype_of(op).kind == "floating"


def _is_complex(op: Op) -> bool:
    return dtype_of(op).kind == "complex"


def _all_ones(op: Op) -> Any:
    """The value with every bit set."""
    dtype = dtype_of(op)
    if dtype.kind == "bool":
        return True
    return -1 if dtype.kind == "signed" else (1 << 8 * dtype.size) - 1


def _is_constant(op: Op) -> bool:
    """True for constants of any shape, lifted ones too."""
    for _ in range(LOOK_THROUGH):
        if op.primitive is None:
            return False
        if op.primitive.kind != "view":
            return op.primitive is ops.constant
        op = op.operands[0]
    return False


# Order


@pattern(*COMMUTATIVE)
def constants_to_the_right(op: Op, rewriter: Rewriter) -> Op | None:
    """``1 + x`` becomes ``x + 1``, so that other patterns look on one side only."""
    assert op.primitive is not None
    lhs, rhs = op.operands
    if _is_constant(lhs) and not _is_constant(rhs):
        return rewriter.create(op.primitive, [rhs, lhs])
    return None


@pattern(*SWAPPED)
def constants_to_the_right_of_comparisons(op: Op, rewriter: Rewriter) -> Op | None:
    """``1 < x`` becomes ``x > 1``."""
    assert op.primitive is not None
    lhs, rhs = op.operands
    if _is_constant(lhs) and not _is_constant(rhs):
        return rewriter.create(SWAPPED[op.primitive], [rhs, lhs])
    return None


# One operand


@pattern(ops.negative)
def negative(op: Op, rewriter: Rewriter) -> Op | None:
    """``-(-x)`` is ``x``; for integers ``-(x - y)`` is ``y - x``."""
    (inner,) = op.operands
    if inner.primitive is ops.negative:
        return inner.operands[0]
    if inner.primitive is ops.subtract and _is_exact(op) and inner.single_user is op:
        return rewriter.create(ops.subtract, inner.operands[::-1])
    return None


@pattern(ops.abs_)
def absolute(op: Op, rewriter: Rewriter) -> Op | None:
    """``||x||`` is ``|x|``, ``|-x|`` is ``|x|`` but for unsigned integers, where ``|x|`` is x."""
    (inner,) = op.operands
    if inner.primitive is ops.abs_:
        return inner
    if dtype_of(op).kind == "unsigned":
        return inner
    if inner.primitive is ops.negative:
        return rewriter.create(ops.abs_, inner.operands)
    return None


@pattern(*ROUNDINGS)
def rounding_of_rounded(op: Op, rewriter: Rewriter) -> Op | None:
    """What was rounded to an integer stays as it is."""
    (inner,) = op.operands
    return inner if inner.primitive in ROUNDINGS else None


@pattern(ops.sign)
def sign_of_sign(op: Op, rewriter: Rewriter) -> Op | None:
    """A sign is its own sign."""
    (inner,) = op.operands
    return inner if inner.primitive is ops.sign else None


@pattern(ops.bitwise_invert)
def invert(op: Op, rewriter: Rewriter) -> Op | None:
    """``~~x`` is ``x``; ``not (x < y)`` is ``x >= y`` where nothing is NaN."""
    (inner,) = op.operands
    if inner.primitive is ops.bitwise_invert:
        return inner.operands[0]
    if inner.primitive in INVERTED and inner.single_user is op:
        if inner.primitive in (ops.equal, ops.not_equal) or _is_exact(inner.operands[0]):
            return rewriter.create(INVERTED[inner.primitive], inner.operands)
    return None


@pattern(ops.real)
def real_of_complex(op: Op, rewriter: Rewriter) -> Op | None:
    """The real part of a pair is its first."""
    (inner,) = op.operands
    return inner.operands[0] if inner.primitive is ops.complex_ else None


@pattern(ops.imag)
def imag_of_complex(op: Op, rewriter: Rewriter) -> Op | None:
    """The imaginary part of a pair is its second."""
    (inner,) = op.operands
    return inner.operands[1] if inner.primitive is ops.complex_ else None


@pattern(ops.complex_)
def complex_of_parts(op: Op, rewriter: Rewriter) -> Op | None:
    """The parts of one number, put together, are that number."""
    real, imag = op.operands
    if real.primitive is ops.real and imag.primitive is ops.imag:
        (number,) = real.operands
        return number if imag.operands[0] is number else None
    return None


# Sums and products


@pattern(ops.add)
def add(op: Op, rewriter: Rewriter) -> Op | None:
    """``x + -0.0`` and, for integers, ``x + 0`` are ``x``; ``x + -y`` is ``x - y``."""
    lhs, rhs = op.operands
    if _is_float(op):
        constant = splat_of(rhs)
        if constant is not None and is_negative_zero(constant.attributes[0]):
            return lhs
    elif _is_exact(op) and is_splat(rhs, 0):
        return lhs
    if rhs.primitive is ops.negative:
        return rewriter.create(ops.subtract, [lhs, rhs.operands[0]])
    if lhs.primitive is ops.negative:
        return rewriter.create(ops.subtract, [rhs, lhs.operands[0]])
    return None


@pattern(ops.subtract)
def subtract(op: Op, rewriter: Rewriter) -> Op | None:
    """``x - 0`` is ``x``, ``x - -y`` is ``x + y``; for integers ``x - x`` is 0, ``0 - x`` is -x."""
    lhs, rhs = op.operands
    if is_splat(rhs, 0) and not _is_complex(op):
        return lhs
    if rhs.primitive is ops.negative:
        return rewriter.create(ops.add, [lhs, rhs.operands[0]])
    if _is_exact(op):
        if lhs is rhs:
            return rewriter.splat(0, op.type)
        if is_splat(lhs, 0):
            return rewriter.create(ops.negative, [rhs])
    return None


@pattern(ops.multiply)
def multiply(op: Op, rewriter: Rewriter) -> Op | None:
    """``x * 1`` is ``x``, ``-x * -y`` is ``x * y``; for integers ``x * 0`` is 0, ``x * -1`` -x."""
    lhs, rhs = op.operands
    if _is_complex(op):
        return None
    if is_splat(rhs, 1):
        return lhs
    if lhs.primitive is ops.negative and rhs.primitive is ops.negative:
        return rewriter.create(ops.multiply, [lhs.operands[0], rhs.operands[0]])
    if _is_exact(op):
        if is_splat(rhs, 0):
            return rhs
        if is_splat(rhs, _all_ones(op)):
            return rewriter.create(ops.negative, [lhs])
    return None


@pattern(ops.divide)
def divide(op: Op, rewriter: Rewriter) -> Op | None:
    """``x / 1`` is ``x``, ``-x / -y`` is ``x / y``; a power of two divides as its inverse does."""
    lhs, rhs = op.operands
    if not _is_float(op):
        return None
    if is_splat(rhs, 1):
        return lhs
    if lhs.primitive is ops.negative and rhs.primitive is ops.negative:
        return rewriter.create(ops.divide, [lhs.operands[0], rhs.operands[0]])
    constant = splat_of(rhs)
    if constant is not None:
        value = constant.attributes[0]
        # Both quotient and product round one exact value.
        if value in (-1, 0.5, 2):
            return rewriter.create(ops.multiply, [lhs, rewriter.splat(1 / value, rhs.type)])
    return None


@pattern(ops.floor_divide)
def floor_divide(op: Op, rewriter: Rewriter) -> Op | None:
    """For integers ``x // 1`` is ``x`` and ``0 // x`` is 0."""
    lhs, rhs = op.operands
    if _is_exact(op) and (is_splat(rhs, 1) or is_splat(lhs, 0)):
        return lhs
    return None


@pattern(ops.remainder)
def remainder(op: Op, rewriter: Rewriter) -> Op | None:
    """For integers ``x % 1``, ``x % x`` and ``0 % x`` are 0."""
    lhs, rhs = op.operands
    if _is_exact(op) and (is_splat(rhs, 1) or lhs is rhs or is_splat(lhs, 0)):
        return rewriter.splat(0, op.type)
    return None


@pattern(ops.power)
def power(op: Op, rewriter: Rewriter) -> Op | None:
    """``x ** 1`` is ``x`` and ``x ** 0`` is 1, for NaN too."""
    lhs, rhs = op.operands
    if is_splat(rhs, 1):
        return lhs
    constant = splat_of(rhs)
    if constant is not None and constant.attributes[0] == 0:
        return rewriter.splat(1.0 if _is_float(op) else 1, op.type)
    return None


@pattern(ops.add, ops.multiply, ops.bitwise_and, ops.bitwise_or, ops.bitwise_xor)
def constants_together(op: Op, rewriter: Rewriter) -> Op | None:
    """``(x + 1) + 2`` becomes ``x + (1 + 2)`` for integers and bool."""
    assert op.primitive is not None
    inner, outer = op.operands
    if not _is_exact(op) or inner.primitive is not op.primitive or splat_of(outer) is None:
        return None
    if splat_of(inner.operands[1]) is None or splat_of(inner.operands[0]) is not None:
        return None
    constants = rewriter.create(op.primitive, [inner.operands[1], outer])
    return rewriter.create(op.primitive, [inner.operands[0], constants])


# Extremes


@pattern(ops.maximum, ops.minimum, ops.bitwise_and, ops.bitwise_or)
def equal_operands(op: Op, rewriter: Rewriter) -> Op | None:
    """An idempotent op with equal operands is either of them."""
    lhs, rhs = op.operands
    return lhs if lhs is rhs else None


@pattern(ops.maximum, ops.minimum)
def neutral_bound(op: Op, rewriter: Rewriter) -> Op | None:
    """``max(x, -inf)`` is ``x``, for NaN too; so is ``max(x, INT_MIN)``."""
    lhs, rhs = op.operands
    least, greatest = dtype_of(op).limits
    return lhs if is_splat(rhs, least if op.primitive is ops.maximum else greatest) else None


# Bits


@pattern(ops.bitwise_and)
def bitwise_and(op: Op, rewriter: Rewriter) -> Op | None:
    """``x & 0`` is 0, ``x & ~0`` is ``x``, ``x & ~x`` is 0."""
    lhs, rhs = op.operands
    if is_splat(rhs, 0):
        return rhs
    if is_splat(rhs, _all_ones(op)):
        return lhs
    return rewriter.splat(_zero(op), op.type) if _are_inverse(lhs, rhs) else None


@pattern(ops.bitwise_or)
def bitwise_or(op: Op, rewriter: Rewriter) -> Op | None:
    """``x | 0`` is ``x``, ``x | ~0`` is ~0, ``x | ~x`` is ~0."""
    lhs, rhs = op.operands
    if is_splat(rhs, 0):
        return lhs
    if is_splat(rhs, _all_ones(op)):
        return rhs
    if _are_inverse(lhs, rhs) and not is_lifted(_all_ones(op), dtype_of(op)):
        return rewriter.splat(_all_ones(op), op.type)
    return None


@pattern(ops.bitwise_xor)
def bitwise_xor(op: Op, rewriter: Rewriter) -> Op | None:
    """``x ^ 0`` is ``x``, ``x ^ ~0`` is ``~x``, ``x ^ x`` is 0."""
    lhs, rhs = op.operands
    if is_splat(rhs, 0):
        return lhs
    if is_splat(rhs, _all_ones(op)):
        return rewriter.create(ops.bitwise_invert, [lhs])
    return rewriter.splat(_zero(op), op.type) if lhs is rhs else None


def _are_inverse(lhs: Op, rhs: Op) -> bool:
    return any(
        a.primitive is ops.bitwise_invert and a.operands[0] is b
        for a, b in ((lhs, rhs), (rhs, lhs))
    )


def _zero(op: Op) -> Any:
    return False if dtype_of(op).kind == "bool" else 0


@pattern(ops.left_shift, ops.right_shift)
def shift(op: Op, rewriter: Rewriter) -> Op | None:
    """A shift by 0 is its operand, a shift of 0 is 0, a shift out of the width is 0."""
    lhs, rhs = op.operands
    if is_splat(rhs, 0) or is_splat(lhs, 0):
        return lhs
    constant = splat_of(rhs)
    if constant is None or 0 <= constant.attributes[0] < 8 * dtype_of(op).size:
        return None
    if op.primitive is ops.left_shift or dtype_of(op).kind == "unsigned":
        return rewriter.splat(0, op.type)
    return None


# Comparisons and selection


@pattern(ops.equal, ops.not_equal, ops.less, ops.less_equal, ops.greater, ops.greater_equal)
def comparison_with_itself(op: Op, rewriter: Rewriter) -> Op | None:
    """``x < x`` is False; ``x <= x`` and ``x == x`` are True where nothing is NaN."""
    lhs, rhs = op.operands
    if lhs is not rhs:
        return None
    if op.primitive in (ops.less, ops.greater):
        return rewriter.splat(False, op.type)
    if not _is_exact(lhs):
        return None
    return rewriter.splat(op.primitive is not ops.not_equal, op.type)


@pattern(ops.equal, ops.not_equal)
def comparison_with_truth(op: Op, rewriter: Rewriter) -> Op | None:
    """``x == True`` is ``x``, ``x == False`` is ``not x``."""
    lhs, rhs = op.operands
    constant = splat_of(rhs)
    if constant is None or dtype_of(lhs).kind != "bool":
        return None
    if constant.attributes[0] == (op.primitive is ops.equal):
        return lhs
    return rewriter.create(ops.bitwise_invert, [lhs])


@pattern(ops.select)
def select(op: Op, rewriter: Rewriter) -> Op | None:
    """Selection by a constant, of equal values, of truth values, or by a condition known above."""
    condition, on_true, on_false = op.operands
    constant = splat_of(condition)
    if constant is not None:
        return on_true if constant.attributes[0] else on_false
    if on_true is on_false:
        return on_true
    if condition.primitive is ops.bitwise_invert:
        return rewriter.create(ops.select, [condition.operands[0], on_false, on_true])
    if on_true.primitive is ops.select and on_true.operands[0] is condition:
        return rewriter.create(ops.select, [condition, on_true.operands[1], on_false])
    if on_false.primitive is ops.select and on_false.operands[0] is condition:
        return rewriter.create(ops.select, [condition, on_true, on_false.operands[2]])
    if dtype_of(op).kind == "bool":
        if is_splat(on_true, True) and is_splat(on_false, False):
            return condition
        if is_splat(on_true, False) and is_splat(on_false, True):
            return rewriter.create(ops.bitwise_invert, [condition])
    return None
