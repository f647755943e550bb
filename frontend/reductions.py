"""Reductions: sums, products, extrema and their positions, and what holds for all or any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dialects import ops
from ..dialects.primitive import Primitive, Shape
from ..errors import ShapeError
from . import complexes, elementwise, graph
from .array import Array, Axes, wrap
from .devices import StreamLike, check_stream
from .dtypes import (
    ALL,
    DType,
    bool_,
    complex64,
    float32,
    int8,
    int32,
    uint32,
)
from .graph import Node
from .operands import (
    array_node,
    broadcast,
    cast,
    error,
    filled,
    normalize_axes,
    normalize_axis,
    reshape,
)

_SUM_DTYPE: dict[DType, DType] = {
    dtype: {"bool": int32, "signed": int32, "unsigned": uint32}[dtype.kind]
    if not dtype.is_inexact and dtype.size < 4
    else dtype
    for dtype in ALL
}
WIDE = {dtype: float32 if dtype.is_inexact and dtype.size < 4 else dtype for dtype in ALL}
"""The dtype that composites of several steps compute in."""


def without(shape: Shape, axes: Sequence[int]) -> Shape:
    """The shape without some axes."""
    return tuple([extent for axis, extent in enumerate(shape) if axis not in axes])


def _reduced(
    function: str, primitive: Primitive, node: Node, axes: tuple[int, ...], keepdims: bool
) -> Node:
    """The primitive over axes, which stay with size 1 or go; without axes the node itself.

    The primitive must take the node's dtype.
    """
    if axes:
        if node.type.size == 0 and primitive in _WITHOUT_IDENTITY:
            _require_elements(function, node, axes)
        shape = tuple([1 if axis in axes else extent for axis, extent in enumerate(node.shape)])
        node = graph.make(primitive, (node,), (tuple(sorted(axes)),), shape, node.dtype)
    return node if keepdims else reshape(node, without(node.shape, axes))


_WITHOUT_IDENTITY = (ops.reduce_max, ops.reduce_min)


def _require_elements(function: str, node: Node, axes: Sequence[int]) -> None:
    for axis in axes:
        if node.shape[axis] == 0 and 0 not in without(node.shape, axes):
            raise error(ShapeError, function, f"axis {axis} has no elements", node)


def sum(
    a: Any, /, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """The sum over axes; 0 for no elements.

    Args:
        a: an array of any dtype.
        axis: the axes to sum over; None is all of them.
        keepdims: whether those axes stay, with size 1.
        stream: where to run; None is the default device.

    Returns an array of the same dtype, but int32 and uint32 for smaller integers and bools.
    Raises AxisError for an axis that ``a`` does not have.
    """
    check_stream(stream)
    node = array_node("sum", a)
    axes = normalize_axes("sum", axis, node)
    node = cast(node, _SUM_DTYPE[node.dtype])
    return wrap(_reduced("sum", ops.reduce_sum, node, axes, keepdims))


def prod(
    a: Any, /, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """The product over axes; 1 for no elements.

    Args:
        a: an array of any dtype.
        axis: the axes to multiply over; None is all of them.
        keepdims: whether those axes stay, with size 1.
        stream: where to run; None is the default device.

    Returns an array of the same dtype, but int32 and uint32 for smaller integers and bools.
    Raises AxisError for an axis that ``a`` does not have.
    """
    check_stream(stream)
    node = array_node("prod", a)
    axes = normalize_axes("prod", axis, node)
    node = cast(node, _SUM_DTYPE[node.dtype])
    return wrap(_reduced("prod", ops.reduce_prod, node, axes, keepdims))


def _extremum(function: str, primitive: Primitive, a: Any, axis: Axes, keepdims: bool) -> Array:
    node = array_node(function, a)
    axes = normalize_axes(function, axis, node)
    if node.dtype is complex64:
        return wrap(_complex_extremum(function, primitive, node, axes, keepdims))
    return wrap(_reduced(function, primitive, node, axes, keepdims))


def _complex_extremum(
    function: str, primitive: Primitive, node: Node, axes: tuple[int, ...], keepdims: bool
) -> Node:
    """By the real parts, then by the imaginary parts of those that tie; NaN if any is."""
    x, y = complexes.real(node), complexes.imag(node)
    best = _reduced(function, primitive, x, axes, True)
    is_tie = elementwise.equal(wrap(x), wrap(best))
    worst = float("-inf") if primitive is ops.reduce_max else float("inf")
    contenders = graph.apply(ops.select, (is_tie.node, y, filled(worst, float32, y.shape)))
    parts = complexes.join(best, _reduced(function, primitive, contenders, axes, True))
    is_nan = _reduced(function, ops.reduce_or, complexes.is_nan(node), axes, True)
    nan = filled(float("nan"), complex64, parts.shape)
    result = graph.apply(ops.select, (is_nan, nan, parts))
    return result if keepdims else reshape(result, without(result.shape, axes))


def max(
    a: Any, /, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """The largest element over axes; NaN if any is.

    Args:
        a: an array of any dtype; complex numbers compare by real, then imaginary part.
        axis: the axes to reduce; None is all of them.
        keepdims: whether those axes stay, with size 1.
        stream: where to run; None is the default device.

    Returns an array of the same dtype. Raises AxisError for an axis that ``a`` does not have, and
    ShapeError where there are no elements to choose from.
    """
    check_stream(stream)
    return _extremum("max", ops.reduce_max, a, axis, keepdims)


def min(
    a: Any, /, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """The smallest element over axes; NaN if any is.

    Args:
        a: an array of any dtype; complex numbers compare by real, then imaginary part.
        axis: the axes to reduce; None is all of them.
        keepdims: whether those axes stay, with size 1.
        stream: where to run; None is the default device.

    Returns an array of the same dtype. Raises AxisError for an axis that ``a`` does not have, and
    ShapeError where there are no elements to choose from.
    """
    check_stream(stream)
    return _extremum("min", ops.reduce_min, a, axis, keepdims)


def minmax(
    a: Any, /, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
) -> tuple[Array, Array]:
    """The pair ``min(a, axis), max(a, axis)``; arguments and errors are theirs."""
    return (
        min(a, axis, keepdims, stream=stream),
        max(a, axis, keepdims, stream=stream),
    )


def _all_or_any(function: str, primitive: Primitive, a: Any, axis: Axes, keepdims: bool) -> Array:
    node = array_node(function, a)
    axes = normalize_axes(function, axis, node)
    return wrap(_reduced(function, primitive, cast(node, bool_), axes, keepdims))


def all(
    a: Any, /, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """True where no element over the axes is 0; True for no elements.

    Args:
        a: an array of any dtype.
        axis: the axes to reduce; None is all of them.
        keepdims: whether those axes stay, with size 1.
        stream: where to run; None is the default device.

    Returns an array of bools. Raises AxisError for an axis that ``a`` does not have.
    """
    check_stream(stream)
    return _all_or_any("all", ops.reduce_and, a, axis, keepdims)


def any(
    a: Any, /, axis: Axes = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """True where some element over the axes is not 0; False for no elements.

    Args:
        a: an array of any dtype.
        axis: the axes to reduce; None is all of them.
        keepdims: whether those axes stay, with size 1.
        stream: where to run; None is the default device.

    Returns an array of bools. Raises AxisError for an axis that ``a`` does not have.
    """
    check_stream(stream)
    return _all_or_any("any", ops.reduce_or, a, axis, keepdims)


def count_nonzero(
    a: Any, /, *, axis: Axes = None, keepdims: bool = False, stream: StreamLike = None
) -> Array:
    """How many elements over the axes are not 0, as int32.

    Args:
        a: an array of any dtype.
        axis: the axes to count over; None is all of them.
        keepdims: whether those axes stay, with size 1.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have.
    """
    node = cast(array_node("count_nonzero", a), bool_)
    return sum(wrap(node), axis, keepdims, stream=stream)


def _position_of(
    function: str, primitive: Primitive, a: Any, axis: int | None, keepdims: bool
) -> Array:
    node = array_node(function, a)
    rank = len(node.shape)
    if node.type.size == 0:
        axes = normalize_axes(function, axis, node)
        _require_elements(function, node, axes)
    if axis is None:
        flat, place, shape = reshape(node, (node.type.size,)), 0, (1,) * rank
    else:
        place = normalize_axis(function, axis, node)
        flat, shape = node, (*node.shape[:place], 1, *node.shape[place + 1 :])
    if node.dtype is complex64:
        flat = _complex_contenders(function, primitive, flat, place)
    found = graph.apply(primitive, (flat,), (place,))
    if not keepdims:
        shape = () if axis is None else without(shape, (place,))
    return wrap(reshape(found, shape))


def _complex_contenders(function: str, primitive: Primitive, node: Node, axis: int) -> Node:
    """Floats whose argmax or argmin is that of the complex numbers."""
    reduce = ops.reduce_max if primitive is ops.argmax else ops.reduce_min
    best = _complex_extremum(function, reduce, node, (axis,), True)
    is_best = graph.apply(ops.equal, (node, broadcast(best, node.shape)))
    chosen = graph.apply(ops.bitwise_or, (is_best, complexes.is_nan(node)))
    number = 1 if primitive is ops.argmax else -1
    return graph.apply(ops.multiply, (cast(chosen, int8), filled(number, int8, node.shape)))


def argmax(
    a: Any, /, axis: int | None = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """The position of the first NaN, else of the first largest element, as uint32.

    Args:
        a: an array of any dtype.
        axis: the axis to search along; None searches the flattened array.
        keepdims: whether the axis (or, for None, every axis) stays, with size 1.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have, and ShapeError for one without elements.
    """
    check_stream(stream)
    return _position_of("argmax", ops.argmax, a, axis, keepdims)


def argmin(
    a: Any, /, axis: int | None = None, keepdims: bool = False, *, stream: StreamLike = None
) -> Array:
    """The position of the first NaN, else of the first smallest element, as uint32.

    Args:
        a: an array of any dtype.
        axis: the axis to search along; None searches the flattened array.
        keepdims: whether the axis (or, for None, every axis) stays, with size 1.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have, and ShapeError for one without elements.
    """
    check_stream(stream)
    return _position_of("argmin", ops.argmin, a, axis, keepdims)
