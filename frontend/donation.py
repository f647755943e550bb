"""Donation: arguments whose memory the outputs of a compiled call may take over."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from ..dialects.dtypes import BY_NAME as DTYPES
from ..errors import ArgumentError, DonatedArrayError
from ..runtime.buffer import Buffer
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

    def numbers(self, positional: tuple[Any, ...], keywords: dict[str, Any]) -> list[int]:
        """The numbers of the donated arrays among those of the arguments, keywords sorted."""
        donated = {id(array) for array in self.arrays(positional, keywords)}
        values = [*positional, *(keywords[name] for name in sorted(keywords))]
        arrays = [
            leaf for value in values for leaf in tree.leaves(value) if isinstance(leaf, Array)
        ]
        return [number for number, array in enumerate(arrays) if id(array) in donated]

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


SMALLEST = 64 * 1024
"""Bytes of memory that are worth the question whether anybody else holds them."""


class Donors:
    """Inputs of a program that may give their memory to its outputs, if nobody else holds it.

    Attributes:
        arguments: the numbers of donated arguments' arrays among the inputs.
        state: ``(number, container, key)`` of captured arrays that every call replaces.
    """

    __slots__ = ("_function", "arguments", "state")

    def __init__(
        self, function: str, arguments: list[int], state: list[tuple[int, int, Any]]
    ) -> None:
        self._function = function
        self.arguments = arguments
        self.state = state

    def run(
        self,
        run: Callable[..., Sequence[Buffer]],
        nodes: list[Node],
        buffers: list[Buffer],
        holders: list[Any] | None,
    ) -> Sequence[Buffer]:
        """Runs a program and gives it the memory that only this call holds."""
        taken: list[int] = []
        for number, holder, key in self.state:
            if holders is not None and _references(holders[holder], key) <= _UNSHARED:
                self._take(number, nodes, buffers, taken)
        for number in self.arguments:
            self._take(number, nodes, buffers, taken)
        try:
            return run(buffers, taken)
        except BaseException:
            for number in taken:
                if hasattr(buffers[number], "address"):
                    nodes[number].buffer = buffers[number]
            raise

    def _take(
        self, number: int, nodes: list[Node], buffers: list[Buffer], taken: list[int]
    ) -> None:
        """Takes a buffer off its node if the array's handle and the lists alone hold the two."""
        if number in taken or _references(nodes, number) > _UNSHARED + 1:
            return
        # Other threads that reach the node from now on find that its memory is gone.
        nodes[number].buffer = cast("Any", DonatedBuffer(self._function))
        if _references(buffers, number) <= _UNSHARED:
            taken.append(number)
        else:
            nodes[number].buffer = buffers[number]


def donors_of(
    artifact: Any, function: str, arguments: list[int], state: list[tuple[int, int, Any]]
) -> Donors | None:
    """The inputs of an artifact that outputs can take over; None if there are none of size."""
    if artifact is None:
        return None
    useful = {
        number
        for output in artifact.outputs
        for number in output.donated
        if math.prod(output.shape) * DTYPES[output.dtype].size >= SMALLEST
    }
    arguments = [number for number in arguments if number in useful]
    state = [one for one in state if one[0] in useful]
    return Donors(function, arguments, state) if arguments or state else None


def _references(container: Any, key: Any) -> int:
    return sys.getrefcount(container[key])


_UNSHARED = _references([object()], 0)
"""How many references Python counts on what only a container refers to."""
