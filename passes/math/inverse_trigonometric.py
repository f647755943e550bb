"""arcsin, arccos, arctan, and arctan2."""

from __future__ import annotations

import math

from ..scalars import Scalars, Value
from .formats import bits_of, format_of
from .polynomials import horner

ARCTAN = {
    "f32": (
        -0.33333152532577515, 0.19993767142295837, -0.1421099752187729, 0.10665728896856308,
        -0.07551523298025131, 0.04320249706506729, -0.016361435875296593, 0.0029188876505941153,
    ),
    "f64": (
        -0.333333333333332, 0.19999999999953683, -0.14285714280200282, 0.11111110783503327,
        -0.090908977570361, 0.07692060188508848, -0.06663103713136308, 0.05847887087134644,
        -0.05039297022448021, 0.03806444481580879, -0.01790718314854951,
    ),
}  # fmt: skip
"""(arctan(t) - t) / t**3 in t**2 for |t| <= 1 (f32) or tan(pi / 8), relative to arctan(t)."""

ARCSIN = {
    "f32": (
        0.16666752099990845, 0.07495306432247162, 0.04546976462006569, 0.024180850014090538,
        0.042166244238615036,
    ),
    "f64": (
        0.1666666666666676, 0.0749999999997081, 0.04464285717464462, 0.030381942704821772,
        0.022372215100455388, 0.017351609564749626, 0.013980854154791514, 0.011398607049721569,
        0.010782114102698805, 0.0036988605396032297, 0.021726973631537874, -0.02102822846111158,
        0.032647766017669784,
    ),
}  # fmt: skip
"""(arcsin(t) - t) / t**3 in t**2 for |t| <= 1/2, error relative to arcsin(t)."""

HALF_PI_FACTORS = {
    "f32": (1.0609153509140015, 1.4806047677993774),
    "f64": (0.912999415661913, 1.7204790056257475),
}
"""Two floats whose product is pi / 2 to about twice the precision: one fma adds it to a value."""


def _add_half_pi(s: Scalars, value: Value, halves: Value) -> Value:
    """value + halves * pi / 2, where halves is 0 or a power of two."""
    first, second = HALF_PI_FACTORS[s.element(value)]
    factor = s.mulf(halves, s.constant(second, s.element(value)))
    return s.fma(factor, s.constant(first, s.element(value)), value)


def _odd_series(s: Scalars, t: Value, coefficients: tuple[float, ...]) -> Value:
    z = s.mulf(t, t)
    return s.fma(horner(s, z, coefficients), s.mulf(z, t), t)


def arctan(s: Scalars, x: Value) -> Value:
    """arctan(t) + base with t = |x| or -1 / |x|, and in f64 also (|x| - 1) / (|x| + 1)."""
    element = s.element(x)
    zero, one = s.constant(0.0, element), s.constant(1.0, element)
    magnitude = s.absf(x)
    minus_one = s.constant(-1.0, element)
    if element == "f32":
        inverted = s.cmpf("ogt", magnitude, one)
        numerator = s.select(inverted, minus_one, magnitude)
        denominator = s.select(inverted, magnitude, one)
        halves = s.select(inverted, one, zero)
    else:
        shifted = s.cmpf("ogt", magnitude, s.constant(math.tan(math.pi / 8), element))
        inverted = s.cmpf("ogt", magnitude, s.constant(math.tan(math.pi * 3 / 8), element))
        half = s.constant(0.5, element)
        numerator = s.select(shifted, s.subf(magnitude, one), magnitude)
        numerator = s.select(inverted, minus_one, numerator)
        denominator = s.select(shifted, s.addf(magnitude, one), one)
        denominator = s.select(inverted, magnitude, denominator)
        halves = s.select(inverted, one, s.select(shifted, half, zero))
    series = _odd_series(s, s.divf(numerator, denominator), ARCTAN[element])
    return s.copysign(_add_half_pi(s, series, halves), x)


def arctan2(s: Scalars, y: Value, x: Value) -> Value:
    """The angle of the point (x, y): the arctangent of the smaller over the larger side, mirrored.

    Zeros and infinities have the angles of IEEE 754's atan2: the signs of both count.
    """
    format_ = format_of(s, x)
    element, integer = format_.element, format_.integer
    zero, one = s.constant(0.0, element), s.constant(1.0, element)
    height, length = s.absf(y), s.absf(x)
    steep = s.cmpf("ogt", height, length)
    smaller, larger = s.select(steep, length, height), s.select(steep, height, length)
    angle = _first_octant(s, smaller, larger)
    both_zero = s.andi(s.cmpf("oeq", smaller, larger), s.cmpf("oeq", larger, zero))
    angle = s.select(both_zero, zero, angle)
    leftward = s.cmpi("slt", bits_of(s, x), s.constant(0, integer))
    # pi / 2 - angle where steep, pi - angle on the left, pi / 2 + angle where both.
    mirrored = s.xori(steep, leftward)
    angle = s.select(mirrored, s.negf(angle), angle)
    halves = s.select(leftward, s.constant(2.0, element), zero)
    halves = s.select(steep, one, halves)
    return s.copysign(_add_half_pi(s, angle, halves), y)


def _first_octant(s: Scalars, smaller: Value, larger: Value) -> Value:
    """arctan(smaller / larger) for 0 <= smaller <= larger; pi / 4 for equals."""
    element = s.element(larger)
    one = s.constant(1.0, element)
    equal = s.cmpf("oeq", smaller, larger)
    if element == "f32":
        t = s.select(equal, one, s.divf(smaller, larger))
        return _odd_series(s, t, ARCTAN[element])
    # A quarter of each side keeps their sum finite; small sides have to stay as they are.
    huge = s.cmpf("ogt", larger, s.constant(2.0**1000, element))
    scale = s.select(huge, s.constant(0.25, element), one)
    smaller, larger = s.mulf(smaller, scale), s.mulf(larger, scale)
    bound = s.mulf(larger, s.constant(math.tan(math.pi / 8), element))
    shifted = s.ori(s.cmpf("ogt", smaller, bound), equal)
    numerator = s.select(shifted, s.subf(smaller, larger), smaller)
    denominator = s.select(shifted, s.addf(smaller, larger), larger)
    t = s.select(equal, s.constant(0.0, element), s.divf(numerator, denominator))
    halves = s.select(shifted, s.constant(0.5, element), s.constant(0.0, element))
    return _add_half_pi(s, _odd_series(s, t, ARCTAN[element]), halves)


def _arcsin_parts(s: Scalars, x: Value) -> tuple[Value, Value]:
    """Whether |x| > 1/2, and arcsin(|x|), or then arcsin(sqrt((1 - |x|) / 2)).

    The latter is half of pi / 2 - arcsin(|x|).
    """
    element = s.element(x)
    half = s.constant(0.5, element)
    magnitude = s.absf(x)
    is_large = s.cmpf("ogt", magnitude, half)
    z = s.fma(s.constant(-0.5, element), magnitude, half)
    t = s.select(is_large, s.sqrt(z), magnitude)
    z = s.select(is_large, z, s.mulf(x, x))
    return is_large, s.fma(horner(s, z, ARCSIN[element]), s.mulf(z, t), t)


def arcsin(s: Scalars, x: Value) -> Value:
    """The inverse sine; NaN outside [-1, 1]."""
    element = s.element(x)
    is_large, part = _arcsin_parts(s, x)
    large = s.mulf(part, s.constant(-2.0, element))
    large = _add_half_pi(s, large, s.constant(1.0, element))
    return s.copysign(s.select(is_large, large, part), x)


def arccos(s: Scalars, x: Value) -> Value:
    """The inverse cosine; NaN outside [-1, 1]."""
    format_ = format_of(s, x)
    element, integer = format_.element, format_.integer
    zero, one, two = (s.constant(value, element) for value in (0.0, 1.0, 2.0))
    is_large, part = _arcsin_parts(s, x)
    negative = s.cmpi("slt", bits_of(s, x), s.constant(0, integer))
    # pi / 2 - part, pi / 2 + part; 2 part near 1, pi - 2 part near -1.
    value = s.select(is_large, s.addf(part, part), part)
    minus = s.xori(s.xori(is_large, negative), s.constant(1, "i1"))
    value = s.select(minus, s.negf(value), value)
    halves = s.select(is_large, s.select(negative, two, zero), one)
    return _add_half_pi(s, value, halves)
