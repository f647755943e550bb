"""The scalar body of every elementwise primitive, and the combiners of reductions and scans.

Bodies are written against :class:`~lamina.passes.scalars.Scalars`, once for every target. Values
are in registers: bool is ``i1``, integers are signless, ``f16`` and ``bf16`` are ``f32`` that hold
a rounded value, a complex number is a pair. Edge cases follow the table in ``docs/numerics.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects.dtypes import DType
from .. import math
from ..scalars import Scalars, Value
from .conversions import convert, from_memory, memory_element, to_memory

ScalarBody = Callable[[Scalars, DType, list[Value]], Value]
"""From the operands' dtype and values to the result's value."""

BODIES: dict[str, ScalarBody] = {}


def register_dtype(dtype: DType) -> str:
    """The element type of a value of this dtype in a register."""
    if dtype.kind == "bool":
        return "i1"
    if dtype.is_integer:
        return f"i{8 * dtype.size}"
    return "f64" if dtype.size == 8 and dtype.kind == "floating" else "f32"


def _body(name: str) -> Callable[[ScalarBody], ScalarBody]:
    def register(body: ScalarBody) -> ScalarBody:
        BODIES[name] = body
        return body

    return register


def _constant(s: Scalars, dtype: DType, value: float) -> Value:
    return s.constant(value, register_dtype(dtype))


def _by_kind(floating: str, integer: str) -> ScalarBody:
    """Part by part for complex numbers."""

    def body(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
        if dtype.kind == "complex":
            return tuple(getattr(s, floating)(*parts) for parts in zip(*operands, strict=True))
        return getattr(s, floating if dtype.kind == "floating" else integer)(*operands)

    return body


BODIES["add"] = _by_kind("addf", "addi")
BODIES["subtract"] = _by_kind("subf", "subi")


@_body("multiply")
def _multiply(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    a, b = operands
    if dtype.kind == "complex":
        real = s.subf(s.mulf(a[0], b[0]), s.mulf(a[1], b[1]))
        return real, s.addf(s.mulf(a[0], b[1]), s.mulf(a[1], b[0]))
    return s.mulf(a, b) if dtype.kind == "floating" else s.muli(a, b)


@_body("divide")
def _divide(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    a, b = operands
    if dtype.kind != "complex":
        return s.divf(a, b)
    return _complex_quotient(s, a, b)


def _complex_quotient(s: Scalars, a: Value, b: Value) -> Value:
    """R. L. Smith, "Algorithm 116: Complex division", CACM 5(8), 1962, as NumPy does."""
    swap = s.cmpf("olt", s.absf(b[0]), s.absf(b[1]))
    large, small = s.select(swap, b[1], b[0]), s.select(swap, b[0], b[1])
    ratio = s.divf(small, large)
    zero = s.constant(0.0, "f32")
    is_zero = s.cmpf("oeq", large, zero)
    ratio = s.select(is_zero, zero, ratio)
    scale = s.divf(s.constant(1.0, "f32"), s.addf(large, s.mulf(small, ratio)))
    first, second = s.select(swap, a[1], a[0]), s.select(swap, a[0], a[1])
    real = s.mulf(s.addf(first, s.mulf(second, ratio)), scale)
    cross = s.select(swap, a[0], s.mulf(a[0], ratio))
    imaginary = s.mulf(s.subf(s.select(swap, s.mulf(a[1], ratio), a[1]), cross), scale)
    return s.select(is_zero, s.divf(a[0], large), real), s.select(
        is_zero, s.divf(a[1], large), imaginary
    )


@_body("negative")
def _negative(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    if dtype.kind == "complex":
        return s.negf(a[0]), s.negf(a[1])
    if dtype.kind == "floating":
        return s.negf(a)
    return s.subi(_constant(s, dtype, 0), a)


@_body("abs")
def _abs(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    if dtype.kind == "floating":
        return s.absf(a)
    if dtype.kind == "unsigned":
        return a
    zero = _constant(s, dtype, 0)
    return s.select(s.cmpi("slt", a, zero), s.subi(zero, a), a)


@_body("sign")
def _sign(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    (a,) = operands
    zero, one = _constant(s, dtype, 0), _constant(s, dtype, 1)
    if dtype.kind == "floating":
        return s.select(s.cmpf("one", a, zero), s.copysign(one, a), a)
    positive = s.select(s.cmpi("ne", a, zero), one, zero)
    if dtype.kind == "unsigned":
        return positive
    return s.select(s.cmpi("slt", a, zero), _constant(s, dtype, -1), positive)


def _simple(name: str) -> ScalarBody:
    def body(s: Scalars, _: DType, operands: list[Value]) -> Value:
        return getattr(s, name)(*operands)

    return body


for _name in ("floor", "ceil", "trunc", "rint", "sqrt"):
    BODIES[_name] = _simple(_name)


def _from_library(name: str) -> ScalarBody:
    def body(s: Scalars, _: DType, operands: list[Value]) -> Value:
        return math.FUNCTIONS[name](s, *operands)

    return body


for _name in (
    "rsqrt exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh "
    "arccosh arctanh erf erfinv sigmoid arctan2 logaddexp"
).split():
    BODIES[_name] = _from_library(_name)


@_body("real")
def _real(_: Scalars, __: DType, operands: list[Value]) -> Value:
    return operands[0][0]


@_body("imag")
def _imag(_: Scalars, __: DType, operands: list[Value]) -> Value:
    return operands[0][1]


@_body("complex")
def _complex(_: Scalars, __: DType, operands: list[Value]) -> Value:
    return operands[0], operands[1]


@_body("bitwise_invert")
def _bitwise_invert(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    return s.xori(operands[0], _constant(s, dtype, -1 if dtype.is_integer else 1))


BODIES["bitwise_and"] = _simple("andi")
BODIES["bitwise_or"] = _simple("ori")
BODIES["bitwise_xor"] = _simple("xori")


def _shift(s: Scalars, dtype: DType, operands: list[Value], name: str) -> Value:
    a, count = operands
    width = 8 * dtype.size
    inside = s.cmpi("ult", count, _constant(s, dtype, width))
    safe = s.select(inside, count, _constant(s, dtype, 0))
    beyond = _constant(s, dtype, 0)
    if name == "shrsi":
        beyond = s.shrsi(a, _constant(s, dtype, width - 1))
    return s.select(inside, getattr(s, name)(a, safe), beyond)


@_body("left_shift")
def _left_shift(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    return _shift(s, dtype, operands, "shli")


@_body("right_shift")
def _right_shift(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    return _shift(s, dtype, operands, "shrsi" if dtype.kind == "signed" else "shrui")


def _quotient(s: Scalars, dtype: DType, a: Value, b: Value) -> tuple[Value, Value]:
    """The floored quotient and remainder of integers; 0 and 0 where b is 0."""
    zero, one = _constant(s, dtype, 0), _constant(s, dtype, 1)
    by_zero = s.cmpi("eq", b, zero)
    divisor = s.select(by_zero, one, b)
    if dtype.kind == "unsigned":
        quotient = s.divui(a, divisor)
        remainder = s.subi(a, s.muli(quotient, divisor))
    else:
        minus_one = s.cmpi("eq", divisor, _constant(s, dtype, -1))
        truncated = s.divsi(a, s.select(minus_one, one, divisor))
        truncated = s.select(minus_one, s.subi(zero, a), truncated)
        rest = s.subi(a, s.muli(truncated, divisor))
        opposite = s.cmpi("slt", s.xori(rest, divisor), zero)
        floored = s.andi(s.cmpi("ne", rest, zero), opposite)
        quotient = s.select(floored, s.subi(truncated, one), truncated)
        remainder = s.select(floored, s.addi(rest, divisor), rest)
    return s.select(by_zero, zero, quotient), s.select(by_zero, zero, remainder)


@_body("floor_divide")
def _floor_divide(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    if dtype.kind == "floating":
        return math.FUNCTIONS["floor_divide"](s, *operands)
    return _quotient(s, dtype, *operands)[0]


@_body("remainder")
def _remainder(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    if dtype.kind == "floating":
        return math.FUNCTIONS["remainder"](s, *operands)
    return _quotient(s, dtype, *operands)[1]


@_body("power")
def _power(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
    if dtype.kind == "floating":
        return math.FUNCTIONS["power"](s, *operands)
    return _integer_power(s, dtype, *operands)


def _integer_power(s: Scalars, dtype: DType, base: Value, exponent: Value) -> Value:
    """Binary powering over all bits of the exponent; the product wraps."""
    zero, one = _constant(s, dtype, 0), _constant(s, dtype, 1)
    result, square = one, base
    for bit in range(8 * dtype.size):
        is_set = s.cmpi("ne", s.andi(exponent, s.shli(one, _constant(s, dtype, bit))), zero)
        result = s.select(is_set, s.muli(result, square), result)
        square = s.muli(square, square)
    if dtype.kind == "unsigned":
        return result
    is_odd = s.cmpi("ne", s.andi(exponent, one), zero)
    minus_one = _constant(s, dtype, -1)
    of_minus_one = s.select(is_odd, minus_one, one)
    inverse = s.select(s.cmpi("eq", base, one), one, zero)
    inverse = s.select(s.cmpi("eq", base, minus_one), of_minus_one, inverse)
    return s.select(s.cmpi("slt", exponent, zero), inverse, result)


def _extremum(floating: str, signed: str, unsigned: str) -> ScalarBody:
    def body(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
        a, b = operands
        if dtype.kind == "floating":
            return getattr(s, floating)(a, b)
        if dtype.kind == "bool":
            return s.ori(a, b) if unsigned == "ugt" else s.andi(a, b)
        return s.select(s.cmpi(signed if dtype.kind == "signed" else unsigned, a, b), a, b)

    return body


BODIES["maximum"] = _extremum("maximumf", "sgt", "ugt")
BODIES["minimum"] = _extremum("minimumf", "slt", "ult")


def _comparison(floating: str, signed: str, unsigned: str) -> ScalarBody:
    def body(s: Scalars, dtype: DType, operands: list[Value]) -> Value:
        a, b = operands
        if dtype.kind == "complex":
            parts = [s.cmpf(floating, x, y) for x, y in zip(a, b, strict=True)]
            return s.andi(*parts) if floating == "oeq" else s.ori(*parts)
        if dtype.kind == "floating":
            return s.cmpf(floating, a, b)
        return s.cmpi(signed if dtype.kind == "signed" else unsigned, a, b)

    return body


BODIES["equal"] = _comparison("oeq", "eq", "eq")
BODIES["not_equal"] = _comparison("une", "ne", "ne")
BODIES["less"] = _comparison("olt", "slt", "ult")
BODIES["less_equal"] = _comparison("ole", "sle", "ule")
BODIES["greater"] = _comparison("ogt", "sgt", "ugt")
BODIES["greater_equal"] = _comparison("oge", "sge", "uge")


@_body("select")
def _select(s: Scalars, _: DType, operands: list[Value]) -> Value:
    condition, a, b = operands
    if isinstance(a, tuple):
        return tuple(s.select(condition, x, y) for x, y in zip(a, b, strict=True))
    return s.select(condition, a, b)


def evaluate(s: Scalars, name: str, source: DType, target: DType, operands: list[Any]) -> Value:
    """The value of an elementwise primitive whose operands have dtype ``source``."""
    if name == "cast":
        return convert(s, operands[0], source, target)
    if name == "bitcast":
        return _bitcast(s, operands[0], source, target)
    return BODIES[name](s, source, operands)


def _bitcast(s: Scalars, value: Value, source: DType, target: DType) -> Value:
    """Bits as they lie in memory: short floats are narrowed first and widened after."""
    if source is target:
        return value
    if source.kind == "complex":
        bits = _joined(s, value)
    else:
        bits = to_memory(s, value, source)
    if target.kind == "complex":
        return _parted(s, bits if s.element(bits) == "i64" else s.bitcast(bits, "i64"))
    element = memory_element(target)
    return from_memory(s, bits if s.element(bits) == element else s.bitcast(bits, element), target)


def _joined(s: Scalars, value: Value) -> Value:
    """The bits of a complex number: the real part lies first, in the lower half."""
    low, high = (s.extui(s.bitcast(part, "i32"), "i64") for part in value)
    return s.ori(low, s.shli(high, s.constant(32, "i64")))


def _parted(s: Scalars, bits: Value) -> Value:
    """The complex number of 64 bits."""
    halves = (bits, s.shrui(bits, s.constant(32, "i64")))
    return tuple(s.bitcast(s.trunci(half, "i32"), "f32") for half in halves)


COMBINERS = {
    "reduce_sum": "add", "reduce_prod": "multiply", "reduce_max": "maximum",
    "reduce_min": "minimum", "reduce_and": "bitwise_and", "reduce_or": "bitwise_or",
    "cumsum": "add", "cumprod": "multiply", "cummax": "maximum", "cummin": "minimum",
}  # fmt: skip
"""The elementwise primitive that a reduction or a scan repeats."""


def identity(name: str, dtype: DType) -> int | float:
    """What a reduction or scan starts from; for float sums -0.0, the identity of addition."""
    combiner = COMBINERS[name]
    if combiner == "add":
        return -0.0 if dtype.is_inexact else 0
    if combiner == "multiply":
        return 1
    if combiner in ("bitwise_and", "bitwise_or"):
        return int(combiner == "bitwise_and")
    least, greatest = dtype.limits
    return least if combiner == "maximum" else greatest
