"""Artifacts: what compilation leaves behind, and all that running a program needs.

An artifact is a launch list over numbered buffer slots. It names kernels by key; their machine code
is kept once, whichever programs use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SlotKind = Literal["input", "output", "workspace", "literal", "library"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A buffer that launches refer to by number.

    Attributes:
        kind: ``input`` and ``output`` are the call's, by index; ``workspace`` and ``literal`` lie
            ``offset`` bytes into the call's workspace and the program's literals; ``library`` is
            the address of a library function, by name.
        index: which input or output.
        offset: bytes into the workspace or the literals.
        name: the library function, such as ``"cblas_sgemm"``.
    """

    kind: SlotKind
    index: int = 0
    offset: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A launch argument: the address of a slot plus ``offset`` bytes."""

    slot: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch over ``units`` independent units of work.

    Attributes:
        kernel: the kernel's key (hexadecimal).
        arguments: 64-bit words of the kernel's argument table; addresses or integers.
        units: how many units there are; none runs nothing.
        grain: units that one thread takes at a time; ``units`` runs on the calling thread.
    """

    kernel: str
    arguments: tuple[Pointer | int, ...]
    units: int
    grain: int


@dataclass(frozen=True, slots=True)
class Output:
    """Where an output comes from.

    Attributes:
        shape, dtype: the type; the dtype by name.
        source: ``("slot", i)`` for a buffer of its own, ``("input", i)`` for an input handed back
            (perhaps reshaped), ``("output", i)`` for an earlier output once more (perhaps
            reshaped).
        donated: for a buffer of its own, the inputs whose memory it may take over.
    """

    shape: tuple[int, ...]
    dtype: str
    source: tuple[str, int]
    donated: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Artifact:
    """A compiled program.

    Attributes:
        target: the target's name and features, as in the kernels' keys.
        inputs: ``(shape, dtype name)`` of each input.
        outputs: where each output comes from.
        slots: the buffers of the launch list.
        launches: what runs, in order.
        workspace: bytes of scratch memory a call needs.
    """

    target: str
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    outputs: tuple[Output, ...]
    slots: tuple[Slot, ...]
    launches: tuple[Launch, ...]
    workspace: int
