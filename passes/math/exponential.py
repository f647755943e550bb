"""exp, expm1, and sigmoid.

All reduce x = n ln 2 + r with an integer n and |r| <= ln(2) / 2 (Cody & Waite, "Software Manual for
the Elementary Functions", 1980), ln 2 in two parts, and multiply a polynomial in r by 2**n.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..scalars import Scalars, Value
from .formats import FloatFormat, bits_of, format_of
from .polynomials import horner

LOG2_E = 1.4426950408889634
LN2 = {
    "f32": (0.693145751953125, 1.4286068203094172e-06),
    "f64": (0.693147180369123816490, 1.90821492927058770002e-10),
}
"""ln 2 as a sum; the first part has trailing zeros, so that its product with n is exact."""

EXP = {
    "f32": (
        0.4999999403953552, 0.16666509211063385, 0.041668009012937546, 0.00836998876184225,
        0.0013846978545188904,
    ),
    "f64": (
        0.5000000000000012, 0.16666666666666413, 0.041666666666514515, 0.008333333333486247,
        0.0013888888948211267, 0.00019841269538685614, 2.4801487955146024e-05,
        2.7557551237682812e-06, 2.763221260782006e-07, 2.5011882302670936e-08,
    ),
}  # fmt: skip
"""(exp(r) - 1 - r) / r**2, error relative to exp(r)."""

EXPM1 = {
    "f32": (
        0.5, 0.16666634380817413, 0.04166650399565697, 0.008341708220541477,
        0.0013931522844359279, 0.0001504361571278423,
    ),
    "f64": (
        0.5, 0.1666666666666668, 0.04166666666666672, 0.008333333333318923,
        0.0013888888888842071, 0.00019841269893426327, 2.4801587429677894e-05,
        2.7557236581085886e-06, 2.7557173052944784e-07, 2.511176336711411e-08,
        2.0948010818446356e-09,
    ),
}  # fmt: skip
"""(exp(r) - 1 - r) / r**2, error relative to exp(r) - 1."""


@dataclass(frozen=True)
class Reduced:
    """x = n ln 2 + r.

    Attributes:
        shifted: n plus the format's rounding shift, a float: its low bits are the integer n.
        n: n as a float.
        r: the rest, at most ln(2) / 2 in magnitude.
    """

    shifted: Value
    n: Value
    r: Value


def reduce(s: Scalars, x: Value) -> Reduced:
    """x = n ln 2 + r for |x| below about 1000, or 10000 for f64."""
    format_ = format_of(s, x)
    shift = s.constant(format_.rounding_shift, format_.element)
    shifted = s.fma(x, s.constant(LOG2_E, format_.element), shift)
    n = s.subf(shifted, shift)
    high, low = LN2[format_.element]
    r = s.fma(n, s.constant(-high, format_.element), x)
    return Reduced(shifted, n, s.fma(n, s.constant(-low, format_.element), r))


def power_of_two(s: Scalars, shifted: Value, offset: int = 0) -> Value:
    """2**(n + offset), which must be a normal number, from n plus the rounding shift."""
    format_ = format_of(s, shifted)
    bits = s.addi(bits_of(s, shifted), s.constant(format_.bias + offset, format_.integer))
    bits = s.shli(bits, s.constant(format_.fraction_bits, format_.integer))
    return s.bitcast(bits, format_.element)


def scale(s: Scalars, x: Value, shifted: Value) -> Value:
    """x * 2**n, rounded once, for any n that at most doubles the range of exponents.

    n is split into two halves, so that both factors are normal and the first product exact.
    """
    format_ = format_of(s, x)
    element, integer = format_.element, format_.integer
    place = s.constant(format_.fraction_bits, integer)
    biased = s.addi(bits_of(s, shifted), s.constant(2 * format_.bias, integer))
    half = s.shli(s.shrui(biased, s.constant(1, integer)), place)
    rest = s.subi(s.shli(biased, place), half)
    return s.mulf(s.mulf(x, s.bitcast(half, element)), s.bitcast(rest, element))


def clamp(s: Scalars, x: Value, low: float, high: float) -> Value:
    """x within the bounds; NaN stays NaN."""
    element = s.element(x)
    return s.minnum(s.constant(high, element), s.maxnum(s.constant(low, element), x))


def exp_bounds(format_: FloatFormat) -> tuple[float, float]:
    """Arguments whose exponentials round to 0 and to infinity."""
    return (-104.0, 89.0) if format_.element == "f32" else (-746.0, 710.0)


def exp(s: Scalars, x: Value) -> Value:
    """e to the power x: a polynomial of degree 6 (f32) or 11 (f64) times 2**n."""
    format_ = format_of(s, x)
    reduced = reduce(s, clamp(s, x, *exp_bounds(format_)))
    return scale(s, exp_reduced(s, reduced.r), reduced.shifted)


def exp_reduced(s: Scalars, r: Value) -> Value:
    """exp(r) for |r| <= ln(2) / 2."""
    one = s.constant(1.0, s.element(r))
    tail = horner(s, r, (1.0, *EXP[s.element(r)]))
    return s.fma(tail, r, one)


def expm1_reduced(s: Scalars, r: Value) -> Value:
    """exp(r) - 1 for |r| <= ln(2) / 2, with a small relative error."""
    tail = horner(s, r, EXPM1[s.element(r)])
    return s.fma(s.mulf(r, r), tail, r)


def expm1(s: Scalars, x: Value) -> Value:
    """exp(x) - 1 = 2**n (exp(r) - 1) + (2**n - 1), in halves so that 2**n may reach overflow."""
    format_ = format_of(s, x)
    element = format_.element
    lowest = -18.0 if element == "f32" else -39.0
    reduced = reduce(s, clamp(s, x, lowest, exp_bounds(format_)[1]))
    half_power = power_of_two(s, reduced.shifted, -1)
    rest = s.subf(half_power, s.constant(0.5, element))
    half = s.fma(expm1_reduced(s, reduced.r), half_power, rest)
    result = s.mulf(half, s.constant(2.0, element))
    tiny = s.cmpf("olt", s.absf(x), s.constant(2.0 ** -(format_.fraction_bits + 2), element))
    return s.select(tiny, x, result)


def sigmoid(s: Scalars, x: Value) -> Value:
    """1 / (1 + exp(-x)), both sides of the fraction scaled down so that exp(-x) cannot overflow.

    That way the quotient of two normal numbers becomes the subnormal results, rounded once.
    """
    format_ = format_of(s, x)
    element = format_.element
    lowest, _ = exp_bounds(format_)
    down = 32 if element == "f32" else 64
    clamped = clamp(s, x, lowest, 30.0 if element == "f32" else 50.0)
    reduced = reduce(s, s.negf(clamped))
    scaled_one = s.constant(2.0**-down, element)
    power = power_of_two(s, reduced.shifted, -down)
    r = reduced.r
    rest = s.fma(s.mulf(r, r), horner(s, r, EXP[element]), r)
    return s.divf(scaled_one, s.addf(s.fma(rest, power, scaled_one), power))
