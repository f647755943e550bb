"""Donation: arguments whose memory the outputs of a compiled call may take over."""

from __future__ import annotations

import inspect
from typing import Any, cast

from ..errors import ArgumentError, DonatedArrayError
from . import graph, tree
from .array import Array
from .graph import Node


class DonatedBuffer:
    """Stands where the buffer of a donated array was: to use it is an error."""

    __slots__ = ("_function",)

    def __init__(self, function: str) -> None:
        self._function = function

    def __getattr__(self, name: str) -> Any:
        raise DonatedArrayError(
            f"an array was used after a call had taken over its memory{graph.user_line()}: it was "
            f"an argument that compile(..., donate=) names for {self._function}; use the call's "
            "result, or pass a copy"
        )


class Donation:
    """Which arguments of a function are donated."""

    __slots__ = ("_keywords", "_positions", "_rest_from")

    def __init__(self, signature: inspect.Signature | None, donate: tuple[str | int, ...]) -> None:
        """Takes names and positions; raises ArgumentError for one that the function lacks."""
        self._positions: set[int] = set()
        self._keywords: set[str] = set()
        self._rest_from: int | None = None
        parameters = [] if signature is None else list(signature.parameters.values())
        for one in donate:
            self._add(one, parameters)

    def _add(self, one: str | int, parameters: list[inspect.Parameter]) -> None:
        kind = inspect.Parameter
        positional = [
            p.name
            for p in parameters
            if p.kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD)
        ]
        rest = [p.name for p in parameters if p.kind is kind.VAR_POSITIONAL]
        others = [p.name for p in parameters if p.kind is kind.KEYWORD_ONLY]
        takes_any_name = any(p.kind is kind.VAR_KEYWORD for p in parameters)
        if isinstance(one, int) and not isinstance(one, bool):
            if one < 0 or (one >= len(positional) and not rest and parameters):
                raise ArgumentError(f"compile: donate= names position {one}, which does not exist")
            self._positions.add(one)
            self._keywords.update(positional[one : one + 1])
        elif one in rest:
            self._rest_from = len(positional)
        elif one in positional or one in others or takes_any_name or not parameters:
            self._keywords.add(str(one))
            if one in positional:
                self._positions.add(positional.index(str(one)))
        else:
            raise ArgumentError(f"compile: donate= names {one!r}, which is not a parameter")

    def arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        """The donated arrays of a call."""
        rest = len(args) if self._rest_from is None else self._rest_from
        values = [value for i, value in enumerate(args) if i in self._positions or i >= rest]
        values += [value for name, value in kwargs.items() if name in self._keywords]
        return [leaf for value in values for leaf in tree.leaves(value) if isinstance(leaf, Array)]


def mark(arrays: list[Array], function: str) -> None:
    """Makes any further use of donated arrays an error that names the function."""
    for array in arrays:
        node = array.node
        array.node = Node(
            None, (), (), node.shape, node.dtype, cast("Any", DonatedBuffer(function))
        )
