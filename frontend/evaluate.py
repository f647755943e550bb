"""Evaluation: the values of nodes, computed when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..dialects import ops
from ..errors import TracedValueError
from . import graph, operations
from .graph import Node

_LOCK = threading.RLock()


def evaluate(nodes: Sequence[Node]) -> None:
    """Computes nodes and what they need: fills their buffers and drops their inputs.

    Views and creation ops that only feed other ops are read through, not computed.

    Raises TracedValueError for a value that depends on an input of a function being traced, and
    LeakedTraceError for one of a trace that is over.
    """
    with _LOCK:
        order = graph.topological_order(nodes)
        _check_leaves(nodes, order)
        wanted = {id(node) for node in nodes}
        depths: dict[int, int] = {}
        order.reverse()
        while order:
            node = order.pop()
            if operations.is_transparent(node) and id(node) not in wanted:
                depth = 1 + max((depths.get(id(child), 0) for child in node.inputs), default=0)
                depths[id(node)] = depth
                if depth <= operations.DEEPEST_VIEW:
                    continue
            depths.pop(id(node), None)
            _compute(node)


def _compute(node: Node) -> None:
    """Computes a node whose operands are computed or read through."""
    if node.buffer is not None or node.primitive is None:
        return
    if node.primitive is ops.constant:
        operations.store_constant(node)
    elif node.primitive is ops.reshape and node.inputs[0].buffer is not None:
        node.buffer = node.inputs[0].buffer
    else:
        operations.run(node)
    node.drop_inputs()


def _check_leaves(nodes: Sequence[Node], order: Sequence[Node]) -> None:
    for node in nodes:
        if node.is_traced_input:
            raise_traced(node)
    for node in order:
        for child in node.inputs:
            if child.is_traced_input:
                # What was made last in that trace is what got out of it; say where that was.
                for made in reversed(order):
                    if made.trace is child.trace:
                        graph.check_usable(made)
                raise_traced(child)


def raise_traced(node: Node) -> None:
    """Raises the error of reading a value that is not known while its function is traced."""
    graph.check_usable(node)
    name = node.trace.name if node.trace is not None else "a function"
    raise TracedValueError(
        f"the value of an array was read while {name} was being traced{graph.user_line()}; only "
        "its shape, dtype, ndim and size are known then. Return the array and read it outside, "
        "use lamina.where for a choice between values, pass a Python number as the argument, or "
        "name the array's container in inputs= and outputs= if it is state"
    )


def data(node: Node) -> np.ndarray[Any, Any]:
    """The value of a node as a read-only NumPy array on its buffer; computes it if need be."""
    if node.buffer is None:
        evaluate((node,))
    assert node.buffer is not None
    return node.buffer.as_numpy(node.dtype.numpy, node.shape)


def leaf_nodes(trees: Iterable[Any]) -> list[Node]:
    """The nodes of the arrays in nested lists, tuples and dictionaries, without other leaves."""
    nodes: list[Node] = []
    stack = list(trees)[::-1]
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple)):
            stack.extend(reversed(item))
        elif isinstance(item, dict):
            stack.extend(reversed(item.values()))
        else:
            node = getattr(item, "node", None)
            if isinstance(node, Node):
                nodes.append(node)
    return nodes


def eval(*args: Any) -> None:
    """Computes the arrays in the arguments, together.

    Args:
        args: arrays, or nested lists, tuples and dictionaries of arrays; other leaves are skipped.

    Raises TracedValueError inside a function that is being compiled or transformed.
    """
    evaluate(leaf_nodes(args))


def async_eval(*args: Any) -> None:
    """Starts to compute the arrays in the arguments; a read of one waits for its value.

    Args:
        args: as :func:`eval` takes.
    """
    evaluate(leaf_nodes(args))
