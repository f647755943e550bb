"""Indexing with integers, slices, Ellipsis and None."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from ..dialects import ops
from ..dialects.primitive import Shape
from ..errors import IndexingError, ShapeError
from . import graph
from .array import Array, wrap
from .graph import Node
from .operands import (
    NUMBERS,
    array_node,
    broadcast,
    broadcast_shape,
    cast,
    constant,
    error,
    reshape,
)


class Window(NamedTuple):
    """What a basic index selects.

    Attributes:
        start, size, step: along each axis the elements ``start + i * step`` for ``i`` below
            ``size``.
        shape: the shape of the result: axes with an integer dropped, axes for None added.
    """

    start: tuple[int, ...]
    size: tuple[int, ...]
    step: tuple[int, ...]
    shape: Shape


def get_item(a: Array, index: Any) -> Array:
    """``a[index]`` as a new array.

    Args:
        a: an array.
        index: an integer, a slice, Ellipsis, None, or a tuple of these. A slice may have a
            negative step; a None adds an axis of size 1.

    Raises IndexingError for an integer out of range, too many indices, or an unknown kind of index.
    """
    node = a.node
    return wrap(_read(node, parse(node, index)))


def set_item(a: Array, index: Any, value: Any) -> None:
    """``a[index] = value``: ``a`` becomes a new value in which the window is replaced.

    Args:
        a: the array whose handle is rebound; its dtype stays.
        index: as :func:`get_item` takes.
        value: an array or a number that broadcasts to the shape of ``a[index]``.

    Raises IndexingError as :func:`get_item` does, and ShapeError where the value does not fit.
    """
    node = a.node
    window = parse(node, index)
    update = _fitting(node, window, value)
    attributes = (window.start, window.step)
    a.node = graph.apply(ops.slice_update, (node, reshape(update, window.size)), attributes)


def _fitting(node: Node, window: Window, value: Any) -> Node:
    """The value in the node's dtype and the window's shape; leading axes of size 1 are dropped."""
    if isinstance(value, NUMBERS):
        return broadcast(constant(value, node.dtype), window.shape)
    update = cast(array_node("setitem", value), node.dtype)
    shape = update.shape
    while len(shape) > len(window.shape) and shape[0] == 1:
        shape = shape[1:]
    if broadcast_shape(shape, window.shape) != window.shape:
        text = f"a value of shape {update.shape} does not fit a window of shape {window.shape}"
        raise error(ShapeError, "setitem", text, node)
    return broadcast(reshape(update, shape), window.shape)


def _read(node: Node, window: Window) -> Node:
    is_whole = window.size == node.shape and all(step == 1 for step in window.step)
    if not is_whole:
        attributes = (window.start, window.size, window.step)
        node = graph.make(ops.slice_, (node,), attributes, window.size, node.dtype)
    return reshape(node, window.shape)


def parse(node: Node, index: Any) -> Window:
    """The window of a basic index into a node."""
    items = list(index) if isinstance(index, tuple) else [index]
    _expand_ellipsis(node, items)
    start, size, step, shape = [], [], [], []
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        extent = node.shape[axis]
        if isinstance(item, slice):
            first, count, stride = _slice_range(node, item, extent)
            shape.append(count)
        else:
            first, count, stride = _position(node, item, axis), 1, 1
        start.append(first)
        size.append(count)
        step.append(stride)
        axis += 1
    return Window(tuple(start), tuple(size), tuple(step), tuple(shape))


def _expand_ellipsis(node: Node, items: list[Any]) -> None:
    """Replaces the Ellipsis, or the missing end, by full slices."""
    rank = len(node.shape)
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > rank:
        raise error(IndexingError, "getitem", f"{used} indices for {rank} dimensions", node)
    places = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise error(IndexingError, "getitem", "an index can have one Ellipsis only", node)
    place = places[0] if places else len(items)
    items[place : place + 1] = [slice(None)] * (rank - used)


def _slice_range(node: Node, item: slice, extent: int) -> tuple[int, int, int]:
    try:
        first, stop, step = item.indices(extent)
    except (TypeError, ValueError) as problem:
        raise error(IndexingError, "getitem", f"{item}: {problem}", node) from None
    count = len(range(first, stop, step))
    return (first if count else 0), count, step


def _position(node: Node, item: Any, axis: int) -> int:
    if isinstance(item, (bool, np.bool_, np.ndarray, list)) or _is_array_index(item):
        text = f"indices must be integers, slices, Ellipsis or None, got {type(item).__name__}"
        raise error(IndexingError, "getitem", text, node)
    try:
        position = operator.index(item)
    except TypeError:
        text = f"indices must be integers, slices, Ellipsis or None, got {type(item).__name__}"
        raise error(IndexingError, "getitem", text, node) from None
    extent = node.shape[axis]
    if not -extent <= position < extent:
        text = f"index {position} is out of range for axis {axis} of size {extent}"
        raise error(IndexingError, "getitem", text, node)
    return position % extent


def _is_array_index(item: Any) -> bool:
    return isinstance(item, Array) and (item.ndim > 0 or not item.dtype.is_integer)
