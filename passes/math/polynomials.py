"""Polynomials with constant coefficients, evaluated by fused multiply-adds.

The coefficients in this package are minimax fits of Lamina's own: a weighted Remez exchange in
160-bit arithmetic on the interval and error measure that the function's docstring names, after
which the coefficients were rounded to the format one by one, the others refitted each time
(J.-M. Muller, "Elementary Functions", 3rd ed. 2016, chapters 3 and 4).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..scalars import Scalars, Value


def horner(s: Scalars, x: Value, coefficients: Sequence[float]) -> Value:
    """c[0] + c[1] x + c[2] x**2 + ..., by Horner's rule."""
    element = s.element(x)
    result = s.constant(coefficients[-1], element)
    for coefficient in reversed(coefficients[:-1]):
        result = s.fma(result, x, s.constant(coefficient, element))
    return result
