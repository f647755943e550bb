"""The two float formats that the math library computes in, and their bit patterns."""

from __future__ import annotations

from dataclasses import dataclass

from ..scalars import Scalars, Value


@dataclass(frozen=True)
class FloatFormat:
    """An IEEE 754 binary interchange format.

    Attributes:
        element: the float's element type.
        integer: the integer of the same width.
        width: bits of the whole.
        fraction_bits: explicitly stored bits of the significand.
        bias: what is added to the exponent before it is stored.
    """

    element: str
    integer: str
    width: int
    fraction_bits: int
    bias: int

    @property
    def rounding_shift(self) -> float:
        """1.5 * 2**fraction_bits: a float plus this has its nearest integer in its low bits.

        Holds for magnitudes below 2**(fraction_bits - 2). W. J. Cody & W. Waite, "Software Manual
        for the Elementary Functions", 1980; the rounding is the addition's own.
        """
        return 1.5 * 2.0**self.fraction_bits

    @property
    def least_normal(self) -> float:
        """The smallest positive number with a full significand."""
        return 2.0 ** (1 - self.bias)


F32 = FloatFormat("f32", "i32", 32, 23, 127)
F64 = FloatFormat("f64", "i64", 64, 52, 1023)
FORMATS = {"f32": F32, "f64": F64}


def format_of(s: Scalars, x: Value) -> FloatFormat:
    """The format of a value, which must be f32 or f64."""
    return FORMATS[s.element(x)]


def bits_of(s: Scalars, x: Value) -> Value:
    """The bit pattern of a float as an integer."""
    return s.bitcast(x, format_of(s, x).integer)


def sign_bit(s: Scalars, x: Value) -> Value:
    """The sign bit of a float, in place, as an integer."""
    format_ = format_of(s, x)
    return s.andi(bits_of(s, x), s.constant(1 << (format_.width - 1), format_.integer))


def flip_sign(s: Scalars, x: Value, sign: Value) -> Value:
    """x, negated where the sign bit of the integer ``sign`` is set; its other bits must be 0."""
    return s.bitcast(s.xori(bits_of(s, x), sign), s.element(x))
