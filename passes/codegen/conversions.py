"""Casts between dtypes, for values in registers.

Floats round to nearest even, once. Floats to integers truncate and saturate, NaN gives 0. Nothing
here rests on an operation that is undefined out of range.
"""

from __future__ import annotations

from ...dialects.dtypes import DType
from ..scalars import Scalars, Value


def convert(s: Scalars, value: Value, source: DType, target: DType) -> Value:
    """The value as another dtype."""
    if source is target:
        return value
    if source.kind == "complex":
        if target.kind == "bool":
            zero = s.constant(0.0, "f32")
            return s.ori(s.cmpf("une", value[0], zero), s.cmpf("une", value[1], zero))
        return _from_float(s, value[0], target)
    if source.kind == "floating":
        return _from_float(s, value, target)
    return _from_integer(s, value, source, target)


def _from_float(s: Scalars, value: Value, target: DType) -> Value:
    element = s.element(value)
    if target.kind == "bool":
        return s.cmpf("une", value, s.constant(0.0, element))
    if target.is_integer:
        return _to_integer(s, value, target)
    if target.kind == "complex":
        return s.truncf(value, "f32") if element == "f64" else value, s.constant(0.0, "f32")
    if target.size == 8:
        return s.extf(value, "f64") if element == "f32" else value
    if element == "f64":
        if target.size == 4:
            return s.truncf(value, "f32")
        return round_to(s, _round_to_odd(s, value), target)
    return round_to(s, value, target)


def round_to(s: Scalars, value: Value, dtype: DType) -> Value:
    """An f32 rounded to f16 or bf16 and widened again; other values unchanged."""
    if dtype.name == "float16":
        return s.extf(s.truncf(value, "f16"), "f32")
    if dtype.name == "bfloat16":
        return s.bitcast(s.andi(bfloat16_bits(s, value), s.constant(0xFFFF0000, "i32")), "f32")
    return value


def bfloat16_bits(s: Scalars, value: Value) -> Value:
    """The f32 bits whose upper half is the value rounded to bf16: ties to even, NaN stays NaN."""
    bits = s.bitcast(value, "i32")
    sixteen = s.constant(16, "i32")
    lowest = s.andi(s.shrui(bits, sixteen), s.constant(1, "i32"))
    rounded = s.addi(s.addi(bits, s.constant(0x7FFF, "i32")), lowest)
    quiet = s.ori(bits, s.constant(0x00400000, "i32"))
    return s.select(s.cmpf("uno", value, value), quiet, rounded)


def _round_to_odd(s: Scalars, value: Value) -> Value:
    """An f64 as f32, truncated with an odd last bit if inexact.

    A second rounding of the result to fewer bits is then correct (Boldo and Melquiond, "Emulation
    of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
    """
    nearest = s.truncf(value, "f32")
    widened = s.extf(nearest, "f64")
    bits = s.bitcast(nearest, "i32")
    one, zero = s.constant(1, "i32"), s.constant(0, "i32")
    is_above = s.cmpf("ogt", s.absf(widened), s.absf(value))
    truncated = s.select(is_above, s.subi(bits, one), bits)
    is_inexact = s.cmpf("one", widened, value)
    return s.bitcast(s.ori(truncated, s.select(is_inexact, one, zero)), "f32")


def _to_integer(s: Scalars, value: Value, target: DType) -> Value:
    """Saturating: values are clamped to what the conversion instruction takes."""
    element, integer = s.element(value), f"i{8 * target.size}"
    low, high = target.limits
    limit = s.constant(float(high + 1), element)
    wide = "i64" if element == "f64" or target.size >= 4 else "i32"
    is_nan = s.cmpf("uno", value, value)
    too_high = s.cmpf("oge", value, limit)
    too_low = s.cmpf("ole", value, s.constant(float(low), element))
    unsafe = s.ori(is_nan, s.ori(too_high, too_low))
    safe = s.select(unsafe, s.constant(0.0, element), value)
    if target.size == 8 and target.kind == "unsigned":
        whole = s.fptoui(safe, wide)
    else:
        whole = s.fptosi(safe, wide)
    result = s.trunci(whole, integer) if wide != integer else whole
    result = s.select(too_high, s.constant(high, integer), result)
    return s.select(too_low, s.constant(low, integer), result)


def _from_integer(s: Scalars, value: Value, source: DType, target: DType) -> Value:
    signed = source.kind == "signed"
    element = s.element(value)
    if target.kind == "bool":
        return s.cmpi("ne", value, s.constant(0, element))
    if target.is_integer:
        bits, wanted = (1 if element == "i1" else 8 * source.size), 8 * target.size
        if wanted == bits:
            return value
        if wanted < bits:
            return s.trunci(value, f"i{wanted}")
        return (s.extsi if signed else s.extui)(value, f"i{wanted}")
    if target.kind == "complex":
        return _to_float(s, value, "f32", signed), s.constant(0.0, "f32")
    if target.size == 8:
        return _to_float(s, value, "f64", signed)
    if target.size == 4 or source.size < 4:
        return round_to(s, _to_float(s, value, "f32", signed), target)
    if source.size == 8:
        value = _sticky(s, value)
    return round_to(s, _round_to_odd(s, _to_float(s, value, "f64", signed)), target)


def _to_float(s: Scalars, value: Value, element: str, signed: bool) -> Value:
    return (s.sitofp if signed else s.uitofp)(value, element)


def _sticky(s: Scalars, value: Value) -> Value:
    """A 64-bit integer that f64 holds exactly and that rounds to short floats alike."""
    low = s.andi(value, s.constant(0xFFF, "i64"))
    magnitude_is_small = s.cmpi(
        "ult", s.addi(value, s.constant(2**52, "i64")), s.constant(2**53, "i64")
    )
    zero = s.constant(0, "i64")
    mark = s.select(s.cmpi("ne", low, zero), s.constant(0x800, "i64"), zero)
    coarse = s.ori(s.andi(value, s.constant(~0xFFF, "i64")), mark)
    return s.select(magnitude_is_small, value, coarse)


def memory_element(dtype: DType) -> str:
    """The element type of a buffer: bool is i8, bf16 is i16, complex is pairs of f32."""
    if dtype.kind == "bool":
        return "i8"
    if dtype.is_integer:
        return f"i{8 * dtype.size}"
    return {"float16": "f16", "bfloat16": "i16", "float64": "f64"}.get(dtype.name, "f32")


def to_memory(s: Scalars, value: Value, dtype: DType) -> Value:
    """A register's value as it lies in memory: bool is i8, bf16 is i16."""
    if dtype.kind == "bool":
        return s.extui(value, "i8")
    if dtype.name == "float16":
        return s.truncf(value, "f16")
    if dtype.name == "bfloat16":
        return s.trunci(s.shrui(bfloat16_bits(s, value), s.constant(16, "i32")), "i16")
    return value


def from_memory(s: Scalars, value: Value, dtype: DType) -> Value:
    """The inverse of :func:`to_memory`; any non-zero byte is True."""
    if dtype.kind == "bool":
        return s.cmpi("ne", value, s.constant(0, "i8"))
    if dtype.name == "float16":
        return s.extf(value, "f32")
    if dtype.name == "bfloat16":
        return s.bitcast(s.shli(s.extui(value, "i32"), s.constant(16, "i32")), "f32")
    return value
