"""Walks over what a function did: tangents forwards, cotangents backwards, copies.

None of them recurses, so chains of any length have derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ...dialects.primitive import Primitive
from ..graph import Node, current
from .arithmetic import add, zeros
from .composite import Call, Composite, Operation, operands_of, operation_of, parameters_of

Tangents = Sequence["Node | None"]
"""A tangent for each operand; None is zero."""


class Derivative(Protocol):
    """How an op's tangents and cotangents follow from one another."""

    def forward(self, node: Node, operands: Sequence[Node], tangents: Tangents) -> Node | None:
        """The tangent of the result; None is zero."""
        ...

    def backward(
        self, node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        """The cotangents of the operands that are wanted; None is zero, and for the others."""
        ...


DERIVATIVES: dict[Primitive | Operation | None, Derivative] = {}
"""The derivative of each op that has one; the others' is zero. Filled by ``derivatives``."""


def dependents(
    outputs: Sequence[Node],
    sources: Sequence[Node],
    parts_of: Callable[[Node], Sequence[Node]] = operands_of,
) -> list[Node]:
    """The nodes that outputs need and that depend on sources, operands first.

    The sources are not among them.
    """
    active = {id(node) for node in sources}
    done = set(active)
    opened: set[int] = set()
    order: list[Node] = []
    stack = list(outputs)[::-1]
    while stack:
        node = stack[-1]
        identity = id(node)
        if identity in done:
            stack.pop()
            continue
        parts = parts_of(node)
        if identity in opened:
            stack.pop()
            done.add(identity)
            if any(id(part) in active for part in parts):
                active.add(identity)
                order.append(node)
        else:
            opened.add(identity)
            stack.extend([part for part in parts if id(part) not in done])
    return order


def pushforward(
    outputs: Sequence[Node], sources: Sequence[Node], tangents: Sequence[Node | None]
) -> list[Node | None]:
    """The tangents of outputs, from those of sources; None is zero."""
    known: dict[int, Node | None] = {
        id(source): tangent for source, tangent in zip(sources, tangents, strict=True)
    }
    calls: dict[int, list[Node | None]] = {}
    outer = current.where
    try:
        for node in dependents(outputs, sources):
            operands = operands_of(node)
            given = [known.get(id(operand)) for operand in operands]
            if not node.dtype.is_inexact or all(tangent is None for tangent in given):
                continue
            current.where = node.where
            operation = operation_of(node)
            if isinstance(operation, Call):
                found = calls.get(id(operation))
                if found is None:
                    found = calls[id(operation)] = operation.forward(given)
                known[id(node)] = found[parameters_of(node)]
                continue
            rule = DERIVATIVES.get(operation)
            if rule is not None:
                known[id(node)] = rule.forward(node, operands, given)
    finally:
        current.where = outer
    return [known.get(id(node)) for node in outputs]


def pullback(
    outputs: Sequence[Node], cotangents: Sequence[Node | None], sources: Sequence[Node]
) -> list[Node | None]:
    """The cotangents of sources, from those of outputs; None is zero."""
    order = dependents(outputs, sources)
    active = {id(node) for node in order}
    active.update([id(node) for node in sources])
    totals: dict[int, Node] = {}

    def put(node: Node, cotangent: Node | None) -> None:
        identity = id(node)
        if cotangent is not None and identity in active:
            before = totals.get(identity)
            totals[identity] = cotangent if before is None else add(before, cotangent)

    for node, cotangent in zip(outputs, cotangents, strict=True):
        put(node, cotangent)
    # A call is gone through at its first output: all uses of all its outputs come after that.
    first = {
        id(operation): id(node)
        for node in reversed(order)
        if isinstance(operation := operation_of(node), Call)
    }
    received: dict[int, dict[int, Node]] = {}
    outer = current.where
    try:
        for node in reversed(order):
            cotangent = totals.pop(id(node), None)
            operation = operation_of(node)
            operands = operands_of(node)
            current.where = node.where
            if isinstance(operation, Call):
                outputs_of_call = received.setdefault(id(operation), {})
                if cotangent is not None:
                    outputs_of_call[parameters_of(node)] = cotangent
                if first[id(operation)] != id(node) or not outputs_of_call:
                    continue
                given = [outputs_of_call.get(i) for i in range(len(operation.results))]
                wanted = [id(operand) in active for operand in operands]
                found = operation.backward(given, wanted)
            elif cotangent is None or not node.dtype.is_inexact:
                continue
            else:
                rule = DERIVATIVES.get(operation)
                if rule is None:
                    continue
                wanted = [id(operand) in active for operand in operands]
                found = rule.backward(node, operands, cotangent, wanted)
            for operand, part in zip(operands, found, strict=True):
                if part is not None and operand.dtype.is_inexact:
                    put(operand, part)
    finally:
        current.where = outer
    return [totals.get(id(node)) for node in sources]


def parts_of(node: Node) -> Sequence[Node]:
    """All that a copy of a node needs: what computes it, and what transforms see."""
    if type(node) is not Composite:
        return node.inputs
    parts = (*node.inputs, *node.operands)
    return (*parts, *node.operation.results) if isinstance(node.operation, Call) else parts


def copied(
    outputs: Sequence[Node], sources: Sequence[Node], replacements: Sequence[Node]
) -> list[Node]:
    """The outputs computed anew, from other nodes in place of the sources."""
    made = {id(old): new for old, new in zip(sources, replacements, strict=True)}
    calls: dict[int, Call] = {}

    def new(node: Node) -> Node:
        return made.get(id(node), node)

    for node in dependents(outputs, sources, parts_of):
        copy = Node(
            node.primitive, tuple(map(new, node.inputs)), node.attributes, node.shape, node.dtype
        )
        copy.where = node.where
        if type(node) is Composite:
            operation = node.operation
            if isinstance(operation, Call):
                operation = calls.get(id(operation)) or operation.copied(new)
                calls[id(node.operation)] = operation
            operands = tuple(map(new, node.operands))
            copy = Composite(copy, operation, operands, parameters_of(node))
        made[id(node)] = copy
    return [new(node) for node in outputs]


def filled_in(cotangents: Sequence[Node | None], nodes: Sequence[Node]) -> list[Node]:
    """Cotangents with zeros for those that are None."""
    return [
        zeros(node) if cotangent is None else cotangent
        for cotangent, node in zip(cotangents, nodes, strict=True)
    ]
