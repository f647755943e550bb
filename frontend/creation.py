"""Arrays made from sizes and numbers: zeros, ranges, grids, triangles."""

from __future__ import annotations

import math
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from .array import Array, wrap
from .devices import StreamLike, check_stream
from .dtypes import (
    PROMOTED,
    DType,
    canonical_scalar,
    float32,
    float64,
    int32,
    int64,
    require_dtype,
    scalar_dtype,
)
from .elementwise import add, equal, less_equal, multiply, subtract
from .graph import Node
from .operands import (
    NUMBERS,
    array_node,
    as_index,
    as_number,
    as_shape,
    broadcast,
    broadcast_shape,
    cast,
    check_shape,
    constant,
    error,
    filled,
    position,
    reshape,
)
from .selection import where


def zeros(shape: Any, dtype: DType | None = float32, *, stream: StreamLike = None) -> Array:
    """Zeros.

    Args:
        shape: a size or a sequence of sizes.
        dtype: the dtype; None is float32.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes.
    """
    check_stream(stream)
    kind = require_dtype(float32 if dtype is None else dtype, "zeros")
    return wrap(filled(0, kind, as_shape("zeros", shape)))


def ones(shape: Any, dtype: DType | None = float32, *, stream: StreamLike = None) -> Array:
    """Ones.

    Args:
        shape: a size or a sequence of sizes.
        dtype: the dtype; None is float32.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes.
    """
    check_stream(stream)
    kind = require_dtype(float32 if dtype is None else dtype, "ones")
    return wrap(filled(1, kind, as_shape("ones", shape)))


def full(shape: Any, vals: Any, dtype: DType | None = None, *, stream: StreamLike = None) -> Array:
    """One value everywhere.

    Args:
        shape: a size or a sequence of sizes.
        vals: a number, or an array that broadcasts to the shape.
        dtype: the dtype; None is that of ``vals``.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes and for values that do not broadcast to the shape.
    """
    check_stream(stream)
    sizes = as_shape("full", shape)
    if dtype is not None:
        require_dtype(dtype, "full")
    if isinstance(vals, NUMBERS):
        kind = dtype or array_node("full", vals).dtype
        return wrap(filled(vals, kind, sizes))
    node = array_node("full", vals)
    if broadcast_shape(node.shape, sizes) != sizes:
        text = f"values of shape {node.shape} do not broadcast to {sizes}"
        raise error(ShapeError, "full", text, node)
    return wrap(broadcast(cast(node, dtype or node.dtype), sizes))


def zeros_like(a: Any, /, dtype: DType | None = None, *, stream: StreamLike = None) -> Array:
    """Zeros of the shape and, unless another is given, the dtype of ``a``."""
    node = array_node("zeros_like", a)
    return zeros(node.shape, node.dtype if dtype is None else dtype, stream=stream)


def ones_like(a: Any, /, dtype: DType | None = None, *, stream: StreamLike = None) -> Array:
    """Ones of the shape and, unless another is given, the dtype of ``a``."""
    node = array_node("ones_like", a)
    return ones(node.shape, node.dtype if dtype is None else dtype, stream=stream)


def full_like(a: Any, vals: Any, dtype: DType | None = None, *, stream: StreamLike = None) -> Array:
    """One value everywhere, in the shape and, unless another is given, the dtype of ``a``."""
    node = array_node("full_like", a)
    return full(node.shape, vals, node.dtype if dtype is None else dtype, stream=stream)


empty = zeros
empty_like = zeros_like


def asarray(a: Any, dtype: DType | None = None, *, copy: bool | None = None) -> Array:
    """An array of what ``a`` holds; ``a`` itself if it is an array of that dtype.

    Args:
        a: a number, nested lists, a NumPy array or an array.
        dtype: the dtype; None is the one that ``a`` has.
        copy: True makes a new array in any case; False raises ArgumentError where data must be
            copied, which is so for everything but arrays of the dtype.
    """
    is_same = isinstance(a, Array) and (dtype is None or a.dtype is dtype)
    if copy is False and not is_same:
        text = f"{type(a).__name__} cannot become an array without a copy"
        raise error(ArgumentError, "asarray", text)
    return a if is_same and not copy else Array(a, dtype)


def arange(
    start: Any = None,
    stop: Any = None,
    step: Any = None,
    dtype: DType | None = None,
    *,
    stream: StreamLike = None,
) -> Array:
    """``start + i * step`` for every ``i`` from 0 that stays on this side of ``stop``.

    With one number it is ``stop``, and ``start`` is 0.

    Args:
        start: the first value; 0 if left out.
        stop: the end, which is not included.
        step: the distance; 1 if left out.
        dtype: the dtype; None is int32 (int64 beyond it) for integers and float32 for floats.
        stream: where to run; None is the default device.

    Raises ArgumentError for a step of 0 or a range without a length.
    """
    check_stream(stream)
    if stop is None:
        start, stop = None, start
    numbers = [0 if start is None else start, stop, 1 if step is None else step]
    first, last, distance = [_number("arange", value) for value in numbers]
    dtype = _range_dtype(first, last, distance, dtype)
    count = _range_length(first, last, distance)
    check_shape("arange", (count,))
    if dtype.is_integer and not isinstance(distance, int):
        # As in NumPy, an integer range is made of integers: the first two fix the distance.
        distance = int(first + distance) - int(first)
    return wrap(cast(_ramp(count, first, distance, dtype), dtype))


def _number(function: str, value: Any) -> int | float:
    if isinstance(value, Array) and value.ndim == 0:
        value = value.item()
    value = as_number(function, value, "the start, stop and step of a range each")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        text = f"takes integers and floats, got {type(value).__name__}"
        raise error(ArgumentTypeError, function, text)
    return value


def _range_dtype(first: Any, last: Any, distance: Any, dtype: DType | None) -> DType:
    if dtype is None:
        if any(isinstance(value, float) for value in (first, last, distance)):
            return float32
        try:
            return PROMOTED[scalar_dtype(first), scalar_dtype(last)]
        except ArgumentError as problem:
            raise error(ArgumentError, "arange", str(problem)) from None
    if require_dtype(dtype, "arange").kind not in ("signed", "unsigned", "floating"):
        raise error(DTypeError, "arange", f"does not make {dtype.name}")
    return dtype


def _range_length(first: Any, last: Any, distance: Any) -> int:
    if distance == 0:
        raise error(ArgumentError, "arange", "the step must not be 0")
    if isinstance(first, int) and isinstance(last, int) and isinstance(distance, int):
        return max(-((first - last) // distance), 0)
    first, last, distance = [_as_float(value) for value in (first, last, distance)]
    length = (last - first) / distance
    if not math.isfinite(length):
        if math.isinf(distance) and not math.isnan(length):
            return 1 if (last - first) * distance > 0 else 0
        text = f"the range from {first} to {last} by {distance} has no length"
        raise error(ArgumentError, "arange", text)
    return max(math.ceil(length), 0)


def _as_float(value: float) -> float:
    """The nearest float; integers beyond all floats are infinite."""
    return canonical_scalar(value, float64)  # pyright: ignore[reportReturnType]


def _ramp(count: int, first: Any, distance: Any, dtype: DType) -> Node:
    """``first + i * distance``, integers in the dtype and floats in at least float32."""
    wide = float32 if dtype.kind == "floating" and dtype is not float64 else dtype
    positions = position((count,), wide, 0)
    if distance != 1:
        positions = multiply(wrap(positions), wrap(filled(distance, wide, (count,)))).node
    if first != 0:
        positions = add(wrap(positions), wrap(filled(first, wide, (count,)))).node
    return positions


def linspace(
    start: Any,
    stop: Any,
    num: int | None = 50,
    endpoint: bool = True,
    dtype: DType | None = float32,
    stream: StreamLike = None,
) -> Array:
    """``num`` values at even distances from ``start`` to ``stop``.

    Args:
        start: the first value.
        stop: the last value; the end without ``endpoint``.
        num: how many values.
        endpoint: whether ``stop`` is among them.
        dtype: the dtype; None is float32. Integers are truncated.
        stream: where to run; None is the default device.

    Raises ArgumentError for a negative number of values.
    """
    check_stream(stream)
    first, last = _number("linspace", start), _number("linspace", stop)
    count = as_index("linspace", 50 if num is None else num, "num")
    kind = require_dtype(float32 if dtype is None else dtype, "linspace")
    if count < 0:
        raise error(ArgumentError, "linspace", f"num must not be negative, got {count}")
    wide = float64 if kind is float64 else float32
    steps = count - 1 if endpoint else count
    ratio = wrap(position((count,), wide, 0))
    if steps > 1:
        ratio = ratio / float(steps)
    values = add(multiply(subtract(1.0, ratio), _as_float(first)), multiply(ratio, _as_float(last)))
    return wrap(cast(values.node, kind))


def _coordinates(n: int, m: int, k: int) -> tuple[Array, Array]:
    """The row plus ``k`` and the column of each element of an (n, m) array."""
    k = min(max(k, -n), m)  # all diagonals beyond are alike
    dtype = int32 if n + m < 1 << 31 else int64
    rows = add(wrap(position((n, m), dtype, 0)), k)
    return rows, wrap(position((n, m), dtype, 1))


def _matrix_shape(function: str, n: Any, m: Any) -> tuple[int, int]:
    rows, columns = as_shape(function, (n, n if m is None else m))
    return rows, columns


def eye(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: DType | None = float32,
    *,
    stream: StreamLike = None,
) -> Array:
    """Ones on a diagonal, zeros elsewhere.

    Args:
        n, m: the numbers of rows and of columns; ``m`` is ``n`` if None.
        k: the diagonal: 0 is the main one, above 0 those to its right.
        dtype: the dtype; None is float32.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes.
    """
    check_stream(stream)
    kind = require_dtype(float32 if dtype is None else dtype, "eye")
    rows, columns = _coordinates(*_matrix_shape("eye", n, m), as_index("eye", k, "k"))
    return wrap(cast(equal(columns, rows).node, kind))


def identity(n: int, dtype: DType | None = float32, *, stream: StreamLike = None) -> Array:
    """The identity matrix with ``n`` rows; ShapeError for a negative ``n``."""
    return eye(n, dtype=dtype, stream=stream)


def tri(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: DType | None = None,
    *,
    stream: StreamLike = None,
) -> Array:
    """Ones on and below a diagonal, zeros above it.

    Args:
        n, m: the numbers of rows and of columns; ``m`` is ``n`` if None.
        k: the diagonal: 0 is the main one, above 0 those to its right.
        dtype: the dtype; None is float32.
        stream: where to run; None is the default device.

    Raises ShapeError for negative sizes.
    """
    check_stream(stream)
    kind = require_dtype(float32 if dtype is None else dtype, "tri")
    rows, columns = _coordinates(*_matrix_shape("tri", n, m), as_index("tri", k, "k"))
    return wrap(cast(less_equal(columns, rows).node, kind))


def _triangle(function: str, x: Any, k: int, lower: bool) -> Array:
    node, k = array_node(function, x), as_index(function, k, "k")
    if len(node.shape) < 2:
        raise error(ShapeError, function, "takes arrays of at least two axes", node)
    rows, columns = _coordinates(node.shape[-2], node.shape[-1], k if lower else k - 1)
    inside = less_equal(columns, rows)
    zero = wrap(constant(0, node.dtype))
    return where(inside, wrap(node), zero) if lower else where(inside, zero, wrap(node))


def tril(x: Any, k: int = 0, *, stream: StreamLike = None) -> Array:
    """The lower triangle of the last two axes, zeros above the diagonal ``k``.

    Raises ShapeError for arrays of fewer than two axes.
    """
    check_stream(stream)
    return _triangle("tril", x, k, True)


def triu(x: Any, k: int = 0, *, stream: StreamLike = None) -> Array:
    """The upper triangle of the last two axes, zeros below the diagonal ``k``.

    Raises ShapeError for arrays of fewer than two axes.
    """
    check_stream(stream)
    return _triangle("triu", x, k, False)


def meshgrid(
    *arrays: Any,
    sparse: bool | None = False,
    indexing: str | None = "xy",
    stream: StreamLike = None,
) -> tuple[Array, ...]:
    """Coordinate arrays of a grid.

    Args:
        arrays: the coordinates along each axis; arrays of more axes are flattened.
        sparse: whether the results keep size 1 along the other axes.
        indexing: ``"xy"`` swaps the first two axes, ``"ij"`` keeps their order.
        stream: where to run; None is the default device.

    Raises ArgumentError for another ``indexing``.
    """
    check_stream(stream)
    if indexing not in ("xy", "ij"):
        text = f"indexing must be 'xy' or 'ij', got {indexing!r}"
        raise error(ArgumentError, "meshgrid", text)
    nodes = [array_node("meshgrid", a) for a in arrays]
    rank = len(nodes)
    axes = list(range(rank))
    if indexing == "xy" and rank > 1:
        axes[:2] = [1, 0]
    shape = [1] * rank
    for node, axis in zip(nodes, axes, strict=True):
        shape[axis] = node.type.size
    results: list[Array] = []
    for node, axis in zip(nodes, axes, strict=True):
        along = [1] * rank
        along[axis] = node.type.size
        row = reshape(node, tuple(along))
        results.append(wrap(row if sparse else broadcast(row, tuple(shape))))
    return tuple(results)
