"""The ``plan-buffers`` pass: which buffer every value of a fused function lives in.

A buffer is named by text: ``input0``, ``output1``, ``literal+8`` and ``workspace+4096`` (offsets
are bytes). Each call gets ``reads`` and ``writes``; the function gets ``workspace``, the bytes of
scratch memory a call of it needs, and ``results``, where each returned value lies.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from ..dialects import encoding
from ..dialects.mlir import LITERAL
from ..errors import PassError
from .registry import register

ALIGNMENT = 64


@register("plan-buffers", "Gives every value a buffer: an argument, a result, or workspace.")
def plan_buffers(module: ir.Operation) -> None:
    """Annotates every public function; needs ``fuse`` to have run."""
    for view in module.regions[0].blocks[0].operations:
        op = view.operation
        if op.name == "func.func" and "sym_visibility" not in op.attributes:
            _Planner(module, op).run()


@dataclass(slots=True)
class _Storage:
    """A buffer that several values share: reshapes of it, and updates in place."""

    nbytes: int
    name: str | None = None
    first: int = 0
    last: int = 0


class _Planner:
    def __init__(self, module: ir.Operation, function: ir.Operation) -> None:
        self.function = function
        self.symbols = ir.SymbolTable(module)
        self.storage: dict[ir.Value, _Storage] = {}
        self.updates: dict[str, dict[int, int]] = {}

    def run(self) -> None:
        """Assigns storage, names it, and writes the names down."""
        block = self.function.regions[0].blocks[0]
        steps = [view.operation for view in block.operations]
        for number, argument in enumerate(block.arguments):
            self._define(argument, 0).name = f"input{number}"
        for step, op in enumerate(steps):
            self._visit(op, step)
        self._name_results(steps[-1])
        size = self._place_workspace()
        for op in steps:
            if op.name == "func.call":
                op.attributes["reads"] = self._names(op.operands)
                op.attributes["writes"] = self._names(op.results)
        self.function.attributes["results"] = self._names(steps[-1].operands)
        self.function.attributes["workspace"] = encoding.encode_attribute("int", size)

    def _define(self, value: ir.Value, step: int) -> _Storage:
        storage = _Storage(encoding.decode_type(value.type).nbytes, None, step, step)
        self.storage[value] = storage
        return storage

    def _share(self, value: ir.Value, owner: ir.Value) -> None:
        self.storage[value] = self.storage[owner]

    def _visit(self, op: ir.Operation, step: int) -> None:
        for operand in op.operands:
            self.storage[operand].last = step
        if op.name == "func.call":
            updated = self._updated(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
            for number, result in enumerate(op.results):
                if number in updated:
                    self._share(result, op.operands[updated[number]])
                else:
                    self._define(result, step)
        elif op.name == "array.reshape":
            self._share(op.results[0], op.operands[0])
        elif op.name == "array.constant":
            slot = ir.IntegerAttr(op.attributes[LITERAL]).value
            self._define(op.results[0], step).name = f"literal+{8 * slot}"
        elif op.name == "array.empty":
            self._define(op.results[0], step)
        elif op.name != "func.return":
            raise PassError(f"plan-buffers: {op.name} is not a part of a fused function")

    def _updated(self, symbol: str) -> dict[int, int]:
        """For a body, which of its results are which of its operands, updated in place."""
        known = self.updates.get(symbol)
        if known is None:
            known = self.updates[symbol] = {}
            block = self.symbols[symbol].operation.regions[0].blocks[0]
            arguments = {argument: i for i, argument in enumerate(block.arguments)}
            returned = list(block.operations)[-1].operation.operands
            for number, value in enumerate(returned):
                if isinstance(value.owner, ir.Block):
                    continue
                owner = value.owner.operation
                if owner.name == "array.slice_update":
                    known[number] = arguments[_source(owner.operands[0])]
        return known

    def _name_results(self, returned: ir.Operation) -> None:
        """Storage that the caller gets becomes an output."""
        for number, value in enumerate(returned.operands):
            storage = self.storage[value]
            if storage.name is None:
                storage.name = f"output{number}"

    def _place_workspace(self) -> int:
        """Gives the rest offsets, first fit among what is alive at once; returns the size."""
        waiting = {id(s): s for s in self.storage.values() if s.name is None}
        live: list[tuple[int, int, int]] = []
        size = 0
        for storage in sorted(waiting.values(), key=lambda s: s.first):
            live = sorted(entry for entry in live if entry[2] >= storage.first)
            wanted = -(-max(storage.nbytes, 1) // ALIGNMENT) * ALIGNMENT
            offset = 0
            for start, stop, _ in live:
                if start - offset >= wanted:
                    break
                offset = max(offset, stop)
            storage.name = f"workspace+{offset}"
            live.append((offset, offset + wanted, storage.last))
            size = max(size, offset + wanted)
        return size

    def _names(self, values: ir.OpOperandList) -> ir.Attribute:
        names = [self.storage[value].name or "" for value in values]
        return ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])


def _source(value: ir.Value) -> ir.Value:
    """The value behind reshapes of a whole buffer."""
    while not isinstance(value.owner, ir.Block):
        value = value.owner.operation.operands[0]
    return value
