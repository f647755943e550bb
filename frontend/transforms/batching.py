"""Batching: ops on one example, done on all examples along a first axis.

A rule takes a node, its operands with those that are batched in place, which are batched, and how
many examples there are; it gives the node for all examples, batched along axis 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import ops
from ...dialects.dtypes import bool_
from ...dialects.primitive import TABLE, Primitive
from ..graph import Node, current, make
from ..operands import broadcast, constant, filled, reshape, transpose
from .arithmetic import scale, select
from .composite import (
    LOGSUMEXP,
    SCALE,
    SOFTMAX,
    STOP_GRADIENT,
    Call,
    Composite,
    Operation,
    operation_of,
    parameters_of,
)
from .scope import placeholder, same
from .walks import dependents, parts_of

Rule = Callable[[Node, list[Node], list[bool], int], Node]

BATCHING: dict[Primitive | Operation | None, Rule] = {}
"""The batching rule of each op that has operands."""

WITHOUT: dict[Primitive, str] = {
    ops.constant: "has no operands",
    ops.iota: "has no operands",
    ops.empty: "has no operands",
}
"""The primitives that cannot be batched, and why they need not be."""


def batch(
    outputs: Sequence[Node], sources: Sequence[Node], batched: Sequence[Node], size: int
) -> list[Node | None]:
    """The outputs for all examples, batched along axis 0; None for those that are one for all.

    Args:
        outputs: what one example gives.
        sources: the example's nodes.
        batched: the nodes of all examples, batched along axis 0.
        size: how many examples there are.
    """
    made = {id(source): node for source, node in zip(sources, batched, strict=True)}
    calls: dict[int, tuple[Call, list[Node | None]]] = {}

    def new(node: Node) -> Node:
        return made.get(id(node), node)

    outer = current.where
    try:
        for node in dependents(outputs, sources, parts_of):
            current.where = node.where
            operation = operation_of(node)
            operands = node.operands if type(node) is Composite else node.inputs
            given = [new(operand) for operand in operands]
            flags = [id(operand) in made for operand in operands]
            if isinstance(operation, Call):
                if id(operation) not in calls:
                    calls[id(operation)] = operation.batched(flags, new, size)
                call, results = calls[id(operation)]
                number = parameters_of(node)
                result = results[number]
                if result is not None:
                    made[id(node)] = Composite(same(result), call, call.operands, number)
            elif operation in (SOFTMAX, LOGSUMEXP):
                inputs = [new(child) for child in node.inputs]
                flags = [id(child) in made for child in node.inputs]
                inner = BATCHING[node.primitive](node, inputs, flags, size)
                axes = tuple([axis + 1 for axis in parameters_of(node)])
                made[id(node)] = Composite(inner, operation, tuple(given), axes)
            else:
                made[id(node)] = BATCHING[operation](node, given, flags, size)
    finally:
        current.where = outer
    return [made.get(id(node)) for node in outputs]


def map_nodes(
    function: Callable[[list[Node]], list[Node]], batched: Sequence[Node], size: int
) -> list[Node]:
    """What a function of one example gives for all of them, batched along axis 0."""
    sources = [placeholder(node.shape[1:], node.dtype, current.trace) for node in batched]
    outputs = function(sources)
    found = batch(outputs, sources, batched, size)
    return [
        spread(output, size) if node is None else node
        for output, node in zip(outputs, found, strict=True)
    ]


def spread(node: Node, size: int) -> Node:
    """The node once for each example."""
    return broadcast(reshape(node, (1, *node.shape)), (size, *node.shape))


def _all_batched(operands: list[Node], flags: list[bool], size: int) -> list[Node]:
    return [
        node if flag else spread(node, size) for node, flag in zip(operands, flags, strict=True)
    ]


def _register(*operations: Primitive | Operation) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for operation in operations:
            BATCHING[operation] = rule
        return rule

    return register


def _same_op(node: Node, operands: list[Node], attributes: tuple[object, ...], size: int) -> Node:
    """The node's op with other operands and attributes; its shape gets the first axis."""
    assert node.primitive is not None
    return make(node.primitive, tuple(operands), attributes, (size, *node.shape), node.dtype)


# Elementwise ops take all operands batched.


@_register(*[primitive for primitive in TABLE.values() if primitive.kind == "elementwise"])
def _elementwise(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    return _same_op(node, _all_batched(operands, flags, size), node.attributes, size)


# Views of one operand, reductions and scans see one axis more.


@_register(ops.reshape, ops.broadcast)
def _shaped(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    (shape,) = node.attributes
    return _same_op(node, operands, ((size, *shape),), size)


@_register(ops.transpose)
def _transpose(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    (permutation,) = node.attributes
    return _same_op(node, operands, ((0, *[axis + 1 for axis in permutation]),), size)


@_register(ops.slice_)
def _slice(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    start, sizes, step = node.attributes
    return _same_op(node, operands, ((0, *start), (size, *sizes), (1, *step)), size)


@_register(
    *[primitive for primitive in TABLE.values() if primitive.attributes == (("axes", "ints"),)]
)
def _reduction(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    (axes,) = node.attributes
    return _same_op(node, operands, (tuple([axis + 1 for axis in axes]),), size)


@_register(ops.argmax, ops.argmin)
def _position(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    return _same_op(node, operands, (node.attributes[0] + 1,), size)


@_register(*[primitive for primitive in TABLE.values() if primitive.kind == "scan"])
def _scan(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    axis, *rest = node.attributes
    return _same_op(node, operands, (axis + 1, *rest), size)


# Updates


@_register(ops.slice_update)
def _slice_update(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    start, step = node.attributes
    operands = _all_batched(operands, flags, size)
    return _same_op(node, operands, ((0, *start), (1, *step)), size)


@_register(ops.pad)
def _pad(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    x, value = operands
    attributes = tuple([(0, *widths) for widths in node.attributes])
    x = x if flags[0] else spread(x, size)
    if not flags[1]:
        return _same_op(node, [x, value], attributes, size)
    # A value for each example: the padded places of all take theirs.
    padded = _same_op(node, [x, constant(0, x.dtype)], attributes, size)
    inside = (filled(True, bool_, x.shape), constant(False, bool_))
    is_inside = make(ops.pad, inside, attributes, padded.shape, bool_)
    values = broadcast(reshape(value, (size, *[1] * len(node.shape))), padded.shape)
    return select(is_inside, padded, values)


@_register(ops.concatenate)
def _concatenate(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    operands = _all_batched(operands, flags, size)
    return _same_op(node, operands, (node.attributes[0] + 1,), size)


# Contractions


@_register(ops.matmul)
def _matmul(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    """Matrices that are one for all examples multiply the others as one matrix."""
    x, y = operands
    if all(flags) or len(node.shape) > 2:
        return _same_op(node, _all_batched(operands, flags, size), (), size)
    rows, columns = x.shape[-2], y.shape[-1]
    if flags[0]:
        flat = reshape(x, (size * rows, x.shape[-1]))
        result = make(ops.matmul, (flat, y), (), (size * rows, columns), node.dtype)
        return reshape(result, (size, rows, columns))
    flat = reshape(transpose(y, (1, 0, 2)), (y.shape[1], size * columns))
    result = make(ops.matmul, (x, flat), (), (rows, size * columns), node.dtype)
    return transpose(reshape(result, (rows, size, columns)), (1, 0, 2))


# Operations of transforms


@_register(STOP_GRADIENT)
def _stop_gradient(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    return Composite(same(operands[0]), STOP_GRADIENT, tuple(operands))


@_register(SCALE)
def _scale(node: Node, operands: list[Node], flags: list[bool], size: int) -> Node:
    factor, tangent = _all_batched(operands, flags, size)
    return scale(factor, tangent, parameters_of(node))
