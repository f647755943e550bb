"""Results of compiled calls: buffers become arrays, containers, and updates of captured state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..runtime.buffer import Buffer
from .array import Array
from .captures import Holder
from .graph import Data
from .sharing import apply_undisturbed
from .tracing import Traced, first

Finish = Callable[[Sequence[Buffer], "list[Holder] | None"], Any]
"""Makes a call's result of its output buffers, and updates its captured containers."""

_new = object.__new__


class Details:
    """What there is to tell about an entry.

    Attributes:
        executable: what the program was compiled to.
        operations: how many ops the program has.
        operands: how many arrays it takes, the hidden ones included.
        hidden: how many of these were reached by closure.
        outputs: how many arrays it gives.
    """

    __slots__ = ("executable", "hidden", "operands", "operations", "outputs")

    def __init__(self, traced: Traced, executable: Any) -> None:
        self.executable = executable
        self.operations = len(traced.program.instructions)
        self.operands = len(traced.program.inputs)
        self.hidden = len(traced.hidden)
        self.outputs = len(traced.program.outputs)


def finisher(traced: Traced) -> Finish:
    """How the calls of an entry make their results."""
    program, build, update, count = traced.program, traced.build, traced.update, traced.results
    outputs = [program.type_of(value) for value in program.outputs]

    def arrays_of(buffers: Sequence[Buffer]) -> list[Array]:
        arrays: list[Array] = []
        for (shape, dtype), buffer in zip(outputs, buffers):
            node = _new(Data)
            node.shape = shape
            node.dtype = dtype
            node.buffer = buffer
            array = _new(Array)
            array.node = node
            arrays.append(array)
        return arrays

    if update is not None:

        def finish_and_update(buffers: Sequence[Buffer], holders: list[Holder] | None) -> Any:
            arrays = arrays_of(buffers)
            if holders:
                apply_undisturbed(update, holders, arrays)
            return build(arrays[:count])

        return finish_and_update
    if build is first and len(outputs) == 1:
        ((shape, dtype),) = outputs

        def finish_one(buffers: Sequence[Buffer], _: Any) -> Array:
            node = _new(Data)
            node.shape = shape
            node.dtype = dtype
            node.buffer = buffers[0]
            array = _new(Array)
            array.node = node
            return array

        return finish_one
    return lambda buffers, _: build(arrays_of(buffers))
