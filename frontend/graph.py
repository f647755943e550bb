"""The lazy graph: nodes that say how a value is made, and their record as a program.

A :class:`Node` is a value: an op on other nodes, a buffer, or an input of a function that is being
traced. Nodes are immutable but for one step: evaluation gives a node its buffer and drops its
inputs, so memory is freed as evaluation goes. An :class:`~lamina.frontend.array.Array` is a
rebindable handle on a node.
"""

from __future__ import annotations

import bisect
import functools
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from ..dialects.dtypes import DType
from ..dialects.primitive import Attributes, Primitive, Shape, TensorType
from ..dialects.program import Program, ProgramBuilder
from ..errors import LaminaError, LeakedTraceError

if TYPE_CHECKING:
    from ..runtime.buffer import Buffer

PACKAGE = str(Path(__file__).resolve().parent.parent)
_INSIDE = tuple(f"{PACKAGE}/{folder}/" for folder in ("frontend", "tools", "passes", "runtime"))


class Trace:
    """A function being traced or transformed.

    Attributes:
        name: what it is called in messages.
        finished: whether it has returned.
        transforms: how many transforms, one in another, look at what it does.
        kept: computed nodes whose operands such a transform still needs.
    """

    __slots__ = ("finished", "kept", "name", "transforms")

    def __init__(self, name: str) -> None:
        self.name = name
        self.finished = False
        self.transforms = 0
        self.kept: list[Node] = []


class _Current(threading.local):
    trace: Trace | None = None
    where: tuple[Any, int] | None = None


current = _Current()
"""The calling thread's innermost trace, and the place that new nodes get if it is not the caller's:
what a transform makes of a node belongs to the line that made the node."""


class Node:
    """A value of the graph.

    Attributes:
        primitive: the op that makes the value; None for a buffer and for a traced input.
        inputs: the op's operands; empty once the value is computed.
        attributes: the op's attribute values, in the primitive's order.
        shape, dtype: the value's type.
        buffer: the data, once computed.
        trace: the trace the node was made in, or None outside of one.
        where: the user's code object and instruction offset that made it; see :func:`location`.
    """

    __slots__ = (
        "__weakref__", "attributes", "buffer", "dtype", "inputs", "primitive", "shape", "trace",
        "where",
    )  # fmt: skip

    def __init__(
        self,
        primitive: Primitive | None,
        inputs: tuple[Node, ...],
        attributes: Attributes,
        shape: Shape,
        dtype: DType,
        buffer: Buffer | None = None,
    ) -> None:
        self.primitive = primitive
        self.inputs: tuple[Node, ...] = inputs
        self.attributes = attributes
        self.shape = shape
        self.dtype = dtype
        self.buffer = buffer
        self.trace = current.trace
        self.where: tuple[Any, int] | None = None

    def drop_inputs(self) -> None:
        """Forgets how the value was made, once it is computed and no transform needs to know."""
        trace = self.trace
        if trace is not None and trace.transforms:
            trace.kept.append(self)
        else:
            self.inputs = ()

    @property
    def type(self) -> TensorType:
        """The value's type."""
        return TensorType(self.shape, self.dtype)

    @property
    def is_traced_input(self) -> bool:
        """True for an input of a function being traced."""
        return self.primitive is None and self.buffer is None


class Data(Node):
    """A node that was data from the start and of no trace: it has a type and a buffer only.

    Compiled calls make one for each output; without ``__init__`` that takes a third of the time.
    """

    __slots__ = ()

    primitive = None
    inputs = ()
    attributes = ()
    trace = None
    where = None


_inside: dict[str, bool] = {}


def user_frame() -> FrameType | None:
    """The innermost frame outside Lamina's own folders."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        inside = _inside.get(filename)
        if inside is None:
            inside = _inside[filename] = filename.startswith(_INSIDE)
        if not inside:
            return frame
        frame = frame.f_back
    return None


def location(node: Node) -> tuple[str, int, str] | None:
    """The user's ``(file, line, function)`` that made a node."""
    if node.where is None:
        return None
    code, offset = node.where
    starts, lines = _line_table(code)
    line = lines[bisect.bisect_right(starts, offset) - 1]
    return code.co_filename, line or code.co_firstlineno, code.co_name


@functools.lru_cache(maxsize=64)
def _line_table(code: CodeType) -> tuple[list[int], list[int | None]]:
    """Where the lines of a code object start, and which they are; long ones are read once."""
    ranges = list(code.co_lines())
    return [start for start, _, _ in ranges], [line for _, _, line in ranges]


def apply(primitive: Primitive, inputs: tuple[Node, ...], attributes: Attributes = ()) -> Node:
    """A node that applies a primitive; raises what its type rule raises, with op and line."""
    types = tuple([TensorType(node.shape, node.dtype) for node in inputs])
    try:
        shape, dtype = primitive.rule(types, attributes)
    except LaminaError as error:
        raise failure(type(error), primitive.name, types, str(error)) from None
    return make(primitive, inputs, attributes, shape, dtype)


def make(
    primitive: Primitive,
    inputs: tuple[Node, ...],
    attributes: Attributes,
    shape: Shape,
    dtype: DType,
) -> Node:
    """A node whose type the caller knows already: :func:`apply` without the type rule."""
    node = Node(primitive, inputs, attributes, shape, dtype)
    where = current.where
    if where is not None:
        node.where = where
        return node
    frame = user_frame()
    if frame is not None:
        node.where = (frame.f_code, frame.f_lasti)
    return node


def failure(
    kind: type[LaminaError], name: str, types: Sequence[TensorType], text: str
) -> LaminaError:
    """The error of an op: its name, its operands' types, what was wrong, and the user's line."""
    operands = ", ".join(map(str, types))
    return kind(f"{name}({operands}): {text}{user_line()}")


def user_line() -> str:
    """The end of a message that says where the user's code is: `` at file:line``."""
    frame = user_frame()
    return f" at {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def check_usable(node: Node) -> None:
    """Raises LeakedTraceError if the node belongs to a trace that is over."""
    if node.trace is not None and node.trace.finished and node.buffer is None:
        place = location(node)
        line = f" at {place[0]}:{place[1]}" if place else ""
        raise LeakedTraceError(
            f"an array of {node.trace.name} was made while it was traced{line} and used after it "
            "returned; return it, or name its container in outputs="
        )


def topological_order(outputs: Sequence[Node]) -> list[Node]:
    """The unevaluated nodes that outputs need, operands first; deep graphs do not recurse."""
    order: list[Node] = []
    seen: set[int] = set()
    done: set[int] = set()
    stack = list(reversed(outputs))
    while stack:
        node = stack[-1]
        identity = id(node)
        # Evaluation sets the buffer before it drops the inputs; read the other way round.
        inputs = node.inputs
        if node.buffer is not None or node.primitive is None or identity in done:
            stack.pop()
        elif identity in seen:
            stack.pop()
            done.add(identity)
            order.append(node)
        else:
            seen.add(identity)
            stack.extend([child for child in reversed(inputs) if id(child) not in seen])
    return order


def record(inputs: Sequence[Node], outputs: Sequence[Node]) -> Program:
    """The program that computes ``outputs`` from ``inputs``; equal work is merged.

    Every leaf the outputs reach must be among the inputs; raises KeyError otherwise.
    """
    numbers = {id(node): i for i, node in enumerate(inputs)}
    builder = ProgramBuilder(tuple(node.type for node in inputs))
    for node in topological_order(outputs):
        if id(node) in numbers:
            continue
        assert node.primitive is not None
        operands = tuple([numbers[id(child)] for child in node.inputs])
        numbers[id(node)] = builder.add(
            node.primitive, operands, node.attributes, node.type, location(node)
        )
    return builder.finish([numbers[id(node)] for node in outputs])
