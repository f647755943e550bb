"""The ``array`` dialect in MLIR: the process's context, and programs to modules and back.

MLIR is loaded only to compile: nothing that runs a cached program imports this module.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mlir import ir
from mlir._mlir_libs import _mlir

from ..errors import VerificationError
from . import encoding, irdl, ops
from .dtypes import DType
from .primitive import TABLE, Attributes, Primitive
from .program import Instruction, Program, encode, is_lifted

LITERAL = "literal"
"""The attribute of an ``array.constant`` that is an operand of the machine code: its slot in the
program's literals, in order. Passes treat a constant that has it as an unknown value."""

MLIRError: Any = ir.MLIRError  # pyright: ignore[reportAttributeAccessIssue]  (not in the stubs)
"""What MLIR raises, with its diagnostics."""

lock = threading.RLock()
"""Held while MLIR is used; never while user code is traced."""

_context: ir.Context | None = None

_CURRENT = "see current operation: "

PRIMITIVES: dict[str, Primitive] = {
    irdl.op_name(primitive, 0): primitive
    for primitive in TABLE.values()
    if not primitive.is_variadic
}
"""Every primitive by the name of its op, such as ``"array.add"``; variadic ones as they are met."""
_VARIADIC = {name: primitive for name, primitive in TABLE.items() if primitive.is_variadic}
_OP_NAMES = {primitive: name for name, primitive in PRIMITIVES.items()}
_MAXIMUM_OPERANDS = 100_000


def context() -> ir.Context:
    """The process's one context, with the ``array`` dialect loaded and threading off."""
    global _context
    with lock:
        if _context is None:
            _mlir.globals.append_dialect_search_prefix(str(__package__))
            created = ir.Context()
            # Each context otherwise keeps a pool of threads of LLVM's.
            created.enable_multithreading(False)
            with created, ir.Location.unknown():
                _load(irdl.definition())
            _context = created
        return _context


@contextmanager
def session() -> Iterator[ir.Context]:
    """Takes MLIR's lock and makes the context and an unknown location current."""
    with lock, context(), ir.Location.unknown():
        yield context()


def op_name(primitive: Primitive, operands: int = 0) -> str:
    """The name of a primitive's op, such as ``"array.add"``.

    A variadic primitive has one op for each number of operands, declared here when it is first
    asked for: ``"array.concatenate_3"``.
    """
    known = _OP_NAMES.get(primitive)
    if known is not None:
        return known
    name = irdl.op_name(primitive, operands)
    if name not in PRIMITIVES:
        with session():
            _load(irdl.variadic_definition(primitive, operands))
        PRIMITIVES[name] = primitive
    return name


def _load(definition: str) -> None:
    from mlir.dialects import irdl as bindings

    module = ir.Module.parse(definition)
    bindings.load_dialects(module)  # pyright: ignore[reportAttributeAccessIssue]  (not in the stubs)


def _declare_variadic(text: str) -> None:
    """Declares the variadic ops, with as many operands, that a text names."""
    pattern = rf"\b{irdl.NAMESPACE}\.({'|'.join(_VARIADIC)})_(\d{{1,6}})\b"
    for name, count in set(re.findall(pattern, text)):
        if int(count) <= _MAXIMUM_OPERANDS and str(int(count)) == count:
            op_name(_VARIADIC[name], int(count))


def parse(text: str) -> ir.Module:
    """The verified module that a text describes.

    Raises:
        VerificationError: if the text does not parse or breaks a rule of the dialect.
    """
    with session():
        _declare_variadic(text)
        try:
            module = ir.Module.parse(text)
        except MLIRError as error:
            raise VerificationError(diagnostics(error)) from None
        verify(module.operation)
        return module


def diagnostics(error: Any) -> str:
    """The diagnostics of an MLIR error, one a line, as ``file:line:column: message``."""
    lines: list[str] = []
    for diagnostic in error.error_diagnostics:
        message, notes = diagnostic.message, list(diagnostic.notes)
        if notes and notes[0].message.startswith(_CURRENT):
            # IRDL's messages do not say which op they are about, but for this note.
            named = re.search(r'"([\w.]+)"\(', notes.pop(0).message)
            if named is not None and named[1] not in message:
                message = f"{named[1]}: {message}"
        lines.append(f"{encoding.describe_location(diagnostic.location)}: {message}")
        lines += [
            f"{encoding.describe_location(note.location)}: note: {note.message}" for note in notes
        ]
    return "\n".join(lines) or str(error)


def verify(op: ir.Operation) -> None:
    """Checks an op and all within it; see :func:`lamina.dialects.verifier.verify`."""
    from . import verifier

    verifier.verify(op)


def to_mlir(program: Program, name: str = "main") -> ir.Module:
    """The module with a public function ``name`` that computes the program.

    Lifted constants carry their slot in the program's literals as ``literal``.
    """
    with session():
        module = ir.Module.create()
        build_function(module, program, name)
        return module


def build_function(
    module: ir.Module, program: Program, name: str, visibility: str | None = None
) -> ir.Operation:
    """Appends the function that computes a program to a module and returns it."""
    with session(), ir.InsertionPoint(module.body):
        inputs = [encoding.tensor_type(type_) for type_ in program.inputs]
        outputs = [encoding.tensor_type(program.type_of(value)) for value in program.outputs]
        attributes: dict[str, Any] = {
            "sym_name": ir.StringAttr.get(name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, outputs)),
        }
        if visibility is not None:
            attributes["sym_visibility"] = ir.StringAttr.get(visibility)
        function = ir.Operation.create("func.func", attributes=attributes, regions=1)
        unknown = ir.Location.unknown()
        block = ir.Block.create_at_start(function.regions[0], inputs, [unknown] * len(inputs))
        _build_body(block, program)
        return function


def _build_body(block: ir.Block, program: Program) -> None:
    create, point, names = ir.Operation.create, ir.InsertionPoint(block), _OP_NAMES
    tensor_type, encode_location = encoding.tensor_type, encoding.encode_location
    encoded: dict[tuple[Primitive, Attributes], dict[str, ir.Attribute]] = {}
    values: list[ir.Value] = list(block.arguments)
    locations = program.locations or [None] * len(program.instructions)
    literals = 0
    for instruction, place in zip(program.instructions, locations, strict=True):
        primitive, operands, attributes, type_ = instruction
        if primitive is ops.constant:
            # Not kept for reuse: 0.0 and -0.0 are equal keys.
            named = encoding.encode_attributes(primitive, attributes)
            if is_lifted(*attributes):
                named[LITERAL] = encoding.encode_attribute("int", literals)
                literals += 1
        else:
            key = (primitive, attributes)
            known = encoded.get(key)
            if known is None:
                known = encoded[key] = encoding.encode_attributes(primitive, attributes)
            named = known
        op = create(
            names.get(primitive) or op_name(primitive, len(operands)),
            [tensor_type(type_)],
            [values[operand] for operand in operands],
            named,
            None,
            0,
            encode_location(place),
            point,
        )
        values.append(op.result)
    returned = [values[value] for value in program.outputs]
    create("func.return", [], returned, ip=point)


def from_mlir(function: ir.Operation) -> Program:
    """The program of a function whose one block holds primitives only.

    Raises:
        VerificationError: for a function with control flow, or an op that is not a primitive.
    """
    with session():
        region = function.regions[0]
        if len(region.blocks) != 1:
            raise VerificationError(f"expected one block, got {len(region.blocks)}")
        block = region.blocks[0]
        numbers: dict[ir.Value, int] = {}
        for argument in block.arguments:
            numbers[argument] = len(numbers)
        inputs = tuple(encoding.decode_type(argument.type) for argument in block.arguments)
        instructions: list[Instruction] = []
        locations: list[encoding.Place | None] = []
        outputs: tuple[int, ...] = ()
        for view in block.operations:
            op = view.operation
            operands = tuple([numbers[operand] for operand in op.operands])
            if op.name == "func.return":
                outputs = operands
                continue
            primitive = PRIMITIVES.get(op.name)
            if primitive is None:
                place = encoding.describe_location(op.location)
                raise VerificationError(f"{place}: {op.name} is not a primitive")
            result = op.result
            attributes = encoding.decode_attributes(primitive, op.attributes)
            type_ = encoding.decode_type(result.type)
            instructions.append(Instruction(primitive, operands, attributes, type_))
            locations.append(encoding.decode_location(op.location))
            numbers[result] = len(numbers)
        return Program(inputs, instructions, outputs, locations)


def literal_slots(function: ir.Operation) -> dict[bytes, int]:
    """The slots of a function's lifted constants, by ``encode(attributes)`` of the instruction.

    Passes may have dropped or moved some, so that :meth:`Program.literals` of the function numbers
    them differently.
    """
    return {encode((value, dtype)): slot for slot, value, dtype in literals(function)}


def literals(function: ir.Operation) -> list[tuple[int, Any, DType]]:
    """The ``(slot, value, dtype)`` of a function's lifted constants, in order."""
    found: list[tuple[int, Any, DType]] = []
    with session():
        for block in function.regions[0].blocks:
            for view in block.operations:
                op = view.operation
                if op.name == _OP_NAMES[ops.constant] and LITERAL in op.attributes:
                    attributes = encoding.decode_attributes(ops.constant, op.attributes)
                    slot = ir.IntegerAttr(op.attributes[LITERAL]).value
                    found.append((slot, *attributes))
    return found
