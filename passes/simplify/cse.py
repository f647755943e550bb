"""The ``cse`` pass: equal ops on equal operands become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dialects import irdl, ops
from ...dialects.program import encode
from ..registry import register

if TYPE_CHECKING:
    from mlir import ir

    from .dataflow import Op

PURE = frozenset(f"{irdl.NAMESPACE}.{op.name}" for op in irdl.STRUCTURAL.values() if op.is_pure)
"""Ops that are not primitives and that only compute their results."""


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
                    values, results = ([current], [first])
                    if current.primitive is None:
                        values, results = current.results, first.results
                    for value, result in zip(values, results, strict=True):
                        flow.replace(value, result)
                    flow.erase(current)
        flow.write()


def _key(op: Op) -> Any:
    """What equal ops share; None for an op that is not to be merged."""
    primitive = op.primitive
    if primitive is None:
        return _structural_key(op)
    if primitive is ops.empty:
        return None
    if primitive is ops.constant:
        # As bytes: 0.0 and -0.0 are equal in Python, NaN is not.
        return encode(op.attributes), op.literal
    operands = op.operands
    if "commutative" in primitive.traits:
        operands = sorted(operands, key=id)
    return primitive, tuple(operands), op.attributes


def _structural_key(op: Op) -> Any:
    operation = op.operation
    if operation is None or operation.name not in PURE:
        return None
    attributes = operation.attributes
    named = frozenset((name, attributes[name]) for name in attributes)
    types = tuple(result.type for result in operation.results)
    return operation.name, tuple(op.current_operands()), named, types
