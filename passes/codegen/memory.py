"""Loads and stores of vectors: contiguous, strided, masked, and past the caches."""

from __future__ import annotations

from typing import Any, Literal

from mlir import ir

from ...dialects.dtypes import DType
from .conversions import from_memory, memory_element, to_memory
from .emitter import Emitter, Value

ROW_ALIGNMENT = 64

Stride = Value | Literal["unit"] | None
"""From one lane to the next, in elements; None where all lanes are one element."""


class Memory:
    """Memory accesses through an emitter's current lanes."""

    def __init__(self, emitter: Emitter) -> None:
        self.e = emitter

    def allocate(self, element: str, size: Value) -> Value:
        """A row of scratch memory on the stack."""
        type_ = ir.Type.parse(f"memref<?x{element}>")
        attributes = {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0]),
            "alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ROW_ALIGNMENT),
        }
        return self.e.op("memref.alloca", [size], type_, attributes)

    def load_row(self, row: Value, position: Value, element: str) -> Value:
        """A whole vector of scratch memory, as it is in registers."""
        if self.e.lanes == 1:
            return self.e.op("memref.load", [row, position], self.e.type(element))
        return self.e.op("vector.load", [row, position], self.e.type(element))

    def store_row(self, value: Value, row: Value, position: Value) -> None:
        """Keeps a whole vector in scratch memory."""
        name = "memref.store" if self.e.lanes == 1 else "vector.store"
        self.e.effect(name, [value, row, position])

    def load(
        self, dtype: DType, buffer: Value, position: Value, stride: Stride, mask: Value | None
    ) -> Any:
        """The value at a position."""
        if stride is None and self.e.lanes > 1:
            lanes, self.e.lanes = self.e.lanes, 1
            value = self.load(dtype, buffer, position, None, None)
            self.e.lanes = lanes
            return self.e.splat(value)
        if dtype.kind == "complex":
            stride = self._doubled(stride)
            parts = self._twice(position)
            return tuple(self._load("f32", buffer, part, stride, mask) for part in parts)
        loaded = self._load(memory_element(dtype), buffer, position, stride, mask)
        return from_memory(self.e, loaded, dtype)

    def _load(
        self, element: str, buffer: Value, position: Value, stride: Stride, mask: Value | None
    ) -> Value:
        type_ = self.e.type(element)
        if stride is None or self.e.lanes == 1:
            return self.e.op("memref.load", [buffer, position], type_)
        if stride == "unit" and mask is None:
            return self.e.op("vector.load", [buffer, position], type_)
        nothing = self.e.constant(0, element)
        if stride == "unit":
            return self.e.op("vector.maskedload", [buffer, position, mask, nothing], type_)
        lanes = self.e.muli(self.e.lane_numbers(), self.e.splat(stride))
        operands = [buffer, position, lanes, self._mask(mask), nothing]
        return self.e.op("vector.gather", operands, type_)

    def _mask(self, mask: Value | None) -> Value:
        return mask if mask is not None else self.e.constant(1, "i1")

    def _twice(self, position: Value) -> tuple[Value, Value]:
        """Where the parts of a complex number are."""
        real = self.e.addi(position, position)
        return real, self.e.addi(real, self.e.index(1))

    def _doubled(self, stride: Stride) -> Stride:
        """The stride of the parts of complex numbers."""
        if stride is None:
            return None
        return self.e.index(2) if stride == "unit" else self.e.addi(stride, stride)

    def store(
        self,
        dtype: DType,
        value: Any,
        buffer: Value,
        position: Value,
        stride: Stride,
        mask: Value | None,
        streaming: bool,
    ) -> None:
        """Stores a value at a position."""
        if dtype.kind == "complex":
            stride = self._doubled(stride)
            for part, place in zip(value, self._twice(position), strict=True):
                self._store(part, buffer, place, stride, mask, False)
            return
        self._store(to_memory(self.e, value, dtype), buffer, position, stride, mask, streaming)

    def _store(
        self,
        value: Value,
        buffer: Value,
        position: Value,
        stride: Stride,
        mask: Value | None,
        streaming: bool,
    ) -> None:
        if self.e.lanes == 1:
            self.e.effect("memref.store", [value, buffer, position])
        elif stride is None:
            self.e.effect("memref.store", [self.first_lane(value), buffer, position])
        elif stride == "unit" and mask is None:
            self.e.effect("vector.store", [value, buffer, position], self._hints(value, streaming))
        elif stride == "unit":
            self.e.effect("vector.maskedstore", [buffer, position, mask, value])
        else:
            lanes = self.e.muli(self.e.lane_numbers(), self.e.splat(stride))
            self.e.effect("vector.scatter", [buffer, position, lanes, self._mask(mask), value])

    def _hints(self, value: Value, streaming: bool) -> dict[str, Any] | None:
        if not streaming:
            return None
        width = {"i8": 1, "f16": 2, "i16": 2, "f64": 8, "i64": 8}.get(self.e.element(value), 4)
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), width * self.e.lanes)
        return {"nontemporal": ir.BoolAttr.get(True), "alignment": alignment}

    def first_lane(self, value: Value) -> Value:
        """Lane 0 of a vector."""
        position = ir.DenseI64ArrayAttr.get([0])
        element = self.e.type(self.e.element(value), 1)
        return self.e.op("vector.extract", [value], element, {"static_position": position})
