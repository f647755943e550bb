"""``lamina.explain``: whether a call would run at once or be traced, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentTypeError
from . import canonical
from .compile import BoundCompiled, Compiled
from .entries import Entry, Key
from .tree import Path


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between a call and an earlier one.

    Attributes:
        place: the argument or capture, with its path: ``argument `x`['w'][0]``.
        before: what the earlier call had there; None if it had nothing.
        now: what this call has there; None if it has nothing.
    """

    place: str
    before: str | None
    now: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.place}: {self.now} is new"
        if self.now is None:
            return f"{self.place}: {self.before} is gone"
        return f"{self.place}: {self.before} became {self.now}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a call of a compiled function would do.

    Attributes:
        function: the function's name.
        hit: True if the call runs what an earlier call compiled.
        changes: of a miss, how the call differs from the earlier one that is nearest to it; of
            several, from the one used last.
        entries: how many kinds of calls are compiled.
        traces: how often the function was traced.
        program: of a hit, figures of the program by name, such as ``"operations"`` and, where the
            code generator tells, ``"kernels"``.
    """

    function: str
    hit: bool
    changes: tuple[Change, ...]
    entries: int
    traces: int
    program: dict[str, int]

    def __str__(self) -> str:
        counts = f"{self.entries} compiled, traced {_times(self.traces)}"
        if self.hit:
            figures = ", ".join(f"{value} {name}" for name, value in self.program.items())
            return f"{self.function}: hit ({counts}): {figures}"
        if not self.changes:
            return f"{self.function}: miss ({counts}): nothing like this call is compiled"
        lines = "".join(f"\n  {change}" for change in self.changes)
        return f"{self.function}: miss ({counts}): against the nearest call{lines}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def explain(compiled: Any, /, *args: Any, **kwargs: Any) -> Explanation:
    """Says whether a call would be traced, and which argument or capture is the reason.

    Nothing is traced, compiled or run.

    Args:
        compiled: what :func:`lamina.compile` returned, or a compiled method of an instance.
        args, kwargs: the call's arguments.

    Raises:
        ArgumentTypeError: if the function is not compiled, or an argument cannot be a constant.
    """
    if isinstance(compiled, BoundCompiled):
        compiled = compiled.__func__
    if not isinstance(compiled, Compiled):
        raise ArgumentTypeError(
            f"explain: takes a compiled function, got {type(compiled).__name__}"
        )
    key, entry = compiled.lookup(args, kwargs)
    changes: tuple[Change, ...] = ()
    if entry is None:
        changes = _changes(compiled, key)
    return Explanation(
        function=compiled.__qualname__,
        hit=entry is not None,
        changes=changes,
        entries=compiled.cache_size,
        traces=compiled.traces,
        program={} if entry is None else _figures(entry),
    )


def _changes(compiled: Compiled, key: Key) -> tuple[Change, ...]:
    """The shortest list of differences from any entry; the most recently used first."""
    now = canonical.fields(key[1:], compiled.parameters)
    now[("configuration",)] = repr(key[0])
    best: tuple[Change, ...] = ()
    for entry in sorted(compiled.table.entries(), key=lambda one: -one.used)[:_COMPARED]:
        before = canonical.fields(entry.key[1:], compiled.parameters)
        before[("configuration",)] = repr(entry.key[0])
        found = _difference(before, now)
        if not best or len(found) < len(best):
            best = found
    return best


_COMPARED = 256
"""Entries that a miss is compared with: the most recently used."""


def _difference(before: dict[Path, str], now: dict[Path, str]) -> tuple[Change, ...]:
    return tuple(
        Change("".join(path), before.get(path), now.get(path))
        for path in dict.fromkeys((*now, *before))
        if before.get(path) != now.get(path)
    )


def _figures(entry: Entry) -> dict[str, int]:
    details = entry.details
    figures = {
        "operations": details.operations,
        "operands": details.operands,
        "outputs": details.outputs,
        "arrays by closure": details.hidden,
    }
    artifact = getattr(details.executable, "artifact", None)
    if artifact is not None:
        figures["kernels"] = len({launch.kernel for launch in artifact.launches})
        figures["launches"] = len(artifact.launches)
        figures["workspace bytes"] = artifact.workspace
    return figures
