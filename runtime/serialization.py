"""Artifacts as bytes, for the module cache: compact JSON that says its version.

Reading checks the form and every index, since the runtime follows them without looking again.
"""

from __future__ import annotations

import json
from typing import Any, get_args

from .artifact import Artifact, Launch, Output, Pointer, Slot, SlotKind
from .cache_file import DamagedEntry

ARTIFACT_VERSION = 1
"""Raised whenever the fields of an artifact, or what they mean, change."""

_SLOT_KINDS: tuple[str, ...] = get_args(SlotKind)
_SOURCES = ("slot", "input", "output")
_WORDS = range(-(2**63), 2**63)


def dump(artifact: Artifact) -> bytes:
    """The bytes of an artifact, equal for equal artifacts."""
    fields = [
        ARTIFACT_VERSION,
        artifact.target,
        artifact.inputs,
        [[out.shape, out.dtype, out.source, out.donated] for out in artifact.outputs],
        [[slot.kind, slot.index, slot.offset, slot.name] for slot in artifact.slots],
        [
            [
                launch.kernel,
                [
                    [word.slot, word.offset] if isinstance(word, Pointer) else word
                    for word in launch.arguments
                ],
                launch.units,
                launch.grain,
            ]
            for launch in artifact.launches
        ],
        artifact.workspace,
    ]
    return json.dumps(fields, separators=(",", ":")).encode()


def load(data: bytes) -> Artifact:
    """The artifact of these bytes; raises DamagedEntry for anything that is not one."""
    try:
        version, *fields = json.loads(data)
        if version != ARTIFACT_VERSION:
            raise DamagedEntry(f"artifact version {version!r}, wanted {ARTIFACT_VERSION}")
        target, inputs, outputs, slots, launches, workspace = fields
        artifact = Artifact(
            _text(target),
            tuple([(_sizes(shape), _text(dtype)) for shape, dtype in inputs]),
            tuple([_output(*output) for output in outputs]),
            tuple([_slot(*slot) for slot in slots]),
            tuple([_launch(len(slots), *launch) for launch in launches]),
            _size(workspace),
        )
        _check_references(artifact)
        return artifact
    except DamagedEntry:
        raise
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedEntry(f"not an artifact: {error}") from None


def _output(shape: Any, dtype: Any, source: Any, donated: Any) -> Output:
    kind, index = source
    if kind not in _SOURCES:
        raise DamagedEntry(f"an output comes from {kind!r}")
    return Output(_sizes(shape), _text(dtype), (kind, _size(index)), _sizes(donated))


def _slot(kind: Any, index: Any, offset: Any, name: Any) -> Slot:
    if kind not in _SLOT_KINDS:
        raise DamagedEntry(f"a slot of kind {kind!r}")
    return Slot(kind, _size(index), _size(offset), _text(name))


def _launch(slots: int, kernel: Any, arguments: Any, units: Any, grain: Any) -> Launch:
    words: list[Pointer | int] = []
    for word in arguments:
        if isinstance(word, list):
            slot, offset = word
            if type(slot) is not int or not 0 <= slot < slots:
                raise DamagedEntry(f"a launch refers to slot {slot!r} of {slots}")
            words.append(Pointer(slot, _size(offset)))
        elif type(word) is int and word in _WORDS:
            words.append(word)
        else:
            raise DamagedEntry(f"{word!r} is not a word")
    return Launch(_text(kernel), tuple(words), _size(units), _size(grain))


def _check_references(artifact: Artifact) -> None:
    limits = {
        "slot": len(artifact.slots),
        "input": len(artifact.inputs),
        "output": len(artifact.outputs),
    }
    for position, output in enumerate(artifact.outputs):
        kind, index = output.source
        # An output that repeats another comes after it.
        if index >= (position if kind == "output" else limits[kind]):
            raise DamagedEntry(f"output {position} comes from {kind} {index}")
        if any(number >= limits["input"] for number in output.donated):
            raise DamagedEntry(f"output {position} takes over inputs {output.donated}")
    for slot in artifact.slots:
        if slot.kind in limits and slot.index >= limits[slot.kind]:
            raise DamagedEntry(f"a slot refers to {slot.kind} {slot.index}")


def _size(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _WORDS.stop:
        raise DamagedEntry(f"{value!r} is not a size")
    return value


def _sizes(values: Any) -> tuple[int, ...]:
    return tuple([_size(value) for value in values])


def _text(value: Any) -> str:
    if type(value) is not str:
        raise DamagedEntry(f"{value!r} is not text")
    return value
