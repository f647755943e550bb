"""Reductions and scans as accumulators: what they start from, how two combine, across lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir import ir

from ...dialects.dtypes import DType
from ..schedule.kernel import Item
from . import scalar_bodies
from .emitter import Emitter, Value

LAST_POSITION = 0xFFFFFFFF


class Reducer:
    """The accumulators of one reduction or scan.

    Attributes:
        key: equal for reductions that share accumulators.
        elements: the element type of each accumulator.
        starts_at_negative_zero: True for float sums, whose identity is -0.0.
    """

    def __init__(self, emitter: Emitter, name: str, dtype: DType, key: Any) -> None:
        self.e = emitter
        self.name = name
        self.dtype = dtype
        self.key = key
        element = scalar_bodies.register_dtype(dtype)
        self.elements = [element] * (2 if dtype.kind == "complex" else 1)
        self.starts_at_negative_zero = scalar_bodies.COMBINERS.get(name) == "add" and (
            dtype.is_inexact
        )

    def identity(self) -> list[Value]:
        """The accumulators before the first element."""
        value = scalar_bodies.identity(self.name, self.dtype)
        first = self.e.constant(value, self.elements[0])
        if len(self.elements) == 1:
            return [first]
        imaginary = value if self.starts_at_negative_zero else 0.0
        return [first, self.e.constant(imaginary, "f32")]

    def parts(self, operands: Sequence[Any]) -> list[Value]:
        """An element of the operand as accumulators."""
        (value,) = operands
        return list(value) if isinstance(value, tuple) else [value]

    def masked(self, operands: Sequence[Any], mask: Value | None) -> list[Value]:
        """As :meth:`parts`, with lanes beyond the end replaced by the identity."""
        parts = self.parts(operands)
        if mask is None:
            return parts
        return [
            self.e.select(mask, part, nothing)
            for part, nothing in zip(parts, self.identity(), strict=True)
        ]

    def combine(self, a: Sequence[Any], b: Sequence[Any]) -> list[Value]:
        """Two sets of accumulators as one."""
        combiner = scalar_bodies.BODIES[scalar_bodies.COMBINERS[self.name]]
        return self.parts([combiner(self.e, self.dtype, [self.result(a), self.result(b)])])

    def across_lanes(self, parts: list[Value]) -> list[Value]:
        """One lane from all, by halves."""
        lanes = self.e.lanes
        while lanes > 1:
            lanes //= 2
            self.e.lanes = lanes
            low = [self._half(part, 0, lanes) for part in parts]
            high = [self._half(part, lanes, lanes) for part in parts]
            parts = self.combine(low, high)
        self.e.lanes = 1
        return parts

    def _half(self, part: Value, start: int, lanes: int) -> Value:
        if self.e.lanes_of(part) == 1:
            return part
        element = self.e.element(part)
        if lanes == 1:
            position = ir.DenseI64ArrayAttr.get([start])
            type_ = self.e.type(element, 1)
            return self.e.op("vector.extract", [part], type_, {"static_position": position})
        i64 = ir.IntegerType.get_signless(64)
        attributes = {
            name: ir.ArrayAttr.get([ir.IntegerAttr.get(i64, number)])
            for name, number in (("offsets", start), ("sizes", lanes), ("strides", 1))
        }
        type_ = self.e.type(element, lanes)
        return self.e.op("vector.extract_strided_slice", [part], type_, attributes)

    def result(self, parts: Sequence[Value]) -> Any:
        """The value that the accumulators stand for."""
        return tuple(parts) if len(parts) == 2 else parts[0]


class ArgReducer(Reducer):
    """The position (or the value, for partial results) of the first extremum or NaN."""

    def __init__(
        self, emitter: Emitter, name: str, dtype: DType, key: Any, wants_value: bool
    ) -> None:
        super().__init__(emitter, f"reduce_{name[3:]}", dtype, key)
        self.wants_value = wants_value
        self.elements = [scalar_bodies.register_dtype(dtype), "i32"]

    def identity(self) -> list[Value]:
        value = scalar_bodies.identity(self.name, self.dtype)
        return [
            self.e.constant(value, self.elements[0]), self.e.constant(LAST_POSITION, "i32")
        ]  # fmt: skip

    def parts(self, operands: Sequence[Any]) -> list[Value]:
        return list(operands)

    def combine(self, a: Sequence[Any], b: Sequence[Any]) -> list[Value]:
        e = self.e
        (value, position), (other, other_position) = a, b
        comparison = "greater" if self.name == "reduce_max" else "less"
        better = scalar_bodies.BODIES[comparison](e, self.dtype, [other, value])
        equal = scalar_bodies.BODIES["equal"](e, self.dtype, [other, value])
        if self.dtype.kind == "floating":
            is_nan, other_is_nan = e.cmpf("uno", value, value), e.cmpf("uno", other, other)
            equal = e.ori(equal, e.andi(is_nan, other_is_nan))
            value_is_number = e.cmpf("ord", value, value)
            better = e.ori(better, e.andi(other_is_nan, value_is_number))
        earlier = e.andi(equal, e.cmpi("ult", other_position, position))
        take = e.ori(better, earlier)
        return [e.select(take, other, value), e.select(take, other_position, position)]

    def result(self, parts: Sequence[Value]) -> Any:
        return parts[0] if self.wants_value else parts[1]


def reducer_of(emitter: Emitter, items: Sequence[Item], number: int) -> Reducer | None:
    """The reducer of an item, or None if it is no reduction or scan."""
    item = items[number]
    if item.name in scalar_bodies.COMBINERS:
        return Reducer(emitter, item.name, item.dtype, number)
    if item.name.startswith(("argmax", "argmin")):
        dtype = items[item.operands[0]].dtype
        base = item.name[:6]
        key = (base, item.operands)
        return ArgReducer(emitter, base, dtype, key, item.name.endswith("_value"))
    return None
