"""rsqrt."""

from __future__ import annotations

from ..scalars import Scalars, Value


def rsqrt(s: Scalars, x: Value) -> Value:
    """1 / sqrt(x), both steps correctly rounded; infinity with the sign of a zero."""
    return s.divf(s.constant(1.0, s.element(x)), s.sqrt(x))
