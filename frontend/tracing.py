"""Tracing: a function called on arrays without values, and the program of what it did."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects.program import Program
from . import graph, tree
from .array import Array, wrap
from .captures import Captures, Observer, Outline, Saved, Update, put
from .evaluate import evaluate
from .graph import Node, Trace, current
from .sharing import FunctionTrace, StateChanged, claim, release

Build = Callable[[list[Array]], Any]
"""Makes a function's result from the arrays of one call."""


def first(arrays: list[Array]) -> Array:
    """The build of a function that returns one array."""
    return arrays[0]


class Outputs:
    """The arrays that a traced function hands out, each handle once.

    Attributes:
        arrays: the handles, by number.
        nodes: their values when they were handed out.
    """

    def __init__(self, instance: Callable[[], Any] | None) -> None:
        self.arrays: list[Array] = []
        self.nodes: list[Node] = []
        self._numbers: dict[int, int] = {}
        self._instance = instance

    def number(self, array: Array) -> int:
        """The number of an array; a new one for a handle not seen before."""
        number = self._numbers.setdefault(id(array), len(self.arrays))
        if number == len(self.arrays):
            self.arrays.append(array)
            self.nodes.append(array.node)
        return number

    def result(self, value: Any) -> Build:
        """How each call makes its result like the one the traced function returned."""
        build = self.builder(value)
        if type(value) in (tuple, list) and _are_same(self.arrays, value):
            return type(value)
        return build

    def builder(self, value: Any) -> Build:
        """How each call makes a part of its result."""
        if isinstance(value, Array):
            number = self.number(value)
            return first if number == 0 else lambda arrays: arrays[number]
        taken = tree.parts(value)
        if taken is None:
            instance = self._instance
            if instance is not None and instance() is value:
                return lambda _: instance()  # not kept alive by its own entries
            return lambda _: value
        builders = [self.builder(child) for child in taken.children]
        rebuild = taken.rebuild
        if type(value) is dict:  # results keep the function's order
            places = {key: i for i, key in enumerate(taken.keys)}
            items = [(key, builders[places[key]]) for key in value]
            return lambda arrays: {key: build(arrays) for key, build in items}
        return lambda arrays: rebuild([build(arrays) for build in builders])


def _are_same(arrays: Sequence[Array], values: Sequence[Any]) -> bool:
    return len(arrays) == len(values) and all(map(operator.is_, arrays, values))


@dataclass(slots=True)
class Traced:
    """What tracing a function gave.

    Attributes:
        program: what it computes, from the arguments' arrays, the captured ones, and the hidden.
        hidden: the nodes of arrays reached by closure, which are the program's last inputs.
        build: makes the result from the first ``results`` outputs.
        results: how many outputs that are; captured containers take the others.
        update: what happens to captured containers; None without captures.
        replaced: ``(input, container, key)`` of captured arrays that the update replaces.
    """

    program: Program
    hidden: list[Node]
    build: Build
    results: int
    update: Update | None
    replaced: list[tuple[int, int, Any]]


@dataclass(slots=True)
class State:
    """The captured containers of a call.

    Attributes:
        captures: the containers.
        is_unchanged: says whether they still are what the call's key says.
    """

    captures: Captures
    is_unchanged: Callable[[], bool]


def trace(
    function: Callable[..., Any],
    name: str,
    positional: Sequence[Any],
    keywords: dict[str, Any],
    state: State | None = None,
    instance: Callable[[], Any] | None = None,
) -> Traced:
    """Calls a function on traced arrays and records what it does.

    Args:
        function: the function.
        name: what to call it in messages.
        positional, keywords: its arguments; every array in them is replaced by a traced one.
        state: containers whose arrays are replaced likewise, and put back afterwards.
        instance: gives the object a method is bound to, which a result must not keep alive.

    Whatever the function raises is raised here, with the captured containers as they were;
    StateChanged if these are not what the caller's key says.
    """
    this = FunctionTrace(name)
    inputs: list[Node] = []
    outputs = Outputs(instance)
    outer = current.trace
    current.trace = this
    try:

        def traced(leaf: Any) -> Any:
            if not isinstance(leaf, Array):
                return leaf
            node = Node(None, (), (), leaf.node.shape, leaf.node.dtype)
            inputs.append(node)
            return wrap(node)

        arguments = [tree.map_leaves(traced, value) for value in positional]
        named = {key: tree.map_leaves(traced, keywords[key]) for key in sorted(keywords)}
        if state is None:
            build = outputs.result(function(*arguments, **named))
            count, update, replaced = len(outputs.arrays), None, []
        else:
            given = len(inputs)
            build, count, update, places = _with_captures(
                lambda: function(*arguments, **named), state, this, traced, outputs
            )
            replaced = [(given + number, holder, key) for number, holder, key in places]
    finally:
        current.trace = outer
        this.finished = True
        this.done.set()
    hidden = outside_nodes(outputs.nodes, this)
    evaluate([node for node in hidden if node.buffer is None])
    return Traced(
        graph.record(inputs + hidden, outputs.nodes), hidden, build, count, update, replaced
    )


def _with_captures(
    call: Callable[[], Any],
    state: State,
    this: FunctionTrace,
    traced: Callable[[Any], Any],
    outputs: Outputs,
) -> tuple[Build, int, Update, list[tuple[int, int, Any]]]:
    holders = Outline(state.captures).holders
    claim(holders, this)
    saved: Saved | None = None
    replaced: list[Array] = []
    try:
        outline = Outline(state.captures)
        same = list(map(id, holders)) == list(map(id, outline.holders))
        if not same or not state.is_unchanged():
            raise StateChanged
        saved = Saved(outline.holders)
        for place in outline.places:
            array = place.holder[place.key]
            replaced.append(array)
            put(place, traced(array))
        observer = Observer(outline, outputs.number)
        build = outputs.result(call())
        count = len(outputs.arrays)
        update = observer.update()
    except BaseException:
        if saved is not None:
            saved.restore()
        raise
    else:
        saved.restore(replaced)
    finally:
        release(holders)
    places = {(id(place.holder), place.key): i for i, place in enumerate(outline.places)}
    inputs = [(places.get((id(outline.holders[h]), k)), h, k) for h, k, _ in update.arrays]
    return build, count, update, [(i, h, k) for i, h, k in inputs if i is not None]


def outside_nodes(results: Sequence[Node], this: Trace) -> list[Node]:
    """The nodes that results need and a trace did not make: data, and work of others."""
    found: list[Node] = []
    seen: set[int] = set()
    stack = list(results)
    while stack:
        node = stack.pop()
        identity = id(node)
        if identity in seen:
            continue
        seen.add(identity)
        if node.buffer is not None or node.trace is not this:
            found.append(node)
        else:
            stack.extend(node.inputs)
    return found
