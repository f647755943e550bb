"""Functions that join, cut, repeat and move elements: concatenate, split, pad, roll, diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ..dialects import ops
from ..errors import ArgumentError, ArgumentTypeError, ShapeError
from . import graph
from .array import Array, wrap
from .devices import StreamLike, check_stream
from .dtypes import DType, int32, require_dtype
from .elementwise import add, equal
from .graph import Node
from .operands import (
    array_node,
    as_index,
    as_indices,
    as_number,
    broadcast,
    cast,
    check_shape,
    constant,
    error,
    normalize_axes,
    normalize_axis,
    position,
    promote,
    reshape,
    slice_axis,
    transpose,
)
from .reductions import sum
from .selection import where

Arrays = Sequence[Any] | Array


def _nodes(function: str, arrays: Arrays) -> list[Node]:
    """The arrays of a sequence, or the rows of an array, as nodes of one dtype."""
    if not isinstance(arrays, (list, tuple, Array)):
        text = f"takes a sequence of arrays, got {type(arrays).__name__}"
        raise error(ArgumentTypeError, function, text)
    items = list(arrays)
    if not items:
        raise error(ArgumentError, function, "needs at least one array")
    return promote(function, *items)[0]


def concatenate(arrays: Arrays, axis: int | None = 0, *, stream: StreamLike = None) -> Array:
    """Arrays end to end along an axis.

    Args:
        arrays: arrays that agree in all axes but that one; they promote to one dtype.
        axis: the axis; None flattens the arrays first.
        stream: where to run; None is the default device.

    Raises AxisError for an axis the arrays do not have, ShapeError where other axes differ.
    """
    check_stream(stream)
    nodes = _nodes("concatenate", arrays)
    if axis is None:
        nodes, axis = [reshape(node, (node.type.size,)) for node in nodes], 0
    place = normalize_axis("concatenate", axis, nodes[0])
    return wrap(_joined("concatenate", nodes, place))


def _joined(function: str, nodes: Sequence[Node], axis: int) -> Node:
    first = nodes[0].shape
    for node in nodes:
        same = len(node.shape) == len(first) and all(
            place == axis or a == b
            for place, (a, b) in enumerate(zip(node.shape, first, strict=False))
        )
        if not same:
            text = f"arrays must agree but for axis {axis}"
            raise error(ShapeError, function, text, *nodes)
    if len(nodes) == 1:
        return nodes[0]
    total = _total([node.shape[axis] for node in nodes])
    check_shape(function, (*first[:axis], total, *first[axis + 1 :]))
    return graph.apply(ops.concatenate, tuple(nodes), (axis,))


concat = concatenate


def stack(arrays: Arrays, axis: int | None = 0, *, stream: StreamLike = None) -> Array:
    """Arrays of one shape along a new axis.

    Args:
        arrays: arrays of one shape; they promote to one dtype.
        axis: where the new axis is in the result; None flattens the arrays first.
        stream: where to run; None is the default device.

    Raises AxisError for a place the result does not have, ShapeError where the shapes differ.
    """
    check_stream(stream)
    nodes = _nodes("stack", arrays)
    if axis is None:
        nodes, axis = [reshape(node, (node.type.size,)) for node in nodes], 0
    shape = nodes[0].shape
    if any(node.shape != shape for node in nodes):
        raise error(ShapeError, "stack", "arrays must have one shape", *nodes)
    place = normalize_axis("stack", axis, nodes[0], len(shape) + 1)
    rows = [reshape(node, (*shape[:place], 1, *shape[place:])) for node in nodes]
    return wrap(_joined("stack", rows, place))


def split(
    a: Any, /, indices_or_sections: int | Sequence[int], axis: int = 0, *, stream: StreamLike = None
) -> list[Array]:
    """An array cut along an axis.

    Args:
        a: an array.
        indices_or_sections: how many equal parts, or the positions to cut at; positions count from
            the back if negative and are clamped to the axis.
        axis: the axis to cut.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have, ShapeError where the parts are not equal.
    """
    check_stream(stream)
    node = array_node("split", a)
    place = normalize_axis("split", axis, node)
    extent = node.shape[place]
    if isinstance(indices_or_sections, (list, tuple)):
        cuts = [_clamped(i, extent) for i in as_indices("split", indices_or_sections, "a position")]
    else:
        cuts = _equal_cuts(node, place, as_index("split", indices_or_sections, "the sections"))
    edges = [0, *cuts, extent]
    return [
        wrap(slice_axis(node, place, begin, max(end - begin, 0))) for begin, end in pairwise(edges)
    ]


def _clamped(index: int, extent: int) -> int:
    return min(max(index + extent if index < 0 else index, 0), extent)


def _equal_cuts(node: Node, axis: int, sections: int) -> list[int]:
    extent = node.shape[axis]
    if sections <= 0 or extent % sections:
        text = f"axis {axis} of size {extent} does not split into {sections} equal parts"
        raise error(ShapeError, "split", text, node)
    return [extent // sections * i for i in range(1, sections)]


def unstack(x: Any, /, *, axis: int = 0, stream: StreamLike = None) -> tuple[Array, ...]:
    """The parts of an array along an axis, which they do not have.

    Raises AxisError for an axis that ``x`` does not have.
    """
    check_stream(stream)
    node = array_node("unstack", x)
    place = normalize_axis("unstack", axis, node)
    shape = (*node.shape[:place], *node.shape[place + 1 :])
    parts = [slice_axis(node, place, i, 1) for i in range(node.shape[place])]
    return tuple([wrap(reshape(part, shape)) for part in parts])


def flip(a: Any, /, axis: int | Sequence[int] | None = None, *, stream: StreamLike = None) -> Array:
    """Elements in reverse order along axes.

    Args:
        a: an array.
        axis: the axes to reverse; None is all of them.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have.
    """
    check_stream(stream)
    node = array_node("flip", a)
    axes = normalize_axes("flip", axis, node)
    if not axes or node.type.size == 0:
        return wrap(node)
    start = tuple([extent - 1 if i in axes else 0 for i, extent in enumerate(node.shape)])
    step = tuple([-1 if i in axes else 1 for i in range(len(node.shape))])
    return wrap(graph.apply(ops.slice_, (node,), (start, node.shape, step)))


def roll(
    a: Any,
    shift: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    /,
    *,
    stream: StreamLike = None,
) -> Array:
    """Elements moved along axes; those that leave at one end come in at the other.

    Args:
        a: an array.
        shift: how many places; several with as many axes, or their sum for None.
        axis: the axes; None rolls the flattened array.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have, ShapeError for unequal numbers of shifts
    and axes.
    """
    check_stream(stream)
    node = array_node("roll", a)
    shifts = as_indices("roll", shift, "a shift")
    if axis is None:
        flat = _rolled(reshape(node, (node.type.size,)), 0, _total(shifts))
        return wrap(reshape(flat, node.shape))
    axes = [normalize_axis("roll", one, node) for one in as_indices("roll", axis, "an axis")]
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(shifts) != len(axes):
        text = f"{len(shifts)} shifts do not fit {len(axes)} axes"
        raise error(ShapeError, "roll", text, node)
    for amount, place in zip(shifts, axes, strict=True):
        node = _rolled(node, place, amount)
    return wrap(node)


def _total(numbers: Sequence[int]) -> int:
    total = 0
    for number in numbers:
        total += number
    return total


def _rolled(node: Node, axis: int, shift: int) -> Node:
    extent = node.shape[axis]
    shift = shift % extent if extent else 0
    if not shift:
        return node
    tail = slice_axis(node, axis, extent - shift, shift)
    head = slice_axis(node, axis, 0, extent - shift)
    return graph.apply(ops.concatenate, (tail, head), (axis,))


def repeat(
    array: Any, repeats: int, axis: int | None = None, *, stream: StreamLike = None
) -> Array:
    """Each element several times in a row along an axis.

    Args:
        array: an array.
        repeats: how often.
        axis: the axis; None flattens the array first.
        stream: where to run; None is the default device.

    Raises AxisError for an axis the array does not have, ArgumentError for negative repeats.
    """
    check_stream(stream)
    node = array_node("repeat", array)
    count = as_index("repeat", repeats, "repeats")
    if count < 0:
        raise error(ArgumentError, "repeat", f"repeats must not be negative, got {count}", node)
    if axis is None:
        node, place = reshape(node, (node.type.size,)), 0
    else:
        place = normalize_axis("repeat", axis, node)
    lead, extent, rest = node.shape[:place], node.shape[place], node.shape[place + 1 :]
    spread = broadcast(reshape(node, (*lead, extent, 1, *rest)), (*lead, extent, count, *rest))
    return wrap(reshape(spread, (*lead, extent * count, *rest)))


def tile(a: Any, reps: int | Sequence[int], /, *, stream: StreamLike = None) -> Array:
    """The whole array several times along its axes.

    Args:
        a: an array.
        reps: how often along each axis, the last axes if fewer; axes are added if more.
        stream: where to run; None is the default device.

    Raises ArgumentError for negative repeats.
    """
    check_stream(stream)
    node = array_node("tile", a)
    counts = as_indices("tile", reps, "a repeat")
    if any(count < 0 for count in counts):
        raise error(ArgumentError, "tile", f"repeats must not be negative, got {counts}", node)
    rank = max(len(counts), len(node.shape))
    counts = (1,) * (rank - len(counts)) + counts
    shape = (1,) * (rank - len(node.shape)) + node.shape
    between = tuple([size for extent in shape for size in (1, extent)])
    spread = tuple([size for pair in zip(counts, shape, strict=True) for size in pair])
    result = tuple([count * extent for count, extent in zip(counts, shape, strict=True)])
    return wrap(reshape(broadcast(reshape(node, between), spread), result))


PadWidth = int | Sequence[int] | Sequence[Sequence[int]]


def pad(
    a: Any,
    pad_width: PadWidth,
    mode: str = "constant",
    constant_values: Any = 0,
    *,
    stream: StreamLike = None,
) -> Array:
    """Elements added before and after an array along its axes.

    Args:
        a: an array.
        pad_width: how many: an integer, a pair for before and after, or such a pair for each axis.
        mode: ``"constant"``; ``"edge"`` repeats the outermost elements; ``"reflect"`` and
            ``"symmetric"`` mirror the array, without and with its outermost elements.
        constant_values: the number, or array of rank 0, for ``"constant"``.
        stream: where to run; None is the default device.

    Raises ShapeError for negative widths or widths that do not fit the axes, ArgumentError for an
    unknown mode or nothing to repeat.
    """
    check_stream(stream)
    node = array_node("pad", a)
    widths = _pad_widths(node, pad_width)
    if mode == "constant":
        if isinstance(constant_values, Array):
            value = cast(constant_values.node, node.dtype)
        else:
            number = as_number("pad", constant_values, "constant_values")
            value = constant(number, node.dtype)
        if value.shape:
            raise error(ShapeError, "pad", "constant_values must have rank 0", node, value)
        sizes = zip(widths, node.shape, strict=True)
        check_shape("pad", tuple([low + extent + high for (low, high), extent in sizes]), node)
        low, high = zip(*widths, strict=True) if widths else ((), ())
        return wrap(graph.apply(ops.pad, (node, value), (tuple(low), tuple(high))))
    if mode not in ("edge", "reflect", "symmetric"):
        text = f"mode must be 'constant', 'edge', 'reflect' or 'symmetric', got {mode!r}"
        raise error(ArgumentError, "pad", text, node)
    for axis, (low, high) in enumerate(widths):
        if low or high:
            node = _extended(node, axis, low, high, mode)
    return wrap(node)


def _pad_widths(node: Node, pad_width: Any) -> list[tuple[int, int]]:
    rank = len(node.shape)
    if not isinstance(pad_width, (list, tuple)):
        pad_width = (as_index("pad", pad_width, "a width"),) * 2
    if any(isinstance(one, (list, tuple)) for one in pad_width):
        pairs = [as_indices("pad", one, "a width") for one in pad_width]
    else:
        pairs = [as_indices("pad", pad_width, "a width")]
    pairs = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    if len(pairs) == 1:
        pairs = pairs * rank
    if len(pairs) != rank or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        text = f"pad_width {pad_width} gives no pair of widths for each of {rank} axes"
        raise error(ShapeError, "pad", text, node)
    return [(low, high) for low, high in pairs]


def _extended(node: Node, axis: int, low: int, high: int, mode: str) -> Node:
    if node.shape[axis] == 0:
        text = f"axis {axis} has no elements to repeat"
        raise error(ArgumentError, "pad", text, node)
    if mode == "edge" or node.shape[axis] == 1:
        last = node.shape[axis] - 1
        parts = [_repeated(node, axis, 0, low), node, _repeated(node, axis, last, high)]
        parts = [part for part in parts if part.shape[axis]]
        return _joined("pad", parts, axis)
    skip = 1 if mode == "reflect" else 0
    extent = node.shape[axis]
    if max(low, high) > extent - skip:
        return _mirrored_again(node, axis, low, high, skip)
    parts = [node]
    if low:
        parts.insert(0, slice_axis(node, axis, low - 1 + skip, low, -1))
    if high:
        parts.append(slice_axis(node, axis, extent - 1 - skip, high, -1))
    return _joined("pad", parts, axis)


def _mirrored_again(node: Node, axis: int, low: int, high: int, skip: int) -> Node:
    """A window of the endless array that goes to and fro over the axis."""
    extent = node.shape[axis]
    back = slice_axis(node, axis, extent - 1 - skip, extent - 2 * skip, -1)
    period = _joined("pad", [node, back], axis)
    length = period.shape[axis]
    start, size = -low % length, low + extent + high
    copies = [period] * -(-(start + size) // length)
    return slice_axis(_joined("pad", copies, axis), axis, start, size)


def _repeated(node: Node, axis: int, index: int, count: int) -> Node:
    shape = (*node.shape[:axis], count, *node.shape[axis + 1 :])
    return broadcast(slice_axis(node, axis, index, 1), shape)


def diagonal(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, stream: StreamLike = None
) -> Array:
    """Diagonals over two axes, as a new last axis.

    Args:
        a: an array of at least two axes.
        offset: which diagonal: 0 is the main one, above 0 those to its right.
        axis1, axis2: the axes of the rows and of the columns.
        stream: where to run; None is the default device.

    Raises ShapeError for arrays of fewer than two axes or one axis named twice, AxisError for an
    axis that ``a`` does not have.
    """
    check_stream(stream)
    node = array_node("diagonal", a)
    if len(node.shape) < 2:
        raise error(ShapeError, "diagonal", "takes arrays of at least two axes", node)
    row, column = normalize_axes("diagonal", (axis1, axis2), node)
    offset = as_index("diagonal", offset, "the offset")
    rest = [axis for axis in range(len(node.shape)) if axis not in (row, column)]
    node = transpose(node, (*rest, row, column))
    rows, columns = node.shape[-2:]
    first_row, first_column = max(-offset, 0), max(offset, 0)
    count = max(min(rows - first_row, columns - first_column), 0)
    flat = reshape(node, (*node.shape[:-2], rows * columns))
    start = first_row * columns + first_column if count else 0
    return wrap(slice_axis(flat, len(flat.shape) - 1, start, count, columns + 1))


def diag(a: Any, /, k: int = 0, *, stream: StreamLike = None) -> Array:
    """A square array with a vector on a diagonal, or the diagonal of an array of two axes.

    Args:
        a: an array of one or two axes.
        k: the diagonal: 0 is the main one, above 0 those to its right.
        stream: where to run; None is the default device.

    Raises ShapeError for other numbers of axes.
    """
    check_stream(stream)
    node, k = array_node("diag", a), as_index("diag", k, "k")
    if len(node.shape) == 2:
        return diagonal(a, k)
    if len(node.shape) != 1:
        raise error(ShapeError, "diag", "takes arrays of one or two axes", node)
    size = node.shape[0] + abs(k)
    check_shape("diag", (size, size), node)
    zero = constant(0, node.dtype)
    long = graph.apply(ops.pad, (node, zero), ((0,), (abs(k),)))
    rows, columns = [wrap(position((size, size), int32, axis)) for axis in range(2)]
    # Above the main diagonal an element's row is its place in the vector, below it its column.
    along = (size, 1) if k >= 0 else (1, size)
    return where(equal(columns, add(rows, k)), wrap(reshape(long, along)), wrap(zero))


def trace(
    a: Any,
    /,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DType | None = None,
    *,
    stream: StreamLike = None,
) -> Array:
    """The sum of a diagonal over two axes.

    Args:
        a: an array of at least two axes.
        offset: which diagonal: 0 is the main one, above 0 those to its right.
        axis1, axis2: the axes of the rows and of the columns.
        dtype: the dtype to sum in; None is that of :func:`sum`.
        stream: where to run; None is the default device.

    Raises what :func:`diagonal` raises.
    """
    node = diagonal(a, offset, axis1, axis2, stream).node
    if dtype is not None:
        node = cast(node, require_dtype(dtype, "trace"))
    return sum(wrap(node), -1)
