"""log.

The argument is split into 2**k m with m in [2/3, 4/3) by integer arithmetic on its bits; log(m) is
a polynomial in f = m - 1, which is exact. Subnormal arguments are scaled up first.
"""

from __future__ import annotations

from ..scalars import Scalars, Value
from .exponential import LN2
from .formats import FloatFormat, bits_of, format_of
from .polynomials import horner

LOG_F32 = (
    0.3333321511745453, -0.25001591444015503, 0.20010943710803986, -0.16596423089504242,
    0.1399313360452652, -0.13371457159519196, 0.14054115116596222, -0.07690069824457169,
)  # fmt: skip
"""(log(1 + f) - f + f**2 / 2) / f**3 for |f| <= 1/3, error relative to log(1 + f)."""

LOG_F64 = (
    0.6666666666666669, 0.4000000000005664, 0.2857142855584163, 0.22222224294649925,
    0.18181665996724228, 0.15391107731632822, 0.13173673240258574, 0.138425239213255,
)  # fmt: skip
"""(2 atanh(u) - 2 u) / u**3 in u**2 for |u| <= 1/5, error relative to 2 atanh(u) / u."""


def split(s: Scalars, x: Value, tiny: Value) -> tuple[Value, Value]:
    """k and m with x = 2**k m, m in [2/3, 4/3); ``tiny`` says where x is below the normal numbers.

    Other than positive finite arguments give some finite k and m.
    """
    format_ = format_of(s, x)
    element, integer = format_.element, format_.integer
    lift = format_.fraction_bits + 1
    scaled = s.select(tiny, s.mulf(x, s.constant(2.0**lift, element)), x)
    start = s.select(tiny, s.constant(-float(lift), element), s.constant(0.0, element))
    bits = bits_of(s, scaled)
    exponent = s.subi(bits, s.constant(_two_thirds(format_), integer))
    exponent = s.andi(exponent, s.constant(-1 << format_.fraction_bits, integer))
    m = s.bitcast(s.subi(bits, exponent), element)
    unit = s.constant(2.0**-format_.fraction_bits, element)
    return s.fma(s.sitofp(exponent, element), unit, start), m


def _two_thirds(format_: FloatFormat) -> int:
    """The bit pattern of the float below 2/3."""
    fraction = (1 << format_.fraction_bits) // 3
    return ((format_.bias - 1) << format_.fraction_bits) + fraction


def log(s: Scalars, x: Value) -> Value:
    """k ln 2 + log(m)."""
    format_ = format_of(s, x)
    element = format_.element
    k, m = split(s, x, s.cmpf("olt", x, s.constant(format_.least_normal, element)))
    f = s.subf(m, s.constant(1.0, element))
    result = (_log_f32 if element == "f32" else _log_f64)(s, k, f)
    return outside_domain(s, x, result)


def _log_f32(s: Scalars, k: Value, f: Value) -> Value:
    square = s.mulf(f, f)
    tail = s.fma(horner(s, f, LOG_F32), f, s.constant(-0.5, "f32"))
    return s.fma(k, s.constant(sum(LN2["f32"]), "f32"), s.fma(tail, square, f))


def _log_f64(s: Scalars, k: Value, f: Value) -> Value:
    """The method of FreeBSD's e_log.c (K. C. Ng): log(1 + f) through u = f / (2 + f)."""
    u = s.divf(f, s.addf(f, s.constant(2.0, "f64")))
    z = s.mulf(u, u)
    half_square = s.mulf(s.mulf(f, f), s.constant(0.5, "f64"))
    tail = s.mulf(horner(s, z, LOG_F64), z)
    high, low = LN2["f64"]
    small = s.fma(u, s.addf(half_square, tail), s.mulf(k, s.constant(low, "f64")))
    return s.fma(k, s.constant(high, "f64"), s.subf(f, s.subf(half_square, small)))


def outside_domain(s: Scalars, x: Value, result: Value) -> Value:
    """result for positive finite x; infinity and NaN as they are, -inf at 0, NaN below it."""
    element = s.element(x)
    zero, infinity = s.constant(0.0, element), s.constant(float("inf"), element)
    result = s.select(s.cmpf("olt", x, infinity), result, x)
    pole = s.select(
        s.cmpf("oeq", x, zero),
        s.constant(float("-inf"), element),
        s.constant(float("nan"), element),
    )
    return s.select(s.cmpf("ogt", x, zero), result, pole)
