"""sinh, cosh, tanh, and their inverses."""

from __future__ import annotations

from ..scalars import Scalars, Value
from .exponential import exp_reduced, power_of_two, reduce
from .formats import bits_of, format_of
from .logarithm import log1p_of_sum
from .polynomials import horner

SINH = {
    "f32": (0.1666666716337204, 0.008333287201821804, 0.00019906152738258243),
    "f64": (
        0.16666666666666677, 0.008333333333321162, 0.00019841269887791875, 2.755724214269287e-06,
        2.510987206560238e-08,
    ),
}  # fmt: skip
"""(sinh(r) - r) / r**3 in r**2 for |r| <= ln(2) / 2, error relative to sinh(r)."""

COSH = {
    "f32": (0.5, 0.04166645184159279, 0.0013936281902715564),
    "f64": (
        0.5, 0.041666666666666685, 0.0013888888888873067, 2.480158735002273e-05,
        2.755725083131636e-07, 2.0922152241092623e-09,
    ),
}  # fmt: skip
"""(cosh(r) - 1) / r**2 in r**2 for |r| <= ln(2) / 2, error relative to cosh(r)."""

TANH = {
    "f32": (-0.3333294689655304, 0.133207306265831, -0.05267208069562912, 0.01643786020576954),
    "f64": (
        -0.33333333333332316, 0.13333333333168937, -0.05396825387616679, 0.021869485976528356,
        -0.008863194523889489, 0.003591719837111617, -0.001453217370631916,
        0.0005791386568367387, -0.00021030484021902296, 5.1023027411253954e-05,
    ),
}  # fmt: skip
"""(tanh(x) - x) / x**3 in x**2 for small x, error relative to tanh(x)."""

TANH_SMALL = 0.55
"""Arguments of tanh below it are small: tanh(0.55) is just above 1/2."""

LARGEST = {"f32": 89.7, "f64": 710.7}
"""Arguments from which on sinh and cosh are infinite, while their half in two factors is not."""


def tanh(s: Scalars, x: Value) -> Value:
    """1 - 2 / (exp(2|x|) + 1) with the sign of x; an odd polynomial for small x."""
    element = s.element(x)
    one, two = s.constant(1.0, element), s.constant(2.0, element)
    magnitude = s.absf(x)
    z = s.mulf(x, x)
    small = s.fma(horner(s, z, TANH[element]), s.mulf(z, magnitude), magnitude)
    clamped = s.minnum(s.constant(10.0 if element == "f32" else 20.0, element), magnitude)
    reduced = reduce(s, s.addf(clamped, clamped))
    power = power_of_two(s, reduced.shifted)
    quotient = s.divf(two, s.fma(exp_reduced(s, reduced.r), power, one))
    is_small = s.cmpf("olt", magnitude, s.constant(TANH_SMALL, element))
    return s.copysign(s.select(is_small, small, s.subf(one, quotient)), x)


def _parts(s: Scalars, magnitude: Value) -> tuple[Value, Value, Value, Value]:
    """(2**n - 2**-n) / 4, (2**n + 2**-n) / 4, sinh(r) and cosh(r) - 1 for n ln 2 + r = magnitude.

    The addition theorems make sinh and cosh of the whole from these, without a division.
    """
    format_ = format_of(s, magnitude)
    element, integer = format_.element, format_.integer
    reduced = reduce(s, s.minnum(s.constant(LARGEST[element], element), magnitude))
    growing = power_of_two(s, reduced.shifted, -2)
    # 2**-n stops mattering long before it would leave the normal numbers.
    limit = format_.rounding_shift + format_.bias - 2
    limited = s.minnum(reduced.shifted, s.constant(limit - 1.0, element))
    falling_bits = s.subi(s.constant(format_.bias - 2, integer), bits_of(s, limited))
    place = s.constant(format_.fraction_bits, integer)
    falling = s.bitcast(s.shli(falling_bits, place), element)
    r = reduced.r
    z = s.mulf(r, r)
    sinh_r = s.fma(horner(s, z, SINH[element]), s.mulf(z, r), r)
    cosh_r = s.mulf(horner(s, z, COSH[element]), z)
    return s.subf(growing, falling), s.addf(growing, falling), sinh_r, cosh_r


def sinh(s: Scalars, x: Value) -> Value:
    """The hyperbolic sine, through sinh(n ln 2 + r)."""
    format_ = format_of(s, x)
    element = format_.element
    magnitude = s.absf(x)
    difference, total, sinh_r, cosh_r = _parts(s, magnitude)
    half = s.addf(difference, s.fma(difference, cosh_r, s.mulf(total, sinh_r)))
    result = s.copysign(s.mulf(half, s.constant(2.0, element)), x)
    tiny = s.cmpf("olt", magnitude, s.constant(2.0 ** -(format_.fraction_bits // 2 + 2), element))
    return s.select(tiny, x, result)


def cosh(s: Scalars, x: Value) -> Value:
    """The hyperbolic cosine, through cosh(n ln 2 + r)."""
    difference, total, sinh_r, cosh_r = _parts(s, s.absf(x))
    half = s.addf(total, s.fma(total, cosh_r, s.mulf(difference, sinh_r)))
    return s.mulf(half, s.constant(2.0, s.element(x)))


def arcsinh(s: Scalars, x: Value) -> Value:
    """log1p(|x| + x**2 / (1 + sqrt(1 + x**2))) with the sign of x; log(|x|) + log(2) if large."""
    element = s.element(x)
    zero, one = s.constant(0.0, element), s.constant(1.0, element)
    magnitude = s.absf(x)
    is_large = s.cmpf("ogt", magnitude, _where_one_vanishes(s, x))
    square = s.mulf(magnitude, magnitude)
    root = s.sqrt(s.fma(magnitude, magnitude, one))
    rest = s.select(is_large, zero, s.divf(square, s.addf(one, root)))
    total = s.addf(magnitude, rest)
    error = s.addf(s.subf(magnitude, total), rest)
    doublings = s.select(is_large, one, zero)
    result = s.copysign(log1p_of_sum(s, total, error, doublings), x)
    finite = s.cmpf("olt", magnitude, s.constant(float("inf"), element))
    return s.select(finite, result, x)


def arccosh(s: Scalars, x: Value) -> Value:
    """log1p(t + sqrt(2 t + t**2)) with t = x - 1; log(x) + log(2) for large x."""
    element = s.element(x)
    zero, one = s.constant(0.0, element), s.constant(1.0, element)
    is_large = s.cmpf("ogt", x, _where_one_vanishes(s, x))
    t = s.subf(x, one)
    root = s.sqrt(s.fma(t, t, s.addf(t, t)))
    root = s.select(is_large, zero, root)
    total = s.addf(root, t)
    error = s.select(is_large, zero, s.addf(s.subf(root, total), t))
    result = log1p_of_sum(s, total, error, s.select(is_large, one, zero))
    finite = s.cmpf("olt", x, s.constant(float("inf"), element))
    result = s.select(finite, result, x)
    below = s.cmpf("olt", x, one)
    return s.select(below, s.constant(float("nan"), element), result)


def _where_one_vanishes(s: Scalars, x: Value) -> Value:
    """Beyond this, log(1 + x) and log(2 x) + 1 / x**2 are as good as log(x) and log(2 x)."""
    format_ = format_of(s, x)
    return s.constant(2.0 ** (format_.fraction_bits - 1), format_.element)


def arctanh(s: Scalars, x: Value) -> Value:
    """log1p(2|x| + 2 x**2 / (1 - |x|)) / 2 with the sign of x."""
    element = s.element(x)
    one = s.constant(1.0, element)
    magnitude = s.absf(x)
    double = s.addf(magnitude, magnitude)
    rest = s.divf(s.mulf(double, magnitude), s.subf(one, magnitude))
    total = s.addf(double, rest)
    error = s.addf(s.subf(double, total), rest)
    logarithm = log1p_of_sum(s, total, error, s.constant(0.0, element))
    result = s.mulf(logarithm, s.constant(0.5, element))
    at_one = s.cmpf("oeq", magnitude, one)
    infinity, nan = s.constant(float("inf"), element), s.constant(float("nan"), element)
    result = s.select(s.cmpf("olt", magnitude, one), result, s.select(at_one, infinity, nan))
    return s.copysign(result, x)
