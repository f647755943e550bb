"""Running sums, products and extrema along an axis."""

from __future__ import annotations

from typing import Any

from ..dialects import ops
from ..dialects.primitive import Primitive
from ..errors import DTypeError
from . import graph
from .array import Array, wrap
from .devices import StreamLike, check_stream
from .dtypes import DType, bool_, int32, require_dtype, uint8
from .graph import Node
from .operands import array_node, cast, error, normalize_axis, reshape


def _along(function: str, a: Any, axis: int | None) -> tuple[Node, int]:
    """The node and the axis to go along; for None the flattened node and its only axis."""
    node = array_node(function, a)
    if axis is None:
        return reshape(node, (node.type.size,)), 0
    return node, normalize_axis(function, axis, node)


def _scan(primitive: Primitive, node: Node, axis: int, reverse: bool, inclusive: bool) -> Node:
    attributes = (axis, bool(reverse), bool(inclusive))
    if node.dtype is bool_:
        return cast(graph.apply(primitive, (cast(node, uint8),), attributes), bool_)
    return graph.apply(primitive, (node,), attributes)


def cumsum(
    a: Any,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    dtype: DType | None = None,
    stream: StreamLike = None,
) -> Array:
    """Running sums along an axis.

    Args:
        a: an array of any dtype.
        axis: the axis to go along; None flattens the array first.
        reverse: whether to go from the end.
        inclusive: whether an element counts in its own sum.
        dtype: the dtype to sum in; None is that of ``a``, int32 for bools.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have.
    """
    check_stream(stream)
    node, place = _along("cumsum", a, axis)
    if dtype is None:
        dtype = int32 if node.dtype is bool_ else node.dtype
    node = cast(node, require_dtype(dtype, "cumsum"))
    return wrap(_scan(ops.cumsum, node, place, reverse, inclusive))


def cumprod(
    a: Any,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    dtype: DType | None = None,
    stream: StreamLike = None,
) -> Array:
    """Running products along an axis.

    Args:
        a: an array of any dtype.
        axis: the axis to go along; None flattens the array first.
        reverse: whether to go from the end.
        inclusive: whether an element counts in its own product.
        dtype: the dtype to multiply in; None is that of ``a``.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have.
    """
    check_stream(stream)
    node, place = _along("cumprod", a, axis)
    node = cast(node, node.dtype if dtype is None else require_dtype(dtype, "cumprod"))
    return wrap(_scan(ops.cumprod, node, place, reverse, inclusive))


def _running_extremum(
    function: str, primitive: Primitive, a: Any, axis: int | None, reverse: bool, inclusive: bool
) -> Array:
    node, place = _along(function, a, axis)
    if node.dtype.kind == "complex":
        raise error(DTypeError, function, "does not take complex64", node)
    return wrap(_scan(primitive, node, place, reverse, inclusive))


def cummax(
    a: Any,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    stream: StreamLike = None,
) -> Array:
    """Running maxima along an axis; NaN from the first NaN on.

    Args:
        a: an array of a real dtype or bools.
        axis: the axis to go along; None flattens the array first.
        reverse: whether to go from the end.
        inclusive: whether an element counts in its own maximum; exclusive ones start at the
            dtype's least value.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have and DTypeError for complex numbers.
    """
    check_stream(stream)
    return _running_extremum("cummax", ops.cummax, a, axis, reverse, inclusive)


def cummin(
    a: Any,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    stream: StreamLike = None,
) -> Array:
    """Running minima along an axis; NaN from the first NaN on.

    Args:
        a: an array of a real dtype or bools.
        axis: the axis to go along; None flattens the array first.
        reverse: whether to go from the end.
        inclusive: whether an element counts in its own minimum; exclusive ones start at the
            dtype's greatest value.
        stream: where to run; None is the default device.

    Raises AxisError for an axis that ``a`` does not have and DTypeError for complex numbers.
    """
    check_stream(stream)
    return _running_extremum("cummin", ops.cummin, a, axis, reverse, inclusive)


cumulative_sum = cumsum
cumulative_prod = cumprod
