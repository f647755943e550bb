"""The pass registry: every pass by name, Lamina's own and those of plug-ins alike.

A pass is a Python function on an MLIR op (the module, as a rule), which it changes in place::

    @dataclass(frozen=True)
    class Options:
        max_ops: int = 100

    @register("split-fusions", "Splits fusions that hold too many ops.", Options)
    def split_fusions(op: ir.Operation, options: Options) -> None: ...

In a pipeline it is then ``split-fusions`` or ``split-fusions{max-ops=50}``. A package offers its
passes by an entry point of the group ``lamina.passes``: the entry point's name is the pass's, its
value names anything whose import registers it.

Importing this module, or a pipeline of Lamina's own passes, does not import MLIR.
"""

from __future__ import annotations

import dataclasses
import importlib
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Union

from ..errors import PassError

ENTRY_POINT_GROUP = "lamina.passes"

BUILTIN: dict[str, str] = {
    "canonicalize": "simplify.canonicalize",
    "cse": "simplify.cse",
    "dce": "simplify.dce",
    "fuse": "fusion.fuse",
    "plan-buffers": "plan_buffers",
    "lower-kernels": "lower_kernels",
    "llvm": "codegen.to_llvm",
}
"""Lamina's own passes: the module of :mod:`lamina.passes` whose import registers each."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A registered pass.

    Attributes:
        name: its name in pipelines.
        summary: one line on what it does.
        run: the function; it takes the op and, if there are options, an instance of them.
        options: a frozen dataclass whose fields are the options, or None. Fields are bool, int,
            float, str, a ``Literal`` of strings, or a tuple of any number of one of these; all
            have defaults.
    """

    name: str
    summary: str
    run: Callable[..., None]
    options: type[Any] | None = None


PASSES: dict[str, Pass] = {}
"""The passes registered so far; :func:`find` and :func:`every` load those that are not yet."""

Function = typing.TypeVar("Function", bound=Callable[..., None])


def register(
    name: str, summary: str, options: type[Any] | None = None
) -> Callable[[Function], Function]:
    """Registers the decorated function as a pass and returns it unchanged.

    Args:
        name: lower-case words joined by dashes.
        summary: one line, shown by ``lamina opt --list-passes``.
        options: a frozen dataclass of options, each with a default.

    Raises:
        PassError: for a malformed or taken name, or options of an unknown kind.
    """
    if not name or not all(part.isalnum() and part == part.lower() for part in name.split("-")):
        raise PassError(f"a pass name is lower-case words joined by dashes, got {name!r}")
    if options is not None:
        _check_options(name, options)

    def add(function: Function) -> Function:
        known = PASSES.get(name)
        if known is not None and _origin(known.run) != _origin(function):
            raise PassError(f"a pass named {name} is registered already, by {known.run!r}")
        PASSES[name] = Pass(name, summary, function, options)
        return function

    return add


def _origin(function: Callable[..., None]) -> tuple[str, str]:
    """What stays the same when a module is loaded again."""
    return function.__module__, function.__qualname__


def find(name: str) -> Pass | None:
    """The pass of this name, loaded if need be; None if there is none.

    Raises:
        PassError: if the plug-in that offers it cannot be loaded.
    """
    known = PASSES.get(name)
    if known is not None:
        return known
    if name in BUILTIN:
        importlib.import_module(f"{__package__}.{BUILTIN[name]}")
        return PASSES[name]
    from importlib import metadata

    for entry_point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        if entry_point.name == name:
            try:
                entry_point.load()
            except Exception as error:
                raise PassError(
                    f"the plug-in {entry_point.value} of pass {name} failed to load: {error}"
                ) from error
            if name not in PASSES:
                raise PassError(f"the plug-in {entry_point.value} did not register {name}")
            return PASSES[name]
    return None


def every() -> list[Pass]:
    """Every pass, sorted by name; a plug-in that fails to load is left out with a warning."""
    from importlib import metadata

    names = {*BUILTIN, *PASSES}
    names |= {found.name for found in metadata.entry_points(group=ENTRY_POINT_GROUP)}
    found: list[Pass] = []
    for name in sorted(names):
        try:
            pass_ = find(name)
        except PassError as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
            continue
        if pass_ is not None:
            found.append(pass_)
    return found


def closest(name: str) -> str:
    """``"; did you mean ...?"`` for a misspelt name, or an empty string."""
    import difflib

    matches = difflib.get_close_matches(name, {*BUILTIN, *PASSES}, n=1)
    return f"; did you mean {matches[0]}?" if matches else ""


# Options


def option_fields(options: type[Any]) -> Iterator[tuple[str, Any, Any]]:
    """The ``(name in pipelines, type, default)`` of each option."""
    hints = typing.get_type_hints(options)
    for field in dataclasses.fields(options):
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        else:
            default = field.default
        yield field.name.replace("_", "-"), hints[field.name], default


def _check_options(name: str, options: type[Any]) -> None:
    if not dataclasses.is_dataclass(options) or not options.__dataclass_params__.frozen:
        raise PassError(f"the options of pass {name} must be a frozen dataclass")
    for option, kind, default in option_fields(options):
        if default is dataclasses.MISSING:
            raise PassError(f"option {option} of pass {name} needs a default")
        if not _is_known(kind):
            raise PassError(f"option {option} of pass {name} has the unknown kind {kind}")


def _is_known(kind: Any) -> bool:
    if kind in (bool, int, float, str):
        return True
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return all(isinstance(argument, str) for argument in arguments)
    if origin is tuple:
        return len(arguments) == 2 and arguments[1] is Ellipsis and _is_known(arguments[0])
    inner = _optional(kind)
    return inner is not None and _is_known(inner)


def _optional(kind: Any) -> Any:
    """The type inside ``X | None``, or None for any other type."""
    if typing.get_origin(kind) in (Union, types.UnionType):
        inner = [argument for argument in typing.get_args(kind) if argument is not type(None)]
        if len(inner) == 1 and len(typing.get_args(kind)) == 2:
            return inner[0]
    return None


def parse_options(pass_: Pass, given: dict[str, str]) -> Any:
    """The options of a pass from their texts, by name; None for a pass without options.

    Raises:
        PassError: for an unknown option or a value of another kind.
    """
    kinds = {name: kind for name, kind, _ in option_fields(pass_.options)} if pass_.options else {}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in kinds:
            known = f"it has {', '.join(kinds)}" if kinds else "it has none"
            raise PassError(f"pass {pass_.name} has no option {name}: {known}")
        try:
            values[name.replace("-", "_")] = _parse_value(kinds[name], text)
        except ValueError as error:
            raise PassError(f"option {name} of pass {pass_.name}: {error}") from None
    return pass_.options(**values) if pass_.options else None


def _parse_value(kind: Any, text: str) -> Any:
    inner = _optional(kind)
    if inner is not None:
        return None if text == "none" else _parse_value(inner, text)
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError(f"expected true or false, got {text!r}")
        return text == "true"
    if kind is int:
        return int(text, 0)
    if kind is float or kind is str:
        return kind(text)
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is Literal:
        if text not in arguments:
            raise ValueError(f"expected one of {', '.join(arguments)}, got {text!r}")
        return text
    return tuple(_parse_value(arguments[0], part) for part in text.split(",") if part)


def format_options(options: Any) -> str:
    """``{name=value ...}`` of the options that differ from their defaults, or nothing."""
    if options is None:
        return ""
    parts: list[str] = []
    for name, _, default in option_fields(type(options)):
        value = getattr(options, name.replace("-", "_"))
        if value != default:
            parts.append(f"{name}={_quote(format_value(value))}")
    return f"{{{' '.join(parts)}}}" if parts else ""


def format_value(value: Any) -> str:
    """The text of an option's value."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(map(format_value, value))
    return repr(value) if isinstance(value, float) else str(value)


def _quote(text: str) -> str:
    plain = text and all(c.isalnum() or c in "_-+.,/:@%" for c in text)
    return text if plain else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
