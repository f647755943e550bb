"""Element types of arrays: MLX's dtypes, with their NumPy and MLIR names."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np


class DType:
    """An element type.

    Attributes:
        name: the name users write, such as ``"float32"``.
        size: bytes of one element.
        kind: one of ``"bool"``, ``"unsigned"``, ``"signed"``, ``"floating"``, ``"complex"``.
        numpy: the NumPy dtype of the same bits.
        mlir: the element type's MLIR text; signless integers are signed, ``ui`` is unsigned.
        short: the abbreviation of ``lamina inspect`` and of ``repr``, such as ``"f32"``.
    """

    __slots__ = ("kind", "mlir", "name", "numpy", "short", "size")

    def __init__(self, name: str, kind: str, numpy: Any, mlir: str, short: str) -> None:
        self.name = name
        self.kind = kind
        self.numpy: np.dtype[Any] = np.dtype(numpy)
        self.size = self.numpy.itemsize
        self.mlir = mlir
        self.short = short

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, not for bool."""
        return self.kind in ("signed", "unsigned")

    @property
    def is_inexact(self) -> bool:
        """True for floating and complex dtypes."""
        return self.kind in ("floating", "complex")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The least and the greatest value; infinities for floats. Complex dtypes have none."""
        if self.kind == "bool":
            return False, True
        if self.kind == "floating":
            return -math.inf, math.inf
        if not self.is_integer:
            raise ValueError(f"{self.name} has no order")
        info = np.iinfo(self.numpy)
        return int(info.min), int(info.max)

    def __repr__(self) -> str:
        return f"lamina.{self.name}"

    def __reduce__(self) -> Any:
        return (from_name, (self.name,))


bool_ = DType("bool", "bool", np.bool_, "i1", "bool")
uint8 = DType("uint8", "unsigned", np.uint8, "ui8", "u8")
uint16 = DType("uint16", "unsigned", np.uint16, "ui16", "u16")
uint32 = DType("uint32", "unsigned", np.uint32, "ui32", "u32")
uint64 = DType("uint64", "unsigned", np.uint64, "ui64", "u64")
int8 = DType("int8", "signed", np.int8, "i8", "i8")
int16 = DType("int16", "signed", np.int16, "i16", "i16")
int32 = DType("int32", "signed", np.int32, "i32", "i32")
int64 = DType("int64", "signed", np.int64, "i64", "i64")
float16 = DType("float16", "floating", np.float16, "f16", "f16")
bfloat16 = DType("bfloat16", "floating", ml_dtypes.bfloat16, "bf16", "bf16")
float32 = DType("float32", "floating", np.float32, "f32", "f32")
float64 = DType("float64", "floating", np.float64, "f64", "f64")
complex64 = DType("complex64", "complex", np.complex64, "complex<f32>", "c64")

ALL = (
    bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64,
    float16, bfloat16, float32, float64, complex64,
)  # fmt: skip
BY_NAME = {dtype.name: dtype for dtype in ALL}
BY_NUMPY = {dtype.numpy: dtype for dtype in ALL}
BY_MLIR = {dtype.mlir: dtype for dtype in ALL}
BY_SHORT = {dtype.short: dtype for dtype in ALL}


def from_name(name: str) -> DType:
    """The dtype called ``name``; raises KeyError for an unknown name."""
    return BY_NAME[name]
