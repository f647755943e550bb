"""power.

x**y = exp(y log|x|) with the logarithm as a sum of two floats: the product may be as large as the
exponents' range, so that the logarithm needs that many more bits than the result. Its series in
u = (m - 1) / (m + 1) is that of FreeBSD's e_pow.c (K. C. Ng), with fused multiply-adds in place of
split factors.
"""

from __future__ import annotations

from ..scalars import Scalars, Value
from .exponential import LN2, clamp, exp_bounds, exp_reduced, reduce, scale
from .formats import flip_sign, format_of, sign_bit
from .logarithm import split
from .polynomials import horner

ARCTANH = {
    "f32": (0.40000391006469727, 0.28525620698928833, 0.2387295365333557),
    "f64": (
        0.3999999999999972, 0.2857142857157994, 0.2222222219077912, 0.18181821568466736,
        0.15384404508781874, 0.13341205476214402, 0.11591440910289666, 0.12577093852670881,
    ),
}  # fmt: skip
"""((2 atanh(u) - 2 u) / u**3 - 2/3) / u**2 in u**2 for |u| <= 1/5, relative to 2 atanh(u) / u."""

TWO_THIRDS = {
    "f32": (0.6666666865348816, -1.9868215517249155e-08),
    "f64": (0.6666666666666666, 3.700743415417188e-17),
}


def power(s: Scalars, x: Value, y: Value) -> Value:
    """x to the power y, with IEEE 754's pow for every special value."""
    element = s.element(x)
    zero, one = s.constant(0.0, element), s.constant(1.0, element)
    infinity, nan = s.constant(float("inf"), element), s.constant(float("nan"), element)
    magnitude = s.absf(x)
    result = _power_of_positive(s, magnitude, y)
    # 0 and infinity: the result is the one or the other.
    below_one = s.cmpf("olt", magnitude, one)
    y_negative = s.cmpf("olt", y, zero)
    extreme = s.select(s.xori(below_one, y_negative), zero, infinity)
    finite = s.cmpf("one", magnitude, infinity)
    is_extreme = s.ori(s.cmpf("oeq", magnitude, zero), s.cmpf("oeq", magnitude, infinity))
    result = s.select(s.andi(is_extreme, s.cmpf("ord", y, y)), extreme, result)
    # Negative x: an odd y gives the sign, a fraction none.
    whole = s.cmpf("oeq", s.rint(y), y)
    half = s.mulf(y, s.constant(0.5, element))
    odd = s.andi(whole, s.cmpf("one", s.rint(half), half))
    result = s.select(odd, flip_sign(s, result, sign_bit(s, x)), result)
    has_no_value = s.andi(s.cmpf("olt", x, zero), s.andi(finite, s.cmpf("one", s.rint(y), y)))
    result = s.select(has_no_value, nan, result)
    result = s.select(s.cmpf("uno", x, x), x, result)
    is_one = s.ori(s.cmpf("oeq", x, one), s.cmpf("oeq", y, zero))
    return s.select(is_one, one, result)


def _power_of_positive(s: Scalars, x: Value, y: Value) -> Value:
    """exp(y log(x)) for positive finite x and any y."""
    format_ = format_of(s, x)
    element = format_.element
    high, low = _log_as_sum(s, x)
    # Beyond these, y decides alone; finite products keep 0 * infinity away.
    bound = 2.0 ** (2 * format_.fraction_bits + 14)
    y = clamp(s, y, -bound, bound)
    product = s.mulf(y, high)
    rest = s.fma(y, low, s.fma(y, high, s.negf(product)))
    clamped = clamp(s, product, *exp_bounds(format_))
    rest = s.select(s.cmpf("oeq", clamped, product), rest, s.constant(0.0, element))
    reduced = reduce(s, clamped)
    return scale(s, exp_reduced(s, s.addf(reduced.r, rest)), reduced.shifted)


def _log_as_sum(s: Scalars, x: Value) -> tuple[Value, Value]:
    """log(x) for positive finite x: a float, and what it lacks."""
    element = s.element(x)
    k, m = split(s, x)
    f = s.subf(m, s.constant(1.0, element))
    quotient, quotient_rest = _half_arctanh_argument(s, f)
    series, series_rest = _series(s, quotient, quotient_rest)
    ln2_high, ln2_low = (s.constant(part, element) for part in LN2[element])
    linear = s.addf(quotient, quotient)
    large = s.mulf(k, ln2_high)
    total, error = _add_smaller(s, large, linear)
    high, second_error = _add_smaller(s, total, series)
    rest = s.fma(k, ln2_low, s.addf(quotient_rest, quotient_rest))
    low = s.addf(s.addf(error, second_error), s.addf(rest, series_rest))
    return high, low


def _add_smaller(s: Scalars, larger: Value, smaller: Value) -> tuple[Value, Value]:
    """The rounded sum and its exact error (T. J. Dekker, Numer. Math. 18, 1971).

    A first operand of 0 is fine too.
    """
    total = s.addf(larger, smaller)
    return total, s.addf(s.subf(larger, total), smaller)


def _half_arctanh_argument(s: Scalars, f: Value) -> tuple[Value, Value]:
    """f / (2 + f): the quotient, and what it lacks."""
    element = s.element(f)
    two = s.constant(2.0, element)
    divisor = s.addf(f, two)
    divisor_rest = s.subf(f, s.subf(divisor, two))
    reciprocal = s.divf(s.constant(1.0, element), divisor)
    quotient = s.mulf(f, reciprocal)
    minus = s.negf(quotient)
    remainder = s.fma(minus, divisor_rest, s.fma(minus, divisor, f))
    return quotient, s.mulf(remainder, reciprocal)


def _series(s: Scalars, u: Value, u_rest: Value) -> tuple[Value, Value]:
    """2 atanh(u) - 2 u = u**3 (2/3 + ...) as a sum."""
    element = s.element(u)
    z = s.mulf(u, u)
    z_rest = s.fma(s.addf(u, u), u_rest, s.fma(u, u, s.negf(z)))
    first, first_rest = (s.constant(part, element) for part in TWO_THIRDS[element])
    factor, error = _add_smaller(s, first, s.mulf(horner(s, z, ARCTANH[element]), z))
    product = _multiply_sums(s, z, z_rest, factor, s.addf(error, first_rest))
    return _multiply_sums(s, u, u_rest, *product)


def _multiply_sums(
    s: Scalars, a: Value, a_rest: Value, b: Value, b_rest: Value
) -> tuple[Value, Value]:
    """The product of two sums as a sum."""
    product = s.mulf(a, b)
    rest = s.fma(a, b, s.negf(product))
    return product, s.fma(a, b_rest, s.fma(a_rest, b, rest))
