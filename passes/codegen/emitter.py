"""Emits ``arith``, ``math`` and ``vector`` ops at MLIR's current insertion point."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from mlir import ir

Value = ir.Value

_CMPF = {
    name: number
    for number, name in enumerate(
        "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()
    )
}
_CMPI = {
    name: number for number, name in enumerate("eq ne slt sle sgt sge ult ule ugt uge".split())
}


class Emitter:
    """The compiler's implementation of :class:`~lamina.passes.scalars.Scalars`.

    Attributes:
        lanes: elements of the vectors that :meth:`constant` and :meth:`splat` make; 1 is a scalar.
    """

    def __init__(self) -> None:
        self.lanes = 1
        self.index_type = ir.IndexType.get()
        self._elements: dict[str, Any] = {
            "f16": ir.F16Type.get(), "f32": ir.F32Type.get(), "f64": ir.F64Type.get(),
            "index": self.index_type,
        }  # fmt: skip
        for width in (1, 8, 16, 32, 64):
            self._elements[f"i{width}"] = ir.IntegerType.get_signless(width)
        self._names = {type_: name for name, type_ in self._elements.items()}
        self._vectors: dict[tuple[str, int], Any] = {}
        self._i64 = self._elements["i64"]

    # Types

    def type(self, element: str, lanes: int | None = None) -> Any:
        """The type of a value with this element type and the current (or given) lanes."""
        count = self.lanes if lanes is None else lanes
        if count == 1:
            return self._elements[element]
        known = self._vectors.get((element, count))
        if known is None:
            known = ir.VectorType.get([count], self._elements[element])
            self._vectors[element, count] = known
            self._names[known] = element
        return known

    def element(self, value: Value) -> str:
        """The element type of a value."""
        return self._names[value.type]

    def lanes_of(self, value: Value) -> int:
        """How many lanes a value has."""
        return value.type.shape[0] if isinstance(value.type, ir.VectorType) else 1

    def _like(self, value: Value, element: str) -> Any:
        return self.type(element, self.lanes_of(value))

    # Ops

    def op(
        self, name: str, operands: Sequence[Value], result: Any, attributes: Any = None
    ) -> Value:
        """An op with one result."""
        created = ir.Operation.create(
            name, results=[result], operands=operands, attributes=attributes
        )
        return created.results[0]

    def effect(self, name: str, operands: Sequence[Value], attributes: Any = None) -> None:
        """An op without results."""
        ir.Operation.create(name, results=[], operands=operands, attributes=attributes)

    def _same(self, name: str, *operands: Value) -> Value:
        return self.op(name, operands, operands[0].type)

    def constant(self, value: float, element: str) -> Value:
        """A constant of the current lanes."""
        scalar = self._elements[element]
        if element in ("f16", "f32", "f64"):
            attribute: Any = _float_attribute(float(value), element, scalar)
        else:
            attribute = ir.IntegerAttr.get(scalar, _signed(int(value), element))
        if self.lanes > 1:
            type_ = self.type(element)
            attribute = ir.DenseElementsAttr.get_splat(type_, attribute)
            return self.op("arith.constant", [], type_, {"value": attribute})
        return self.op("arith.constant", [], scalar, {"value": attribute})

    def splat(self, value: Any) -> Any:
        """A scalar, or each part of a complex one, in every lane."""
        if isinstance(value, tuple):
            return tuple(self.splat(part) for part in value)
        if self.lanes == 1 or isinstance(value.type, ir.VectorType):
            return value
        return self.op("vector.broadcast", [value], self.type(self.element(value)))

    def addf(self, a: Value, b: Value) -> Value:
        return self._same("arith.addf", a, b)

    def subf(self, a: Value, b: Value) -> Value:
        return self._same("arith.subf", a, b)

    def mulf(self, a: Value, b: Value) -> Value:
        return self._same("arith.mulf", a, b)

    def divf(self, a: Value, b: Value) -> Value:
        return self._same("arith.divf", a, b)

    def negf(self, a: Value) -> Value:
        return self._same("arith.negf", a)

    def absf(self, a: Value) -> Value:
        return self._same("math.absf", a)

    def sqrt(self, a: Value) -> Value:
        return self._same("math.sqrt", a)

    def floor(self, a: Value) -> Value:
        return self._same("math.floor", a)

    def ceil(self, a: Value) -> Value:
        return self._same("math.ceil", a)

    def trunc(self, a: Value) -> Value:
        return self._same("math.trunc", a)

    def rint(self, a: Value) -> Value:
        return self._same("math.roundeven", a)

    def copysign(self, magnitude: Value, sign: Value) -> Value:
        return self._same("math.copysign", magnitude, sign)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        return self._same("math.fma", a, b, c)

    def minnum(self, a: Value, b: Value) -> Value:
        return self.select(self.cmpf("olt", a, b), a, b)

    def maxnum(self, a: Value, b: Value) -> Value:
        return self.select(self.cmpf("ogt", a, b), a, b)

    def minimumf(self, a: Value, b: Value) -> Value:
        return self._same("arith.minimumf", a, b)

    def maximumf(self, a: Value, b: Value) -> Value:
        return self._same("arith.maximumf", a, b)

    def cmpf(self, predicate: str, a: Value, b: Value) -> Value:
        attribute = ir.IntegerAttr.get(self._i64, _CMPF[predicate])
        return self.op("arith.cmpf", [a, b], self._like(a, "i1"), {"predicate": attribute})

    def addi(self, a: Value, b: Value) -> Value:
        return self._same("arith.addi", a, b)

    def subi(self, a: Value, b: Value) -> Value:
        return self._same("arith.subi", a, b)

    def muli(self, a: Value, b: Value) -> Value:
        return self._same("arith.muli", a, b)

    def andi(self, a: Value, b: Value) -> Value:
        return self._same("arith.andi", a, b)

    def ori(self, a: Value, b: Value) -> Value:
        return self._same("arith.ori", a, b)

    def xori(self, a: Value, b: Value) -> Value:
        return self._same("arith.xori", a, b)

    def mulhui(self, a: Value, b: Value) -> Value:
        pair = ir.Operation.create(
            "arith.mului_extended", results=[a.type, a.type], operands=[a, b]
        )
        return pair.results[1]

    def shli(self, a: Value, b: Value) -> Value:
        return self._same("arith.shli", a, b)

    def shrsi(self, a: Value, b: Value) -> Value:
        return self._same("arith.shrsi", a, b)

    def shrui(self, a: Value, b: Value) -> Value:
        return self._same("arith.shrui", a, b)

    def divsi(self, a: Value, b: Value) -> Value:
        return self._same("arith.divsi", a, b)

    def divui(self, a: Value, b: Value) -> Value:
        return self._same("arith.divui", a, b)

    def remui(self, a: Value, b: Value) -> Value:
        """The unsigned remainder; never called with 0."""
        return self._same("arith.remui", a, b)

    def minui(self, a: Value, b: Value) -> Value:
        """The smaller unsigned integer."""
        return self._same("arith.minui", a, b)

    def cmpi(self, predicate: str, a: Value, b: Value) -> Value:
        attribute = ir.IntegerAttr.get(self._i64, _CMPI[predicate])
        return self.op("arith.cmpi", [a, b], self._like(a, "i1"), {"predicate": attribute})

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        return self.op("arith.select", [condition, a, b], a.type)

    def _convert(self, name: str, a: Value, element: str) -> Value:
        return self.op(name, [a], self._like(a, element))

    def bitcast(self, a: Value, element: str) -> Value:
        return self._convert("arith.bitcast", a, element)

    def fptosi(self, a: Value, element: str) -> Value:
        return self._convert("arith.fptosi", a, element)

    def fptoui(self, a: Value, element: str) -> Value:
        return self._convert("arith.fptoui", a, element)

    def sitofp(self, a: Value, element: str) -> Value:
        return self._convert("arith.sitofp", a, element)

    def uitofp(self, a: Value, element: str) -> Value:
        return self._convert("arith.uitofp", a, element)

    def extsi(self, a: Value, element: str) -> Value:
        return self._convert("arith.extsi", a, element)

    def extui(self, a: Value, element: str) -> Value:
        return self._convert("arith.extui", a, element)

    def trunci(self, a: Value, element: str) -> Value:
        return self._convert("arith.trunci", a, element)

    def extf(self, a: Value, element: str) -> Value:
        return self._convert("arith.extf", a, element)

    def truncf(self, a: Value, element: str) -> Value:
        return self._convert("arith.truncf", a, element)

    # Control flow

    def _any(self, condition: Value) -> Value:
        """Whether some lane is true, a scalar."""
        if self.lanes_of(condition) == 1:
            return condition
        kind = ir.Attribute.parse("#vector.kind<or>")
        return self.op("vector.reduction", [condition], self._elements["i1"], {"kind": kind})

    def replace_where(
        self,
        condition: Value,
        values: tuple[Value, ...],
        replacement: Callable[[], tuple[Value, ...]],
    ) -> tuple[Value, ...]:
        """The values, in lanes where the condition holds those of the replacement."""
        branch = ir.Operation.create(
            "scf.if",
            results=[value.type for value in values],
            operands=[self._any(condition)],
            regions=2,
        )
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            replaced = [
                self.select(condition, new, old)
                for new, old in zip(replacement(), values, strict=True)
            ]
            self.effect("scf.yield", replaced)
        with ir.InsertionPoint(branch.regions[1].blocks.append()):
            self.effect("scf.yield", values)
        return tuple(branch.results)

    def repeat_while(
        self,
        condition: Callable[..., Value],
        body: Callable[..., tuple[Value, ...]],
        values: tuple[Value, ...],
    ) -> tuple[Value, ...]:
        """The values after the body was applied in each lane while the condition holds there."""
        types = [value.type for value in values]
        carried = [*types, self._like(values[0], "i1")]
        loop = ir.Operation.create("scf.while", results=carried, operands=values, regions=2)
        before = loop.regions[0].blocks.append(*types)
        with ir.InsertionPoint(before):
            running = condition(*before.arguments)
            self.effect("scf.condition", [self._any(running), *before.arguments, running])
        after = loop.regions[1].blocks.append(*carried)
        with ir.InsertionPoint(after):
            *old, running = after.arguments
            new = body(*old)
            kept = [self.select(running, b, a) for a, b in zip(old, new, strict=True)]
            self.effect("scf.yield", kept)
        return tuple(loop.results)[:-1]

    def index_cast(self, a: Value, element: str) -> Value:
        """An index as an integer, or an integer as an index."""
        return self._convert("arith.index_cast", a, element)

    # Positions

    def index(self, value: int) -> Value:
        """A scalar constant of type index."""
        attribute = ir.IntegerAttr.get(self.index_type, value)
        return self.op("arith.constant", [], self.index_type, {"value": attribute})

    def lane_numbers(self) -> Value:
        """The vector 0, 1, 2, ... of type index."""
        return self.op("vector.step", [], self.type("index"))


def _float_attribute(value: float, element: str, type_: Any) -> Any:
    if value != value or value in (float("inf"), float("-inf")):
        bits = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}[element]
        (word,) = struct.unpack(bits[1], struct.pack(bits[0], value))
        return ir.Attribute.parse(f"{word:#x} : {element}")
    return ir.FloatAttr.get(type_, value)


def _signed(value: int, element: str) -> int:
    """The value wrapped to the width of the element type, as MLIR's attributes take it."""
    if element == "index":
        return value
    width = int(element[1:])
    wrapped = value & (2**width - 1)
    return wrapped - 2**width if width > 1 and wrapped >= 2 ** (width - 1) else wrapped
