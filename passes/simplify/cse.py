"""The ``cse`` pass: equal ops on equal operands become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dialects import ops
from ...dialects.program import encode
from ..registry import register

if TYPE_CHECKING:
    from mlir import ir

    from .dataflow import Op


@register("cse", "Merges ops of the array dialect that compute the same.")
def cse(op: ir.Operation) -> None:
    """Merges equal ops within each block, in one sweep.

    Ops are equal if their names, operands and attributes are; the operands of commutative ops in
    any order. ``empty`` arrays stay apart, since each is to be written to.
    """
    from .dataflow import Dataflow, functions

    for function in functions(op.operation):
        flow = Dataflow(function)
        for block in flow.blocks:
            known: dict[Any, Op] = {}
            for current in block:
                key = _key(current)
                if key is None:
                    continue
                first = known.setdefault(key, current)
                if first is not current:
                    flow.replace(current, first)
                    flow.erase(current)
        flow.write()


def _key(op: Op) -> Any:
    """What equal ops share; None for an op that is not to be merged."""
    primitive = op.primitive
    if primitive is None or primitive is ops.empty:
        return None
    if primitive is ops.constant:
        # As bytes: 0.0 and -0.0 are equal in Python, NaN is not.
        return encode(op.attributes), op.literal
    operands = op.operands
    if "commutative" in primitive.traits:
        operands = sorted(operands, key=id)
    return primitive, tuple(operands), op.attributes
