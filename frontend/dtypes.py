"""Dtypes as users see them: promotion, categories, limits and conversion rules.

Arrays promote by a lattice: bool, then integers, then floats, then complex. Python scalars are
weak: they change an array's dtype only where its kind cannot hold them.
"""

from __future__ import annotations

import enum
import math
import struct
from typing import Any

import ml_dtypes
import numpy as np

from ..dialects.dtypes import (
    ALL,
    BY_NUMPY,
    DType,
    bfloat16,
    bool_,
    complex64,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ..errors import ArgumentError, ArgumentTypeError, DTypeError
from .graph import user_line

Scalar = bool | int | float | complex
"""The Python numbers that functions take in place of arrays."""

_ORDER = {"bool": 0, "unsigned": 1, "signed": 1, "floating": 2, "complex": 3}
_SIGNED = {1: int8, 2: int16, 4: int32, 8: int64}


class DtypeCategory(enum.Enum):
    """A set of dtypes, for :func:`issubdtype`; each lies within its parent."""

    complexfloating = "complexfloating"
    floating = "floating"
    inexact = "inexact"
    signedinteger = "signedinteger"
    unsignedinteger = "unsignedinteger"
    integer = "integer"
    number = "number"
    generic = "generic"

    def __repr__(self) -> str:
        return f"lamina.{self.name}"


complexfloating = DtypeCategory.complexfloating
floating = DtypeCategory.floating
inexact = DtypeCategory.inexact
signedinteger = DtypeCategory.signedinteger
unsignedinteger = DtypeCategory.unsignedinteger
integer = DtypeCategory.integer
number = DtypeCategory.number
generic = DtypeCategory.generic

_PARENT = {
    complexfloating: inexact,
    floating: inexact,
    signedinteger: integer,
    unsignedinteger: integer,
    inexact: number,
    integer: number,
    number: generic,
}
_CATEGORY = {
    "bool": generic,
    "unsigned": unsignedinteger,
    "signed": signedinteger,
    "floating": floating,
    "complex": complexfloating,
}


def _promote(a: DType, b: DType) -> DType:
    if a is b:
        return a
    if _ORDER[a.kind] != _ORDER[b.kind]:
        return a if _ORDER[a.kind] > _ORDER[b.kind] else b
    if {a, b} == {float16, bfloat16}:
        return float32
    if a.kind == b.kind:
        return a if a.size > b.size else b
    unsigned, signed = (a, b) if a.kind == "unsigned" else (b, a)
    if signed.size > unsigned.size:
        return signed
    return _SIGNED[2 * unsigned.size] if unsigned.size < 8 else float32


PROMOTED: dict[tuple[DType, DType], DType] = {(a, b): _promote(a, b) for a in ALL for b in ALL}
"""The dtype of a result by the dtypes of two array operands."""

WEAK_FLOAT = {dtype: dtype if dtype.is_inexact else float32 for dtype in ALL}
"""The dtype of an array's result with a Python float, and of functions that give floats."""

_INTEGER_RANGE = {dtype: dtype.limits for dtype in ALL if dtype.is_integer}


def scalar_dtype(value: Any) -> DType:
    """The dtype of an array made from a Python number.

    ``int32``, or the first of ``int64`` and ``uint64`` that holds an integer; ``float32`` and
    ``complex64``. Raises ArgumentError for an integer that no dtype holds.
    """
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        for dtype in (int32, int64, uint64):
            low, high = _INTEGER_RANGE[dtype]
            if low <= value <= high:
                return dtype
        raise ArgumentError(f"{_described(value)} is out of range of every dtype")
    return complex64 if isinstance(value, complex) else float32


def _described(value: int) -> str:
    """An integer in a message; Python refuses to write very long ones."""
    bits = value.bit_length()
    return f"the integer {value}" if bits <= 128 else f"an integer of {bits} bits"


def weak_dtype(dtype: DType, value: Scalar) -> DType:
    """The dtype of a result of an array of ``dtype`` with a Python scalar.

    Raises ArgumentError where an integer is out of range of an integer dtype.
    """
    if isinstance(value, bool):
        return dtype
    if isinstance(value, int):
        if dtype is bool_:
            return scalar_dtype(value)
        limits = _INTEGER_RANGE.get(dtype)
        if limits is not None and not limits[0] <= value <= limits[1]:
            raise ArgumentError(f"{_described(value)} is out of range of {dtype.name}")
        return dtype
    return complex64 if isinstance(value, complex) else WEAK_FLOAT[dtype]


def canonical_scalar(value: Any, dtype: DType) -> Scalar:
    """A number rounded to a dtype, as the Python scalar that ``constant`` takes.

    Integers wrap; floats to integers saturate, NaN gives 0; too large floats become infinite.
    """
    kind = dtype.kind
    if kind == "floating" and not isinstance(value, complex):
        return _rounded(value, dtype)
    if kind == "bool":
        return bool(value)
    if kind == "complex":
        return complex(_rounded(value.real, float32), _rounded(value.imag, float32))
    if isinstance(value, complex):
        value = value.real
    if kind == "floating":
        return _rounded(value, dtype)
    low, high = _INTEGER_RANGE[dtype]
    if isinstance(value, float):
        if value != value:
            return 0
        return low if value <= low else high if value >= high else int(value)
    value = int(value)
    if low <= value <= high:
        return value
    value &= (1 << 8 * dtype.size) - 1
    return value - (1 << 8 * dtype.size) if value > high else value


_PACKED = {float16: struct.Struct("<e"), float32: struct.Struct("<f")}


def _rounded(value: Any, dtype: DType) -> float:
    """A real number rounded once, to nearest even."""
    try:
        value = float(value)
        if dtype is float64:
            return value
        if dtype is bfloat16:
            return _rounded_bfloat16(value)
        packed = _PACKED[dtype]
        return packed.unpack(packed.pack(value))[0]
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _rounded_bfloat16(value: float) -> float:
    if not math.isfinite(value):
        return value
    _, exponent = math.frexp(value)
    quantum = math.ldexp(1.0, max(exponent - 8, -133))
    rounded = math.copysign(round(value / quantum) * quantum, value)
    return rounded if abs(rounded) <= _LARGEST_BFLOAT16 else math.copysign(math.inf, value)


_LARGEST_BFLOAT16 = float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that arrays and dtypes promote to together; Python scalars are weak.

    Raises ArgumentError without arguments and ArgumentTypeError for other kinds of arguments.
    """
    strong: DType | None = None
    weak: list[Scalar] = []
    for argument in arrays_and_dtypes:
        if isinstance(argument, (bool, int, float, complex)):
            weak.append(argument)
            continue
        dtype = argument if isinstance(argument, DType) else getattr(argument, "dtype", None)
        if isinstance(dtype, np.dtype):
            dtype = from_numpy(dtype)
        if not isinstance(dtype, DType):
            raise ArgumentTypeError(
                f"result_type: takes arrays and dtypes, got {type(argument).__name__}"
            )
        strong = dtype if strong is None else PROMOTED[strong, dtype]
    if strong is None:
        if not weak:
            raise ArgumentError("result_type: needs at least one array or dtype")
        strong = bool_
    for value in weak:
        strong = weak_dtype(strong, value)
    return strong


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """The dtype of the same bits as a NumPy dtype, in any byte order; DTypeError for others."""
    found = BY_NUMPY.get(dtype) or BY_NUMPY.get(dtype.newbyteorder("="))
    if found is None and dtype == np.complex128:
        return complex64
    if found is None:
        raise DTypeError(f"arrays cannot hold NumPy's dtype {dtype}")
    return found


def require_dtype(dtype: Any, function: str) -> DType:
    """The argument if it is a dtype; ArgumentTypeError otherwise."""
    if isinstance(dtype, DType):
        return dtype
    got = repr(dtype) if isinstance(dtype, (str, type, np.dtype)) else type(dtype).__name__
    raise ArgumentTypeError(
        f"{function}: the dtype must be one of Lamina's, such as lamina.float32, got {got}"
        f"{user_line()}"
    )


def can_cast(from_: Any, to: DType) -> bool:
    """True if an array or a dtype promotes to ``to`` without changing it."""
    return result_type(from_, require_dtype(to, "can_cast")) is to


def issubdtype(arg1: DType | DtypeCategory, arg2: DType | DtypeCategory) -> bool:
    """True if a dtype or category is, or lies within, another one."""
    for argument in (arg1, arg2):
        if not isinstance(argument, (DType, DtypeCategory)):
            raise ArgumentTypeError(
                f"issubdtype: takes dtypes and dtype categories, got {type(argument).__name__}"
            )
    if isinstance(arg2, DType):
        return arg1 is arg2
    category = _CATEGORY[arg1.kind] if isinstance(arg1, DType) else arg1
    while category is not arg2 and category in _PARENT:
        category = _PARENT[category]
    return category is arg2


_ISDTYPE_KINDS = {
    "bool": ("bool",),
    "signed integer": ("signed",),
    "unsigned integer": ("unsigned",),
    "integral": ("signed", "unsigned"),
    "real floating": ("floating",),
    "complex floating": ("complex",),
    "numeric": ("signed", "unsigned", "floating", "complex"),
}


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """True if a dtype is of a kind, as the array API standard names kinds.

    Kinds are dtypes, ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``,
    ``"real floating"``, ``"complex floating"``, ``"numeric"``, or a tuple of these.
    """
    require_dtype(dtype, "isdtype")
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, DType):
        return dtype is kind
    if not isinstance(kind, str) or kind not in _ISDTYPE_KINDS:
        raise ArgumentError(f"isdtype: unknown kind {kind!r}; one of {list(_ISDTYPE_KINDS)}")
    return dtype.kind in _ISDTYPE_KINDS[kind]


class finfo:
    """Limits of a floating dtype, or of the parts of a complex one.

    Attributes:
        dtype: the dtype of the limits.
        bits: its width.
        min, max: its least and greatest finite values.
        eps: the distance from 1 to the next value.
        smallest_normal: the least positive value with full precision.
    """

    def __init__(self, dtype: DType) -> None:
        require_dtype(dtype, "finfo")
        if not dtype.is_inexact:
            raise DTypeError(f"finfo: takes floating or complex dtypes, got {dtype.name}")
        self.dtype = float32 if dtype is complex64 else dtype
        limits: Any = ml_dtypes.finfo(self.dtype.numpy)
        self.bits = 8 * self.dtype.size
        self.min = float(limits.min)
        self.max = float(limits.max)
        self.eps = float(limits.eps)
        self.smallest_normal = float(limits.smallest_normal)

    def __repr__(self) -> str:
        return f"finfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype.name})"


class iinfo:
    """Limits of an integer dtype.

    Attributes:
        dtype: the dtype.
        bits: its width.
        min, max: its least and greatest values.
    """

    def __init__(self, dtype: DType) -> None:
        require_dtype(dtype, "iinfo")
        if not dtype.is_integer:
            raise DTypeError(f"iinfo: takes integer dtypes, got {dtype.name}")
        self.dtype = dtype
        self.bits = 8 * dtype.size
        self.min, self.max = _INTEGER_RANGE[dtype]

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype.name})"


__all__ = [
    "ALL",
    "PROMOTED",
    "WEAK_FLOAT",
    "DType",
    "DtypeCategory",
    "Scalar",
    "bfloat16",
    "bool_",
    "can_cast",
    "canonical_scalar",
    "complex64",
    "complexfloating",
    "finfo",
    "float16",
    "float32",
    "float64",
    "floating",
    "from_numpy",
    "generic",
    "iinfo",
    "inexact",
    "int8",
    "int16",
    "int32",
    "int64",
    "integer",
    "isdtype",
    "issubdtype",
    "number",
    "require_dtype",
    "result_type",
    "scalar_dtype",
    "signedinteger",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unsignedinteger",
    "weak_dtype",
]
