"""floor_divide and remainder of floats."""

from __future__ import annotations

from ..scalars import Scalars, Value
from .formats import FloatFormat, bits_of, format_of


def floor_divide(s: Scalars, x: Value, y: Value) -> Value:
    """floor(x / y), of the rounded quotient."""
    return s.floor(s.divf(x, y))


def remainder(s: Scalars, x: Value, y: Value) -> Value:
    """The exact x - y * n, n = floor(x / y) of the exact quotient, rounded once; the sign is y's.

    As in NumPy and Python: the remainder of truncated division is exact; where it has the other
    sign, y is added, which may round. A zero has the sign of y. NaN if x is infinite or y is 0;
    an infinite y gives x, or y where the signs differ.
    """
    format_ = format_of(s, x)
    element, integer = format_.element, format_.integer
    zero = s.constant(0.0, element)
    numerator, divisor = s.absf(x), s.absf(y)
    rest = _remainder_by_one_quotient(s, numerator, divisor)
    rest = s.select(s.cmpf("olt", numerator, divisor), numerator, rest)
    # The quotient has to fit into a significand, with a bit to spare.
    bound = s.mulf(divisor, s.constant(2.0 ** (format_.fraction_bits - 1), element))
    long = s.andi(s.cmpf("oge", numerator, bound), s.cmpf("ogt", divisor, zero))
    long = s.andi(long, s.cmpf("olt", numerator, s.constant(float("inf"), element)))
    (rest,) = s.replace_where(
        long, (rest,), lambda: (_remainder_by_long_division(s, numerator, divisor, format_),)
    )
    signed = s.copysign(rest, y)
    differ = s.cmpi("slt", s.xori(bits_of(s, x), bits_of(s, y)), s.constant(0, integer))
    other = s.andi(differ, s.cmpf("one", rest, zero))
    return s.select(other, s.subf(y, signed), signed)


def _remainder_by_one_quotient(s: Scalars, numerator: Value, divisor: Value) -> Value:
    """The remainder where the quotient fits into a significand.

    The rounded quotient can only be too large, and by one; the fma is exact.
    """
    quotient = s.trunc(s.divf(numerator, divisor))
    rest = s.fma(s.negf(quotient), divisor, numerator)
    negative = s.cmpf("olt", rest, s.constant(0.0, s.element(rest)))
    return s.select(negative, s.addf(rest, divisor), rest)


def _remainder_by_long_division(
    s: Scalars, numerator: Value, divisor: Value, format_: FloatFormat
) -> Value:
    """Long division of the significands, one exact short quotient for each ``step`` bits."""
    integer = format_.integer
    step = format_.fraction_bits - 1
    upper_exponent, upper = _decompose(s, numerator, format_)
    lower_exponent, lower = _decompose(s, divisor, format_)
    rest = s.select(s.cmpf("oge", upper, lower), s.subf(upper, lower), upper)
    left = s.subi(upper_exponent, lower_exponent)
    zero, most = s.constant(0, integer), s.constant(step, integer)

    def unfinished(left: Value, _: Value) -> Value:
        return s.cmpi("sgt", left, zero)

    def divide(left: Value, rest: Value) -> tuple[Value, Value]:
        bits = s.select(s.cmpi("slt", left, most), left, most)
        shifted = s.mulf(rest, _two_to(s, bits, format_))
        return s.subi(left, bits), _remainder_by_one_quotient(s, shifted, lower)

    _, rest = s.repeat_while(unfinished, divide, (left, rest))
    # 2**lower_exponent may be subnormal: its halves are not, and both products are exact.
    half = s.shrsi(lower_exponent, s.constant(1, integer))
    other = s.subi(lower_exponent, half)
    return s.mulf(s.mulf(rest, _two_to(s, half, format_)), _two_to(s, other, format_))


def _decompose(s: Scalars, x: Value, format_: FloatFormat) -> tuple[Value, Value]:
    """An exponent as an integer and a significand in [1, 2), also for subnormal x > 0."""
    element, integer = format_.element, format_.integer
    lift = format_.fraction_bits + 1
    tiny = s.cmpf("olt", x, s.constant(format_.least_normal, element))
    bits = bits_of(s, s.select(tiny, s.mulf(x, s.constant(2.0**lift, element)), x))
    exponent = s.shrui(bits, s.constant(format_.fraction_bits, integer))
    bias = s.select(
        tiny, s.constant(format_.bias + lift, integer), s.constant(format_.bias, integer)
    )
    fraction = s.andi(bits, s.constant((1 << format_.fraction_bits) - 1, integer))
    one = s.constant(format_.bias << format_.fraction_bits, integer)
    return s.subi(exponent, bias), s.bitcast(s.ori(fraction, one), element)


def _two_to(s: Scalars, exponent: Value, format_: FloatFormat) -> Value:
    """2**exponent for an integer that gives a normal number."""
    biased = s.addi(exponent, s.constant(format_.bias, format_.integer))
    place = s.constant(format_.fraction_bits, format_.integer)
    return s.bitcast(s.shli(biased, place), format_.element)
