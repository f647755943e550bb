"""The transposes of linear primitives: from a result's cotangent to those of the operands.

A rule takes the result, the operands, the cotangent, and which operands' cotangents are wanted; it
gives one for each operand, None for those that are not wanted or are always zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import ops
from ...dialects.dtypes import complex64, float32
from ...dialects.primitive import Primitive
from ..graph import Node, make
from ..operands import broadcast, cast, constant, filled, reshape, transpose
from .arithmetic import scan, select, total, zeros

Cotangents = Sequence["Node | None"]
Rule = Callable[[Node, Sequence[Node], Node, Sequence[bool]], Cotangents]

TRANSPOSES: dict[Primitive, Rule] = {}
"""The transpose of each primitive that is linear in its operands (``select`` in the last two)."""


def _of_one(primitive: Primitive, rule: Callable[[Node, Node, Node], Node]) -> None:
    """Registers ``rule(result, operand, cotangent)`` for a primitive of one operand."""
    TRANSPOSES[primitive] = lambda node, operands, cotangent, _: [
        rule(node, operands[0], cotangent)
    ]


def _register(primitive: Primitive) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        TRANSPOSES[primitive] = rule
        return rule

    return register


# Elementwise


def _complex(real: Node, imag: Node) -> Node:
    return make(ops.complex_, (real, imag), (), real.shape, complex64)


def _part(primitive: Primitive, z: Node) -> Node:
    return make(primitive, (z,), (), z.shape, float32)


_of_one(ops.real, lambda node, x, cotangent: _complex(cotangent, zeros(cotangent)))
_of_one(ops.imag, lambda node, x, cotangent: _complex(zeros(cotangent), cotangent))
_of_one(ops.cast, lambda node, x, cotangent: cast(cotangent, x.dtype))


@_register(ops.complex_)
def _complex_parts(
    node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
) -> Cotangents:
    parts = (ops.real, ops.imag)
    return [
        _part(part, cotangent) if is_wanted else None
        for part, is_wanted in zip(parts, wanted, strict=True)
    ]


@_register(ops.select)
def _select(
    node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
) -> Cotangents:
    condition, nothing = operands[0], zeros(cotangent)
    return [
        None,
        select(condition, cotangent, nothing) if wanted[1] else None,
        select(condition, nothing, cotangent) if wanted[2] else None,
    ]


# Views

_of_one(ops.reshape, lambda node, x, cotangent: reshape(cotangent, x.shape))


def _inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


_of_one(
    ops.transpose,
    lambda node, x, cotangent: transpose(cotangent, _inverse(node.attributes[0])),
)


@_register(ops.broadcast)
def _broadcast(
    node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
) -> Cotangents:
    (x,) = operands
    grown = tuple([axis for axis, extent in enumerate(x.shape) if extent != node.shape[axis]])
    return [total(cotangent, grown)]


def _slice(
    node: Node, start: tuple[int, ...], size: tuple[int, ...], step: tuple[int, ...]
) -> Node:
    return make(ops.slice_, (node,), (start, size, step), size, node.dtype)


@_register(ops.slice_)
def _unslice(
    node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
) -> Cotangents:
    """The cotangent in the window, zeros around it."""
    (x,), (start, size, step) = operands, node.attributes
    if node.type.size == 0:
        return [zeros(x)]
    if all(stride == 1 for stride in step):
        high = tuple(
            [extent - first - n for extent, first, n in zip(x.shape, start, size, strict=True)]
        )
        value = constant(0, x.dtype)
        return [make(ops.pad, (cotangent, value), (start, high), x.shape, x.dtype)]
    return [make(ops.slice_update, (zeros(x), cotangent), (start, step), x.shape, x.dtype)]


# Updates


@_register(ops.slice_update)
def _slice_update(
    node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
) -> Cotangents:
    (x, update), (start, step) = operands, node.attributes
    around: Node | None = None
    if wanted[0]:
        inputs = (cotangent, zeros(update))
        around = make(ops.slice_update, inputs, node.attributes, x.shape, x.dtype)
    return [around, _slice(cotangent, start, update.shape, step) if wanted[1] else None]


@_register(ops.pad)
def _pad(
    node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
) -> Cotangents:
    (x, value), (low, _) = operands, node.attributes
    steps = (1,) * len(low)
    inner = _slice(cotangent, low if x.type.size else (0,) * len(low), x.shape, steps)
    around: Node | None = None
    if wanted[1]:
        inputs = (cotangent, filled(0, x.dtype, x.shape))
        emptied = cotangent
        if x.type.size:
            emptied = make(ops.slice_update, inputs, (low, steps), node.shape, node.dtype)
        around = reshape(total(emptied, tuple(range(len(low)))), value.shape)
    return [inner if wanted[0] else None, around]


@_register(ops.concatenate)
def _concatenate(
    node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
) -> Cotangents:
    (axis,) = node.attributes
    rank = len(node.shape)
    parts: list[Node | None] = []
    first = 0
    for operand, is_wanted in zip(operands, wanted, strict=True):
        start = tuple([first if i == axis else 0 for i in range(rank)])
        parts.append(_slice(cotangent, start, operand.shape, (1,) * rank) if is_wanted else None)
        first += operand.shape[axis]
    return parts


# Sums

_of_one(ops.reduce_sum, lambda node, x, cotangent: broadcast(cotangent, x.shape))


@_register(ops.cumsum)
def _cumsum(
    node: Node, operands: Sequence[Node], cotangent: Node, wanted: Sequence[bool]
) -> Cotangents:
    axis, reverse, inclusive = node.attributes
    return [scan(ops.cumsum, cotangent, axis, not reverse, inclusive)]
