"""Which inputs' memory an output may take over: those that nothing reads any more.

An output may lie where an input lay if the input is read for the last time before the output is
first written, or in the very launch that writes it, element by element from the same positions.
"""

from __future__ import annotations

from collections.abc import Sequence

from .launches import LoweredLaunch
from .schedule.kernel import Kernel
from .schedule.loops import argument_names


def donors(
    launches: Sequence[LoweredLaunch], output: str, nbytes: int, inputs: Sequence[tuple[str, int]]
) -> tuple[int, ...]:
    """The inputs, as ``(buffer, bytes)``, whose memory an output of ``nbytes`` may take over."""
    written = next(
        (i for i, launch in enumerate(launches) if output in _buffers(launch)), len(launches)
    )
    found: list[int] = []
    for number, (name, size) in enumerate(inputs):
        if size != nbytes:
            continue
        reads = [i for i, launch in enumerate(launches) if name in _buffers(launch)]
        last = reads[-1] if reads else -1
        if last < written or (last == written and _is_in_place(launches[last], name, output)):
            found.append(number)
    return tuple(found)


def _buffers(launch: LoweredLaunch) -> set[str]:
    """The buffers that a launch reads or writes."""
    return {word[0] for word in launch.arguments if not isinstance(word, int)}


def _is_in_place(launch: LoweredLaunch, source: str, target: str) -> bool:
    """True if a launch reads and writes each element of two buffers at the same step."""
    kernel = launch.kernel
    if not isinstance(kernel, Kernel) or kernel.tiled or not kernel.chunked:
        return False
    if any(item.level == "unit" and item.name != "constant" for item in kernel.items):
        return False
    names = argument_names(kernel)
    walks: set[tuple[object, ...]] = set()
    for number, operand in enumerate(kernel.operands):
        word = launch.arguments[number]
        if not isinstance(word, int) and word[0] in (source, target):
            strides = _strides(launch, names, number)
            walks.add((operand.dtype.size, operand.outer, operand.inner, word[1], strides))
    return len(walks) == 1


def _strides(launch: LoweredLaunch, names: list[str], operand: int) -> tuple[object, ...]:
    prefix = f"stride{operand}_"
    return tuple(
        word for name, word in zip(names, launch.arguments, strict=True) if name.startswith(prefix)
    )
