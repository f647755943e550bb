"""Elementwise functions: arithmetic, comparisons, logic, roots, exponentials, trigonometry.

Each public function is made from a primitive, or composed of others. Operands are arrays, NumPy
arrays or Python numbers; two or more promote to one dtype and broadcast to one shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..dialects import ops
from ..dialects.primitive import Primitive
from ..errors import DTypeError
from . import complexes
from .array import Array, wrap
from .devices import StreamLike, check_stream
from .dtypes import (
    ALL,
    PROMOTED,
    DType,
    bool_,
    finfo,
    float32,
    iinfo,
    int8,
    uint8,
)
from .graph import Node, make
from .operands import (
    array_node,
    as_index,
    broadcast,
    broadcast_shape,
    broadcast_together,
    cast,
    error,
    filled,
    number_operand,
    promote,
)

Operand = Any
"""An array, a NumPy array or a Python number."""

Rule = Callable[..., Node]
"""Makes the node of a result from nodes of one dtype and one shape."""

# What makes the result for each kind of dtype.


def direct(primitive: Primitive) -> Rule:
    """The primitive; the result has the operands' type."""

    def rule(*nodes: Node) -> Node:
        first = nodes[0]
        return make(primitive, nodes, (), first.shape, first.dtype)

    return rule


def compared(primitive: Primitive) -> Rule:
    """The primitive; the result is bool."""

    def rule(*nodes: Node) -> Node:
        return make(primitive, nodes, (), nodes[0].shape, bool_)

    return rule


def through(dtype: DType, rule: Rule) -> Rule:
    """The rule on operands cast to a dtype."""
    return lambda *nodes: rule(*[cast(node, dtype) for node in nodes])


def _through_int8(primitive: Primitive) -> Rule:
    rule = through(int8, direct(primitive))
    return lambda *nodes: cast(rule(*nodes), bool_)


def _same(node: Node) -> Node:
    return node


def _never(node: Node) -> Node:
    return filled(False, bool_, node.shape)


def _always(node: Node) -> Node:
    return filled(True, bool_, node.shape)


def by_kind(
    boolean: Rule | None = None,
    integer: Rule | None = None,
    floating: Rule | None = None,
    complex: Rule | None = None,
) -> dict[DType, Rule]:
    """The rule of each dtype; dtypes of a kind without a rule are left out."""
    rules = {
        "bool": boolean,
        "unsigned": integer,
        "signed": integer,
        "floating": floating,
        "complex": complex,
    }
    return {dtype: rule for dtype in ALL if (rule := rules[dtype.kind]) is not None}


def _floats(primitive: Primitive, complex: Rule | None = None) -> dict[DType, Rule]:
    """Rules of a function that gives floats: integers and bools are taken as float32."""
    rule = direct(primitive)
    promoted = through(float32, rule)
    return by_kind(promoted, promoted, rule, complex)


_SINGLE_DOC = """{summary}

    Args:
        a: an array of any shape, or a number.
        stream: where to run; None is the default device.

    Returns an array of the same shape{dtypes}.
    """

_DOUBLE_DOC = """{summary}

    Args:
        a, b: arrays or numbers, of shapes that broadcast; they promote to one dtype.
        stream: where to run; None is the default device.

    Returns an array of the broadcast shape{dtypes}. Raises ShapeError where the shapes do not
    broadcast and DTypeError for dtypes the function does not take.
    """


def _finish(function: Any, name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _unsupported(name: str, *nodes: Node) -> Exception:
    return error(DTypeError, name, f"does not take {nodes[0].dtype.name}", *nodes)


def _unary(
    name: str, summary: str, rules: dict[DType, Rule], dtypes: str = ""
) -> Callable[..., Array]:
    """A public function of one operand."""

    def function(a: Operand, /, *, stream: StreamLike = None) -> Array:
        if stream is not None:
            check_stream(stream)
        node = a.node if type(a) is Array else array_node(name, a)
        rule = rules.get(node.dtype)
        if rule is None:
            raise _unsupported(name, node)
        return wrap(rule(node))

    return _finish(function, name, _SINGLE_DOC.format(summary=summary, dtypes=dtypes))


def _operands(name: str, a: Operand, b: Operand) -> tuple[Node, Node]:
    """Two operands as nodes of one dtype and one shape."""
    if type(a) is Array:
        x = a.node
        if type(b) is Array:
            y = b.node
            if x.dtype is not y.dtype:
                dtype = PROMOTED[x.dtype, y.dtype]
                x, y = cast(x, dtype), cast(y, dtype)
            if x.shape == y.shape:
                return x, y
            shape = broadcast_shape(x.shape, y.shape)
            if shape is not None:
                return broadcast(x, shape), broadcast(y, shape)
        elif pair := number_operand(b, x):
            return pair
    elif type(b) is Array and (pair := number_operand(a, b.node)):
        return pair[1], pair[0]
    (x, y), _ = broadcast_together(name, a, b)
    return x, y


def _binary(
    name: str, summary: str, rules: dict[DType, Rule], dtypes: str = ""
) -> Callable[..., Array]:
    """A public function of two operands."""

    def function(a: Operand, b: Operand, stream: StreamLike = None) -> Array:
        if stream is not None:
            check_stream(stream)
        x, y = _operands(name, a, b)
        dtype = x.dtype
        rule = rules.get(dtype)
        if rule is None:
            raise _unsupported(name, x, y)
        return wrap(rule(x, y))

    return _finish(function, name, _DOUBLE_DOC.format(summary=summary, dtypes=dtypes))


# Arithmetic

_BOOL = "; bool for bool operands"

add = _binary(
    "add", "The sum a + b; integers wrap, bools are or-ed.",
    by_kind(direct(ops.bitwise_or), direct(ops.add), direct(ops.add), direct(ops.add)),
)  # fmt: skip
subtract = _binary(
    "subtract", "The difference a - b; integers wrap, bools are xor-ed.",
    by_kind(
        direct(ops.bitwise_xor), direct(ops.subtract), direct(ops.subtract), direct(ops.subtract)
    ),
)  # fmt: skip
multiply = _binary(
    "multiply", "The product a * b; integers wrap, bools are and-ed.",
    by_kind(
        direct(ops.bitwise_and), direct(ops.multiply), direct(ops.multiply), direct(ops.multiply)
    ),
)  # fmt: skip
divide = _binary(
    "divide", "The quotient a / b, correctly rounded for real dtypes.",
    _floats(ops.divide, direct(ops.divide)), "; float32 for integers and bools",
)  # fmt: skip
floor_divide = _binary(
    "floor_divide", "floor(a / b); for integers rounded down, and 0 where b is 0.",
    by_kind(
        _through_int8(ops.floor_divide), direct(ops.floor_divide), direct(ops.floor_divide)
    ),
)  # fmt: skip
remainder = _binary(
    "remainder", "The remainder of a / b with the sign of b; 0 where an integer b is 0.",
    by_kind(_through_int8(ops.remainder), direct(ops.remainder), direct(ops.remainder)),
)  # fmt: skip
_power = _binary(
    "power", "a to the power b.",
    by_kind(
        _through_int8(ops.power), direct(ops.power), direct(ops.power), complexes.power
    ),
)  # fmt: skip
maximum = _binary(
    "maximum",
    "The larger of a and b, NaN if either is; complex numbers compare by real part first.",
    by_kind(
        direct(ops.maximum), direct(ops.maximum), direct(ops.maximum), complexes.maximum
    ),
)  # fmt: skip
minimum = _binary(
    "minimum",
    "The smaller of a and b, NaN if either is; complex numbers compare by real part first.",
    by_kind(
        direct(ops.minimum), direct(ops.minimum), direct(ops.minimum), complexes.minimum
    ),
)  # fmt: skip
arctan2 = _binary(
    "arctan2", "The angle of the point (b, a), in [-pi, pi].",
    _floats(ops.arctan2), "; float32 for integers and bools",
)  # fmt: skip
logaddexp = _binary(
    "logaddexp", "log(exp(a) + exp(b)) without overflow.",
    _floats(ops.logaddexp, complexes.logaddexp), "; float32 for integers and bools",
)  # fmt: skip


def power(a: Operand, b: Operand, /, *, stream: StreamLike = None) -> Array:
    """a to the power b.

    Integers wrap; a negative integer exponent gives what the truncated reciprocal gives. The
    exponent 2, as a Python number, is a multiplication.

    Args:
        a, b: arrays or numbers, of shapes that broadcast; they promote to one dtype.
        stream: where to run; None is the default device.

    Returns an array of the broadcast shape. Raises ShapeError where the shapes do not broadcast.
    """
    if isinstance(a, Array) and type(b) in (int, float) and b == 2:
        (x, _), _ = promote("power", a, b)
        return square(wrap(x), stream=stream)
    return _power(a, b, stream)


def divmod(a: Operand, b: Operand, *, stream: StreamLike = None) -> tuple[Array, Array]:
    """The pair ``floor_divide(a, b), remainder(a, b)``.

    Args:
        a, b: real arrays or numbers, of shapes that broadcast; they promote to one dtype.
        stream: where to run; None is the default device.

    Raises ShapeError where the shapes do not broadcast and DTypeError for complex operands.
    """
    return floor_divide(a, b, stream), remainder(a, b, stream)


# Comparisons


def _comparison(name: str, summary: str, primitive: Primitive, complex: Rule) -> Any:
    rule = compared(primitive)
    return _binary(name, summary, by_kind(rule, rule, rule, complex), ", of bools")


equal = _comparison("equal", "a == b; NaN equals nothing.", ops.equal, compared(ops.equal))
not_equal = _comparison(
    "not_equal", "a != b; NaN differs from everything.", ops.not_equal, compared(ops.not_equal)
)
less = _comparison("less", "a < b; False with NaN.", ops.less, complexes.less)
less_equal = _comparison(
    "less_equal", "a <= b; False with NaN.", ops.less_equal, complexes.less_equal
)
greater = _comparison("greater", "a > b; False with NaN.", ops.greater, complexes.greater)
greater_equal = _comparison(
    "greater_equal", "a >= b; False with NaN.", ops.greater_equal, complexes.greater_equal
)

# Bits and logic


def _bits(name: str, summary: str, primitive: Primitive) -> Any:
    rule = direct(primitive)
    return _binary(name, summary, by_kind(rule, rule))


bitwise_and = _bits("bitwise_and", "The bits set in both a and b.", ops.bitwise_and)
bitwise_or = _bits("bitwise_or", "The bits set in a or b.", ops.bitwise_or)
bitwise_xor = _bits("bitwise_xor", "The bits set in one of a and b only.", ops.bitwise_xor)
left_shift = _binary(
    "left_shift", "a * 2**b with wrap-around; 0 where b is negative or not below the width.",
    by_kind(through(uint8, direct(ops.left_shift)), direct(ops.left_shift)),
    "; uint8 for bools",
)  # fmt: skip
right_shift = _binary(
    "right_shift",
    "floor(a / 2**b); where b is negative or not below the width 0, or -1 for a negative a.",
    by_kind(through(uint8, direct(ops.right_shift)), direct(ops.right_shift)),
    "; uint8 for bools",
)  # fmt: skip
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift
bitwise_invert = _unary(
    "bitwise_invert", "All bits flipped; not, for bools.",
    by_kind(direct(ops.bitwise_invert), direct(ops.bitwise_invert)),
)  # fmt: skip


def _logical(name: str, summary: str, primitive: Primitive) -> Any:
    rule = through(bool_, direct(primitive))
    return _binary(name, summary, by_kind(rule, rule, rule, rule), ", of bools")


logical_and = _logical("logical_and", "True where neither a nor b is 0.", ops.bitwise_and)
logical_or = _logical("logical_or", "True where a or b is not 0.", ops.bitwise_or)
logical_xor = _logical("logical_xor", "True where one of a and b only is 0.", ops.bitwise_xor)
_not = through(bool_, direct(ops.bitwise_invert))
logical_not = _unary(
    "logical_not", "True where a is 0.", by_kind(_not, _not, _not, _not), ", of bools"
)

# Signs, parts and rounding

negative = _unary(
    "negative", "-a; integers wrap. Bools have no negative: use logical_not.",
    by_kind(None, direct(ops.negative), direct(ops.negative), direct(ops.negative)),
)  # fmt: skip
positive = _unary("positive", "+a, which is a.", by_kind(_same, _same, _same, _same))
abs = _unary(
    "abs", "The absolute value; the modulus of complex numbers.",
    by_kind(_same, direct(ops.abs_), direct(ops.abs_), complexes.absolute),
    ", float32 for complex64",
)  # fmt: skip
sign = _unary(
    "sign", "-1, 0 or 1 by the sign of a; a / |a| for complex numbers; NaN stays NaN.",
    by_kind(_same, direct(ops.sign), direct(ops.sign), complexes.sign),
)  # fmt: skip
conjugate = conj = _unary(
    "conjugate", "The complex conjugate; real arrays are their own.",
    by_kind(_same, _same, _same, complexes.conjugate),
)  # fmt: skip
real = _unary(
    "real", "The real part.",
    by_kind(_same, _same, _same, complexes.real), ", float32 for complex64",
)  # fmt: skip


def _zeros(node: Node) -> Node:
    return filled(0, node.dtype, node.shape)


imag = _unary(
    "imag", "The imaginary part; 0 for real arrays.",
    by_kind(_zeros, _zeros, _zeros, complexes.imag), ", float32 for complex64",
)  # fmt: skip
floor = _unary(
    "floor", "The largest integer not above a.", by_kind(_same, _same, direct(ops.floor))
)
ceil = _unary("ceil", "The least integer not below a.", by_kind(_same, _same, direct(ops.ceil)))
trunc = _unary("trunc", "a without its fraction.", by_kind(_same, _same, direct(ops.trunc)))


def _on_parts(rule: Rule) -> Rule:
    """A rule for real nodes on the parts of a complex one."""
    return lambda z: complexes.join(rule(complexes.real(z)), rule(complexes.imag(z)))


_rint = _unary(
    "round", "The nearest integer, ties to even.",
    by_kind(_same, _same, direct(ops.rint), _on_parts(direct(ops.rint))),
)  # fmt: skip


def round(a: Operand, /, decimals: int = 0, stream: StreamLike = None) -> Array:
    """The nearest multiple of ``10**-decimals``, ties to even.

    Args:
        a: an array of any shape, or a number; bools and integers change for negative ``decimals``
            only, and complex numbers are rounded in both parts.
        decimals: how many decimal places are kept; negative ones count before the point.
        stream: where to run; None is the default device.

    Returns an array of the same shape and dtype.
    """
    places = as_index("round", decimals, "decimals")
    if places == 0:
        return _rint(a, stream=stream)
    check_stream(stream)
    node = array_node("round", a)
    dtype = node.dtype
    if dtype.kind in ("bool", "unsigned", "signed"):
        return wrap(node if places > 0 else cast(_round_integer(node, -places), dtype))
    # The powers of ten that numbers reach are beyond the 16-bit dtypes.
    wide = cast(node, float32) if dtype.size == 2 else node
    rule = _scaled_round(places)
    return wrap(cast(_on_parts(rule)(wide) if dtype.kind == "complex" else rule(wide), dtype))


def _scaled_round(places: int) -> Rule:
    first, last = (ops.multiply, ops.divide) if places > 0 else (ops.divide, ops.multiply)
    exponent = max(places, -places)
    scale = 10.0**exponent if exponent <= 308 else math.inf

    def rule(x: Node) -> Node:
        if scale > finfo(x.dtype).max:
            # So many places beyond the largest number change none; so many before it leave none.
            return x if places > 0 else direct(ops.multiply)(x, filled(0, x.dtype, x.shape))
        factor = filled(scale, x.dtype, x.shape)
        scaled = direct(first)(x, factor)
        rounded = direct(last)(direct(ops.rint)(scaled), factor)
        if places < 0:
            return rounded
        # A number that large has no digits after the point that is meant.
        return make(ops.select, (isfinite(wrap(scaled)).node, rounded, x), (), x.shape, x.dtype)

    return rule


def _round_integer(node: Node, zeros: int) -> Node:
    """Exact: the quotient goes up where twice the remainder exceeds the scale, ties to even."""
    if node.dtype is bool_ or zeros > len(str(iinfo(node.dtype).max)) - 1:
        return filled(0, node.dtype, node.shape)
    x, scale = wrap(node), 10**zeros
    quotient, rest = divmod(x, scale)
    above = greater(rest, scale // 2)
    tie = bitwise_and(equal(rest, scale // 2), equal(remainder(quotient, 2), 1))
    up = bitwise_or(above, tie)
    return multiply(add(quotient, up), scale).node


# Roots, exponentials, logarithms, trigonometry


def _function(
    name: str, summary: str, primitive: Primitive, complex: Rule | None = None
) -> Callable[..., Array]:
    return _unary(name, summary, _floats(primitive, complex), "; float32 for integers and bools")


sqrt = _function(
    "sqrt", "The square root, correctly rounded; NaN below 0.", ops.sqrt, complexes.sqrt
)
rsqrt = _function("rsqrt", "1 / sqrt(a).", ops.rsqrt, complexes.rsqrt)
exp = _function("exp", "e to the power a.", ops.exp, complexes.exp)
expm1 = _function("expm1", "exp(a) - 1 without cancellation near 0.", ops.expm1)
log = _function("log", "The natural logarithm.", ops.log, complexes.log)
log1p = _function("log1p", "log(1 + a) without cancellation near 0.", ops.log1p, complexes.log1p)
log2 = _function("log2", "The logarithm to base 2.", ops.log2, complexes.log2)
log10 = _function("log10", "The logarithm to base 10.", ops.log10, complexes.log10)
sin = _function("sin", "The sine.", ops.sin, complexes.sin)
cos = _function("cos", "The cosine.", ops.cos, complexes.cos)
tan = _function("tan", "The tangent.", ops.tan, complexes.tan)
sinh = _function("sinh", "The hyperbolic sine.", ops.sinh, complexes.sinh)
cosh = _function("cosh", "The hyperbolic cosine.", ops.cosh, complexes.cosh)
tanh = _function("tanh", "The hyperbolic tangent.", ops.tanh, complexes.tanh)
arcsin = asin = _function("arcsin", "The inverse sine.", ops.arcsin, complexes.arcsin)
arccos = acos = _function("arccos", "The inverse cosine.", ops.arccos, complexes.arccos)
arctan = atan = _function("arctan", "The inverse tangent.", ops.arctan, complexes.arctan)
arcsinh = asinh = _function(
    "arcsinh", "The inverse hyperbolic sine.", ops.arcsinh, complexes.arcsinh
)
arccosh = acosh = _function(
    "arccosh", "The inverse hyperbolic cosine.", ops.arccosh, complexes.arccosh
)
arctanh = atanh = _function(
    "arctanh", "The inverse hyperbolic tangent.", ops.arctanh, complexes.arctanh
)
atan2 = arctan2
pow = power
erf = _function(
    "erf", "The error function, 2/sqrt(pi) * integral of exp(-t^2) from 0 to a.", ops.erf
)
erfinv = _function("erfinv", "The inverse of erf; infinite at -1 and 1, NaN outside.", ops.erfinv)
sigmoid = _function("sigmoid", "1 / (1 + exp(-a)), without overflow.", ops.sigmoid)


def _doubled(primitive: Primitive) -> Rule:
    rule = direct(primitive)
    return lambda x: rule(x, x)


square = _unary(
    "square", "a * a.",
    by_kind(_same, _doubled(ops.multiply), _doubled(ops.multiply), _doubled(ops.multiply)),
)  # fmt: skip


def _over(node: Node) -> Node:
    return direct(ops.divide)(filled(1, node.dtype, node.shape), node)


def _scaled(factor: float) -> Rule:
    return lambda x: direct(ops.multiply)(x, filled(factor, x.dtype, x.shape))


def _promoting(rule: Rule) -> dict[DType, Rule]:
    promoted = through(float32, rule)
    return by_kind(promoted, promoted, rule, rule)


_FLOATS = "; float32 for integers and bools"
reciprocal = _unary("reciprocal", "1 / a.", _promoting(_over), _FLOATS)
degrees = _unary("degrees", "Radians as degrees.", _promoting(_scaled(180 / math.pi)), _FLOATS)
radians = _unary("radians", "Degrees as radians.", _promoting(_scaled(math.pi / 180)), _FLOATS)

# NaN and infinity

_not_itself = compared(ops.not_equal)


def _is_infinite(x: Node) -> Node:
    return compared(ops.equal)(direct(ops.abs_)(x), filled(math.inf, x.dtype, x.shape))


def _is_finite(x: Node) -> Node:
    return compared(ops.less)(direct(ops.abs_)(x), filled(math.inf, x.dtype, x.shape))


def _in_parts(rule: Rule, join: Primitive) -> Rule:
    return lambda z: direct(join)(rule(complexes.real(z)), rule(complexes.imag(z)))


def _equals(value: float) -> Rule:
    return lambda x: compared(ops.equal)(x, filled(value, x.dtype, x.shape))


_BOOLS = ", of bools"
isnan = _unary(
    "isnan", "True where a is NaN, in either part.",
    by_kind(*[_never] * 2, *[lambda x: _not_itself(x, x)] * 2), _BOOLS,
)  # fmt: skip
isinf = _unary(
    "isinf", "True where a is infinite, in either part.",
    by_kind(_never, _never, _is_infinite, _in_parts(_is_infinite, ops.bitwise_or)), _BOOLS,
)  # fmt: skip
isfinite = _unary(
    "isfinite", "True where a is neither infinite nor NaN.",
    by_kind(_always, _always, _is_finite, _in_parts(_is_finite, ops.bitwise_and)), _BOOLS,
)  # fmt: skip
isposinf = _unary(
    "isposinf", "True where a is +inf.", by_kind(_never, _never, *[_equals(math.inf)] * 2), _BOOLS
)
isneginf = _unary(
    "isneginf", "True where a is -inf.", by_kind(_never, _never, *[_equals(-math.inf)] * 2), _BOOLS
)
