"""One op at a time: nodes of the lazy graph run by kernels that do not depend on sizes.

An op reads its operands through the views that lead to them, so a transpose or a slice that only
feeds other ops is never copied. What was found for an op is kept by its primitive, attributes and
operand types; numbers are operands, so another number finds the same code.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from ..dialects import ops
from ..dialects.program import is_lifted
from ..runtime.buffer import copy_of
from . import dispatch, graph
from .graph import Node

CACHE_LIMIT = 4096
"""Distinct ops, with their types, whose launches are kept."""
DEEPEST_VIEW = 16
"""Views behind one another that an op reads through; a deeper one is copied first."""

_known: OrderedDict[Any, dispatch.Executable] = OrderedDict()


def run(node: Node) -> None:
    """Computes a node whose operands are computed, or views of what is."""
    leaves: list[Node] = []
    key = (
        node.primitive,
        node.attributes if node.primitive is not ops.constant else repr(node.attributes),
        tuple([_describe(child, leaves) for child in node.inputs]),
    )
    executable = _known.get(key)
    if executable is None:
        program = graph.record(leaves, [node])
        executable = _known[key] = dispatch.operation_for(program)
        if len(_known) > CACHE_LIMIT:
            _known.popitem(last=False)
    buffers: Any = [leaf.buffer for leaf in leaves]
    node.buffer = executable.run(buffers)[0]


def _describe(node: Node, leaves: list[Node]) -> Any:
    """A key for what an operand reads; appends the buffers it reads to the leaves."""
    if node.buffer is None:
        primitive = node.primitive
        if primitive is not ops.constant:
            children = tuple([_describe(child, leaves) for child in node.inputs])
            return primitive, node.attributes, children
        value, dtype = node.attributes
        if not is_lifted(value, dtype):
            # 0.0 and -0.0 are equal, their texts are not.
            return repr(value), dtype
        store_constant(node)
    for position, leaf in enumerate(leaves):
        if leaf is node:
            return position
    leaves.append(node)
    return len(leaves) - 1, node.shape, node.dtype


def store_constant(node: Node) -> None:
    """Gives a constant its buffer."""
    value, dtype = node.attributes
    node.buffer = copy_of(np.asarray(value).astype(dtype.numpy))


def is_transparent(node: Node) -> bool:
    """True for views and creation ops, which other ops read through."""
    primitive = node.primitive
    return primitive is not None and primitive.kind in ("view", "creation")
