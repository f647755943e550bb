"""The ``dce`` pass: ops whose results nothing needs are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..registry import register

if TYPE_CHECKING:
    from mlir import ir


@register("dce", "Drops ops of the array dialect whose results nothing needs.")
def dce(op: ir.Operation) -> None:
    """Drops dead ops, and those that only dead ops used, in one sweep."""
    from .dataflow import Dataflow, functions

    for function in functions(op.operation):
        flow = Dataflow(function)
        worklist = list(flow.ops())
        while worklist:
            current = worklist.pop()
            if current.primitive is not None and current.is_alive and not current.users:
                worklist.extend(flow.erase(current))
        flow.write()
