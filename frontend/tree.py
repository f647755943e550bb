"""Trees: containers that functions take and return, seen as their leaves.

Lists, tuples, named tuples, dictionaries, subclasses of these, and registered types are containers;
anything else is a leaf, ``None`` included. Dictionaries are walked in one order of their keys,
whatever the order they were filled in; an ``OrderedDict`` keeps its own.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..errors import ArgumentError, ArgumentTypeError

Path = tuple[str, ...]
"""Steps from the root to a part, each as Python would write it: ``("[0]", "['w']")``."""


class Registration(NamedTuple):
    """How a registered type is taken apart and put together again."""

    flatten: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten: Callable[[Any, Sequence[Any]], Any]


REGISTERED: dict[type, Registration] = {}
"""The registered container types; subclasses register themselves."""


def register_pytree_node(
    node_type: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, Sequence[Any]], Any],
) -> None:
    """Makes instances of a type containers for ``compile`` and the transforms.

    Args:
        node_type: the type; its subclasses are not included.
        flatten: takes an instance, returns its children and a hashable rest that
            says how to put them together.
        unflatten: takes that rest and as many children, returns an instance. Children may be any
            objects, so it should not look at them.

    Raises:
        ArgumentTypeError: if an argument is of the wrong kind.
        ArgumentError: if the type is registered already or is a built-in container.
    """
    if not isinstance(node_type, type) or not callable(flatten) or not callable(unflatten):
        raise ArgumentTypeError("register_pytree_node: takes a type and two functions")
    if node_type in REGISTERED or node_type in (list, tuple, dict):
        raise ArgumentError(
            f"register_pytree_node: {node_type.__qualname__} is a container already"
        )
    REGISTERED[node_type] = Registration(flatten, unflatten)


class Parts(NamedTuple):
    """A container taken apart.

    Attributes:
        keys: what tells a child from its siblings: positions, or a dictionary's keys.
        children: the children, in the order of the keys.
        rebuild: makes a container of the same kind from other children.
        rest: what a registered type returned beside its children.
    """

    keys: Sequence[Any]
    children: Sequence[Any]
    rebuild: Callable[[list[Any]], Any]
    rest: Any = None


def parts(value: Any) -> Parts | None:
    """The container taken apart, or None for a leaf."""
    kind = type(value)
    if kind in REGISTERED:
        return _registered_parts(value, REGISTERED[kind])
    if isinstance(value, dict):
        keys = list(value) if isinstance(value, OrderedDict) else ordered(value)
        return Parts(keys, [value[key] for key in keys], _dict_builder(value, keys))
    if isinstance(value, list):
        return Parts(range(len(value)), list(value), _list_builder(value))
    if isinstance(value, tuple):
        return Parts(range(len(value)), value, _tuple_builder(kind))
    return None


def _registered_parts(value: Any, registration: Registration) -> Parts:
    children, rest = registration.flatten(value)
    children = tuple(children)
    unflatten = registration.unflatten
    return Parts(
        range(len(children)), children, lambda replaced: unflatten(rest, tuple(replaced)), rest
    )


def _dict_builder(value: dict[Any, Any], keys: Sequence[Any]) -> Callable[[list[Any]], Any]:
    if type(value) is dict:
        return lambda children: dict(zip(keys, children, strict=True))
    empty = _emptied(value)

    def build(children: list[Any]) -> Any:
        result = copy.copy(empty)
        for key, child in zip(keys, children, strict=True):
            result[key] = child
        return result

    return build


def _list_builder(value: list[Any]) -> Callable[[list[Any]], Any]:
    if type(value) is list:
        return list
    empty = _emptied(value)

    def build(children: list[Any]) -> Any:
        result = copy.copy(empty)
        result.extend(children)
        return result

    return build


def _tuple_builder(kind: type) -> Callable[[list[Any]], Any]:
    if kind is tuple:
        return tuple
    return lambda children: tuple.__new__(kind, children)


def _emptied(value: Any) -> Any:
    """A copy of an instance of a list's or dictionary's subclass, with its attributes only."""
    empty = copy.copy(value)
    empty.clear()
    return empty


def ordered(mapping: dict[Any, Any]) -> list[Any]:
    """The keys of a dictionary in an order that does not depend on when they were inserted."""
    keys = list(mapping)
    if len(keys) < 2:
        return keys
    if all(type(key) is str for key in keys):
        keys.sort()
        return keys
    groups: dict[tuple[str, str], list[Any]] = {}
    for key in keys:
        kind = type(key)
        groups.setdefault((kind.__module__, kind.__qualname__), []).append(key)
    return [key for name in sorted(groups) for key in _sorted(groups[name])]


def _sorted(keys: list[Any]) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:
        return sorted(keys, key=repr)


def map_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    """The same containers, made anew, around what the function makes of each leaf."""
    taken = parts(value)
    if taken is None:
        return function(value)
    return taken.rebuild([map_leaves(function, child) for child in taken.children])


def leaves(value: Any) -> list[Any]:
    """The leaves, in order."""
    found: list[Any] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[Any]) -> None:
    taken = parts(value)
    if taken is None:
        found.append(value)
        return
    for child in taken.children:
        _collect(child, found)


def leaves_with_paths(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """The leaves with their paths, in order."""
    taken = parts(value)
    if taken is None:
        return [(path, value)]
    found: list[tuple[Path, Any]] = []
    steps = child_steps(value, taken.keys)
    for step, child in zip(steps, taken.children, strict=True):
        found.extend(leaves_with_paths(child, (*path, step)))
    return found


def child_steps(container: Any, keys: Sequence[Any]) -> list[str]:
    """The path steps of a container's children."""
    fields = getattr(type(container), "_fields", None)
    if isinstance(container, tuple) and isinstance(fields, tuple) and len(fields) == len(keys):
        return [f".{name}" for name in fields]
    return [f"[{key!r}]" for key in keys]
