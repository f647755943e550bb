"""Launches with their arguments placed in named buffers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .schedule.kernel import Address, Contraction, Kernel, Schedule
from .storage import aligned


@dataclass(frozen=True, slots=True)
class LoweredLaunch:
    """A launch whose addresses are named buffers: ``(buffer, byte offset)``.

    ``location`` is MLIR's, of the ops that the launch computes, or None; ``trace`` are the numbers
    of these ops in the program, where locations hold them.
    """

    kernel: Kernel | Contraction
    arguments: tuple[tuple[str, int] | int, ...]
    units: int
    grain: int
    location: Any
    trace: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LoweredProgram:
    """A program's launches, with the workspace a call needs and where its results lie.

    ``literals`` are the bytes of those that passes added to the program's own, by slot.
    """

    launches: list[LoweredLaunch]
    workspace: int
    results: list[str]
    literals: dict[int, bytes] = field(default_factory=dict)


def place_launches(
    schedule: Schedule,
    reads: list[str],
    writes: list[str],
    workspace: int,
    location: Any,
    launches: list[LoweredLaunch],
    trace: tuple[int, ...] = (),
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
            LoweredLaunch(launch.kernel, arguments, launch.units, launch.grain, location, trace)
        )
    return end


def _place(address: Address, names: dict[str, list[str]]) -> tuple[str, int]:
    if address.kind == "library":
        return f"library:{address.name}", 0
    name, _, offset = names[address.kind][address.index].partition("+")
    return name, int(offset or 0) + address.offset
