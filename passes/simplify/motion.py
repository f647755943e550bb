"""Views move towards the inputs, so that they meet and cancel and do not cut a fusion in two.

A view of an elementwise op that nothing else uses becomes that op on views of its operands; so for
the whole tree of such ops above a view, in one step. Where the views end decides whether it is
worth it: an input is dense and read through any view for free, another view merges, but a reshape
that ended between a reduction and the ops on its result, or between ops that are computed together,
would cut what it was moved to join. Such a reshape moves the other way, towards the results.

Broadcasts do not move over work: that would repeat it for every element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dialects import ops
from ...dialects.primitive import TABLE, Shape
from ..schedule import views
from .rewriter import LOOK_THROUGH, Rewriter, pattern, shape_of, splat_of
from .views import broadcast_reshaped, only_moves_ones

if TYPE_CHECKING:
    from .dataflow import Op

ELEMENTWISE = tuple(op for op in TABLE.values() if op.kind == "elementwise")
MATERIALIZED = ("contraction", "scan", "update")
"""Kinds of ops whose result is written to memory as it is, dense, before anything reads it."""


@pattern(ops.reshape, ops.transpose, ops.slice_)
def view_of_elementwise(op: Op, rewriter: Rewriter) -> Op | None:
    """A view of a tree of elementwise ops becomes the tree on views of its leaves."""
    tree = _tree_above(op, rewriter)
    if tree is None:
        return None
    assert op.primitive is not None
    viewed: dict[Op, Op] = {}
    for node in reversed(tree):
        assert node.primitive is not None
        for operand in node.operands:
            if operand not in viewed:
                viewed[operand] = rewriter.create(op.primitive, [operand], op.attributes)
        operands = [viewed[operand] for operand in node.operands]
        viewed[node] = rewriter.create(node.primitive, operands, node.attributes, like=node)
    return viewed[tree[0]]


def _tree_above(view: Op, rewriter: Rewriter) -> list[Op] | None:
    """The elementwise ops that a view moves over, users first; None if it stays below them.

    A view that stays is marked, so that it is looked at once.
    """
    (root,) = view.operands
    if view.is_settled or not _is_inside(root, view) or _is_read_by_matmul(view):
        return None
    tree: list[Op] = []
    stack = [root]
    while stack:
        node = stack.pop()
        tree.append(node)
        rewriter.moves -= 1
        view.is_settled = rewriter.moves < 0
        for operand in dict.fromkeys(node.operands):
            if _is_inside(operand, node):
                stack.append(operand)
            elif not _absorbs(view, operand):
                view.is_settled = True
        if view.is_settled:
            return None
    return tree


def _is_inside(op: Op, user: Op) -> bool:
    """True if an op is elementwise work that only ``user`` needs."""
    return (
        op.primitive is not None
        and op.primitive.kind == "elementwise"
        and op.single_user is user
        and op.block is user.block
    )


def _is_read_by_matmul(view: Op) -> bool:
    """True for a transpose that every user, a matrix product, reads as it lies in memory."""
    if view.primitive is not ops.transpose or len(shape_of(view)) < 2:
        return False
    if len(shape_of(view)) - 1 not in view.attributes[0][-2:]:
        return False
    return all(user.primitive is ops.matmul for user in view.users)


def _absorbs(view: Op, leaf: Op) -> bool:
    """True if a leaf of a tree can be read through the view at no cost."""
    if splat_of(leaf) is not None:
        return True
    if view.primitive is ops.reshape:
        return _absorbs_reshape(leaf, view.attributes[0])
    for _ in range(LOOK_THROUGH):
        if leaf.primitive is not ops.broadcast:
            break
        (leaf,) = leaf.operands
    return leaf.primitive is None or leaf.primitive.kind != "reduction"


def _absorbs_reshape(leaf: Op, target: Shape) -> bool:
    for _ in range(LOOK_THROUGH):
        if leaf.primitive is not ops.broadcast:
            break
        (source,) = leaf.operands
        shape = broadcast_reshaped(shape_of(source), shape_of(leaf), target)
        if shape is None:
            return False
        leaf, target = source, shape
    if leaf.primitive is None or shape_of(leaf) == target:
        return True
    kind = leaf.primitive.kind
    if kind == "view":
        return leaf.primitive is ops.reshape or _has_strides(leaf, target)
    if leaf.primitive is ops.iota:
        return only_moves_ones(shape_of(leaf), target)
    return kind in MATERIALIZED or leaf.primitive is ops.constant


def _has_strides(op: Op, target: Shape) -> bool:
    """True if views of a dense buffer, reshaped, can still be read by strides."""
    chain: list[Op] = []
    while op.primitive is not None and op.primitive.kind == "view":
        chain.append(op)
        if len(chain) > LOOK_THROUGH:
            return False
        (op,) = op.operands
    seen = views.dense(shape_of(op))
    for link in reversed(chain):
        assert link.primitive is not None
        seen = views.apply(link.primitive, seen, link.attributes)
        if seen is None:
            return False
    return views.reshape(seen, target) is not None


@pattern(*ELEMENTWISE)
def elementwise_of_reshape(op: Op, rewriter: Rewriter) -> Op | None:
    """Work on a reshaped result is done on the result, and reshaped after.

    For results of reductions and of elementwise ops, where all operands have one reshape or are
    constants: ``sum(x)`` with its axes dropped and divided by a count is divided first.
    """
    source: Shape | None = None
    for operand in op.operands:
        if splat_of(operand) is not None:
            continue
        if operand.primitive is not ops.reshape or not _sinks(operand, op, rewriter):
            return None
        shape = shape_of(operand.operands[0])
        if source not in (None, shape):
            return None
        source = shape
    if source is None or rewriter.moves <= 0:
        return None
    rewriter.moves -= 1
    operands: list[Op] = []
    for operand in op.operands:
        constant = splat_of(operand)
        inner = operand.operands[0] if constant is None else rewriter.expand(constant, source)
        operands.append(inner)
    assert op.primitive is not None
    result = rewriter.create(op.primitive, operands, op.attributes, like=op)
    reshaped = rewriter.create(ops.reshape, [result], (shape_of(op),), like=op.operands[0])
    reshaped.is_settled = True
    return reshaped


def _sinks(view: Op, user: Op, rewriter: Rewriter) -> bool:
    """True if a reshape belongs below its user: it shows a computed value and does not rise."""
    (source,) = view.operands
    if source.primitive is None or source.block is not user.block:
        return False
    if source.primitive.kind == "elementwise":
        return _tree_above(view, rewriter) is None
    return source.primitive.kind == "reduction"
