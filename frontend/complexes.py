"""Functions of complex numbers, composed of real primitives.

All work on complex64 nodes. Branch cuts are those of C99 and NumPy: the logarithm, the square root
and powers on the negative real axis, the inverse functions as their formulas say.
"""

from __future__ import annotations

import math

from ..dialects import ops
from ..dialects.primitive import Primitive
from . import graph
from .dtypes import complex64, float32
from .graph import Node
from .operands import filled


def _f(primitive: Primitive, *nodes: Node) -> Node:
    return graph.apply(primitive, nodes)


def _number(value: float, like: Node) -> Node:
    return filled(value, float32, like.shape)


def real(z: Node) -> Node:
    """The real part, float32."""
    return _f(ops.real, z)


def imag(z: Node) -> Node:
    """The imaginary part, float32."""
    return _f(ops.imag, z)


def join(x: Node, y: Node) -> Node:
    """x + iy of float32 nodes."""
    return _f(ops.complex_, x, y)


def conjugate(z: Node) -> Node:
    """x - iy."""
    return join(real(z), _f(ops.negative, imag(z)))


def times_i(z: Node) -> Node:
    """i z, exactly."""
    return join(_f(ops.negative, imag(z)), real(z))


def over_i(z: Node) -> Node:
    """z / i, exactly."""
    return join(imag(z), _f(ops.negative, real(z)))


def absolute(z: Node) -> Node:
    """|z| without overflow: the larger part times the root of 1 plus the ratio's square."""
    x, y = _f(ops.abs_, real(z)), _f(ops.abs_, imag(z))
    large, small = _f(ops.maximum, x, y), _f(ops.minimum, x, y)
    zero, infinity = _number(0.0, x), _number(math.inf, x)
    ratio = _f(ops.divide, small, large)
    root = _f(ops.sqrt, _f(ops.add, _number(1.0, x), _f(ops.multiply, ratio, ratio)))
    length = _f(ops.multiply, large, root)
    length = _f(ops.select, _f(ops.equal, large, zero), large, length)
    is_infinite = _f(ops.bitwise_or, _f(ops.equal, x, infinity), _f(ops.equal, y, infinity))
    return _f(ops.select, is_infinite, infinity, length)


def angle(z: Node) -> Node:
    """The argument of z in [-pi, pi], float32."""
    return _f(ops.arctan2, imag(z), real(z))


def sign(z: Node) -> Node:
    """z / |z|, 0 at 0."""
    length = absolute(z)
    is_zero = _f(ops.equal, length, _number(0.0, length))
    unit = join(_f(ops.divide, real(z), length), _f(ops.divide, imag(z), length))
    return _f(ops.select, is_zero, z, unit)


def exp(z: Node) -> Node:
    """e**x (cos y + i sin y); a real argument gives a real result, infinities included."""
    x, y = real(z), imag(z)
    scale = _f(ops.exp, x)
    is_real = _f(ops.equal, y, _number(0.0, y))
    sine = _f(ops.multiply, scale, _f(ops.sin, y))
    return join(
        _f(ops.select, is_real, scale, _f(ops.multiply, scale, _f(ops.cos, y))),
        _f(ops.select, is_real, y, sine),
    )


def log(z: Node) -> Node:
    """log |z| + i arg z."""
    return join(_f(ops.log, absolute(z)), angle(z))


def _scaled_log(z: Node, base: float) -> Node:
    logarithm = log(z)
    factor = _number(1.0 / math.log(base), z)
    return join(
        _f(ops.multiply, real(logarithm), factor), _f(ops.multiply, imag(logarithm), factor)
    )


def log2(z: Node) -> Node:
    """The logarithm to base 2."""
    return _scaled_log(z, 2.0)


def log10(z: Node) -> Node:
    """The logarithm to base 10."""
    return _scaled_log(z, 10.0)


def log1p(z: Node) -> Node:
    """log(1 + z); near 0 the real part is log1p(x (2 + x) + y**2) / 2."""
    x, y = real(z), imag(z)
    one, two = _number(1.0, x), _number(2.0, x)
    excess = _f(ops.add, _f(ops.multiply, x, _f(ops.add, two, x)), _f(ops.multiply, y, y))
    near = _f(ops.multiply, _number(0.5, x), _f(ops.log1p, excess))
    shifted = join(_f(ops.add, one, x), y)
    length = absolute(z)
    is_near = _f(ops.less, length, _number(0.5, x))
    return join(_f(ops.select, is_near, near, _f(ops.log, absolute(shifted))), angle(shifted))


def sqrt(z: Node) -> Node:
    """The root with a real part not below 0."""
    x, y = real(z), imag(z)
    zero, half = _number(0.0, x), _number(0.5, x)
    # Halving |x| and |z| before they are added keeps the sum finite.
    half_sum = _f(
        ops.add,
        _f(ops.multiply, half, _f(ops.abs_, x)),
        _f(ops.multiply, half, absolute(z)),
    )
    root = _f(ops.sqrt, half_sum)
    other = _f(ops.divide, _f(ops.multiply, half, y), root)
    is_right = _f(ops.greater_equal, x, zero)
    negative_root = _f(ops.negative, root)
    below = _sign_bit(y)
    result = join(
        _f(ops.select, is_right, root, _f(ops.abs_, other)),
        _f(ops.select, is_right, other, _f(ops.select, below, negative_root, root)),
    )
    is_zero = _f(ops.equal, root, zero)
    return _f(ops.select, is_zero, join(zero, y), result)


def _sign_bit(x: Node) -> Node:
    """True where the sign bit of a float32 is set, -0.0 included."""
    one = _number(1.0, x)
    is_zero = _f(ops.equal, x, _number(0.0, x))
    return _f(
        ops.select,
        is_zero,
        _f(ops.less, _f(ops.divide, one, x), _number(0.0, x)),
        _f(ops.less, x, _number(0.0, x)),
    )


def rsqrt(z: Node) -> Node:
    """1 / sqrt(z)."""
    return reciprocal(sqrt(z))


def reciprocal(z: Node) -> Node:
    """1 / z."""
    return _f(ops.divide, filled(1.0, complex64, z.shape), z)


def sin(z: Node) -> Node:
    """sin x cosh y + i cos x sinh y."""
    x, y = real(z), imag(z)
    return join(
        _f(ops.multiply, _f(ops.sin, x), _f(ops.cosh, y)),
        _f(ops.multiply, _f(ops.cos, x), _f(ops.sinh, y)),
    )


def cos(z: Node) -> Node:
    """cos x cosh y - i sin x sinh y."""
    x, y = real(z), imag(z)
    return join(
        _f(ops.multiply, _f(ops.cos, x), _f(ops.cosh, y)),
        _f(ops.negative, _f(ops.multiply, _f(ops.sin, x), _f(ops.sinh, y))),
    )


def sinh(z: Node) -> Node:
    """sinh z = sin(iz) / i."""
    return over_i(sin(times_i(z)))


def cosh(z: Node) -> Node:
    """cosh z = cos(iz)."""
    return cos(times_i(z))


def tanh(z: Node) -> Node:
    """(tanh x (1 + tan^2 y) + i tan y (1 - tanh^2 x)) / (1 + tanh^2 x tan^2 y)."""
    t, u = _f(ops.tanh, real(z)), _f(ops.tan, imag(z))
    one = _number(1.0, t)
    t2, u2 = _f(ops.multiply, t, t), _f(ops.multiply, u, u)
    below = _f(ops.add, one, _f(ops.multiply, t2, u2))
    # 1 - tanh^2 x loses its digits where tanh x is near 1; 1 / cosh^2 x keeps them.
    cosh_x = _f(ops.cosh, real(z))
    slope = _f(ops.divide, _f(ops.divide, one, cosh_x), cosh_x)
    return join(
        _f(ops.divide, _f(ops.multiply, t, _f(ops.add, one, u2)), below),
        _f(ops.divide, _f(ops.multiply, u, slope), below),
    )


def tan(z: Node) -> Node:
    """tan z = tanh(iz) / i."""
    return over_i(tanh(times_i(z)))


def _one(z: Node) -> Node:
    return filled(1.0, complex64, z.shape)


def arcsinh(z: Node) -> Node:
    """log(z + sqrt(z**2 + 1)), by the odd symmetry of arcsin: arcsin(iz) / i."""
    return over_i(arcsin(times_i(z)))


def arcsin(z: Node) -> Node:
    """Kahan's formula, with p = sqrt(1 - z) and q = sqrt(1 + z):

    atan2(x, Re(p q)) + i arcsinh(Im(conj(p) q)).
    """
    below, above = _roots(z)
    product = _f(ops.multiply, below, above)
    mixed = _f(ops.multiply, conjugate(below), above)
    return join(
        _f(ops.arctan2, real(z), real(product)),
        _f(ops.arcsinh, imag(mixed)),
    )


def arccos(z: Node) -> Node:
    """Kahan's formula, with p = sqrt(1 - z) and q = sqrt(1 + z):

    2 atan2(Re p, Re q) + i arcsinh(Im(conj(q) p)).
    """
    below, above = _roots(z)
    mixed = _f(ops.multiply, conjugate(above), below)
    half = _f(ops.arctan2, real(below), real(above))
    return join(_f(ops.add, half, half), _f(ops.arcsinh, imag(mixed)))


def _roots(z: Node) -> tuple[Node, Node]:
    """sqrt(1 - z) and sqrt(1 + z)."""
    x, y = real(z), imag(z)
    one = _number(1.0, x)
    below = join(_f(ops.subtract, one, x), _f(ops.negative, y))
    return sqrt(below), sqrt(join(_f(ops.add, one, x), y))


def arccosh(z: Node) -> Node:
    """Kahan's formula, with p = sqrt(z - 1) and q = sqrt(z + 1):

    arcsinh(Re(conj(p) q)) + 2i atan2(Im p, Re q).
    """
    x, y = real(z), imag(z)
    one = _number(1.0, x)
    below, above = sqrt(join(_f(ops.subtract, x, one), y)), sqrt(join(_f(ops.add, x, one), y))
    mixed = _f(ops.multiply, conjugate(below), above)
    half = _f(ops.arctan2, imag(below), real(above))
    return join(_f(ops.arcsinh, real(mixed)), _f(ops.add, half, half))


def arctanh(z: Node) -> Node:
    """(log1p(z) - log1p(-z)) / 2."""
    difference = _f(ops.subtract, log1p(z), log1p(_f(ops.negative, z)))
    half = _number(0.5, z)
    return join(_f(ops.multiply, half, real(difference)), _f(ops.multiply, half, imag(difference)))


def arctan(z: Node) -> Node:
    """arctan z = arctanh(iz) / i."""
    return over_i(arctanh(times_i(z)))


def power(z: Node, w: Node) -> Node:
    """exp(w log z); 1 where w is 0, and 0 where z is 0 and the real part of w is above 0."""
    general = exp(_f(ops.multiply, w, log(z)))
    zero = filled(0.0, complex64, z.shape)
    z_is_zero = _f(ops.equal, z, zero)
    w_is_positive = _f(ops.greater, real(w), _number(0.0, z))
    result = _f(ops.select, _f(ops.bitwise_and, z_is_zero, w_is_positive), zero, general)
    return _f(ops.select, _f(ops.equal, w, zero), _one(z), result)


def less(a: Node, b: Node) -> Node:
    """Lexicographic: the real parts, then the imaginary parts."""
    return _lexicographic(ops.less, a, b)


def less_equal(a: Node, b: Node) -> Node:
    """Lexicographic: the real parts, then the imaginary parts."""
    return _lexicographic(ops.less_equal, a, b)


def greater(a: Node, b: Node) -> Node:
    """Lexicographic: the real parts, then the imaginary parts."""
    return _lexicographic(ops.greater, a, b)


def greater_equal(a: Node, b: Node) -> Node:
    """Lexicographic: the real parts, then the imaginary parts."""
    return _lexicographic(ops.greater_equal, a, b)


def _lexicographic(compare: Primitive, a: Node, b: Node) -> Node:
    strict = ops.less if compare in (ops.less, ops.less_equal) else ops.greater
    x, y = real(a), real(b)
    is_tie = _f(ops.bitwise_and, _f(ops.equal, x, y), _f(compare, imag(a), imag(b)))
    return _f(ops.bitwise_or, _f(strict, x, y), is_tie)


def is_nan(z: Node) -> Node:
    """True where either part is NaN."""
    return _f(ops.not_equal, z, z)


def maximum(a: Node, b: Node) -> Node:
    """The lexicographically larger; NaN if either is."""
    keep = _f(ops.bitwise_or, greater(a, b), is_nan(a))
    return _f(ops.select, keep, a, b)


def minimum(a: Node, b: Node) -> Node:
    """The lexicographically smaller; NaN if either is."""
    keep = _f(ops.bitwise_or, less(a, b), is_nan(a))
    return _f(ops.select, keep, a, b)


def logaddexp(a: Node, b: Node) -> Node:
    """log(exp a + exp b): the one with the larger real part plus log1p(exp(difference))."""
    a_is_larger = _f(ops.greater, real(a), real(b))
    large, small = _f(ops.select, a_is_larger, a, b), _f(ops.select, a_is_larger, b, a)
    difference = _f(ops.subtract, small, large)
    return _f(ops.add, large, log1p(exp(difference)))
