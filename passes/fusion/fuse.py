"""The ``fuse`` pass: groups of ops become outlined functions, called with the kind of fusion."""

from __future__ import annotations

from typing import Any

from mlir import ir

from ...dialects import encoding, ops
from ...dialects.mlir import LITERAL, build_function, from_mlir, literal_slots, op_name
from ...dialects.program import Instruction, Program, encode, is_lifted
from ..functions import public_functions, symbol_of
from ..registry import register
from .explicit import make_explicit
from .outline import FusionBody, body_of, kind_of
from .partition import Partition


@register("fuse", "Outlines groups of ops that become one kernel each.")
def fuse(module: ir.Operation) -> None:
    """Replaces each public function's ops by fusions; what is left are reshapes and buffers."""
    for function in public_functions(module):
        _Fuser(function).run()


class _Fuser:
    def __init__(self, function: ir.Operation) -> None:
        self.function = function
        self.name = symbol_of(function)
        self.program = make_explicit(from_mlir(function))
        self.partition = Partition(self.program)
        self.symbols: dict[bytes, str] = {}
        self.values: dict[int, ir.Value] = {}
        self.buffers: dict[int, ir.Value] = {}
        # Simplification may have dropped some literals, so their slots are not their order.
        slots = literal_slots(function)
        self.literals: dict[int, int] = {}
        for number, value, dtype in self.program.literals():
            free = max(slots.values(), default=-1) + 1
            self.literals[number] = slots.setdefault(encode((value, dtype)), free)

    def run(self) -> None:
        """Builds the function anew, with its fusions, in place of the old one."""
        inputs = [encoding.tensor_type(type_) for type_ in self.program.inputs]
        outputs = [
            encoding.tensor_type(self.program.type_of(value)) for value in self.program.outputs
        ]
        attributes = {
            "sym_name": self.function.attributes["sym_name"],
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, outputs)),
        }
        place = self.function.location
        new = ir.Operation.create(
            "func.func", attributes=attributes, regions=1, loc=place,
            ip=ir.InsertionPoint(self.function),
        )  # fmt: skip
        block = ir.Block.create_at_start(new.regions[0], inputs, [place] * len(inputs))
        self.values.update(enumerate(block.arguments))
        self.point = ir.InsertionPoint(block)
        bodies = [body_of(self.partition, group) for group in self.partition.ordered()]
        for body in bodies:
            self._fusion(body)
        returned = [self._value(value) for value in self.program.outputs]
        ir.Operation.create("func.return", operands=returned, loc=place, ip=self.point)
        self.function.erase()

    def _fusion(self, body: FusionBody) -> None:
        operands = [self._operand(value) for value in body.reads]
        results = [encoding.tensor_type(self.program.type_of(value)) for value in body.results]
        attributes = {
            "callee": ir.FlatSymbolRefAttr.get(self._symbol(body.program)),
            "kind": ir.StringAttr.get(kind_of(body.program)),
        }
        op = ir.Operation.create(
            "func.call", results=results, operands=operands, attributes=attributes,
            loc=self._location(body), ip=self.point,
        )  # fmt: skip
        self.values.update(zip(body.results, op.results, strict=True))

    def _symbol(self, body: Program) -> str:
        """The name of a body; equal bodies are outlined once."""
        key = body.key()
        known = self.symbols.get(key)
        if known is None:
            known = self.symbols[key] = f"{self.name}_fusion{len(self.symbols)}"
            owner = ir.Module.create()
            built = build_function(owner, body, known, "private")
            built.clone(ip=ir.InsertionPoint(self.function))
        return known

    def _location(self, body: FusionBody) -> Any:
        places = [self.program.locations[member] for member in body.members]
        locations = [encoding.encode_location(place) for place in dict.fromkeys(places)]
        return ir.Location.fused(locations) if len(locations) > 1 else locations[0]

    def _operand(self, value: int) -> ir.Value:
        """A buffer that a fusion reads: a value, a literal, or a fresh buffer."""
        instruction = self.partition.instruction(value)
        if instruction is not None and (
            instruction.primitive is ops.empty
            or (instruction.primitive is ops.constant and is_lifted(*instruction.attributes))
        ):
            return self._creation(value, instruction)
        return self._value(value)

    def _creation(self, value: int, instruction: Instruction) -> ir.Value:
        known = self.buffers.get(value)
        if known is None:
            attributes = encoding.encode_attributes(instruction.primitive, instruction.attributes)
            if value in self.literals:
                attributes[LITERAL] = encoding.encode_attribute("int", self.literals[value])
            known = self.buffers[value] = self._op(instruction, [], attributes)
        return known

    def _value(self, value: int) -> ir.Value:
        """A value of the new function; reshapes of whole buffers are made on demand."""
        known = self.values.get(value)
        if known is None:
            instruction = self.partition.instruction(value)
            assert instruction is not None
            assert instruction.primitive is ops.reshape
            operand = self._value(instruction.operands[0])
            attributes = encoding.encode_attributes(instruction.primitive, instruction.attributes)
            known = self.values[value] = self._op(instruction, [operand], attributes)
        return known

    def _op(
        self, instruction: Instruction, operands: list[ir.Value], attributes: dict[str, Any]
    ) -> ir.Value:
        created = ir.Operation.create(
            op_name(instruction.primitive), results=[encoding.tensor_type(instruction.type)],
            operands=operands, attributes=attributes, ip=self.point,
        )  # fmt: skip
        return created.results[0]
