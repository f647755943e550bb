"""Reductions and scans whose result is known, or that other reductions already do.

A sum of floats is never taken apart or put together: its bits depend on its order.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ...dialects import ops
from ...dialects.program import is_lifted
from .rewriter import Rewriter, dtype_of, pattern, shape_of, splat_of

if TYPE_CHECKING:
    from .dataflow import Op

REDUCTIONS = (
    ops.reduce_sum, ops.reduce_prod, ops.reduce_max, ops.reduce_min, ops.reduce_and, ops.reduce_or,
)  # fmt: skip
IDEMPOTENT = (ops.reduce_max, ops.reduce_min, ops.reduce_and, ops.reduce_or)
IDENTITY: dict[Any, int] = {
    ops.reduce_sum: 0, ops.reduce_prod: 1, ops.reduce_and: 1, ops.reduce_or: 0,
}  # fmt: skip


def _number(value: int, op: Op) -> Any:
    """A small integer as a number of the op's dtype."""
    kind = dtype_of(op).kind
    return {"bool": bool, "floating": float, "complex": complex}.get(kind, int)(value)


@pattern(*REDUCTIONS)
def trivial_axes(op: Op, rewriter: Rewriter) -> Op | None:
    """Axes of size 1 need no reduction; without any other the operand is the result."""
    assert op.primitive is not None
    (operand,) = op.operands
    axes = op.attributes[0]
    kept = tuple(axis for axis in axes if shape_of(operand)[axis] != 1)
    if not kept:
        return operand
    return rewriter.create(op.primitive, [operand], (kept,)) if kept != axes else None


@pattern(*REDUCTIONS)
def empty_axes(op: Op, rewriter: Rewriter) -> Op | None:
    """A reduction of no elements is its identity."""
    (operand,) = op.operands
    if prod(shape_of(operand)) == 0 and op.primitive in IDENTITY and dtype_of(op).kind != "complex":
        return rewriter.splat(_number(IDENTITY[op.primitive], op), op.type)
    return None


@pattern(*REDUCTIONS)
def reduction_of_splat(op: Op, rewriter: Rewriter) -> Op | None:
    """Extremes of a constant are the constant; integer sums multiply it, products raise it."""
    (operand,) = op.operands
    constant = splat_of(operand)
    if constant is None or prod(shape_of(operand)) == 0:
        return None
    value = constant.attributes[0]
    if op.primitive in IDEMPOTENT:
        return rewriter.splat(value, op.type)
    dtype = dtype_of(op)
    if not dtype.is_integer:
        return None
    count = prod(shape_of(operand)[axis] for axis in op.attributes[0])
    modulus = 1 << 8 * dtype.size
    result = value * count % modulus
    if op.primitive is ops.reduce_prod:
        result = pow(value, count, modulus)
    if dtype.kind == "signed" and result >= modulus // 2:
        result -= modulus
    return None if is_lifted(result, dtype) else rewriter.splat(result, op.type)


@pattern(*REDUCTIONS)
def reduction_of_reduction(op: Op, rewriter: Rewriter) -> Op | None:
    """Two reductions of one kind are one over the axes of both, but for float sums."""
    assert op.primitive is not None
    (inner,) = op.operands
    if inner.primitive is not op.primitive or inner.single_user is not op:
        return None
    if op.primitive not in IDEMPOTENT and not dtype_of(op).is_integer:
        return None
    axes = tuple(sorted({*inner.attributes[0], *op.attributes[0]}))
    return rewriter.create(op.primitive, inner.operands, (axes,))


@pattern(*IDEMPOTENT)
def extreme_of_broadcast(op: Op, rewriter: Rewriter) -> Op | None:
    """The largest of repeated values needs no repetition."""
    assert op.primitive is not None
    (inner,) = op.operands
    if inner.primitive is not ops.broadcast or prod(shape_of(inner)) == 0:
        return None
    (source,) = inner.operands
    axes = op.attributes[0]
    old, new = shape_of(source), shape_of(inner)
    if all(old[axis] == new[axis] for axis in axes):
        return None
    shape = tuple(old[i] if i in axes else extent for i, extent in enumerate(new))
    repeated = source if shape == old else rewriter.create(ops.broadcast, [source], (shape,))
    return rewriter.create(op.primitive, [repeated], (axes,))


@pattern(ops.argmax, ops.argmin)
def position_in_one(op: Op, rewriter: Rewriter) -> Op | None:
    """Along an axis of size 1, and among equals, the first position is 0."""
    (operand,) = op.operands
    if shape_of(operand)[op.attributes[0]] == 1 or splat_of(operand) is not None:
        return rewriter.splat(0, op.type)
    return None


@pattern(ops.cumsum, ops.cumprod, ops.cummax, ops.cummin)
def scan_of_one(op: Op, rewriter: Rewriter) -> Op | None:
    """An inclusive scan along an axis of size 1 is its operand."""
    (operand,) = op.operands
    axis, _, inclusive = op.attributes
    return operand if inclusive and shape_of(operand)[axis] == 1 else None


@pattern(ops.matmul)
def empty_product(op: Op, rewriter: Rewriter) -> Op | None:
    """A product over no elements is 0."""
    if shape_of(op.operands[0])[-1] == 0 and dtype_of(op).kind != "complex":
        return rewriter.splat(_number(0, op), op.type)
    return None
