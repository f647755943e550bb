"""The scalar language on NumPy arrays: what the math library means, without a compiler.

Every operation is rounded as IEEE 754 says, :meth:`NumpyScalars.fma` too. Integers are kept signed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Array = Any
"""A NumPy array or scalar; f32 and f64, int8 to int64, and bool stand for the element types."""

DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
}
ELEMENTS = {dtype: name for name, dtype in DTYPES.items()}


class NumpyScalars:
    """An implementation of :class:`lamina.passes.scalars.Scalars`.

    Attributes:
        elements: the element types of all values that were made.
        operations: how many operations were asked for, constants and bit casts aside.
    """

    def __init__(self) -> None:
        self.elements: set[str] = set()
        self.operations = 0

    def element(self, value: Array) -> str:
        return ELEMENTS[value.dtype]

    def constant(self, value: float, element: str) -> Array:
        self.elements.add(element)
        if element[0] == "f":
            return DTYPES[element].type(value)
        if element == "i1":
            return np.bool_(bool(value))
        width = int(element[1:])
        return DTYPES[element].type(
            (int(value) + (1 << width - 1)) % (1 << width) - (1 << width - 1)
        )

    def _made(self, value: Array) -> Array:
        self.operations += 1
        self.elements.add(self.element(value))
        return value

    def addf(self, a: Array, b: Array) -> Array:
        return self._made(a + b)

    def subf(self, a: Array, b: Array) -> Array:
        return self._made(a - b)

    def mulf(self, a: Array, b: Array) -> Array:
        return self._made(a * b)

    def divf(self, a: Array, b: Array) -> Array:
        return self._made(a / b)

    def negf(self, a: Array) -> Array:
        return self._made(-a)

    def absf(self, a: Array) -> Array:
        return self._made(np.abs(a))

    def sqrt(self, a: Array) -> Array:
        return self._made(np.sqrt(a))

    def floor(self, a: Array) -> Array:
        return self._made(np.floor(a))

    def ceil(self, a: Array) -> Array:
        return self._made(np.ceil(a))

    def trunc(self, a: Array) -> Array:
        return self._made(np.trunc(a))

    def rint(self, a: Array) -> Array:
        return self._made(np.rint(a))

    def copysign(self, magnitude: Array, sign: Array) -> Array:
        return self._made(np.copysign(magnitude, sign))

    def fma(self, a: Array, b: Array, c: Array) -> Array:
        return self._made((fma_f32 if a.dtype == np.float32 else fma_f64)(a, b, c))

    def minnum(self, a: Array, b: Array) -> Array:
        return self._made(np.where(a < b, a, b))

    def maxnum(self, a: Array, b: Array) -> Array:
        return self._made(np.where(a > b, a, b))

    def cmpf(self, predicate: str, a: Array, b: Array) -> Array:
        unordered = np.isnan(a) | np.isnan(b)
        if predicate in ("ord", "uno"):
            return self._made(unordered if predicate == "uno" else ~unordered)
        relation = getattr(np, _RELATIONS[predicate[1:]])(a, b)
        return self._made(relation | unordered if predicate[0] == "u" else relation & ~unordered)

    def addi(self, a: Array, b: Array) -> Array:
        return self._made(a + b)

    def subi(self, a: Array, b: Array) -> Array:
        return self._made(a - b)

    def muli(self, a: Array, b: Array) -> Array:
        return self._made(a * b)

    def andi(self, a: Array, b: Array) -> Array:
        return self._made(a & b)

    def ori(self, a: Array, b: Array) -> Array:
        return self._made(a | b)

    def xori(self, a: Array, b: Array) -> Array:
        return self._made(a ^ b)

    def mulhui(self, a: Array, b: Array) -> Array:
        x, y = _unsigned(a).astype(np.uint64), _unsigned(b).astype(np.uint64)
        half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
        if a.dtype == np.int32:
            return self._made(((x * y) >> half).astype(np.uint32).view(np.int32))
        cross = (x >> half) * (y & low) + (((x & low) * (y & low)) >> half)
        other = (x & low) * (y >> half) + (cross & low)
        high = (x >> half) * (y >> half) + (cross >> half) + (other >> half)
        return self._made(high.view(np.int64))

    def shli(self, a: Array, b: Array) -> Array:
        return self._made(a << b)

    def shrsi(self, a: Array, b: Array) -> Array:
        return self._made(a >> b)

    def shrui(self, a: Array, b: Array) -> Array:
        return self._made((_unsigned(a) >> _unsigned(b)).view(a.dtype))

    def divsi(self, a: Array, b: Array) -> Array:
        quotient = np.abs(a) // np.abs(b)
        return self._made(np.where((a < 0) != (b < 0), -quotient, quotient))

    def divui(self, a: Array, b: Array) -> Array:
        return self._made((_unsigned(a) // _unsigned(b)).view(a.dtype))

    def cmpi(self, predicate: str, a: Array, b: Array) -> Array:
        if predicate[0] == "u":
            a, b = _unsigned(a), _unsigned(b)
        relation = predicate if predicate in ("eq", "ne") else predicate[1:]
        return self._made(getattr(np, _RELATIONS[relation])(a, b))

    def select(self, condition: Array, a: Array, b: Array) -> Array:
        assert a.dtype == b.dtype
        return self._made(np.where(condition, a, b))

    def bitcast(self, a: Array, element: str) -> Array:
        return np.asarray(a).view(DTYPES[element])

    def fptosi(self, a: Array, element: str) -> Array:
        return self._made(a.astype(DTYPES[element]))

    def fptoui(self, a: Array, element: str) -> Array:
        unsigned = np.dtype(f"u{DTYPES[element]}")
        return self._made(np.asarray(a.astype(unsigned)).view(DTYPES[element]))

    def sitofp(self, a: Array, element: str) -> Array:
        return self._made(a.astype(DTYPES[element]))

    def uitofp(self, a: Array, element: str) -> Array:
        return self._made(_unsigned(a).astype(DTYPES[element]))

    def extsi(self, a: Array, element: str) -> Array:
        return self._made(a.astype(DTYPES[element]))

    def extui(self, a: Array, element: str) -> Array:
        return self._made(_unsigned(a).astype(DTYPES[element]))

    def trunci(self, a: Array, element: str) -> Array:
        return self._made(a.astype(DTYPES[element]))

    def extf(self, a: Array, element: str) -> Array:
        return self._made(a.astype(DTYPES[element]))

    def truncf(self, a: Array, element: str) -> Array:
        return self._made(a.astype(DTYPES[element]))

    def replace_where(
        self,
        condition: Array,
        values: tuple[Array, ...],
        replacement: Callable[[], tuple[Array, ...]],
    ) -> tuple[Array, ...]:
        if not np.any(condition):
            return values
        made = replacement()
        return tuple(self.select(condition, b, a) for a, b in zip(values, made, strict=True))

    def repeat_while(
        self,
        condition: Callable[..., Array],
        body: Callable[..., tuple[Array, ...]],
        values: tuple[Array, ...],
    ) -> tuple[Array, ...]:
        running = condition(*values)
        while np.any(running):
            made = body(*values)
            values = tuple(self.select(running, b, a) for a, b in zip(values, made, strict=True))
            running = condition(*values)
        return values


_RELATIONS = {
    "eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal", "lt": "less",
    "le": "less_equal",
}  # fmt: skip


def _unsigned(a: Array) -> Array:
    value = np.asarray(a)
    if value.dtype == np.bool_:
        return value.astype(np.uint8)
    return value.view(np.dtype(f"u{value.dtype}"))


def fma_f32(a: Array, b: Array, c: Array) -> Array:
    """a * b + c rounded once.

    The product is exact in f64; the sum is rounded to odd there, so that the second rounding is
    that of the exact sum (S. Boldo & G. Melquiond, "Emulation of a FMA and correctly rounded sums:
    proved algorithms using rounding to odd", IEEE Trans. Comput. 57(4), 2008).
    """
    product = np.multiply(a, b, dtype=np.float64)
    return _sum_to_odd(product, np.asarray(c, np.float64)).astype(np.float32)


def fma_f64(a: Array, b: Array, c: Array) -> Array:
    """a * b + c rounded once, by the same authors' algorithm on scaled operands."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b), np.shape(c))
    a, b, c = np.broadcast_arrays(*map(np.atleast_1d, (a, b, c)))
    (x, x_exponent), (y, y_exponent), (z, z_exponent) = np.frexp(a), np.frexp(b), np.frexp(c)
    exponent = x_exponent.astype(np.int64) + y_exponent
    above = z_exponent - exponent
    z = np.ldexp(z, np.clip(above, -200, 150))
    high, low = _two_product(x, y)
    t_high, t_low = _two_sum(z, low)
    v_high, v_low = _two_sum(high, t_high)
    total = v_high + _sum_to_odd(t_low, v_low)
    result = np.ldexp(total, np.clip(exponent, -5000, 5000).astype(np.int32))
    # A product far below c does not matter, neither do the steps for values that are not finite.
    result = np.where((above > 140) & (c != 0), c, result)
    plain = ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c)) | (a == 0) | (b == 0)
    alone = np.isfinite(a) & np.isfinite(b) & np.isinf(c)
    result = np.where(alone, c, np.where(plain, a * b + c, result))
    result = np.where(~plain & (c == 0) & (total == 0), a * b, result)
    # Below the normal numbers the scaling would be a second rounding.
    subnormal = ~plain & (np.abs(result) < 2.0**-1021)
    for index in zip(*np.nonzero(subnormal), strict=True):
        exact = Fraction(float(a[index])) * Fraction(float(b[index])) + Fraction(float(c[index]))
        result[index] = np.copysign(float(exact), result[index])
    return result.reshape(shape)[()]


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error (D. E. Knuth, TAOCP 2, 4.2.2)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its error, for f64 of moderate size (T. J. Dekker, 1971)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Array) -> tuple[Array, Array]:
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def _sum_to_odd(a: Array, b: Array) -> Array:
    """a + b in f64; if it is not exact, the neighbour with an odd significand."""
    total, error = _two_sum(a, b)
    even = np.asarray(total).view(np.int64) & 1 == 0
    inexact = np.isfinite(total) & (error != 0) & even
    return np.where(inexact, np.nextafter(total, np.copysign(np.inf, error)), total)
