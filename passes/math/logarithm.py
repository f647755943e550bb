"""log, log1p, log2, log10, and logaddexp.

The argument is split into 2**k m with m in [2/3, 4/3) by integer arithmetic on its bits; log(m) is
f plus a smaller tail, where f = m - 1 is exact. Subnormal arguments are scaled up first.
"""

from __future__ import annotations

from ..scalars import Scalars, Value
from .exponential import LN2, exp
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

LOG2_E = {
    "f32": (1.4426950216293335, 1.925963033500011e-08),
    "f64": (1.4426950408889634, 2.0355273740931033e-17),
}
LOG10_E = {
    "f32": (0.4342944920063019, -1.0103049952192578e-08),
    "f64": (0.4342944819032518, 1.098319650216765e-17),
}
"""1 / log(2) and 1 / log(10) as sums of two floats."""

LOG10_2 = {
    "f32": (0.301025390625, 4.605038981195214e-06),
    "f64": (0.30102999566395283, 2.8363394551044964e-14),
}
"""log10(2) as a sum; the first part has trailing zeros, so that its product with k is exact."""


def split(s: Scalars, x: Value) -> tuple[Value, Value]:
    """k and m with x = 2**k m, k a float and m in [2/3, 4/3), for positive finite x.

    Other arguments give some finite k and m.
    """
    format_ = format_of(s, x)
    element = format_.element
    lift = format_.fraction_bits + 1
    tiny = s.cmpf("olt", x, s.constant(format_.least_normal, element))
    scaled = s.select(tiny, s.mulf(x, s.constant(2.0**lift, element)), x)
    start = s.select(tiny, s.constant(-float(lift), element), s.constant(0.0, element))
    exponent = exponent_of(s, scaled)
    m = s.bitcast(s.subi(bits_of(s, scaled), exponent), element)
    return _exponent_value(s, exponent, format_, start), m


def exponent_of(s: Scalars, x: Value) -> Value:
    """k as it stands in the exponent's place of a bit pattern, with x = 2**k m, m in [2/3, 4/3)."""
    format_ = format_of(s, x)
    two_thirds = ((format_.bias - 1) << format_.fraction_bits) + (1 << format_.fraction_bits) // 3
    above = s.subi(bits_of(s, x), s.constant(two_thirds, format_.integer))
    return s.andi(above, s.constant(-1 << format_.fraction_bits, format_.integer))


def _exponent_value(s: Scalars, exponent: Value, format_: FloatFormat, start: Value) -> Value:
    """The k that :func:`exponent_of` gave, plus ``start``, as a float."""
    unit = s.constant(2.0**-format_.fraction_bits, format_.element)
    return s.fma(s.sitofp(exponent, format_.element), unit, start)


def tail_of_log(s: Scalars, f: Value) -> Value:
    """log(1 + f) - f for |f| <= 1/3, with a small error relative to f.

    f64 follows FreeBSD's e_log.c (K. C. Ng), through u = f / (2 + f); in f32 a polynomial in f
    costs less than the division.
    """
    square = s.mulf(f, f)
    if s.element(f) == "f32":
        return s.mulf(s.fma(horner(s, f, LOG_F32), f, s.constant(-0.5, "f32")), square)
    u = s.divf(f, s.addf(f, s.constant(2.0, "f64")))
    z = s.mulf(u, u)
    half_square = s.mulf(square, s.constant(0.5, "f64"))
    series = s.fma(horner(s, z, LOG_F64), z, half_square)
    return s.fma(u, series, s.negf(half_square))


def log(s: Scalars, x: Value) -> Value:
    """The natural logarithm: k ln 2 + log(m)."""
    k, m = split(s, x)
    return outside_domain(s, x, _log_of_parts(s, k, s.subf(m, s.constant(1.0, s.element(x)))))


def _log_of_parts(s: Scalars, k: Value, f: Value) -> Value:
    """k ln 2 + log(1 + f)."""
    element = s.element(k)
    high, low = LN2[element]
    if element == "f32":  # k is short: ln 2 in one part is good enough.
        square = s.mulf(f, f)
        tail = s.fma(horner(s, f, LOG_F32), f, s.constant(-0.5, "f32"))
        return s.fma(k, s.constant(high + low, "f32"), s.fma(tail, square, f))
    tail = s.fma(k, s.constant(low, element), tail_of_log(s, f))
    return s.fma(k, s.constant(high, element), s.addf(f, tail))


def log2(s: Scalars, x: Value) -> Value:
    """The logarithm to base 2: k + log(m) / log(2), exact at powers of two."""
    k, m = split(s, x)
    f = s.subf(m, s.constant(1.0, s.element(x)))
    return outside_domain(s, x, s.addf(k, _scaled_log(s, f, LOG2_E[s.element(x)])))


def log10(s: Scalars, x: Value) -> Value:
    """The logarithm to base 10: k log10(2) + log(m) / log(10)."""
    element = s.element(x)
    k, m = split(s, x)
    f = s.subf(m, s.constant(1.0, element))
    high, low = LOG10_2[element]
    small = s.fma(k, s.constant(low, element), _scaled_log(s, f, LOG10_E[element]))
    return outside_domain(s, x, s.fma(k, s.constant(high, element), small))


def _scaled_log(s: Scalars, f: Value, factor: tuple[float, float]) -> Value:
    """log(1 + f) times a factor that is given as a sum."""
    high, low = (s.constant(part, s.element(f)) for part in factor)
    rest = s.fma(tail_of_log(s, f), high, s.mulf(f, low))
    return s.fma(f, high, rest)


def outside_domain(s: Scalars, x: Value, result: Value) -> Value:
    """result for positive finite x; infinity and NaN as they are, -inf at 0, NaN below it."""
    element = s.element(x)
    zero, infinity = s.constant(0.0, element), s.constant(float("inf"), element)
    nan = s.constant(float("nan"), element)
    pole = s.select(s.cmpf("oeq", x, zero), s.constant(float("-inf"), element), nan)
    result = s.select(s.cmpf("ogt", x, zero), result, pole)
    return s.select(s.cmpf("ult", x, infinity), result, x)


def log1p(s: Scalars, x: Value) -> Value:
    """log(1 + x): 1 + x only chooses k, so that its rounding error does not matter."""
    element = s.element(x)
    zero, one = s.constant(0.0, element), s.constant(1.0, element)
    total = s.addf(x, one)
    result = s.copysign(log1p_of_sum(s, x, None, zero), x)
    result = s.select(s.cmpf("olt", x, s.constant(float("inf"), element)), result, x)
    nan = s.constant(float("nan"), element)
    pole = s.select(s.cmpf("oeq", total, zero), s.constant(float("-inf"), element), nan)
    return s.select(s.cmpf("ole", x, s.constant(-1.0, element)), pole, result)


def log1p_of_sum(s: Scalars, x: Value, error: Value | None, doublings: Value) -> Value:
    """log(1 + x + error) + doublings ln 2 for finite x above -1, where error is far below x.

    With 1 + x = 2**k m the argument f = m - 1 is x 2**-k + (2**-k - 1), rounded once.
    """
    format_ = format_of(s, x)
    element, integer = format_.element, format_.integer
    exponent = exponent_of(s, s.addf(x, s.constant(1.0, element)))
    k = _exponent_value(s, exponent, format_, doublings)
    # 4 * 2**-k is normal for every k; x * 2**-k is too wherever k is not 0.
    four = (format_.bias + 2) << format_.fraction_bits
    inverse = s.bitcast(s.subi(s.constant(four, integer), exponent), element)
    scaled = s.bitcast(s.subi(bits_of(s, x), exponent), element)
    quarter = s.constant(0.25, element)
    f = s.addf(scaled, s.fma(quarter, inverse, s.constant(-1.0, element)))
    if error is not None:
        f = s.fma(s.mulf(error, quarter), inverse, f)
    return _log_of_parts(s, k, f)


def logaddexp(s: Scalars, a: Value, b: Value) -> Value:
    """log(exp(a) + exp(b)) = max + log1p(exp(min - max))."""
    element = s.element(a)
    zero = s.constant(0.0, element)
    a_is_larger = s.cmpf("ogt", a, b)
    larger, smaller = s.select(a_is_larger, a, b), s.select(a_is_larger, b, a)
    # Equal infinities have no difference.
    difference = s.select(s.cmpf("oeq", a, b), zero, s.subf(smaller, larger))
    result = s.addf(larger, log1p_of_sum(s, exp(s, difference), None, zero))
    return s.select(s.cmpf("uno", a, b), s.addf(a, b), result)
