"""Composites of reductions: mean, variance, softmax, logsumexp.

f16 and bf16 are computed in f32 throughout and rounded once, at the end.
"""

from __future__ import annotations

import math
from typing import Any

from ..errors import ShapeError
from . import elementwise
from .array import Array, wrap
from .devices import StreamLike, check_stream
from .dtypes import WEAK_FLOAT, complex64, float32
from .elementwise import abs, divide, equal, exp, log, square, subtract
from .graph import Node
from .operands import array_node, cast, error, normalize_axes, reshape
from .reductions import WIDE, Axes, max, sum, without
from .selection import where
from .transforms.composite import LOGSUMEXP, SOFTMAX, seen_as
from .transforms.scope import is_transforming


def _wide(node: Node) -> Array:
    """The node in the dtype that it is computed in: at least float32."""
    return wrap(cast(node, WIDE[WEAK_FLOAT[node.dtype]]))


def _narrow(result: Array, node: Node, keepdims: bool, axes: tuple[int, ...]) -> Array:
    """The result, whose axes were kept, in the dtype that the function gives for the node."""
    dtype = WEAK_FLOAT[node.dtype]
    if dtype is complex64 and result.dtype is not complex64:
        dtype = float32
    out = cast(result.node, dtype)
    return wrap(out if keepdims else reshape(out, without(out.shape, axes)))


def _count(node: Node, axes: tuple[int, ...]) -> int:
    return math.prod(node.shape[axis] for axis in axes)


def _mean(x: Array, axes: tuple[int, ...], count: float) -> Array:
    return divide(sum(x, axes, True), float(count))


def mean(
    a: Any, /, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """The mean over axes; NaN for no elements.

    Args:
        a: an array of any dtype.
        axis: the axes to average over; None is all of them.
        keepdims: whether those axes stay, with size 1.
        stream: where to run; None is the default device.

    Returns an array of the same dtype, float32 for integers and bools. Raises AxisError for an axis
    that ``a`` does not have.
    """
    check_stream(stream)
    node = array_node("mean", a)
    axes = normalize_axes("mean", axis, node)
    return _narrow(_mean(_wide(node), axes, _count(node, axes)), node, keepdims, axes)


def _variance(function: str, node: Node, axis: Axes, ddof: int) -> tuple[Array, tuple[int, ...]]:
    axes = normalize_axes(function, axis, node)
    count = _count(node, axes)
    x = _wide(node)
    deviation = subtract(x, _mean(x, axes, count))
    if deviation.dtype is complex64:
        deviation = abs(deviation)
    return _mean(square(deviation), axes, count - ddof if count > ddof else 0), axes


def var(
    a: Any,
    /,
    axis: Axes = None,
    keepdims: bool = False,
    ddof: int = 0,
    *,
    correction: int | None = None,
    stream: StreamLike = None,
) -> Array:
    """The variance over axes: the sum of squared deviations from the mean by ``count - ddof``.

    Args:
        a: an array of any dtype.
        axis: the axes to reduce; None is all of them.
        keepdims: whether those axes stay, with size 1.
        ddof: what is taken off the count; a count not above 0 gives infinity or NaN.
        correction: another name of ``ddof``.
        stream: where to run; None is the default device.

    Returns an array of the same dtype, float32 for integers, bools and complex numbers. Raises
    AxisError for an axis that ``a`` does not have.
    """
    check_stream(stream)
    node = array_node("var", a)
    result, axes = _variance("var", node, axis, ddof if correction is None else correction)
    return _narrow(result, node, keepdims, axes)


def std(
    a: Any,
    /,
    axis: Axes = None,
    keepdims: bool = False,
    ddof: int = 0,
    *,
    correction: int | None = None,
    stream: StreamLike = None,
) -> Array:
    """The standard deviation over axes: the square root of :func:`var`, with its arguments."""
    check_stream(stream)
    node = array_node("std", a)
    result, axes = _variance("std", node, axis, ddof if correction is None else correction)
    root = elementwise.sqrt(result)
    if is_transforming():
        # Equal elements have deviation 0 and, by this branch, gradient 0 rather than NaN.
        root = where(equal(result, 0), result, root)
    return _narrow(root, node, keepdims, axes)


def _largest(x: Array, axes: tuple[int, ...]) -> Array:
    """The largest real part over the axes, which stay."""
    return max(elementwise.real(x), axes, True)


def softmax(
    a: Any,
    /,
    axis: Axes = None,
    *,
    precise: bool = False,
    stream: StreamLike = None,
) -> Array:
    """``exp(a - max(a)) / sum(exp(a - max(a)))`` over axes.

    Args:
        a: an array of any dtype.
        axis: the axes that sum to 1 together; None is all of them.
        precise: accepted for compatibility; f16 and bf16 are always computed in f32.
        stream: where to run; None is the default device.

    Returns an array of the same shape and dtype, float32 for integers and bools. Raises AxisError
    for an axis that ``a`` does not have.
    """
    check_stream(stream)
    node = array_node("softmax", a)
    axes = normalize_axes("softmax", axis, node)
    x = _wide(node)
    if node.type.size == 0:
        return wrap(cast(node, WEAK_FLOAT[node.dtype]))
    powers = exp(subtract(x, _largest(x, axes)))
    result = divide(powers, sum(powers, axes, True))
    if x.dtype is not complex64:
        result = wrap(seen_as(result.node, SOFTMAX, (x.node,), axes))
    return _narrow(result, node, True, axes)


def logsumexp(
    a: Any, /, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """``log(sum(exp(a)))`` over axes without overflow.

    Args:
        a: an array of any dtype.
        axis: the axes to reduce; None is all of them.
        keepdims: whether those axes stay, with size 1.
        stream: where to run; None is the default device.

    Returns an array of the same dtype, float32 for integers and bools. Raises AxisError for an axis
    that ``a`` does not have, and ShapeError for an array without elements.
    """
    check_stream(stream)
    node = array_node("logsumexp", a)
    axes = normalize_axes("logsumexp", axis, node)
    if node.type.size == 0:
        raise error(ShapeError, "logsumexp", "an array without elements has no logsumexp", node)
    x = _wide(node)
    largest = _largest(x, axes)
    # An infinite maximum is the result; subtracting it would give NaN.
    is_infinite = equal(abs(largest), math.inf)
    shift = where(is_infinite, 0.0, largest)
    total = elementwise.add(log(sum(exp(subtract(x, shift)), axes, True)), shift)
    if x.dtype is not complex64:
        total = wrap(seen_as(total.node, LOGSUMEXP, (x.node,), axes))
    return _narrow(total, node, keepdims, axes)
