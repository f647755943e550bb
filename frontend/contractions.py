"""Contractions: matrix products and what is made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..dialects import ops
from ..errors import ShapeError
from . import graph
from .array import Array, wrap
from .devices import StreamLike, check_stream
from .elementwise import add, conjugate, multiply
from .graph import Node
from .operands import (
    as_indices,
    broadcast,
    broadcast_shape,
    error,
    normalize_axes,
    normalize_axis,
    promote,
    reshape,
    transpose,
)
from .reductions import sum


def matmul(a: Any, b: Any, /, *, stream: StreamLike = None) -> Array:
    """The matrix product over the last axis of ``a`` and the last but one of ``b``.

    Args:
        a, b: arrays of at least one axis, of dtypes that promote to one numeric dtype; a vector
            counts as a row on the left and as a column on the right, and its axis is dropped from
            the result. Leading axes broadcast.
        stream: where to run; None is the default device.

    Returns an array of shape ``(..., m, n)`` for ``(..., m, k)`` and ``(..., k, n)``. Raises
    ShapeError where the sizes do not fit and DTypeError for bools.
    """
    check_stream(stream)
    (x, y), _ = promote("matmul", a, b)
    return wrap(matmul_nodes("matmul", x, y))


def matmul_nodes(function: str, x: Node, y: Node) -> Node:
    """The matrix product of nodes of one dtype, for a function of that name."""
    if not x.shape or not y.shape:
        raise error(ShapeError, function, "operands must have at least one axis", x, y)
    lhs = reshape(x, (1, *x.shape)) if len(x.shape) == 1 else x
    rhs = reshape(y, (*y.shape, 1)) if len(y.shape) == 1 else y
    if lhs.shape[-1] != rhs.shape[-2]:
        text = f"sizes {lhs.shape[-1]} and {rhs.shape[-2]} of the contracted axes differ"
        raise error(ShapeError, function, text, x, y)
    batch = broadcast_shape(lhs.shape[:-2], rhs.shape[:-2])
    if batch is None:
        text = f"batch shapes {lhs.shape[:-2]} and {rhs.shape[:-2]} do not broadcast"
        raise error(ShapeError, function, text, x, y)
    lhs = broadcast(lhs, (*batch, *lhs.shape[-2:]))
    rhs = broadcast(rhs, (*batch, *rhs.shape[-2:]))
    result = graph.apply(ops.matmul, (lhs, rhs))
    rows = () if len(x.shape) == 1 else (lhs.shape[-2],)
    columns = () if len(y.shape) == 1 else (rhs.shape[-1],)
    return reshape(result, (*batch, *rows, *columns))


def addmm(
    c: Any,
    a: Any,
    b: Any,
    /,
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    stream: StreamLike = None,
) -> Array:
    """``alpha * (a @ b) + beta * c``.

    Args:
        c: an array that broadcasts with the product.
        a, b: arrays as :func:`matmul` takes; all three promote to one dtype.
        alpha, beta: factors.
        stream: where to run; None is the default device.

    Raises what :func:`matmul` raises, and ShapeError where ``c`` does not broadcast.
    """
    check_stream(stream)
    (bias, x, y), _ = promote("addmm", c, a, b)
    product = wrap(matmul_nodes("addmm", x, y))
    scaled = product if alpha == 1 else multiply(product, alpha)
    return add(scaled, bias_array(bias, beta))


def bias_array(bias: Node, beta: float) -> Array:
    """The node times a factor."""
    return wrap(bias) if beta == 1 else multiply(wrap(bias), beta)


def tensordot(
    a: Any, b: Any, /, axes: int | Sequence[Any] = 2, *, stream: StreamLike = None
) -> Array:
    """The sum of products over axes of two arrays.

    Args:
        a, b: arrays; they promote to one dtype.
        axes: how many of the last axes of ``a`` and the first of ``b``, or the axes of each.
        stream: where to run; None is the default device.

    Returns an array with the other axes of ``a``, then those of ``b``. Raises ShapeError where the
    contracted sizes differ, AxisError for axes that do not exist.
    """
    check_stream(stream)
    (x, y), _ = promote("tensordot", a, b)
    if isinstance(axes, (list, tuple)):
        if len(axes) != 2:
            text = f"takes the axes of each of two arrays, got {len(axes)} groups"
            raise error(ShapeError, "tensordot", text, x, y)
        left = normalize_axes("tensordot", as_indices("tensordot", axes[0], "an axis"), x)
        right = normalize_axes("tensordot", as_indices("tensordot", axes[1], "an axis"), y)
    else:
        (count,) = as_indices("tensordot", axes, "the number of axes")
        if not 0 <= count <= min(len(x.shape), len(y.shape)):
            raise error(ShapeError, "tensordot", f"cannot contract {count} axes", x, y)
        left = tuple(range(len(x.shape) - count, len(x.shape)))
        right = tuple(range(count))
    return wrap(_contracted("tensordot", x, y, left, right))


def _contracted(
    function: str, x: Node, y: Node, left: tuple[int, ...], right: tuple[int, ...]
) -> Node:
    """The sum of products over pairs of axes, as one matrix product."""
    sizes = [x.shape[axis] for axis in left], [y.shape[axis] for axis in right]
    if sizes[0] != sizes[1]:
        text = f"sizes {tuple(sizes[0])} and {tuple(sizes[1])} of the contracted axes differ"
        raise error(ShapeError, function, text, x, y)
    rows = [axis for axis in range(len(x.shape)) if axis not in left]
    columns = [axis for axis in range(len(y.shape)) if axis not in right]
    lead = tuple([x.shape[axis] for axis in rows])
    rest = tuple([y.shape[axis] for axis in columns])
    inner = math.prod(sizes[0])
    lhs = reshape(transpose(x, (*rows, *left)), (math.prod(lead), inner))
    rhs = reshape(transpose(y, (*right, *columns)), (inner, math.prod(rest)))
    return reshape(graph.apply(ops.matmul, (lhs, rhs)), (*lead, *rest))


def inner(a: Any, b: Any, /, *, stream: StreamLike = None) -> Array:
    """The sum of products over the last axes; the product if either has rank 0.

    Args:
        a, b: arrays; they promote to one dtype.
        stream: where to run; None is the default device.

    Returns an array with the other axes of ``a``, then those of ``b``. Raises ShapeError where the
    last sizes differ.
    """
    check_stream(stream)
    (x, y), _ = promote("inner", a, b)
    if not x.shape or not y.shape:
        return multiply(wrap(x), wrap(y))
    return wrap(_contracted("inner", x, y, (len(x.shape) - 1,), (len(y.shape) - 1,)))


def outer(a: Any, b: Any, /, *, stream: StreamLike = None) -> Array:
    """The products of every element of ``a`` with every element of ``b``.

    Args:
        a, b: arrays, which are flattened; they promote to one dtype.
        stream: where to run; None is the default device.

    Returns an array of shape ``(a.size, b.size)``.
    """
    check_stream(stream)
    (x, y), _ = promote("outer", a, b)
    column = reshape(x, (x.type.size, 1))
    return multiply(wrap(column), wrap(reshape(y, (1, y.type.size))))


def vecdot(a: Any, b: Any, /, *, axis: int = -1, stream: StreamLike = None) -> Array:
    """The sum of ``conjugate(a) * b`` over one axis.

    Args:
        a, b: arrays of shapes that broadcast; they promote to one dtype.
        axis: the axis, of both.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that is missing, ShapeError where the shapes do not broadcast or
    the sizes of the axis differ.
    """
    check_stream(stream)
    (x, y), _ = promote("vecdot", a, b)
    places = normalize_axis("vecdot", axis, x), normalize_axis("vecdot", axis, y)
    if x.shape[places[0]] != y.shape[places[1]]:
        raise error(ShapeError, "vecdot", f"sizes of axis {axis} differ", x, y)
    products = multiply(conjugate(wrap(x)), wrap(y))
    return sum(products, axis if axis < 0 else places[0] - len(x.shape))


def kron(a: Any, b: Any, *, stream: StreamLike = None) -> Array:
    """The Kronecker product: ``b`` times every element of ``a``, as blocks.

    Args:
        a, b: arrays; they promote to one dtype, and the one of fewer axes gets new first ones.
        stream: where to run; None is the default device.

    Returns an array whose sizes are the products of theirs.
    """
    check_stream(stream)
    (x, y), _ = promote("kron", a, b)
    rank = max(len(x.shape), len(y.shape))
    outer_shape = (1,) * (rank - len(x.shape)) + x.shape
    inner_shape = (1,) * (rank - len(y.shape)) + y.shape
    blocks = reshape(x, tuple([size for extent in outer_shape for size in (extent, 1)]))
    within = reshape(y, tuple([size for extent in inner_shape for size in (1, extent)]))
    products = multiply(wrap(blocks), wrap(within)).node
    shape = tuple([m * n for m, n in zip(outer_shape, inner_shape, strict=True)])
    return wrap(reshape(products, shape))
