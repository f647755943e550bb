"""The artifact of a lowered program: buffers by number, kernels by key."""

from __future__ import annotations

from ..dialects.program import Program
from ..runtime.artifact import Artifact, Launch, Output, Pointer, Slot
from .donation import donors
from .launches import LoweredProgram
from .schedule.kernel import Contraction, Kernel


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
    inputs = [(f"input{i}", type_.nbytes) for i, type_ in enumerate(program.inputs)]
    returned = set(lowered.results)
    outputs: list[Output] = []
    seen: dict[str, int] = {}
    for number, (value, name) in enumerate(zip(program.outputs, lowered.results, strict=True)):
        shape, dtype = program.type_of(value)
        donated: tuple[int, ...] = ()
        if name.startswith("input"):
            source = ("input", int(name[5:]))
        elif name in seen:
            source = ("output", seen[name])
        else:
            seen[name] = number
            source = ("slot", slot(name))
            nbytes = program.type_of(value).nbytes
            found = donors(lowered.launches, name, nbytes, inputs) if nbytes else ()
            donated = tuple(i for i in found if f"input{i}" not in returned)
        outputs.append(Output(shape, dtype.name, source, donated))
    types = tuple((type_.shape, type_.dtype.name) for type_ in program.inputs)
    return Artifact(target, types, tuple(outputs), tuple(entries), launches, lowered.workspace)


def _slot(name: str) -> Slot:
    for kind in ("input", "output"):
        if name.startswith(kind):
            return Slot(kind, index=int(name[len(kind) :]))
    if name.startswith("library:"):
        return Slot("library", name=name[8:])
    return Slot("literal" if name == "literal" else "workspace")
