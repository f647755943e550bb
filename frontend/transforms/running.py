"""The tangents of products, extrema, scans and softmax: from the operand's to the result's."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...dialects import ops
from ...dialects.dtypes import bool_, float32, uint32
from ..graph import Node, make
from ..operands import broadcast, cast, constant, filled, position, reshape, slice_axis, transpose
from .arithmetic import (
    add,
    both,
    compare,
    conjugate,
    divide,
    either,
    equal,
    equals,
    exp,
    is_nan,
    multiply,
    number,
    scan,
    select,
    subtract,
    total,
    zeros,
)
from .composite import parameters_of
from .walks import Tangents


def _only(tangents: Tangents) -> Node:
    (tangent,) = tangents
    assert tangent is not None
    return tangent


def adjoint_matrix(x: Node) -> Node:
    """The conjugate with its last two axes swapped."""
    rank = len(x.shape)
    return transpose(conjugate(x), (*range(rank - 2), rank - 1, rank - 2))


# Reductions


def product(node: Node, operands: Sequence[Node], tangents: Tangents) -> Node:
    """Each tangent times the product of all other elements, which zeros do not spoil.

    That product is what comes before an element times what comes after it.
    """
    (x,), tangent, (axes,) = operands, _only(tangents), node.attributes
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    order = (*kept, *axes)
    moved = transpose(x, order)
    lead = moved.shape[: len(kept)]
    rows = reshape(moved, (*lead, math.prod(moved.shape[len(kept) :])))
    last = len(lead)
    others = multiply(
        scan(ops.cumprod, rows, last, False, False), scan(ops.cumprod, rows, last, True, False)
    )
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    others = transpose(reshape(others, moved.shape), inverse)
    return total(multiply(tangent, others), axes)


def extremum(node: Node, operands: Sequence[Node], tangents: Tangents) -> Node:
    """The mean of the tangents where the extremum is; where it is NaN, of those that are NaN."""
    (x,), tangent, (axes,) = operands, _only(tangents), node.attributes
    best = either(equal(x, broadcast(node, x.shape)), is_nan(x))
    wide = tangent.dtype if tangent.dtype.size >= 4 else float32
    chosen = select(best, cast(tangent, wide), filled(0, wide, x.shape))
    count = total(cast(best, wide), axes)
    return cast(divide(total(chosen, axes), count), tangent.dtype)


def softmax(node: Node, operands: Sequence[Node], tangents: Tangents) -> Node:
    """The result times what is left of the tangent without its weighted mean."""
    tangent, axes = _only(tangents), parameters_of(node)
    weighted = multiply(node, tangent)
    return subtract(weighted, multiply(node, broadcast(total(weighted, axes), node.shape)))


def logsumexp(node: Node, operands: Sequence[Node], tangents: Tangents) -> Node:
    """The mean of the tangents, weighted by the softmax; 0 where all elements are -inf."""
    (x,), tangent, axes = operands, _only(tangents), parameters_of(node)
    out = broadcast(node, x.shape)
    least = number(-math.inf, x)
    below = select(equal(out, least), least, select(equal(x, out), zeros(x), subtract(x, out)))
    weights = exp(below)
    # The result is rounded, so the weights need not sum to 1.
    weight = total(weights, axes)
    weight = select(equals(weight, 0), number(1, weight), weight)
    return divide(total(multiply(weights, tangent), axes), weight)


# Scans


def running_product(node: Node, operands: Sequence[Node], tangents: Tangents) -> Node:
    """Products times sums of ``tangent / x`` before the first zero; after it only its own tangent.

    With that zero left out, the running products are what its tangent is multiplied by.
    """
    (x,), tangent, (axis, reverse, inclusive) = operands, _only(tangents), node.attributes
    is_zero = equal(x, zeros(x))
    zeros_before = scan(ops.cumsum, cast(is_zero, uint32), axis, reverse, False)
    is_first = both(is_zero, equals(zeros_before, 0))
    one = number(1, x)
    ratio = divide(select(is_zero, zeros(x), tangent), select(is_zero, one, x))
    regular = multiply(node, scan(ops.cumsum, ratio, axis, reverse, inclusive))
    without = scan(ops.cumprod, select(is_first, one, x), axis, reverse, inclusive)
    own = scan(ops.cumsum, select(is_first, tangent, zeros(x)), axis, reverse, inclusive)
    return add(regular, multiply(without, own))


def running_extremum(node: Node, operands: Sequence[Node], tangents: Tangents) -> Node:
    """The tangent of the element that last was a record, carried along by doubling steps."""
    (x,), tangent, (axis, reverse, inclusive) = operands, _only(tangents), node.attributes
    primitive = node.primitive
    assert primitive is not None
    extent = x.shape[axis]
    if x.type.size == 0:
        return tangent
    if reverse:
        x, tangent = _flipped(x, axis), _flipped(tangent, axis)
    better = ops.greater if primitive is ops.cummax else ops.less
    before = scan(primitive, x, axis, False, False)
    is_first = equals(position(x.shape, uint32, axis), 0)
    turns_nan = both(is_nan(x), equal(before, before))
    known = either(either(compare(better, x, before), turns_nan), is_first)
    value = tangent
    step = 1
    while step < extent:
        earlier = _shifted(value, axis, step)
        value = select(known, value, earlier)
        known = either(known, _shifted(known, axis, step))
        step *= 2
    if not inclusive:
        value = _shifted(value, axis, 1)
    return _flipped(value, axis) if reverse else value


def _flipped(x: Node, axis: int) -> Node:
    return slice_axis(x, axis, x.shape[axis] - 1, x.shape[axis], -1)


def _shifted(x: Node, axis: int, count: int) -> Node:
    """Elements moved along an axis, with zeros or False where they come from."""
    extent, rank = x.shape[axis], len(x.shape)
    moved = slice_axis(x, axis, 0, extent - count)
    low = tuple([count if i == axis else 0 for i in range(rank)])
    value = constant(False if x.dtype is bool_ else 0, x.dtype)
    return make(ops.pad, (moved, value), (low, (0,) * rank), x.shape, x.dtype)
