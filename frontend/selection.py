"""Functions that choose between values or compare whole arrays: where, clip, isclose and others."""

from __future__ import annotations

from ..dialects import ops
from ..errors import ArgumentError
from . import complexes
from .array import Array, wrap
from .devices import StreamLike, check_stream
from .dtypes import Scalar, bool_, finfo
from .elementwise import (
    Operand,
    abs,
    add,
    bitwise_and,
    bitwise_or,
    equal,
    isfinite,
    isnan,
    less_equal,
    maximum,
    minimum,
    multiply,
    subtract,
)
from .graph import Node, make
from .operands import (
    array_node,
    as_number,
    broadcast,
    cast,
    common_shape,
    error,
    filled,
    promote,
)
from .reductions import all


def where(condition: Operand, x: Operand, y: Operand, /, *, stream: StreamLike = None) -> Array:
    """``x`` where the condition is true, else ``y``.

    Args:
        condition: an array or a number; anything but 0 is true.
        x, y: arrays or numbers; they promote to one dtype.
        stream: where to run; None is the default device.

    Returns an array of the shape that all three broadcast to. Raises ShapeError where they do not.
    """
    check_stream(stream)
    test = cast(array_node("where", condition), bool_)
    (on_true, on_false), dtype = promote("where", x, y)
    shape = common_shape("where", (test, on_true, on_false))
    inputs = tuple([broadcast(node, shape) for node in (test, on_true, on_false)])
    return wrap(make(ops.select, inputs, (), shape, dtype))


def clip(
    a: Operand,
    /,
    a_min: Operand | None,
    a_max: Operand | None,
    *,
    stream: StreamLike = None,
) -> Array:
    """``minimum(maximum(a, a_min), a_max)``; NaN stays NaN.

    Args:
        a: an array or a number.
        a_min, a_max: arrays or numbers that broadcast with ``a``; one may be None, for no limit.
        stream: where to run; None is the default device.

    Raises ArgumentError if both limits are None.
    """
    if a_min is None and a_max is None:
        raise error(ArgumentError, "clip", "at most one of a_min and a_max may be None")
    if a_min is not None:
        a = maximum(a, a_min, stream)
    return a if a_max is None else minimum(a, a_max, stream)


def nan_to_num(
    a: Operand,
    nan: Scalar = 0,
    posinf: Scalar | None = None,
    neginf: Scalar | None = None,
    *,
    stream: StreamLike = None,
) -> Array:
    """Numbers in the place of NaN and infinities; integers and bools stay as they are.

    Args:
        a: an array or a number; complex numbers change in both parts.
        nan: what NaN becomes.
        posinf, neginf: what infinities become; None is the dtype's greatest and least number.
        stream: where to run; None is the default device.
    """
    check_stream(stream)
    node = array_node("nan_to_num", a)
    if not node.dtype.is_inexact:
        return wrap(node)
    limits = finfo(node.dtype)
    nan = as_number("nan_to_num", nan, "nan")
    high = limits.max if posinf is None else as_number("nan_to_num", posinf, "posinf")
    low = limits.min if neginf is None else as_number("nan_to_num", neginf, "neginf")
    if node.dtype.kind == "complex":
        parts = [_finite(part(node), nan, high, low) for part in (complexes.real, complexes.imag)]
        return wrap(complexes.join(*parts))
    return wrap(_finite(node, nan, high, low))


def _finite(x: Node, nan: Scalar, high: Scalar, low: Scalar) -> Node:
    infinity = float("inf")
    for test, value in ((equal(wrap(x), infinity), high), (equal(wrap(x), -infinity), low)):
        x = _chosen(test.node, value, x)
    return _chosen(isnan(wrap(x)).node, nan, x)


def _chosen(test: Node, value: Scalar, x: Node) -> Node:
    return make(ops.select, (test, filled(value, x.dtype, x.shape), x), (), x.shape, x.dtype)


def isclose(
    a: Operand,
    b: Operand,
    /,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    *,
    equal_nan: bool = False,
    stream: StreamLike = None,
) -> Array:
    """True where ``|a - b| <= atol + rtol * |b|``, and for equal infinities.

    Args:
        a, b: arrays or numbers, of shapes that broadcast.
        rtol, atol: the relative and the absolute tolerance.
        equal_nan: whether NaN counts as close to NaN.
        stream: where to run; None is the default device.
    """
    check_stream(stream)
    nodes, _ = promote("isclose", a, b, 1.0)
    x, y = wrap(nodes[0]), wrap(nodes[1])
    bound = add(atol, multiply(rtol, abs(y)))
    near = less_equal(abs(subtract(x, y)), bound)
    close = bitwise_or(equal(x, y), bitwise_and(near, bitwise_and(isfinite(x), isfinite(y))))
    if equal_nan:
        close = bitwise_or(close, bitwise_and(isnan(x), isnan(y)))
    return close


def allclose(
    a: Operand,
    b: Operand,
    /,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    *,
    equal_nan: bool = False,
    stream: StreamLike = None,
) -> Array:
    """True if :func:`isclose` is everywhere, as an array of rank 0."""
    return all(isclose(a, b, rtol, atol, equal_nan=equal_nan, stream=stream))


def array_equal(
    a: Operand, b: Operand, equal_nan: bool = False, stream: StreamLike = None
) -> Array:
    """True if two arrays have one shape and equal elements, as an array of rank 0.

    Args:
        a, b: arrays or numbers; they promote to one dtype.
        equal_nan: whether NaN counts as equal to NaN.
        stream: where to run; None is the default device.
    """
    check_stream(stream)
    nodes, _ = promote("array_equal", a, b)
    if nodes[0].shape != nodes[1].shape:
        return wrap(filled(False, bool_, ()))
    x, y = wrap(nodes[0]), wrap(nodes[1])
    same = equal(x, y)
    if equal_nan:
        same = bitwise_or(same, bitwise_and(isnan(x), isnan(y)))
    return all(same)
