"""Launches with their arguments placed in named buffers, and the artifact they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..dialects.program import Program
from ..runtime.artifact import Artifact, Launch, Output, Pointer, Slot
from .schedule.kernel import Address, Contraction, Kernel, Schedule
from .storage import aligned


@dataclass(frozen=True, slots=True)
class LoweredLaunch:
    """A launch whose addresses are named buffers: ``(buffer, byte offset)``.

    ``location`` is MLIR's, of the ops that the launch computes, or None.
    """

    kernel: Kernel | Contraction
    arguments: tuple[tuple[str, int] | int, ...]
    units: int
    grain: int
    location: Any


@dataclass(frozen=True, slots=True)
class LoweredProgram:
    """A program's launches, with the workspace a call needs and where its results lie."""

    launches: list[LoweredLaunch]
    workspace: int
    results: list[str]


def place_launches(
    schedule: Schedule,
    reads: list[str],
    writes: list[str],
    workspace: int,
    location: Any,
    launches: list[LoweredLaunch],
) -> int:
    """Appends a fusion's launches; scratch lies behind the workspace. Returns where that ends."""
    offsets: list[int] = []
    end = workspace
    for nbytes in schedule.scratch:
        offsets.append(end)
        end += aligned(nbytes)
    names = {
        "input": reads,
        "output": writes,
        "scratch": [f"workspace+{offset}" for offset in offsets],
    }
    for launch in schedule.launches:
        arguments = tuple(
            _place(word, names) if isinstance(word, Address) else word for word in launch.arguments
        )
        launches.append(
            LoweredLaunch(launch.kernel, arguments, launch.units, launch.grain, location)
        )
    return end


def _place(address: Address, names: dict[str, list[str]]) -> tuple[str, int]:
    if address.kind == "library":
        return f"library:{address.name}", 0
    name, _, offset = names[address.kind][address.index].partition("+")
    return name, int(offset or 0) + address.offset


def artifact_of(
    program: Program, lowered: LoweredProgram, keys: dict[Kernel | Contraction, str], target: str
) -> Artifact:
    """The artifact of a lowered program; ``keys`` are the kernels' keys in hexadecimal."""
    slots: dict[str, int] = {}
    entries: list[Slot] = []

    def slot(name: str) -> int:
        known = slots.get(name)
        if known is None:
            known = slots[name] = len(entries)
            entries.append(_slot(name))
        return known

    launches = tuple(
        Launch(
            keys[launch.kernel],
            tuple(
                word if isinstance(word, int) else Pointer(slot(word[0]), word[1])
                for word in launch.arguments
            ),
            launch.units,
            launch.grain,
        )
        for launch in lowered.launches
    )
    outputs: list[Output] = []
    seen: dict[str, int] = {}
    for number, (value, name) in enumerate(zip(program.outputs, lowered.results, strict=True)):
        shape, dtype = program.type_of(value)
        if name.startswith("input"):
            source = ("input", int(name[5:]))
        elif name in seen:
            source = ("output", seen[name])
        else:
            seen[name] = number
            source = ("slot", slot(name))
        outputs.append(Output(shape, dtype.name, source))
    inputs = tuple((type_.shape, type_.dtype.name) for type_ in program.inputs)
    return Artifact(target, inputs, tuple(outputs), tuple(entries), launches, lowered.workspace)


def _slot(name: str) -> Slot:
    for kind in ("input", "output"):
        if name.startswith(kind):
            return Slot(kind, index=int(name[len(kind) :]))
    if name.startswith("library:"):
        return Slot("library", name=name[8:])
    return Slot("literal" if name == "literal" else "workspace")
