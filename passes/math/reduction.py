"""Reduction of an angle to the quarter of the circle around 0, exact for every argument.

Moderate angles: n pi / 2 is subtracted in three parts with fused multiply-adds (Cody & Waite,
"Software Manual for the Elementary Functions", 1980). The first step is exact, since n is small
enough, and the others keep the relative error of the result, however much cancels.

Large angles: the bits of 2 / pi that matter are multiplied by the significand in integers (M. Payne
& R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ..scalars import Scalars, Value
from .formats import FloatFormat, bits_of, format_of

TWO_OVER_PI = 0.6366197723675814

HALF_PI = {
    "f32": (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    "f64": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
}
"""pi / 2 as a sum of floats."""

MODERATE = {"f32": 2.0**17, "f64": 2.0**38}
"""Angles up to here are reduced in floats; n then is that of the nearest quarter, nearly."""

# fmt: off
TWO_OVER_PI_BITS = (
    0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484,
    0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB,
)
# fmt: on
"""The first 1216 bits of 2 / pi behind the binary point."""


def reduce_quarter(s: Scalars, angle: Value) -> tuple[Value, Value]:
    """An integer and r with angle = integer * pi / 2 + r, for an angle >= 0.

    The integer is right modulo 4; r is at most a little over pi / 4, with an error of about one
    unit in its last place, and NaN for infinity and NaN.
    """
    format_ = format_of(s, angle)
    element = format_.element
    shift = s.constant(format_.rounding_shift, element)
    shifted = s.fma(angle, s.constant(TWO_OVER_PI, element), shift)
    n = s.subf(shifted, shift)
    r = angle
    for part in HALF_PI[element]:
        r = s.fma(n, s.constant(-part, element), r)
    is_large = s.cmpf("ogt", angle, s.constant(MODERATE[element], element))
    quarter, r = s.replace_where(
        is_large, (bits_of(s, shifted), r), lambda: _reduce_large(s, angle)
    )
    return quarter, r


@dataclass(frozen=True)
class _Window:
    """The three words of 2 / pi that the product with a significand needs."""

    high: Value
    middle: Value
    low: Value


def _reduce_large(s: Scalars, angle: Value) -> tuple[Value, Value]:
    format_ = format_of(s, angle)
    integer = format_.integer
    bits = bits_of(s, angle)
    fraction = s.andi(bits, s.constant((1 << format_.fraction_bits) - 1, integer))
    significand = s.ori(fraction, s.constant(1 << format_.fraction_bits, integer))
    exponent = s.shrui(bits, s.constant(format_.fraction_bits, integer))
    window = _window(s, exponent, format_)
    high, low = _product(s, significand, window)
    # The highest two bits are the quarter; it is rounded to nearest, what is left is signed.
    width = format_.width
    half = s.constant(1 << (width - 3), integer)
    quarter = s.shrui(s.addi(high, half), s.constant(width - 2, integer))
    rest = s.subi(high, s.shli(quarter, s.constant(width - 2, integer)))
    r = _times_half_pi(s, rest, low, format_)
    # NaN for an infinite angle, whose bits mean nothing.
    return quarter, s.fma(angle, s.constant(0.0, format_.element), r)


def _window(s: Scalars, exponent: Value, format_: FloatFormat) -> _Window:
    """Words of 2 / pi from the bit on that weighs 2 after the product with the significand.

    Bits before it give multiples of 4 and do not matter. A word of zeros stands before the point.
    """
    integer, width = format_.integer, format_.width
    # The significand's unit is 2**e; the wanted bit is number e - 1, counted from 1.
    unit = format_.bias + format_.fraction_bits
    position = s.addi(exponent, s.constant(width - 2 - unit, integer))
    words = [0, *_words_of_two_over_pi(width)]
    index = s.shrui(position, s.constant(width.bit_length() - 1, integer))
    largest_index = (2 * format_.bias + width - 2 - unit) // width
    values: list[int | Value] = list(words[: largest_index + 4])
    step = 1 << (largest_index.bit_length() - 1)
    while step:
        bit = s.andi(index, s.constant(step, integer))
        taken = s.cmpi("ne", bit, s.constant(0, integer))
        for i in range(min(step + 3, len(values))):
            if i + step < len(values):
                later, sooner = (_word(s, values[j], integer) for j in (i + step, i))
                values[i] = s.select(taken, later, sooner)
        step //= 2
    first = [_word(s, value, integer) for value in values[:4]]
    offset = s.andi(position, s.constant(width - 1, integer))
    rest = s.subi(s.constant(width - 1, integer), offset)
    one = s.constant(1, integer)
    shifted = [s.ori(s.shli(a, offset), s.shrui(s.shrui(b, one), rest)) for a, b in pairwise(first)]
    return _Window(*shifted)


def _word(s: Scalars, value: int | Value, integer: str) -> Value:
    return s.constant(value, integer) if isinstance(value, int) else value


def _words_of_two_over_pi(width: int) -> list[int]:
    if width == 64:
        return list(TWO_OVER_PI_BITS)
    halves = [(word >> 32, word & 0xFFFFFFFF) for word in TWO_OVER_PI_BITS]
    return [half for pair in halves for half in pair]


def _product(s: Scalars, significand: Value, window: _Window) -> tuple[Value, Value]:
    """The upper two of the lowest three words of the product."""
    integer = s.element(significand)
    middle = s.muli(significand, window.middle)
    low = s.addi(middle, s.mulhui(significand, window.low))
    carry = s.select(s.cmpi("ult", low, middle), s.constant(1, integer), s.constant(0, integer))
    high = s.addi(s.muli(significand, window.high), s.mulhui(significand, window.middle))
    return s.addi(high, carry), low


def _times_half_pi(s: Scalars, high: Value, low: Value, format_: FloatFormat) -> Value:
    """pi / 2 times a signed fixed-point number with two bits before the point, of two words."""
    element, integer, width = format_.element, format_.integer, format_.width
    sign = s.shrsi(high, s.constant(width - 1, integer))
    # All bits are flipped to negate: one unit of the lowest place does not matter.
    high, low = s.xori(high, sign), s.xori(low, sign)
    # Three pieces that fit into a significand: the upper part of high; what it leaves and the
    # upper part of low; the rest of low.
    leave = width - format_.fraction_bits - 1
    keep = width - leave
    tail = (1 << leave) - 1
    upper = s.shrui(high, s.constant(leave, integer))
    lower = s.shli(s.andi(high, s.constant(tail, integer)), s.constant(keep - leave, integer))
    lower = s.ori(lower, s.shrui(low, s.constant(2 * leave, integer)))
    last = s.andi(low, s.constant((1 << (2 * leave)) - 1, integer))
    first = s.mulf(s.sitofp(upper, element), s.constant(2.0 ** -(keep - 2), element))
    second = s.mulf(s.sitofp(lower, element), s.constant(2.0 ** -(2 * keep - 2), element))
    third = s.constant(2.0 ** -(2 * width - 2), element)
    second = s.fma(s.sitofp(last, element), third, second)
    half_pi, correction, _ = (s.constant(part, element) for part in HALF_PI[element])
    rest = s.fma(first, correction, s.mulf(second, half_pi))
    r = s.fma(first, half_pi, rest)
    negative = s.shli(sign, s.constant(width - 1, integer))
    return s.bitcast(s.xori(s.bitcast(r, integer), negative), element)
