"""Casts that disappear without changing a bit. A cast that rounds or wraps is never dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialects import ops
from ...dialects.dtypes import DType, bfloat16, float16, float32, float64
from .rewriter import Rewriter, dtype_of, pattern, splat_of

if TYPE_CHECKING:
    from .dataflow import Op

_PRECISION = {float16: 11, bfloat16: 8, float32: 24, float64: 53}
"""Bits of the significand: integers of that many bits are exact."""


def is_lossless(source: DType, target: DType) -> bool:
    """True if every value of ``source`` is a value of ``target``, so that casting keeps it."""
    if source is target or source.kind == "bool":
        return True
    if target.kind == "complex":
        return is_lossless(source, float32)
    if target.kind == "bool":
        return False
    if source.is_integer:
        bits = 8 * source.size - (source.kind == "signed")
        if target.kind == "floating":
            return bits <= _PRECISION[target]
        if source.kind == "signed" and target.kind == "unsigned":
            return False
        return bits <= 8 * target.size - (target.kind == "signed")
    if source.kind == "floating" and target.kind == "floating":
        return target is float64 or (target is float32 and source is not float64)
    return False


def _composes(source: DType, middle: DType, target: DType) -> bool:
    """True if casting by way of ``middle`` gives what casting directly gives, for all values."""
    if source.is_integer and target.is_integer:
        if middle.is_integer:
            # Both are the value modulo the width, once the middle keeps that many bits.
            return is_lossless(source, middle) or target.size <= middle.size
        # A float saturates where an integer would wrap.
        return is_lossless(source, middle) and is_lossless(source, target)
    if source.is_integer and target in (float16, bfloat16) and not is_lossless(source, float32):
        # Directly, such integers round to f32 first.
        return False
    return is_lossless(source, middle)


@pattern(ops.cast)
def cast_of_cast(op: Op, rewriter: Rewriter) -> Op | None:
    """A cast to the same dtype is its operand; two casts become one where that is exact."""
    (inner,) = op.operands
    target = dtype_of(op)
    if dtype_of(inner) is target:
        return inner
    if inner.primitive is ops.cast:
        (operand,) = inner.operands
        if _composes(dtype_of(operand), dtype_of(inner), target):
            return rewriter.create(ops.cast, [operand], (target,))
    return None


@pattern(ops.bitcast)
def bitcast_of_bitcast(op: Op, rewriter: Rewriter) -> Op | None:
    """Bits seen twice are seen once; seen as what they are, they are the operand."""
    (inner,) = op.operands
    if dtype_of(inner) is dtype_of(op):
        return inner
    if inner.primitive is ops.bitcast:
        return rewriter.create(ops.bitcast, inner.operands, op.attributes)
    return None


@pattern(ops.equal, ops.not_equal)
def truth_of_cast(op: Op, rewriter: Rewriter) -> Op | None:
    """A bool cast to a number and compared with 0 is that bool, or its inverse."""
    lhs, rhs = op.operands
    constant = splat_of(rhs)
    if lhs.primitive is not ops.cast or constant is None or constant.attributes[0] != 0:
        return None
    (truth,) = lhs.operands
    if dtype_of(truth).kind != "bool":
        return None
    return truth if op.primitive is ops.not_equal else rewriter.create(ops.bitwise_invert, [truth])
