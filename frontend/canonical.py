"""Canonical keys: raw keys without the order of dictionaries' keys and of keyword arguments.

Raw keys are read back into their parts; the parts are bound to the function's parameters, put in
order and written again. What is learned on the way is where each array of the raw order stands in
the canonical one.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..dialects.dtypes import DType
from . import tree
from .keys import CAPTURED, KEYWORDS, Marker, TypedKey
from .tree import Path

HOLDER = Marker("holder")
"""Precedes a captured container that is updated in place, and its plain attributes."""
ALIAS = Marker("alias")
"""Precedes the number of a captured container that occurred before."""
OPAQUE = Marker("array")
"""An array in a container that is captured as an output only."""


@dataclass(slots=True, eq=False)
class Part:
    """A value as a key describes it.

    Attributes:
        head: the tokens before the children, but for a dictionary's keys.
        keys: a dictionary's keys, in the order of its children.
        children: the children of a container.
        slot: an array's number among those of the call.
        holder: a captured container's number.
        original: of an alias, the container it stands for.
    """

    head: tuple[Any, ...]
    keys: tuple[Any, ...] | None = None
    children: list[Part] = field(default_factory=list)
    slot: int | None = None
    holder: int | None = None
    original: Part | None = None


@dataclass(slots=True)
class Call:
    """A call as a key describes it."""

    positional: list[Part]
    keywords: dict[str, Part]
    captured: list[Part]


class _Reader:
    """Reads a key from the left."""

    def __init__(self, key: Sequence[Any]) -> None:
        self._key = key
        self._place = 0
        self._slots = 0
        self._holders: list[Part] = []

    def call(self) -> Call:
        positional: list[Part] = []
        keywords: dict[str, Part] = {}
        captured: list[Part] = []
        while self._more() and not isinstance(self._peek(), Marker):
            positional.append(self._part())
        if self._more() and self._peek() is KEYWORDS:
            self._next()
            for name in self._next():
                keywords[name] = self._part()
        if self._more():
            self._next()
            while self._more():
                captured.append(self._part())
        return Call(positional, keywords, captured)

    def _more(self) -> bool:
        return self._place < len(self._key)

    def _peek(self) -> Any:
        return self._key[self._place]

    def _next(self) -> Any:
        token = self._key[self._place]
        self._place += 1
        return token

    def _part(self) -> Part:
        token = self._next()
        if isinstance(token, DType):
            part = Part((token, self._next()), slot=self._slots)
            self._slots += 1
            return part
        if token is OPAQUE:
            return Part((token,))
        if token is ALIAS:
            return Part((), original=self._holders[self._next()])
        if token is HOLDER:
            part = Part((token, self._next()), holder=len(self._holders))
            self._holders.append(part)
            self._fill(part, self._next())
            return part
        part = Part(())
        self._fill(part, token)
        return part

    def _fill(self, part: Part, kind: Any) -> None:
        count = 0
        if kind in tree.REGISTERED:
            rest, count = self._next(), self._next()
            part.head += (kind, rest, count)
        elif isinstance(kind, type) and issubclass(kind, dict):
            part.head += (kind,)
            part.keys = self._next()
            count = len(part.keys or ())
        elif isinstance(kind, type) and issubclass(kind, (list, tuple)):
            count = self._next()
            part.head += (kind, count)
        else:
            part.head += (kind, self._next())
        part.children = [self._part() for _ in range(count)]


def read(key: Sequence[Any]) -> Call:
    """The parts of a raw or canonical key."""
    return _Reader(key).call()


def is_ordered(part: Part) -> bool:
    """True for a dictionary whose order of keys counts."""
    return any(isinstance(item, type) and issubclass(item, OrderedDict) for item in part.head)


def sorted_children(part: Part) -> tuple[tuple[Any, ...] | None, list[Part]]:
    """A container's keys and children, in canonical order."""
    if part.keys is None or is_ordered(part):
        return part.keys, part.children
    plain = {key.value if isinstance(key, TypedKey) else key: i for i, key in enumerate(part.keys)}
    order = [plain[key] for key in tree.ordered(plain)]
    return tuple([part.keys[i] for i in order]), [part.children[i] for i in order]


@dataclass(slots=True)
class Canonical:
    """A canonical key, and how to get from the raw order to its order.

    Attributes:
        key: the key.
        slots: for each array in canonical order, its number in raw order.
        holders: the same for captured containers.
    """

    key: tuple[Any, ...]
    slots: list[int]
    holders: list[int]


class _Writer:
    def __init__(self) -> None:
        self.tokens: list[Any] = []
        self.slots: list[int] = []
        self.holders: list[int] = []
        self._written: dict[int, int] = {}

    def part(self, part: Part) -> None:
        part = part.original or part
        if part.holder is not None:
            if part.holder in self._written:
                self.tokens += (ALIAS, self._written[part.holder])
                return
            self._written[part.holder] = len(self.holders)
            self.holders.append(part.holder)
        if part.slot is not None:
            self.slots.append(part.slot)
        keys, children = sorted_children(part)
        self.tokens += part.head
        if keys is not None:
            self.tokens.append(keys)
        for child in children:
            self.part(child)


def canonical(key: Sequence[Any], signature: inspect.Signature | None) -> Canonical:
    """The canonical key of a raw one; the parameters of the signature name the arguments."""
    call = read(key)
    positional, keywords = bind(signature, call.positional, call.keywords)
    writer = _Writer()
    for part in positional:
        writer.part(part)
    if keywords:
        names = sorted(keywords)
        writer.tokens += (KEYWORDS, tuple(names))
        for name in names:
            writer.part(keywords[name])
    if call.captured:
        writer.tokens.append(CAPTURED)
        for part in call.captured:
            writer.part(part)
    return Canonical(tuple(writer.tokens), writer.slots, writer.holders)


def bind(
    signature: inspect.Signature | None, positional: Iterable[Any], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with those that can be passed by position passed so.

    Arguments that do not fit the signature stay as they are: the function itself will complain.
    """
    positional = tuple(positional)
    if not keywords or signature is None:
        return positional, keywords
    try:
        bound = signature.bind(*positional, **keywords)
    except TypeError:
        return positional, keywords
    return bound.args, bound.kwargs


def parameter_names(signature: inspect.Signature | None, count: int) -> list[str]:
    """What to call the first ``count`` positional arguments in messages."""
    names: list[str] = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    variadic = None
    for parameter in signature.parameters.values() if signature is not None else ():
        if parameter.kind in kinds:
            names.append(parameter.name)
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            variadic = parameter.name
    named = len(names)
    for i in range(named, count):
        names.append(f"{variadic}[{i - named}]" if variadic else f"argument {i}")
    return names[:count]


def fields(key: Sequence[Any], signature: inspect.Signature | None) -> dict[Path, str]:
    """Every leaf and container of a key by its path, described for people."""
    call = read(key)
    found: dict[Path, str] = {}
    names = parameter_names(signature, len(call.positional))
    for name, part in zip(names, call.positional, strict=True):
        _describe(part, (f"argument `{name}`",), found)
    for name, part in call.keywords.items():
        _describe(part, (f"argument `{name}`",), found)
    for name, part in zip(("inputs", "outputs"), call.captured, strict=False):
        _describe(part, (f"captured {name}",), found)
    return found


def _describe(part: Part, path: Path, found: dict[Path, str]) -> None:
    if part.original is not None:
        found[path] = "a container that occurs twice"
        return
    found[path] = _text(part)
    keys = range(len(part.children)) if part.keys is None else part.keys
    for key, child in zip(keys, part.children, strict=True):
        plain = key.value if isinstance(key, TypedKey) else key
        _describe(child, (*path, f"[{plain!r}]"), found)


def _text(part: Part) -> str:
    head = part.head
    if head[0] is OPAQUE:
        return "an array"
    if part.slot is not None:
        return f"array {head[0].short}[{','.join(map(str, head[1]))}]"
    if head[0] is HOLDER:
        attributes = "".join(f", {name}={_constant_text(token)}" for name, _, token in head[1])
        return f"{head[2].__name__} of {len(part.children)}{attributes}"
    if part.keys is not None or part.children or len(head) == 3:
        return f"{head[0].__name__} of {len(part.children)}"
    if head[0] is type(None):
        return "None"
    # Floats that equality does not tell apart are text in keys.
    value = head[1] if head[0] is float else _constant_text(head[1])
    return f"{head[0].__name__} {value}"


def _constant_text(token: Any) -> str:
    """The text of a constant's token; the types of parts are left out."""
    if not isinstance(token, tuple):
        return repr(token)
    typed = all(isinstance(one, tuple) and len(one) == 2 for one in token)
    values = [one[1] if typed else one for one in token]
    return f"({', '.join(map(_constant_text, values))})"
