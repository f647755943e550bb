"""From a program to what runs it: compiled code, or the NumPy references where there is none."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..dialects import reference
from ..dialects.program import Program
from ..errors import CodegenError, LaminaError
from ..runtime.buffer import Buffer, copy_of
from .graph import user_frame


class Executable(Protocol):
    """What a program was compiled to."""

    def run(self, inputs: Sequence[Buffer]) -> Sequence[Buffer]:
        """Launches the program; the buffers of its outputs, in order."""
        ...


def executable_for(program: Program, pipeline: str | None = None) -> Executable:
    """What runs a program; raises what compiling it raises.

    If no code generator is usable here, that is said once, and programs are interpreted.

    Args:
        program: the program.
        pipeline: the passes; None for those that functions are compiled with by default.
    """
    if all(value < len(program.inputs) for value in program.outputs):
        return Selection(program.outputs)

    def compiled() -> Executable:
        from ..passes import driver

        return driver.executable_for(program, driver.PIPELINE if pipeline is None else pipeline)

    return _compiled_or_interpreted(program, compiled)


def operation_for(program: Program) -> Executable:
    """What runs one op as it stands, with the views of its operands; as :func:`executable_for`."""

    def compiled() -> Executable:
        from ..passes import driver

        return driver.operation_for(program)

    return _compiled_or_interpreted(program, compiled)


def _compiled_or_interpreted(program: Program, compiled: Callable[[], Executable]) -> Executable:
    try:
        return compiled()
    except (CodegenError, ImportError, OSError) as problem:
        if isinstance(problem, LaminaError) and not isinstance(problem, CodegenError):
            raise
        if isinstance(problem, ImportError) and (problem.name or "").startswith(_PACKAGE):
            raise  # a fault of Lamina's own, which no other machine would mend
        _warn(problem)
        return Interpreted(program)


_PACKAGE = __name__.partition(".")[0]
_warned = False
_lock = threading.Lock()


def _warn(problem: BaseException) -> None:
    global _warned
    with _lock:
        first, _warned = not _warned, True
    frame = user_frame()
    if first and frame is not None:
        warnings.warn_explicit(
            f"no code generator is usable ({problem}); compiled functions are interpreted by "
            "NumPy, which is slow",
            RuntimeWarning,
            frame.f_code.co_filename,
            frame.f_lineno,
        )


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
            inputs[number] if number < len(inputs) else copy_of(values[number])
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
