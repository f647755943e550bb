"""Composites: nodes that transforms see as one op, though primitives compute them.

A composite is a node like others, with a primitive and inputs that evaluation and programs go by.
Transforms go by its operation and operands instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from ...dialects.primitive import Primitive
from ..graph import Node
from .scope import is_transforming


class Operation:
    """An op that only transforms know; see the rules that are registered for it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"operation {self.name}"


class Call(ABC):
    """A call of a function with rules of its own: the operation of each of its results.

    A result is a composite whose parameter is its number among the call's results.

    Attributes:
        operands: what the function was called on.
        sources: what the function saw in their place.
        results: what it returned.
    """

    def __init__(
        self, operands: Sequence[Node], sources: Sequence[Node], results: Sequence[Node]
    ) -> None:
        self.operands = tuple(operands)
        self.sources = tuple(sources)
        self.results = tuple(results)

    @abstractmethod
    def forward(self, tangents: Sequence[Node | None]) -> list[Node | None]:
        """The tangents of the results from those of the operands; None is zero."""

    @abstractmethod
    def backward(
        self, cotangents: Sequence[Node | None], wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        """The cotangents of the operands that are wanted; None is zero."""

    @abstractmethod
    def copied(self, new: Callable[[Node], Node]) -> Call:
        """The same call with other nodes in place of its own."""

    @abstractmethod
    def batched(
        self, flags: Sequence[bool], new: Callable[[Node], Node], size: int
    ) -> tuple[Call, list[Node | None]]:
        """The call for all examples, and its results; None for those that are one for all.

        ``flags`` says which operands are batched, and ``new`` gives the batched node in place of
        one of the call's own, or itself.
        """


class Composite(Node):
    """A node with an operation of its own.

    Attributes:
        operation: what the node computes, as transforms see it.
        operands: from what.
        parameters: what else the operation goes by.
    """

    __slots__ = ("operands", "operation", "parameters")

    def __init__(
        self, node: Node, operation: Any, operands: tuple[Node, ...], parameters: Any = ()
    ) -> None:
        super().__init__(node.primitive, node.inputs, node.attributes, node.shape, node.dtype)
        self.where = node.where
        self.operation = operation
        self.operands = operands
        self.parameters = parameters

    def drop_inputs(self) -> None:
        """Forgets the operands too."""
        super().drop_inputs()
        if not self.inputs:
            self.operation, self.operands = None, ()


def operands_of(node: Node) -> tuple[Node, ...]:
    """What a node is made of, as transforms see it."""
    return node.operands if type(node) is Composite else node.inputs


def operation_of(node: Node) -> Primitive | Operation | None:
    """What a node does to its operands, as transforms see it."""
    return node.operation if type(node) is Composite else node.primitive


def parameters_of(node: Node) -> Any:
    """What else a composite's operation goes by; nothing for other nodes."""
    return node.parameters if type(node) is Composite else ()


def seen_as(
    node: Node, operation: Operation, operands: tuple[Node, ...], parameters: Any = ()
) -> Node:
    """The node, which has no other use, as a transform that looks on should see it."""
    return Composite(node, operation, operands, parameters) if is_transforming() else node


STOP_GRADIENT = Operation("stop_gradient")
"""The operand; its derivative is zero."""
SCALE = Operation("scale")
"""``scale(factor, tangent)``: the tangent times or over the factor, but 0 where the tangent is.

The parameter is ``multiply`` or ``divide``. An infinite slope in a branch that was not taken, whose
cotangent is 0, gives 0 by this and not NaN.
"""
SOFTMAX = Operation("softmax")
"""The softmax of the operand over the axes that are its parameter."""
LOGSUMEXP = Operation("logsumexp")
"""The logsumexp of the operand over the axes that are its parameter, which stay with size 1."""
