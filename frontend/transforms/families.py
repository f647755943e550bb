"""Derivatives by family: from one rule of a primitive both directions follow.

Forward, a rule takes the tangents of the operands to the tangent of the result; backward it takes a
cotangent of the result to those of the operands, as the adjoint of the same linear map:

* :class:`Slopes`, elementwise ops: the tangents times the slopes, summed; the adjoint multiplies
  the cotangent by the slopes' conjugates.
* :class:`Linear`, linear ops: the op itself on the tangents; the adjoint is the op's transpose.
* :class:`Tangent`, the others: a function from tangents to the tangent, whose adjoint is found by
  going backwards through what the function did.

Cotangents pair with values by the real part of ``conjugate(cotangent) * value``; for complex
numbers a gradient ``g`` so points where a real function grows, and ``x - rate * g`` makes it less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ...dialects import ops
from ...dialects.dtypes import float32
from ...dialects.primitive import Primitive
from ..graph import Node, current, make
from ..operands import cast
from . import walks
from .arithmetic import add, conjugate, negative, scale, zeros
from .scope import placeholder
from .walks import Tangents


class Slope(Protocol):
    """The derivative by one operand of an elementwise op."""

    def apply(
        self, node: Node, operands: Sequence[Node], tangent: Node, adjoint: bool
    ) -> Node | None:
        """The tangent, or for ``adjoint`` the cotangent, times the slope."""
        ...


class Same:
    """The slope 1."""

    def apply(self, node: Node, operands: Sequence[Node], tangent: Node, adjoint: bool) -> Node:
        return tangent


class Flipped:
    """The slope -1."""

    def apply(self, node: Node, operands: Sequence[Node], tangent: Node, adjoint: bool) -> Node:
        return negative(tangent)


class Times:
    """A slope that is computed from the result and the operands, or its reciprocal.

    Args:
        factor: makes the slope, or what to divide by, of the result and the operands.
        primitive: ``multiply`` or ``divide``.
        is_finite: whether the slope is finite for finite operands, so that 0 times it is 0.
        is_wide: whether f16 and bf16 go through f32, where their range is too small.
    """

    __slots__ = ("factor", "is_finite", "is_wide", "primitive")

    def __init__(
        self,
        factor: Callable[..., Node],
        primitive: Primitive = ops.multiply,
        is_finite: bool = False,
        is_wide: bool = False,
    ) -> None:
        self.factor = factor
        self.primitive = primitive
        self.is_finite = is_finite
        self.is_wide = is_wide

    def apply(self, node: Node, operands: Sequence[Node], tangent: Node, adjoint: bool) -> Node:
        dtype = tangent.dtype
        if self.is_wide and dtype.size < 4:
            node, tangent = cast(node, float32), cast(tangent, float32)
            operands = [cast(operand, float32) for operand in operands]
        factor = self.factor(node, *operands)
        if adjoint:
            factor = conjugate(factor)
        if self.is_finite:
            product = make(self.primitive, (tangent, factor), (), tangent.shape, tangent.dtype)
        else:
            product = scale(factor, tangent, self.primitive)
        return cast(product, dtype)


class Choice:
    """A slope of real numbers, as a function that takes a tangent to its product with the slope.

    The function must be linear in the tangent.
    """

    __slots__ = ("term",)

    def __init__(self, term: Callable[..., Node]) -> None:
        self.term = term

    def apply(self, node: Node, operands: Sequence[Node], tangent: Node, adjoint: bool) -> Node:
        return self.term(tangent, node, *operands)


SAME, FLIPPED = Same(), Flipped()


class Slopes:
    """The derivative of an elementwise op, by the slope for each operand; None is zero."""

    __slots__ = ("slopes",)

    def __init__(self, *slopes: Slope | None) -> None:
        self.slopes = slopes

    def forward(self, node: Node, operands: Sequence[Node], tangents: Tangents) -> Node | None:
        result: Node | None = None
        for slope, tangent in zip(self.slopes, tangents, strict=True):
            if slope is not None and tangent is not None:
                term = slope.apply(node, operands, tangent, False)
                if term is not None:
                    result = term if result is None else add(result, term)
        return result

    def backward(
        self, node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        return [
            slope.apply(node, operands, cotangent, True)
            if slope is not None and is_wanted
            else None
            for slope, is_wanted in zip(self.slopes, wanted, strict=True)
        ]


Transpose = Callable[[Node, Sequence[Node], Node, Sequence[bool]], Sequence["Node | None"]]
"""Takes a result, its operands, a cotangent, and which operands' cotangents are wanted."""


class Linear:
    """The derivative of an op that is linear in some operands together.

    Args:
        transpose: the op's transpose.
        fixed: positions of operands that the op is not linear in, which have no derivative.
    """

    __slots__ = ("fixed", "transpose")

    def __init__(self, transpose: Transpose, fixed: tuple[int, ...] = ()) -> None:
        self.transpose = transpose
        self.fixed = fixed

    def forward(self, node: Node, operands: Sequence[Node], tangents: Tangents) -> Node | None:
        assert node.primitive is not None
        inputs = tuple(
            operand if i in self.fixed else zeros(operand) if tangent is None else tangent
            for i, (operand, tangent) in enumerate(zip(operands, tangents, strict=True))
        )
        return make(node.primitive, inputs, node.attributes, node.shape, node.dtype)

    def backward(
        self, node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        return self.transpose(node, operands, cotangent, wanted)


class Tangent:
    """The derivative of an op by a function that makes its tangent.

    Args:
        function: takes the result, the operands and the tangents; linear in the tangents, and made
            of ops that have derivatives.
    """

    __slots__ = ("function",)

    def __init__(self, function: Callable[[Node, Sequence[Node], Tangents], Node]) -> None:
        self.function = function

    def forward(self, node: Node, operands: Sequence[Node], tangents: Tangents) -> Node | None:
        return self.function(node, operands, tangents)

    def backward(
        self, node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
    ) -> Sequence[Node | None]:
        tangents = [
            placeholder(operand.shape, operand.dtype, current.trace) if is_wanted else None
            for operand, is_wanted in zip(operands, wanted, strict=True)
        ]
        sources = [tangent for tangent in tangents if tangent is not None]
        found = iter(
            walks.pullback([self.function(node, operands, tangents)], [cotangent], sources)
        )
        return [None if tangent is None else next(found) for tangent in tangents]
