"""sin, cos, and tan.

They compute with r = |x| - n pi / 2, |r| <= pi / 4, which :mod:`.reduction` gives,
and with n modulo 4.
"""

from __future__ import annotations

from ..scalars import Scalars, Value
from .formats import bits_of, flip_sign, sign_bit
from .polynomials import horner
from .reduction import reduce_quarter

SIN = {
    "f32": (-0.16666653752326965, 0.008332093246281147, -0.00019505129603203386),
    "f64": (
        -0.1666666666666662, 0.008333333333319702, -0.0001984126982760774, 2.75573129211792e-06,
        -2.5050636554747834e-08, 1.588971114494944e-10,
    ),
}  # fmt: skip
"""(sin(r) - r) / r**3 in r**2, error relative to sin(r)."""

COS = {
    "f32": (0.04166664183139801, -0.0013887130189687014, 2.4412078346358612e-05),
    "f64": (
        0.041666666666666574, -0.001388888888886972, 2.4801587286731292e-05,
        -2.755731355882721e-07, 2.0875615700065934e-09, -1.1354097254208961e-11,
    ),
}  # fmt: skip
"""(cos(r) - 1 + r**2 / 2) / r**4 in r**2, error relative to cos(r)."""

TAN = {
    "f32": (
        0.3333335518836975, 0.13332462310791016, 0.054083701223134995, 0.021155651658773422,
        0.011171161197125912, -0.0003429363132454455, 0.00459251319989562,
    ),
    "f64": (
        0.33333333333333426, 0.1333333333331853, 0.05396825397654844, 0.021869488301043048,
        0.00886323948845399, 0.003592084772433815, 0.001456158300859221, 0.0005883101132565092,
        0.00024569968276261207, 7.864249461338935e-05, 7.605439198637079e-05,
        -3.665753092530114e-05, 5.7717701689945125e-05, -2.8713378619335168e-05,
        1.0774054044344247e-05,
    ),
}  # fmt: skip
"""(tan(r) - r) / r**3 in r**2, error relative to tan(r)."""


def _sin_reduced(s: Scalars, r: Value, z: Value) -> Value:
    return s.fma(horner(s, z, SIN[s.element(r)]), s.mulf(z, r), r)


def _cos_reduced(s: Scalars, z: Value) -> Value:
    element = s.element(z)
    tail = horner(s, z, (-0.5, *COS[element]))
    return s.fma(tail, z, s.constant(1.0, element))


def _is_odd(s: Scalars, quarter: Value) -> Value:
    integer = s.element(quarter)
    last = s.andi(quarter, s.constant(1, integer))
    return s.cmpi("ne", last, s.constant(0, integer))


def _negative_half(s: Scalars, quarter: Value) -> Value:
    """The second lowest bit in the place of a float's sign; other bits are left over."""
    integer = s.element(quarter)
    return s.shli(quarter, s.constant(int(integer[1:]) - 2, integer))


def _only_sign(s: Scalars, bits: Value) -> Value:
    integer = s.element(bits)
    return s.andi(bits, s.constant(1 << (int(integer[1:]) - 1), integer))


def sin(s: Scalars, x: Value) -> Value:
    """The sine: of r or its cosine, by the quarter of the circle."""
    quarter, r = reduce_quarter(s, s.absf(x))
    z = s.mulf(r, r)
    value = s.select(_is_odd(s, quarter), _cos_reduced(s, z), _sin_reduced(s, r, z))
    sign = _only_sign(s, s.xori(_negative_half(s, quarter), bits_of(s, x)))
    return flip_sign(s, value, sign)


def cos(s: Scalars, x: Value) -> Value:
    """The cosine: of r or its sine, by the quarter of the circle."""
    quarter, r = reduce_quarter(s, s.absf(x))
    z = s.mulf(r, r)
    value = s.select(_is_odd(s, quarter), _sin_reduced(s, r, z), _cos_reduced(s, z))
    following = s.addi(quarter, s.constant(1, s.element(quarter)))
    return flip_sign(s, value, _only_sign(s, _negative_half(s, following)))


def tan(s: Scalars, x: Value) -> Value:
    """The tangent: tan(r) or -1 / tan(r), by the quarter of the circle."""
    element = s.element(x)
    quarter, r = reduce_quarter(s, s.absf(x))
    z = s.mulf(r, r)
    value = s.fma(horner(s, z, TAN[element]), s.mulf(z, r), r)
    odd = _is_odd(s, quarter)
    numerator = s.select(odd, s.constant(-1.0, element), value)
    denominator = s.select(odd, value, s.constant(1.0, element))
    return flip_sign(s, s.divf(numerator, denominator), sign_bit(s, x))
