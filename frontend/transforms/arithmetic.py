"""What rules are written with: ops on nodes of one type, and the products of derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import ops
from ...dialects.dtypes import bool_, float32
from ...dialects.primitive import Primitive
from ..graph import Node, make
from ..operands import filled
from .composite import SCALE, Composite


def _binary(primitive: Primitive) -> Callable[[Node, Node], Node]:
    return lambda x, y: make(primitive, (x, y), (), x.shape, x.dtype)


def _unary(primitive: Primitive) -> Callable[[Node], Node]:
    return lambda x: make(primitive, (x,), (), x.shape, x.dtype)


add, subtract = _binary(ops.add), _binary(ops.subtract)
multiply, divide = _binary(ops.multiply), _binary(ops.divide)
maximum = _binary(ops.maximum)
negative, absolute, sign = _unary(ops.negative), _unary(ops.abs_), _unary(ops.sign)
exp, log, sqrt = _unary(ops.exp), _unary(ops.log), _unary(ops.sqrt)
sin, cos, sinh, cosh = _unary(ops.sin), _unary(ops.cos), _unary(ops.sinh), _unary(ops.cosh)
sigmoid, rint = _unary(ops.sigmoid), _unary(ops.rint)


def compare(primitive: Primitive, x: Node, y: Node) -> Node:
    """A comparison."""
    return make(primitive, (x, y), (), x.shape, bool_)


def equal(x: Node, y: Node) -> Node:
    """x == y."""
    return compare(ops.equal, x, y)


def either(x: Node, y: Node) -> Node:
    """True where either of two bools is."""
    return make(ops.bitwise_or, (x, y), (), x.shape, bool_)


def both(x: Node, y: Node) -> Node:
    """True where both of two bools are."""
    return make(ops.bitwise_and, (x, y), (), x.shape, bool_)


def select(condition: Node, x: Node, y: Node) -> Node:
    """x where the condition holds, else y."""
    return make(ops.select, (condition, x, y), (), x.shape, x.dtype)


def number(value: Any, like: Node) -> Node:
    """A number in the shape and dtype of a node."""
    return filled(value, like.dtype, like.shape)


def zeros(like: Node) -> Node:
    """Zeros in the shape and dtype of a node."""
    return filled(0, like.dtype, like.shape)


def equals(x: Node, value: float) -> Node:
    """True where x is a number."""
    return equal(x, number(value, x))


def is_nan(x: Node) -> Node:
    """True where x is NaN."""
    return compare(ops.not_equal, x, x)


def square(x: Node) -> Node:
    """x * x."""
    return multiply(x, x)


def reduce(primitive: Primitive, x: Node, axes: tuple[int, ...]) -> Node:
    """A reduction; its axes stay, with size 1."""
    shape = tuple([1 if axis in axes else extent for axis, extent in enumerate(x.shape)])
    return make(primitive, (x,), (axes,), shape, x.dtype)


def total(x: Node, axes: tuple[int, ...]) -> Node:
    """The sum over axes, which stay with size 1."""
    return reduce(ops.reduce_sum, x, axes) if axes else x


def scan(primitive: Primitive, x: Node, axis: int, reverse: bool, inclusive: bool) -> Node:
    """Running values along an axis."""
    return make(primitive, (x,), (axis, reverse, inclusive), x.shape, x.dtype)


def conjugate(x: Node) -> Node:
    """The complex conjugate; a real node itself."""
    if x.dtype.kind != "complex":
        return x
    real = make(ops.real, (x,), (), x.shape, float32)
    imag = negative(make(ops.imag, (x,), (), x.shape, float32))
    return make(ops.complex_, (real, imag), (), x.shape, x.dtype)


def known_number(node: Node) -> Any:
    """The number that a node holds in every place, or None if that cannot be seen."""
    while node.primitive in (ops.broadcast, ops.reshape) and node.inputs:
        node = node.inputs[0]
    return node.attributes[0] if node.primitive is ops.constant else None


def scale(factor: Node, tangent: Node, primitive: Primitive) -> Node:
    """The tangent times or over a factor, 0 where the tangent is 0."""
    product = make(primitive, (tangent, factor), (), tangent.shape, tangent.dtype)
    known = known_number(factor)
    if known is not None and known != 0 and abs(known) < float("inf"):
        return product
    guarded = select(equal(tangent, zeros(tangent)), tangent, product)
    return Composite(guarded, SCALE, (factor, tangent), primitive)
