"""Keys of compiled calls: what a call's arguments and captures are, but for the arrays' values.

A key is a flat tuple of tokens that reads unambiguously from the left. An array is its dtype and
its shape; a container its type, what tells its children apart, and its children; any other leaf is
a constant: its type and a token that is equal for equal values only. A *raw* key follows the order
in which dictionaries were filled and keywords were written, and costs little; a *canonical* key,
made from it by :mod:`lamina.frontend.canonical`, does not depend on that order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError
from . import tree
from .array import Array
from .graph import Node

Tokens = list[Any]


class Marker:
    """A token that is neither a type nor a dtype, so it is told from where a value starts."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


KEYWORDS = Marker("keywords")
"""Precedes the names of the keyword arguments and their values."""
CAPTURED = Marker("captured")
"""Precedes the captured containers."""


def scan(value: Any, tokens: Tokens, nodes: list[Node]) -> None:
    """Appends the raw tokens of an argument, and the nodes of the arrays in it."""
    kind = type(value)
    if kind is Array:
        node = value.node
        tokens += (node.dtype, node.shape)
        nodes.append(node)
        return
    scanner = _SCANNERS.get(kind)
    if scanner is not None:
        scanner(value, tokens, nodes)
    else:
        _scan_other(value, tokens, nodes)


def _scan_exact(value: Any, tokens: Tokens, _: list[Node]) -> None:
    tokens += (type(value), value)


def _scan_float(value: float, tokens: Tokens, _: list[Node]) -> None:
    tokens += (float, _float_token(value))


def _scan_sequence(value: Any, tokens: Tokens, nodes: list[Node]) -> None:
    tokens += (type(value), len(value))
    for child in value:
        scan(child, tokens, nodes)


def _scan_dict(value: dict[Any, Any], tokens: Tokens, nodes: list[Node]) -> None:
    tokens += (type(value), key_tokens(value))
    for child in value.values():
        scan(child, tokens, nodes)


def key_tokens(mapping: dict[Any, Any]) -> tuple[Any, ...]:
    """A dictionary's keys; those that are not text with their type."""
    return tuple([key if type(key) is str else TypedKey(key) for key in mapping])


class TypedKey:
    """A dictionary's key that is equal to keys of its own type only."""

    __slots__ = ("_token", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._token = typed_token(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedKey) and self._token == other._token

    def __hash__(self) -> int:
        return hash(self._token)


_SCANNERS: dict[type, Callable[[Any, Tokens, list[Node]], None]] = {
    int: _scan_exact,
    bool: _scan_exact,
    str: _scan_exact,
    type(None): _scan_exact,
    float: _scan_float,
    list: _scan_sequence,
    tuple: _scan_sequence,
    dict: _scan_dict,
}


def _scan_other(value: Any, tokens: Tokens, nodes: list[Node]) -> None:
    kind = type(value)
    registration = tree.REGISTERED.get(kind)
    if registration is not None:
        children, rest = registration.flatten(value)
        children = tuple(children)
        tokens += (kind, typed_token(rest), len(children))
        for child in children:
            scan(child, tokens, nodes)
    elif isinstance(value, Array):
        tokens += (value.node.dtype, value.node.shape)
        nodes.append(value.node)
    elif isinstance(value, dict):
        _scan_dict(value, tokens, nodes)
    elif isinstance(value, (list, tuple)):
        _scan_sequence(value, tokens, nodes)
    else:
        tokens += (kind, constant_token(value))


def _float_token(value: float) -> float | str:
    """The value, or its text where equality is not sameness: for zeros and NaN."""
    return repr(value) if value == 0 or value != value else value


def constant_token(value: Any) -> Any:
    """A token of a leaf that is not an array; equal tokens of one type mean equal constants.

    The token of a value that cannot be hashed cannot be hashed either.
    """
    kind = type(value)
    if kind in (int, str, bool, type(None), bytes):
        return value
    maker = _TOKENS.get(kind)
    if maker is not None:
        return maker(value)
    if isinstance(value, np.generic):
        return (value.dtype.str, value.tobytes())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _dataclass_token(value)
    return value


def typed_token(value: Any) -> Any:
    """A token that tells the type as well: of a part of a constant."""
    return (type(value), constant_token(value))


def _tuple_token(value: tuple[Any, ...]) -> Any:
    return tuple([typed_token(item) for item in value])


def _dataclass_token(value: Any) -> Any:
    """Field by field, so that fields that are equal but of other types differ."""
    if not type(value).__dataclass_params__.eq or not is_hashable(value):
        return value
    token = tuple(
        [typed_token(getattr(value, f.name)) for f in dataclasses.fields(value) if f.compare]
    )
    return token if is_hashable(token) else value


def is_hashable(value: Any) -> bool:
    """True if hashing the value does not raise TypeError."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


_TOKENS: dict[type, Callable[[Any], Any]] = {
    float: _float_token,
    complex: lambda value: (_float_token(value.real), _float_token(value.imag)),
    tuple: _tuple_token,
    frozenset: lambda value: frozenset([typed_token(item) for item in value]),
    slice: lambda value: _tuple_token((value.start, value.stop, value.step)),
    range: lambda value: (value.start, value.stop, value.step),
}


def unhashable_leaf(name: str, value: Any) -> ArgumentTypeError | None:
    """The error that names the first leaf of an argument that cannot be a part of a key."""
    taken = tree.parts(value)
    if taken is None:
        if isinstance(value, Array) or is_hashable(constant_token(value)):
            return None
        kind = type(value)
        place = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
        hint = "; make an array of it with lamina.array" if isinstance(value, np.ndarray) else ""
        return ArgumentTypeError(
            f"{name}: a {place}{kind.__qualname__} is not hashable and cannot be a constant of a "
            f"compiled function{hint}"
        )
    if not is_hashable(typed_token(taken.rest)):
        kind = type(value).__qualname__
        return ArgumentTypeError(f"{name}: what flattening a {kind} left over is not hashable")
    for step, child in zip(tree.child_steps(value, taken.keys), taken.children, strict=True):
        problem = unhashable_leaf(name + step, child)
        if problem is not None:
            return problem
    return None
