"""From a program to what runs it: compiled code, or the NumPy references where there is none."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..dialects import reference
from ..dialects.program import Program
from ..errors import CodegenError
from ..runtime.buffer import Buffer, allocate


class Executable(Protocol):
    """What a program was compiled to."""

    def run(self, inputs: Sequence[Buffer]) -> Sequence[Buffer]:
        """Launches the program; the buffers of its outputs, in order."""
        ...


def executable_for(program: Program) -> Executable:
    """What runs a program; raises what compiling it raises.

    If no code generator is usable here, that is said once, and programs are interpreted.
    """
    if all(value < len(program.inputs) for value in program.outputs):
        return Selection(program.outputs)
    try:
        from ..passes.driver import executable_for as compiled
    except (ImportError, OSError) as problem:
        return _without_generator(program, problem)
    try:
        return compiled(program)
    except CodegenError as problem:
        return _without_generator(program, problem)


_warned = False
_lock = threading.Lock()


def _without_generator(program: Program, problem: BaseException) -> Executable:
    global _warned
    with _lock:
        first, _warned = not _warned, True
    if first:
        warnings.warn(
            f"no code generator is usable ({problem}); compiled functions are interpreted by "
            "NumPy, which is slow",
            RuntimeWarning,
            stacklevel=2,
        )
    return Interpreted(program)


class Selection:
    """Runs a program whose outputs are inputs of it."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = tuple(numbers)

    def run(self, inputs: Sequence[Buffer]) -> list[Buffer]:
        """The inputs' buffers."""
        return [inputs[number] for number in self._numbers]


class Interpreted:
    """Runs a program op by op through the primitives' NumPy references."""

    __slots__ = ("_last_uses", "_program")

    def __init__(self, program: Program) -> None:
        self._program = program
        self._last_uses = _last_uses(program)

    def run(self, inputs: Sequence[Buffer]) -> list[Buffer]:
        """Computes the outputs; an input handed back is its own buffer."""
        types = self._program.inputs
        values: list[Any] = [
            buffer.as_numpy(type_.dtype.numpy, type_.shape)
            for buffer, type_ in zip(inputs, types, strict=True)
        ]
        for instruction, unneeded in zip(self._program.instructions, self._last_uses, strict=True):
            primitive, operands, attributes, type_ = instruction
            arrays = [values[i] for i in operands]
            values.append(reference.evaluate(primitive, arrays, attributes, type_))
            for number in unneeded:
                values[number] = None
        return [
            inputs[number] if number < len(inputs) else _stored(values[number])
            for number in self._program.outputs
        ]


def _last_uses(program: Program) -> list[list[int]]:
    """For each instruction the values that nothing after it needs."""
    needed = set(program.outputs)
    unneeded: list[list[int]] = []
    for instruction in reversed(program.instructions):
        last = [value for value in dict.fromkeys(instruction.operands) if value not in needed]
        needed.update(last)
        unneeded.append(last)
    unneeded.reverse()
    return unneeded


def _stored(values: np.ndarray[Any, Any]) -> Buffer:
    buffer = allocate(values.nbytes)
    buffer.as_numpy(values.dtype, values.shape, writable=True)[...] = values
    return buffer
