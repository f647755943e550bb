"""Functions that give elements another shape: reshapes, axes in another order, broadcasts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..dialects.primitive import Shape
from ..errors import ShapeError
from . import bits
from .array import Array, wrap
from .devices import StreamLike, check_stream
from .dtypes import DType, require_dtype
from .operands import (
    array_node,
    as_index,
    as_indices,
    as_shape,
    broadcast_shape,
    cast,
    common_shape,
    error,
    normalize_axes,
    normalize_axis,
)
from .operands import broadcast as broadcast_node
from .operands import reshape as reshape_node
from .operands import transpose as transpose_node


def astype(a: Any, dtype: DType, /, *, stream: StreamLike = None) -> Array:
    """The values in another dtype.

    Floats to integers truncate and saturate, NaN gives 0; integers wrap; anything but 0 is True;
    complex numbers lose their imaginary part.

    Args:
        a: an array of any dtype.
        dtype: the dtype of the result.
        stream: where to run; None is the default device.
    """
    check_stream(stream)
    return wrap(cast(array_node("astype", a), require_dtype(dtype, "astype")))


def view(a: Any, dtype: DType, stream: StreamLike = None) -> Array:
    """The same bytes under another dtype; the last axis grows or shrinks with the element's size.

    Args:
        a: an array of any dtype.
        dtype: the dtype of the result.
        stream: where to run; None is the default device.

    Raises ShapeError where the last axis has no whole number of the new elements.
    """
    check_stream(stream)
    node = array_node("view", a)
    require_dtype(dtype, "view")
    old, new = node.dtype.size, dtype.size
    if old != new and not node.shape:
        text = f"an array of rank 0 cannot be viewed as {dtype.name}, whose size differs"
        raise error(ShapeError, "view", text, node)
    if old != new and node.shape[-1] * old % new:
        text = f"the last axis of {node.shape[-1]} elements is no whole number of {dtype.name}"
        raise error(ShapeError, "view", text, node)
    return wrap(bits.view(node, dtype))


def reshape(a: Any, /, shape: Sequence[int] | int, *, stream: StreamLike = None) -> Array:
    """The elements in row-major order under another shape.

    Args:
        a: an array.
        shape: sizes whose product is the number of elements; one may be -1, for what is left.
        stream: where to run; None is the default device.

    Raises ShapeError where the sizes do not fit.
    """
    check_stream(stream)
    node = array_node("reshape", a)
    sizes = as_indices("reshape", shape, "a size")
    return wrap(reshape_node(node, _inferred("reshape", node, node.type.size, sizes)))


def _inferred(function: str, node: Any, size: int, shape: Shape) -> Shape:
    """The shape with -1 replaced, for ``size`` elements."""
    unknown = [i for i, extent in enumerate(shape) if extent == -1]
    if len(unknown) > 1:
        text = f"one size can be -1, got {shape}"
        raise error(ShapeError, function, text, node)
    if any(extent < -1 for extent in shape):
        raise error(ShapeError, function, f"sizes must not be negative, got {shape}", node)
    known = math.prod(extent for extent in shape if extent != -1)
    if unknown and known and size % known == 0:
        shape = (*shape[: unknown[0]], size // known, *shape[unknown[0] + 1 :])
    elif unknown or known != size:
        text = f"cannot reshape {size} elements into {shape}"
        raise error(ShapeError, function, text, node)
    return shape


def flatten(
    a: Any, /, start_axis: int = 0, end_axis: int = -1, *, stream: StreamLike = None
) -> Array:
    """Axes from ``start_axis`` to ``end_axis``, both included, merged into one.

    Args:
        a: an array; rank 0 becomes one element.
        start_axis, end_axis: the first and the last axis; they are clamped to those that exist.
        stream: where to run; None is the default device.

    Raises ShapeError if the last axis comes before the first.
    """
    check_stream(stream)
    node = array_node("flatten", a)
    rank = len(node.shape)
    if rank == 0:
        return wrap(reshape_node(node, (1,)))
    ends = [as_index("flatten", axis, "an axis") for axis in (start_axis, end_axis)]
    first, last = [axis + rank if axis < 0 else axis for axis in ends]
    first, last = max(first, 0), min(last, rank - 1)
    if first > last:
        text = f"start_axis {start_axis} comes after end_axis {end_axis}"
        raise error(ShapeError, "flatten", text, node)
    merged = math.prod(node.shape[first : last + 1])
    return wrap(reshape_node(node, (*node.shape[:first], merged, *node.shape[last + 1 :])))


def unflatten(a: Any, /, axis: int, shape: Sequence[int], *, stream: StreamLike = None) -> Array:
    """One axis split into several.

    Args:
        a: an array.
        axis: the axis to split.
        shape: the sizes it splits into; one may be -1, for what is left.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have, ShapeError where the sizes do not fit.
    """
    check_stream(stream)
    node = array_node("unflatten", a)
    place = normalize_axis("unflatten", axis, node)
    sizes = as_indices("unflatten", shape, "a size")
    sizes = _inferred("unflatten", node, node.shape[place], sizes)
    return wrap(reshape_node(node, (*node.shape[:place], *sizes, *node.shape[place + 1 :])))


def squeeze(
    a: Any, /, axis: int | Sequence[int] | None = None, *, stream: StreamLike = None
) -> Array:
    """Without axes of size 1.

    Args:
        a: an array.
        axis: the axes to drop; None is all that have size 1.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have, ShapeError for one of another size.
    """
    check_stream(stream)
    node = array_node("squeeze", a)
    if axis is None:
        return wrap(reshape_node(node, tuple([extent for extent in node.shape if extent != 1])))
    axes = normalize_axes("squeeze", axis, node)
    for place in axes:
        if node.shape[place] != 1:
            text = f"axis {place} has size {node.shape[place]}, not 1"
            raise error(ShapeError, "squeeze", text, node)
    kept = [extent for place, extent in enumerate(node.shape) if place not in axes]
    return wrap(reshape_node(node, tuple(kept)))


def expand_dims(a: Any, /, axis: int | Sequence[int], *, stream: StreamLike = None) -> Array:
    """With axes of size 1 added.

    Args:
        a: an array.
        axis: where the new axes are in the result.
        stream: where to run; None is the default device.

    Raises AxisError for a place the result does not have, ShapeError for one named twice.
    """
    check_stream(stream)
    node = array_node("expand_dims", a)
    places = as_indices("expand_dims", axis, "an axis")
    rank = len(node.shape) + len(places)
    added = normalize_axes("expand_dims", places, node, rank)
    sizes = iter(node.shape)
    return wrap(reshape_node(node, tuple([1 if i in added else next(sizes) for i in range(rank)])))


def _at_least(function: str, arrays: tuple[Any, ...], shape_of: Any) -> Array | list[Array]:
    nodes = [array_node(function, a) for a in arrays]
    results = [wrap(reshape_node(node, shape_of(node.shape))) for node in nodes]
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys: Any, stream: StreamLike = None) -> Array | list[Array]:
    """Arrays with at least one axis: one array for one argument, else a list."""
    check_stream(stream)
    return _at_least("atleast_1d", arys, lambda shape: shape or (1,))


def atleast_2d(*arys: Any, stream: StreamLike = None) -> Array | list[Array]:
    """Arrays with at least two axes, new ones first: one array for one argument, else a list."""
    check_stream(stream)
    return _at_least("atleast_2d", arys, lambda shape: (1,) * (2 - len(shape)) + shape)


def atleast_3d(*arys: Any, stream: StreamLike = None) -> Array | list[Array]:
    """Arrays with at least three axes: one array for one argument, else a list.

    Shapes ``()``, ``(n,)`` and ``(m, n)`` become ``(1, 1, 1)``, ``(1, n, 1)`` and ``(m, n, 1)``.
    """
    check_stream(stream)
    shapes = {0: lambda s: (1, 1, 1), 1: lambda s: (1, *s, 1), 2: lambda s: (*s, 1)}
    return _at_least("atleast_3d", arys, lambda s: shapes.get(len(s), lambda s: s)(s))


def transpose(a: Any, /, axes: Sequence[int] | None = None, *, stream: StreamLike = None) -> Array:
    """Axes in another order.

    Args:
        a: an array.
        axes: axis ``i`` of the result is axis ``axes[i]`` of ``a``; None reverses them.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have, ShapeError unless each is named once.
    """
    check_stream(stream)
    node = array_node("transpose", a)
    rank = len(node.shape)
    if axes is None:
        return wrap(transpose_node(node, tuple(range(rank))[::-1]))
    permutation = normalize_axes("transpose", axes, node)
    if len(permutation) != rank:
        text = f"takes {rank} axes, got {len(permutation)}"
        raise error(ShapeError, "transpose", text, node)
    return wrap(transpose_node(node, permutation))


permute_dims = transpose


def matrix_transpose(a: Any, /, *, stream: StreamLike = None) -> Array:
    """The last two axes swapped; ShapeError for fewer than two axes."""
    node = array_node("matrix_transpose", a)
    if len(node.shape) < 2:
        text = "takes arrays of at least two axes"
        raise error(ShapeError, "matrix_transpose", text, node)
    return swapaxes(a, -1, -2, stream=stream)


def swapaxes(a: Any, /, axis1: int, axis2: int, *, stream: StreamLike = None) -> Array:
    """Two axes swapped.

    Args:
        a: an array.
        axis1, axis2: the axes.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have.
    """
    check_stream(stream)
    node = array_node("swapaxes", a)
    first = normalize_axis("swapaxes", axis1, node)
    second = normalize_axis("swapaxes", axis2, node)
    permutation = list(range(len(node.shape)))
    permutation[first], permutation[second] = second, first
    return wrap(transpose_node(node, tuple(permutation)))


def moveaxis(
    a: Any,
    /,
    source: int | Sequence[int],
    destination: int | Sequence[int],
    *,
    stream: StreamLike = None,
) -> Array:
    """Axes moved to other places; the others keep their order.

    Args:
        a: an array.
        source: the axes to move.
        destination: their places in the result.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have, ShapeError for one named twice or
    different numbers of them.
    """
    check_stream(stream)
    node = array_node("moveaxis", a)
    sources = normalize_axes("moveaxis", source, node)
    places = normalize_axes("moveaxis", destination, node)
    if len(sources) != len(places):
        text = f"moves {len(sources)} axes to {len(places)} places"
        raise error(ShapeError, "moveaxis", text, node)
    order = [axis for axis in range(len(node.shape)) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return wrap(transpose_node(node, tuple(order)))


def broadcast_to(a: Any, /, shape: Sequence[int] | int, *, stream: StreamLike = None) -> Array:
    """The array under a shape it broadcasts to.

    Args:
        a: an array or a number.
        shape: the shape of the result.
        stream: where to run; None is the default device.

    Raises ShapeError where the array does not broadcast to the shape.
    """
    check_stream(stream)
    node, sizes = array_node("broadcast_to", a), as_shape("broadcast_to", shape)
    if broadcast_shape(node.shape, sizes) != sizes:
        text = f"shape {node.shape} does not broadcast to {sizes}"
        raise error(ShapeError, "broadcast_to", text, node)
    return wrap(broadcast_node(node, sizes))


def broadcast_arrays(*arrays: Any, stream: StreamLike = None) -> tuple[Array, ...]:
    """Arrays under the one shape that they broadcast to; their dtypes stay.

    Raises ShapeError where the shapes do not broadcast.
    """
    check_stream(stream)
    nodes = [array_node("broadcast_arrays", a) for a in arrays]
    if not nodes:
        return ()
    shape = common_shape("broadcast_arrays", nodes)
    return tuple([wrap(broadcast_node(node, shape)) for node in nodes])


def broadcast_shapes(*shapes: Sequence[int] | int) -> Shape:
    """The shape that shapes broadcast to; ShapeError where they do not."""
    result: Shape = ()
    for shape in shapes:
        joint = broadcast_shape(result, as_shape("broadcast_shapes", shape))
        if joint is None:
            text = f"shapes {' and '.join(map(str, shapes))} do not broadcast"
            raise error(ShapeError, "broadcast_shapes", text)
        result = joint
    return result
