"""The ``dce`` pass: ops whose results nothing needs are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..registry import register
from .cse import PURE

if TYPE_CHECKING:
    from mlir import ir

    from .dataflow import Op


@register("dce", "Drops ops of the array dialect whose results nothing needs.")
def dce(op: ir.Operation) -> None:
    """Drops dead ops, and those that only dead ops used, in one sweep."""
    from .dataflow import Dataflow, functions

    for function in functions(op.operation):
        flow = Dataflow(function)
        worklist = [current for current in flow.ops() if _is_dead(current)]
        while worklist:
            current = worklist.pop()
            if current.is_alive and _is_dead(current):
                for operand in flow.erase(current):
                    worklist.append(operand.definition or operand)
        flow.write()


def _is_dead(op: Op) -> bool:
    if op.primitive is not None:
        return not op.users
    operation = op.operation
    if operation is None or operation.name not in PURE:
        return False
    return not any(result.users for result in op.results)
