"""Where a transform begins: the scope it works in, and the nodes that stand for its inputs."""

from __future__ import annotations

from typing import Any

from ...dialects import ops
from ...dialects.dtypes import DType
from ...dialects.primitive import Shape
from .. import graph
from ..graph import Node, Trace, current


class Scope:
    """The time in which a transform calls a function and looks at what it did.

    In it compiled functions are called as they are, and computed nodes keep their operands. A scope
    within a trace (of ``compile``, or another transform) is a part of that trace.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> Trace:
        self._outer = current.trace
        self._trace = Trace(self._name) if self._outer is None else self._outer
        self._trace.transforms += 1
        current.trace = self._trace
        return self._trace

    def __exit__(self, *_: object) -> None:
        trace = self._trace
        trace.transforms -= 1
        current.trace = self._outer
        if self._outer is None:
            trace.finished = True
        if not trace.transforms:
            kept, trace.kept = trace.kept, []
            for node in kept:
                node.drop_inputs()


def is_transforming() -> bool:
    """True while a transform calls a function in this thread."""
    return current.trace is not None and current.trace.transforms > 0


def same(node: Node) -> Node:
    """A new node with the value of another: what marks an input that derivatives refer to."""
    return graph.make(ops.reshape, (node,), (node.shape,), node.shape, node.dtype)


def placeholder(shape: Shape, dtype: DType, trace: Trace | None) -> Node:
    """A node without a value, which cannot be used when its trace is over."""
    node = Node(None, (), (), shape, dtype)
    node.trace = trace
    frame = graph.user_frame()
    if frame is not None:
        node.where = (frame.f_code, frame.f_lasti)
    return node


def function_name(function: Any) -> str:
    """What to call a function in messages."""
    return getattr(function, "__qualname__", type(function).__name__)
