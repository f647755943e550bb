"""Captured containers: state that a compiled function reads and writes behind its arguments.

``inputs=`` and ``outputs=`` name lists and dictionaries (and tuples of these). Their arrays are
operands of the compiled function; while it is traced they are replaced by traced arrays, afterwards
the containers are put back as they were, and what the function did to them becomes an
:class:`Update` that each call applies in place, by path.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import ArgumentTypeError
from . import tree
from .array import Array
from .canonical import ALIAS, HOLDER, OPAQUE
from .graph import Node
from .keys import CAPTURED, Tokens, constant_token, is_hashable, key_tokens, scan

Holder = Any
"""A captured list or dictionary, or an instance of a subclass."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), enum.Enum)


def resolved(value: Any) -> Any:
    """The container that an object stands for at the time of the call.

    An object with a method ``__lamina_state__`` stands for the list or dictionary it returns.
    """
    method = getattr(type(value), "__lamina_state__", None)
    return value if method is None else method(value)


def check(name: str, value: Any) -> None:
    """Raises ArgumentTypeError if captured containers cannot be updated in place.

    Args:
        name: ``"inputs"`` or ``"outputs"``.
        value: what the user passed; None captures nothing.
    """
    if value is None:
        return
    if not isinstance(resolved(value), (list, dict, tuple)):
        raise ArgumentTypeError(
            f"compile: {name}= takes lists, dictionaries and tuples of these, "
            f"got {type(value).__name__}"
        )
    _check(f"{name}=", value, set())


def _check(path: str, value: Any, above: set[int]) -> None:
    value = resolved(value)
    if id(value) in above:
        return
    above = above | {id(value)}
    if isinstance(value, dict):
        keys, children = list(value), list(value.values())
    elif isinstance(value, (list, tuple)):
        keys, children = list(range(len(value))), list(value)
    else:
        return
    for step, child in zip(tree.child_steps(value, keys), children, strict=True):
        if isinstance(value, tuple) and isinstance(child, Array):
            raise _tuple_error(path + step)
        _check(path + step, child, above)


def _tuple_error(path: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"compile: the array at {path} lies in a tuple, which cannot be updated in place; "
        "put it into a list or a dictionary"
    )


class _ArrayInTuple(ArgumentTypeError):
    """An array in a captured tuple, which cannot be updated in place; the place is not known."""


class Captures:
    """The containers of one compiled function.

    Attributes:
        inputs: whose arrays are operands; None if there are none.
        outputs: which are updated after each call; None if there are none.
    """

    __slots__ = ("_outputs_only", "inputs", "outputs")

    def __init__(self, inputs: Any, outputs: Any) -> None:
        check("inputs", inputs)
        check("outputs", outputs)
        self.inputs = inputs
        self.outputs = outputs
        self._outputs_only = outputs is not None and outputs is not inputs

    def scan(self, tokens: Tokens, nodes: list[Node]) -> list[Holder]:
        """Appends the raw tokens and the nodes of the captured arrays; returns the containers."""
        holders: list[Holder] = []
        seen: dict[int, int] = {}
        tokens.append(CAPTURED)
        if self.inputs is None:
            tokens += (type(None), None)
        else:
            try:
                _scan(self.inputs, tokens, nodes, holders, seen)
            except _ArrayInTuple:
                check("inputs", self.inputs)
                raise
        if self._outputs_only:
            _scan(self.outputs, tokens, None, holders, seen)
        return holders

    def are_in(self, key: tuple[Any, ...]) -> bool:
        """True if this is what a raw key says of the containers."""
        tokens: Tokens = []
        self.scan(tokens, [])
        return tuple(tokens) == key[-len(tokens) :]

    def problem(self) -> ArgumentTypeError | None:
        """The error that names the first leaf that cannot be a part of a key."""
        for name in ("inputs", "outputs"):
            problem = _unhashable(f"{name}=", getattr(self, name), set())
            if problem is not None:
                return problem
        return None


def _scan(
    value: Any,
    tokens: Tokens,
    nodes: list[Node] | None,
    holders: list[Holder],
    seen: dict[int, int],
) -> None:
    """Appends what a container holds; without nodes, arrays count as arrays only."""
    kind = type(value)
    if kind is not dict and kind is not list:
        value = resolved(value)
        kind = type(value)
    if isinstance(value, tuple):
        tokens += (kind, len(value))
        for child in value:
            if isinstance(child, Array) and nodes is not None:
                raise _ArrayInTuple("an array in a captured tuple")
            _scan_child(child, tokens, nodes, holders, seen)
        return
    if not isinstance(value, (dict, list)):
        tokens += (kind, constant_token(value))
        return
    identity = id(value)
    if identity in seen:
        tokens += (ALIAS, seen[identity])
        return
    seen[identity] = len(holders)
    holders.append(value)
    attributes = () if kind is dict or kind is list else _attributes(value)
    if isinstance(value, dict):
        tokens += (HOLDER, attributes, kind, key_tokens(value))
        children: Any = value.values()
    else:
        tokens += (HOLDER, attributes, kind, len(value))
        children = value
    for child in children:
        if type(child) is Array and nodes is not None:
            node = child.node
            tokens += (node.dtype, node.shape)
            nodes.append(node)
        else:
            _scan_child(child, tokens, nodes, holders, seen)


def _scan_child(
    child: Any,
    tokens: Tokens,
    nodes: list[Node] | None,
    holders: list[Holder],
    seen: dict[int, int],
) -> None:
    if isinstance(child, Array):
        if nodes is None:
            tokens.append(OPAQUE)
        else:
            tokens += (child.node.dtype, child.node.shape)
            nodes.append(child.node)
    elif type(child) in _SIMPLE:
        scan(child, tokens, _NO_NODES)
    else:
        _scan(child, tokens, nodes, holders, seen)


_SIMPLE = frozenset((int, bool, float, str, type(None)))
_NO_NODES: list[Node] = []


def _attributes(value: Any) -> tuple[tuple[str, type, Any], ...]:
    """The plain attributes of a container, such as a module's mode."""
    found = getattr(value, "__dict__", None)
    if not found:
        return ()
    return tuple(
        [
            (name, type(found[name]), constant_token(found[name]))
            for name in sorted(found)
            if isinstance(found[name], _PLAIN)
        ]
    )


def _unhashable(path: str, value: Any, above: set[int]) -> ArgumentTypeError | None:
    value = resolved(value)
    if id(value) in above or isinstance(value, Array):
        return None
    if not isinstance(value, (dict, list, tuple)):
        if is_hashable(constant_token(value)):
            return None
        return ArgumentTypeError(
            f"{path}: a {type(value).__qualname__} is not hashable and cannot be a constant of a "
            "compiled function"
        )
    above = above | {id(value)}
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        problem = _unhashable(f"{path}[{key!r}]", value[key], above)
        if problem is not None:
            return problem
    return None


# Tracing: the containers before, while, and after the function runs


class Place(NamedTuple):
    """Where an array is held: a container and the key or position there."""

    holder: Holder
    key: Any


class Saved:
    """The contents of containers, to be put back."""

    __slots__ = ("_contents", "_nodes")

    def __init__(self, holders: list[Holder]) -> None:
        self._contents = [(holder, _content(holder), _own_attributes(holder)) for holder in holders]
        self._nodes = {
            id(array): (array, array.node)
            for _, content, _ in self._contents
            for array in _arrays(content)
        }

    def restore(self, replaced: Sequence[Array] = ()) -> None:
        """Puts the containers back as they were, their arrays and attributes included.

        Args:
            replaced: arrays whose values stay as they are, since the function was given others in
                their place: if it changed these, it reached them some other way.
        """
        for array in replaced:
            self._nodes.pop(id(array), None)
        for array, node in self._nodes.values():
            array.node = node
        for holder, content, attributes in self._contents:
            _refill(holder, content)
            if attributes is not None:
                holder.__dict__.clear()
                holder.__dict__.update(attributes)


def _arrays(content: Any) -> list[Array]:
    children = content.values() if isinstance(content, dict) else content
    return [child for child in children if isinstance(child, Array)]


def held_arrays(holder: Holder) -> list[Array]:
    """The arrays that a container itself holds."""
    return _arrays(_content(holder))


def _content(holder: Holder) -> Any:
    return dict(holder.items()) if isinstance(holder, dict) else list(holder)


def _own_attributes(holder: Holder) -> dict[str, Any] | None:
    found = getattr(holder, "__dict__", None)
    return dict(found) if isinstance(found, dict) else None


def _refill(holder: Holder, content: Any) -> None:
    """Gives a container this content; subclasses' own methods are not called."""
    if isinstance(holder, list):
        list.__setitem__(holder, slice(None), content)
        return
    base = OrderedDict if isinstance(holder, OrderedDict) else dict
    base.clear(holder)
    base.update(holder, content)


def put(place: Place, value: Any) -> None:
    """Puts a value into a container without calling a subclass's own methods."""
    holder, key = place
    base: Any = list if isinstance(holder, list) else dict
    if isinstance(holder, OrderedDict):
        base = OrderedDict
    base.__setitem__(holder, key, value)


class Outline:
    """The captured containers in canonical order, as they are when a trace starts.

    Attributes:
        holders: the containers that are updated in place, each once.
        places: where the arrays that are operands are, in the order of the canonical key.
        inputs: how many of the containers are captured as inputs; they come first.
        outputs: the numbers of those containers that are updated after each call.
    """

    __slots__ = ("holders", "inputs", "outputs", "places")

    def __init__(self, captures: Captures) -> None:
        self.holders: list[Holder] = []
        self.places: list[Place] = []
        seen: dict[int, int] = {}
        if captures.inputs is not None:
            self._walk(captures.inputs, seen, self.places)
        self.inputs = len(self.holders)
        self._walk(captures.outputs, seen, None)
        updated: dict[int, None] = {}
        self._collect(captures.outputs, seen, updated)
        self.outputs = list(updated)

    def _walk(self, value: Any, seen: dict[int, int], places: list[Place] | None) -> None:
        value = resolved(value)
        if not isinstance(value, (dict, list, tuple)) or id(value) in seen:
            return
        if not isinstance(value, tuple):
            seen[id(value)] = len(self.holders)
            self.holders.append(value)
        for key in _keys(value):
            child = value[key]
            if isinstance(child, Array):
                if places is not None:
                    places.append(Place(value, key))
            else:
                self._walk(child, seen, places)

    def _collect(self, value: Any, seen: dict[int, int], updated: dict[int, None]) -> None:
        value = resolved(value)
        if not isinstance(value, (dict, list, tuple)):
            return
        if not isinstance(value, tuple):
            number = seen[id(value)]
            if number in updated:
                return
            updated[number] = None
        for key in _keys(value):
            self._collect(value[key], seen, updated)


def _keys(container: Any) -> Any:
    if not isinstance(container, dict):
        return range(len(container))
    return list(container) if isinstance(container, OrderedDict) else tree.ordered(container)


Maker = Callable[[list[Holder], list[Array]], Any]
"""Makes a value of a container anew, from the call's containers and its outputs."""


@dataclass(slots=True)
class Update:
    """What a call does to its captured containers.

    Attributes:
        arrays: ``(container, key, output)`` of arrays that take the place of another.
        changes: what else happens to containers, in order: each takes the containers and outputs.
    """

    arrays: list[tuple[int, Any, int]]
    changes: list[Callable[[list[Holder], list[Array]], None]]

    def apply(self, holders: list[Holder], outputs: list[Array]) -> None:
        """Updates the containers of a call with its outputs."""
        for change in self.changes:
            change(holders, outputs)
        for holder, key, output in self.arrays:
            holders[holder][key] = outputs[output]


class Observer:
    """Sees what a traced function does to captured containers.

    It is made when the traced arrays are in place and asked when the function has returned.
    """

    def __init__(self, outline: Outline, output: Callable[[Array], int]) -> None:
        """Takes the containers, and what gives an array's number among the call's outputs."""
        self._outline = outline
        self._output = output
        self._is_input = False
        self._numbers = {id(holder): i for i, holder in enumerate(outline.holders)}
        self._before = {i: _content(outline.holders[i]) for i in outline.outputs}
        self._attributes = {i: _own_attributes(outline.holders[i]) for i in outline.outputs}
        self._nodes = {
            id(array): array.node for content in self._before.values() for array in _arrays(content)
        }

    def update(self) -> Update:
        """What the function did, so that every call can do it again.

        Raises ArgumentTypeError for arrays in new tuples, which later calls could not update.
        """
        update = Update([], [])
        for number, before in self._before.items():
            holder = self._outline.holders[number]
            self._is_input = number < self._outline.inputs
            if isinstance(holder, dict):
                self._dict_update(number, before, holder, update)
            else:
                self._list_update(number, before, holder, update)
            self._attribute_update(number, holder, update)
        return update

    def _is_kept(self, before: Any, now: Any) -> bool:
        """True for the object that was there before, if it is an array with its old value."""
        if now is not before:
            return False
        return not isinstance(now, Array) or self._nodes[id(now)] is now.node

    def _dict_update(
        self, number: int, before: dict[Any, Any], holder: dict[Any, Any], update: Update
    ) -> None:
        kept = [key for key in before if key in holder]
        if list(holder)[: len(kept)] != kept:
            kept = []  # keys were taken out and put in again: the order is made anew
        removed = [key for key in before if key not in kept]
        if removed:
            update.changes.append(_remover(number, removed))
        in_place = set(kept)
        for key, value in holder.items():
            if key in in_place and self._is_kept(before[key], value):
                continue
            if key in in_place and isinstance(value, Array):
                update.arrays.append((number, key, self._output(value)))
            else:
                update.changes.append(_setter(number, key, self._maker(value)))

    def _list_update(
        self, number: int, before: list[Any], holder: list[Any], update: Update
    ) -> None:
        if len(before) != len(holder):
            update.changes.append(_filler(number, [self._maker(value) for value in holder]))
            return
        for i, value in enumerate(holder):
            if self._is_kept(before[i], value):
                continue
            if isinstance(value, Array):
                update.arrays.append((number, i, self._output(value)))
            else:
                update.changes.append(_setter(number, i, self._maker(value)))

    def _attribute_update(self, number: int, holder: Holder, update: Update) -> None:
        before = self._attributes[number]
        if before is None:
            return
        now = holder.__dict__
        changed = {
            name: value
            for name, value in now.items()
            if name not in before or before[name] is not value
        }
        removed = [name for name in before if name not in now]
        if changed or removed:
            makers = {name: self._maker(value) for name, value in changed.items()}
            update.changes.append(_attribute_setter(number, makers, removed))

    def _maker(self, value: Any) -> Maker:
        """How a call makes a value that the function put into a container."""
        if isinstance(value, Array):
            output = self._output(value)
            return lambda _, outputs: outputs[output]
        number = self._numbers.get(id(value))
        if number is not None:
            return lambda holders, _: holders[number]
        taken = tree.parts(value)
        if taken is None:
            return lambda _, __: value
        if self._is_input and isinstance(value, tuple) and _arrays(value):
            raise _tuple_error("a new place in a captured container")
        makers = [self._maker(child) for child in taken.children]
        rebuild = taken.rebuild
        return lambda holders, outputs: rebuild([make(holders, outputs) for make in makers])


def _remover(number: int, keys: list[Any]) -> Callable[[list[Holder], list[Array]], None]:
    def remove(holders: list[Holder], _: list[Array]) -> None:
        for key in keys:
            holders[number].pop(key, None)

    return remove


def _setter(number: int, key: Any, maker: Maker) -> Callable[[list[Holder], list[Array]], None]:
    def set_(holders: list[Holder], outputs: list[Array]) -> None:
        holders[number][key] = maker(holders, outputs)

    return set_


def _filler(number: int, makers: list[Maker]) -> Callable[[list[Holder], list[Array]], None]:
    def fill(holders: list[Holder], outputs: list[Array]) -> None:
        _refill(holders[number], [make(holders, outputs) for make in makers])

    return fill


def _attribute_setter(
    number: int, makers: dict[str, Maker], removed: list[str]
) -> Callable[[list[Holder], list[Array]], None]:
    def set_attributes(holders: list[Holder], outputs: list[Array]) -> None:
        attributes = holders[number].__dict__
        for name in removed:
            attributes.pop(name, None)
        for name, maker in makers.items():
            attributes[name] = maker(holders, outputs)

    return set_attributes
