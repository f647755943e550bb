"""What a worker needs of a library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..rows import Row, Values

Call = Callable[[], Any]
"""One call of a row, until its results are there."""


class NotOffered(Exception):
    """The library has no way to say this row."""


class Framework(Protocol):
    """A library under measurement."""

    def version(self) -> str:
        """The library's version."""
        ...

    def prepare(self, row: Row, inputs: Values) -> Call:
        """A call of the row on these inputs; raises NotOffered."""
        ...

    def results(self, result: Any) -> Values:
        """What a call returned, as NumPy arrays."""
        ...


def as_tuple(result: Any) -> tuple[Any, ...]:
    """One result or several, as a tuple."""
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)
