"""An order of groups in which producers come first, kept up to date while groups merge."""

from __future__ import annotations

from collections.abc import Callable, Iterable

GAP = 1 << 64
"""The distance between the labels of neighbours that were never moved."""


class DependencyOrder:
    """A list of numbers; each has a label that grows along it.

    This is the dynamic topological order of D. J. Pearce and P. H. J. Kelly, "A dynamic
    topological sort algorithm for directed acyclic graphs", 2007, with contraction of two nodes in
    place of the insertion of an edge: only what lies between the two is looked at.
    """

    def __init__(self) -> None:
        self._labels: list[int] = []
        self._before: list[int | None] = []
        self._after: list[int | None] = []
        self._last: int | None = None

    def append(self) -> None:
        """Adds the next number at the end; what it depends on is in the list already."""
        number = len(self._labels)
        last = self._last
        self._labels.append(GAP if last is None else self._labels[last] + GAP)
        self._before.append(last)
        self._after.append(None)
        if last is not None:
            self._after[last] = number
        self._last = number

    def between(
        self, a: int, b: int, producers_of: Callable[[int], Iterable[int]], limit: int
    ) -> list[int] | None:
        """What the later of two depends on and comes after the earlier; in order.

        None if some of it depends on the earlier one, so that the two merged would depend on
        themselves, or if it is more than ``limit``.
        """
        labels = self._labels
        earlier, later = (a, b) if labels[a] < labels[b] else (b, a)
        first = labels[earlier]
        found: set[int] = set()
        stack = [each for each in producers_of(later) if labels[each] > first]
        while stack:
            number = stack.pop()
            if number in found:
                continue
            found.add(number)
            if len(found) > limit:
                return None
            for producer in producers_of(number):
                if producer == earlier:
                    return None
                if labels[producer] > first:
                    stack.append(producer)
        return sorted(found, key=labels.__getitem__)

    def merge(self, kept: int, gone: int, between: list[int]) -> None:
        """Puts ``kept`` where the earlier of the two stands, after what lies between them."""
        labels = self._labels
        earlier = kept if labels[kept] < labels[gone] else gone
        for number in between:
            self._move(number, earlier)
        if earlier is gone:
            self._move(kept, gone)
        self._unlink(gone)

    def _move(self, number: int, anchor: int) -> None:
        """Moves a number to just before another."""
        self._unlink(number)
        before = self._before[anchor]
        self._before[number], self._after[number] = before, anchor
        self._before[anchor] = number
        if before is not None:
            self._after[before] = number
        low = 0 if before is None else self._labels[before]
        self._labels[number] = (low + self._labels[anchor]) // 2
        if self._labels[number] == low:
            self._renumber()

    def _unlink(self, number: int) -> None:
        before, after = self._before[number], self._after[number]
        if before is not None:
            self._after[before] = after
        if after is not None:
            self._before[after] = before
        else:
            self._last = before

    def _renumber(self) -> None:
        """Spreads the labels evenly again."""
        order: list[int] = []
        number = self._last
        while number is not None:
            order.append(number)
            number = self._before[number]
        for position, each in enumerate(reversed(order), start=1):
            self._labels[each] = position * GAP
