"""Programs: the canonical, MLIR-free form of a trace.

A program is a straight line of instructions over numbered values. Values ``0 .. len(inputs) - 1``
are the inputs; instruction ``i`` defines value ``len(inputs) + i``. Recording merges common work
(hash-consing) and keeps no dead work. The key of a program is equal in every process.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from . import ops
from .dtypes import DType
from .primitive import Attributes, Primitive, TensorType

SCHEMA_VERSION = 1
"""Raised whenever the meaning of a program's bytes changes."""

Place = tuple[str, int, str]
"""A user's ``(file, line, function)``."""


class Instruction(NamedTuple):
    """One op of a program: operands are value numbers."""

    primitive: Primitive
    operands: tuple[int, ...]
    attributes: Attributes
    type: TensorType


@dataclass(slots=True)
class Program:
    """A straight line of instructions.

    Attributes:
        inputs: the types of the inputs.
        instructions: the ops in order; operands refer to earlier values only.
        outputs: value numbers, in the order the caller expects; repeats and inputs are allowed.
        locations: for each instruction ``(file, line, function)`` of the user, or None; not a part
            of the key.
    """

    inputs: tuple[TensorType, ...]
    instructions: list[Instruction]
    outputs: tuple[int, ...]
    locations: list[Place | None] = field(default_factory=list)

    def type_of(self, value: int) -> TensorType:
        """The type of a value."""
        count = len(self.inputs)
        return self.inputs[value] if value < count else self.instructions[value - count].type

    def literals(self) -> list[tuple[int, Any, DType]]:
        """The lifted constants as ``(value number, value, dtype)``, in order.

        A lifted constant is an operand of the machine code, not a part of it, so another number
        needs no new code. Numbers that a rewrite could look at stay in the program.
        """
        count = len(self.inputs)
        return [
            (count + i, *instruction.attributes)
            for i, instruction in enumerate(self.instructions)
            if instruction.primitive is ops.constant and is_lifted(*instruction.attributes)
        ]

    def key(self) -> bytes:
        """A 32-byte digest of everything but locations and the values of lifted constants."""
        digest = hashlib.sha256(b"lamina program %d;" % SCHEMA_VERSION)
        for type_ in self.inputs:
            digest.update(encode(type_))
        for primitive, operands, attributes, _ in self.instructions:
            if primitive is ops.constant and is_lifted(*attributes):
                attributes = ("lifted", attributes[1])
            digest.update(encode((primitive.name, operands, attributes)))
        digest.update(encode(self.outputs))
        return digest.digest()


def is_lifted(value: Any, dtype: DType) -> bool:
    """True if a constant becomes an operand of the machine code rather than a part of it."""
    if dtype.kind == "bool":
        return False
    if dtype.kind == "complex":
        return True
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return value not in (0, 1, -1, 2)


def encode(value: Any) -> bytes:
    """Unambiguous bytes of an attribute value or a type, equal in every process."""
    if isinstance(value, TensorType):
        return b"t" + encode(value.dtype) + encode(value.shape)
    if isinstance(value, tuple):
        return b"(" + b"".join(map(encode, value)) + b")"
    if isinstance(value, DType):
        return b"d" + value.short.encode() + b";"
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        return b"i%d;" % value
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value)
    if isinstance(value, complex):
        return b"c" + struct.pack("<dd", value.real, value.imag)
    if isinstance(value, str):
        text = value.encode()
        return b"s%d:" % len(text) + text
    if value is None:
        return b"N"
    raise TypeError(f"not an attribute value: {value!r}")


def literal_bytes(program: Program) -> tuple[bytes, tuple[int, ...]]:
    """The lifted constants packed at 8-byte aligned offsets: the bytes, and each one's offset."""
    chunks: list[bytes] = []
    offsets: list[int] = []
    for position, (_, value, dtype) in enumerate(program.literals()):
        offsets.append(8 * position)
        chunks.append(scalar_bytes(value, dtype).ljust(8, b"\0"))
    return b"".join(chunks), tuple(offsets)


def scalar_bytes(value: Any, dtype: DType) -> bytes:
    """The little-endian bytes of one scalar."""
    return np.asarray(value).astype(dtype.numpy).tobytes()


class ProgramBuilder:
    """Records instructions, merging equal ones."""

    def __init__(self, inputs: tuple[TensorType, ...]) -> None:
        self.inputs = inputs
        self.instructions: list[Instruction] = []
        self.locations: list[Place | None] = []
        self._known: dict[Any, int] = {}

    def add(
        self,
        primitive: Primitive,
        operands: tuple[int, ...],
        attributes: Attributes,
        type_: TensorType,
        location: Place | None = None,
        unique: int = 0,
    ) -> int:
        """The value number of this op, an earlier equal one's if ``unique`` is equal too."""
        # Only the values of constants can be equal and yet differ: 0.0 and -0.0, 1 and True.
        named = encode(attributes) if primitive is ops.constant else attributes
        identity = (primitive, operands, named, unique)
        known = self._known.get(identity)
        if known is not None:
            return known
        number = len(self.inputs) + len(self.instructions)
        self.instructions.append(Instruction(primitive, operands, attributes, type_))
        self.locations.append(location)
        self._known[identity] = number
        return number

    def finish(self, outputs: Sequence[int]) -> Program:
        """The program with these outputs; what they do not need is dropped."""
        program = Program(self.inputs, self.instructions, tuple(outputs), self.locations)
        return without_dead_code(program)


def without_dead_code(program: Program) -> Program:
    """The same program without instructions that no output needs."""
    count = len(program.inputs)
    alive = [False] * len(program.instructions)
    for value in program.outputs:
        if value >= count:
            alive[value - count] = True
    for i in range(len(alive) - 1, -1, -1):
        if alive[i]:
            for operand in program.instructions[i].operands:
                if operand >= count:
                    alive[operand - count] = True
    if all(alive):
        return program
    renumbered = list(range(count))
    instructions: list[Instruction] = []
    locations: list[Place | None] = []
    for i, instruction in enumerate(program.instructions):
        renumbered.append(count + len(instructions))
        if alive[i]:
            operands = tuple(renumbered[operand] for operand in instruction.operands)
            instructions.append(instruction._replace(operands=operands))
            locations.append(program.locations[i] if program.locations else None)
    outputs = tuple(renumbered[value] for value in program.outputs)
    return Program(program.inputs, instructions, outputs, locations)
