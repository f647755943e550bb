"""tanh."""

from __future__ import annotations

from ..scalars import Scalars, Value
from .exponential import expm1_reduced, power_of_two, reduce
from .formats import format_of


def tanh(s: Scalars, x: Value) -> Value:
    """expm1(2|x|) / (expm1(2|x|) + 2) with the sign of x; 1 where the quotient rounds to it."""
    format_ = format_of(s, x)
    element = format_.element
    bound = s.constant(10.0 if element == "f32" else 20.0, element)
    magnitude = s.minnum(bound, s.absf(x))
    reduced = reduce(s, s.addf(magnitude, magnitude))
    power = power_of_two(s, reduced.shifted)
    rest = s.subf(power, s.constant(1.0, element))
    exponential = s.fma(expm1_reduced(s, reduced.r), power, rest)
    quotient = s.divf(exponential, s.addf(exponential, s.constant(2.0, element)))
    return s.copysign(quotient, x)
