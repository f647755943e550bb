"""The ``plan-buffers`` pass: which buffer every value of a fused function lives in.

Each call gets ``reads`` and ``writes``, the names of its buffers (see
:mod:`lamina.passes.storage`); the function gets ``workspace``, the bytes of scratch memory a call
of it needs, and ``results``, where each returned value lies.
"""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from ..dialects import encoding
from ..dialects.mlir import LITERAL, from_mlir
from ..errors import PassError
from .functions import public_functions
from .fusion.outline import updated_inputs
from .registry import register
from .storage import StoragePlan


@register("plan-buffers", "Gives every value a buffer: an argument, a result, or workspace.")
def plan_buffers(module: ir.Operation) -> None:
    """Annotates every public function; needs ``fuse`` to have run."""
    for function in public_functions(module):
        _Planner(module, function).run()


class _Planner:
    def __init__(self, module: ir.Operation, function: ir.Operation) -> None:
        self.function = function
        self.symbols = ir.SymbolTable(module)
        self.plan = StoragePlan()
        self.updates: dict[str, dict[int, int]] = {}

    def run(self) -> None:
        """Assigns storage and writes the names down."""
        block = self.function.regions[0].blocks[0]
        steps = [view.operation for view in block.operations]
        for number, argument in enumerate(block.arguments):
            self.plan.named(argument, f"input{number}")
        for step, op in enumerate(steps):
            self.plan.step = step
            self._visit(op)
        size = self.plan.finish(list(steps[-1].operands))
        for op in steps:
            if op.name == "func.call":
                op.attributes["reads"] = self._names(op.operands)
                op.attributes["writes"] = self._names(op.results)
        self.function.attributes["results"] = self._names(steps[-1].operands)
        self.function.attributes["workspace"] = encoding.encode_attribute("int", size)

    def _visit(self, op: ir.Operation) -> None:
        for operand in op.operands:
            self.plan.use(operand)
        if op.name == "func.call":
            updated = self._updated(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
            for number, result in enumerate(op.results):
                if number in updated:
                    self.plan.share(result, op.operands[updated[number]])
                else:
                    self.plan.define(result, encoding.decode_type(result.type).nbytes)
        elif op.name == "array.reshape":
            self.plan.share(op.results[0], op.operands[0])
        elif op.name == "array.constant":
            slot = ir.IntegerAttr(op.attributes[LITERAL]).value
            self.plan.named(op.results[0], f"literal+{8 * slot}")
        elif op.name == "array.empty":
            self.plan.define(op.results[0], encoding.decode_type(op.results[0].type).nbytes)
        elif op.name != "func.return":
            raise PassError(f"plan-buffers: {op.name} is not a part of a fused function")

    def _updated(self, symbol: str) -> dict[int, int]:
        known = self.updates.get(symbol)
        if known is None:
            body = from_mlir(self.symbols[symbol].operation)
            known = self.updates[symbol] = updated_inputs(body)
        return known

    def _names(self, values: Iterable[ir.Value]) -> ir.Attribute:
        names = [ir.StringAttr.get(self.plan.name(value)) for value in values]
        return ir.ArrayAttr.get(names)
