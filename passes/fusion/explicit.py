"""Ops that no kernel computes as they stand, in terms of ops that one does.

Pads and concatenations become updates of fresh buffers, so that their pieces are written in place.
Products of short floats are taken in f32 and rounded once, complex ones by their parts, and those
of integers, which wrap, by multiplying and adding.
"""

from __future__ import annotations

from math import prod

from ...dialects import dtypes, ops
from ...dialects.primitive import Attributes, Primitive, Shape, TensorType
from ...dialects.program import Instruction, Place, Program, ProgramBuilder


def make_explicit(program: Program) -> Program:
    """The same program with pads and concatenations as updates of fresh buffers.

    Every update then writes a buffer that nothing else reads: a fresh one, the result of another
    update that is used once, or a computed value that is used once.
    """
    builder = ProgramBuilder(program.inputs)
    counts: dict[int, int] = {}
    for instruction in program.instructions:
        for operand in instruction.operands:
            counts[operand] = counts.get(operand, 0) + 1
    for value in program.outputs:
        counts[value] = counts.get(value, 0) + 1
    explicit = _Explicit(builder, counts, len(program.inputs))
    numbers = list(range(len(program.inputs)))
    locations = program.locations or [None] * len(program.instructions)
    for instruction, place in zip(program.instructions, locations, strict=True):
        operands = tuple(numbers[operand] for operand in instruction.operands)
        numbers.append(explicit.add(program, instruction, operands, place))
    return builder.finish([numbers[value] for value in program.outputs])


class _Explicit:
    def __init__(self, builder: ProgramBuilder, counts: dict[int, int], first: int) -> None:
        self.builder = builder
        self.counts = counts
        self.first = first
        self.fresh = 0

    def add(
        self,
        program: Program,
        instruction: Instruction,
        operands: tuple[int, ...],
        place: Place | None,
    ) -> int:
        primitive, _, attributes, type_ = instruction
        if primitive is ops.concatenate:
            return self._concatenate(program, instruction, operands, place)
        if primitive is ops.pad:
            return self._pad(program, instruction, operands, place)
        if primitive is ops.slice_update and not self._may_overwrite(program, instruction):
            shape = program.type_of(instruction.operands[0]).shape
            target = self._update(self._empty(type_), operands[0], type_, (0,) * len(shape), place)
            return self.builder.add(primitive, (target, operands[1]), attributes, type_, place)
        if primitive is ops.matmul and type_.dtype.name not in ("float32", "float64"):
            types = [program.type_of(operand) for operand in instruction.operands]
            return _Product(self.builder, types, type_, place).add(operands)
        return self.builder.add(primitive, operands, attributes, type_, place)

    def _may_overwrite(self, program: Program, instruction: Instruction) -> bool:
        target = instruction.operands[0]
        if target < self.first or self.counts[target] != 1:
            return False
        kind = program.instructions[target - self.first].primitive.kind
        return kind not in ("view", "creation")

    def _empty(self, type_: TensorType) -> int:
        # Two buffers are never one, so each is recorded past the merging of equal work.
        self.fresh += 1
        return self.builder.add(ops.empty, (), (type_.shape, type_.dtype), type_, unique=self.fresh)

    def _update(
        self, target: int, update: int, type_: TensorType, start: Shape, place: Place | None
    ) -> int:
        attributes = (start, (1,) * len(start))
        return self.builder.add(ops.slice_update, (target, update), attributes, type_, place)

    def _concatenate(
        self,
        program: Program,
        instruction: Instruction,
        operands: tuple[int, ...],
        place: Place | None,
    ) -> int:
        (axis,) = instruction.attributes
        result = self._empty(instruction.type)
        start = [0] * len(instruction.type.shape)
        for old, operand in zip(instruction.operands, operands, strict=True):
            shape = program.type_of(old).shape
            if prod(shape):
                result = self._update(result, operand, instruction.type, tuple(start), place)
            start[axis] += shape[axis]
        return result

    def _pad(
        self,
        program: Program,
        instruction: Instruction,
        operands: tuple[int, ...],
        place: Place | None,
    ) -> int:
        type_ = instruction.type
        low, _ = instruction.attributes
        ones = (1,) * len(type_.shape)
        value = self.builder.add(
            ops.reshape, (operands[1],), (ones,), TensorType(ones, type_.dtype), place
        )
        filled = self.builder.add(ops.broadcast, (value,), (type_.shape,), type_, place)
        result = self._empty(type_)
        if type_.size:
            result = self._update(result, filled, type_, (0,) * len(ones), place)
        if program.type_of(instruction.operands[0]).size:
            result = self._update(result, operands[0], type_, low, place)
        return result


class _Product:
    """A matrix product in terms of products of floats, or of integer ops."""

    def __init__(
        self,
        builder: ProgramBuilder,
        types: list[TensorType],
        type_: TensorType,
        place: Place | None,
    ) -> None:
        self.builder = builder
        self.types = types
        self.type = type_
        self.place = place

    def add(self, operands: tuple[int, ...]) -> int:
        """The value of the product."""
        if self.type.dtype.kind == "floating":
            wide = [
                self._op(ops.cast, (operand,), (dtypes.float32,), (type_.shape, dtypes.float32))
                for operand, type_ in zip(operands, self.types, strict=True)
            ]
            product = self._matmul(wide[0], wide[1])
            return self._op(ops.cast, (product,), (self.type.dtype,), self.type)
        if self.type.dtype.kind == "complex":
            return self._complex(operands)
        return self._integer(operands)

    def _op(
        self,
        primitive: Primitive,
        operands: tuple[int, ...],
        attributes: Attributes,
        type_: tuple[Shape, dtypes.DType],
    ) -> int:
        return self.builder.add(primitive, operands, attributes, TensorType(*type_), self.place)

    def _matmul(self, lhs: int, rhs: int) -> int:
        return self._op(ops.matmul, (lhs, rhs), (), (self.type.shape, dtypes.float32))

    def _complex(self, operands: tuple[int, ...]) -> int:
        parts = [
            [
                self._op(part, (operand,), (), (type_.shape, dtypes.float32))
                for part in (ops.real, ops.imag)
            ]
            for operand, type_ in zip(operands, self.types, strict=True)
        ]
        (a, b), (c, d) = parts
        type_ = (self.type.shape, dtypes.float32)
        real = (self._matmul(a, c), self._matmul(b, d))
        imaginary = (self._matmul(a, d), self._matmul(b, c))
        return self._op(
            ops.complex_,
            (self._op(ops.subtract, real, (), type_), self._op(ops.add, imaginary, (), type_)),
            (),
            self.type,
        )

    def _integer(self, operands: tuple[int, ...]) -> int:
        dtype = self.type.dtype
        (*batch, rows, depth), columns = self.types[0].shape, self.types[1].shape[-1]
        cube = (*batch, rows, depth, columns)
        shapes = ((*batch, rows, depth, 1), (*batch, 1, depth, columns))
        spread: list[int] = []
        for operand, shape in zip(operands, shapes, strict=True):
            taller = self._op(ops.reshape, (operand,), (shape,), (shape, dtype))
            spread.append(self._op(ops.broadcast, (taller,), (cube,), (cube, dtype)))
        products = self._op(ops.multiply, (spread[0], spread[1]), (), (cube, dtype))
        axis = len(cube) - 2
        flat = (*batch, rows, 1, columns)
        total = self._op(ops.reduce_sum, (products,), ((axis,),), (flat, dtype))
        return self._op(ops.reshape, (total,), (self.type.shape,), self.type)
