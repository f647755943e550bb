"""What transforms know of a function's parameters: their names, and where an argument belongs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentTypeError
from ..graph import user_line


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a function, or None if it has none that can be read."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def positional_arguments(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """All arguments by position; ArgumentTypeError for one that is keyword-only."""
    if not kwargs:
        return args
    signature = signature_of(function)
    if signature is not None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if not bound.kwargs:
            return bound.args
    names = ", ".join(kwargs)
    raise ArgumentTypeError(f"{name}: takes positional arguments only, got {names}=" + user_line())


def argument_names(function: Callable[..., Any], count: int) -> list[str]:
    """How messages call the first positional arguments: by name where there is one."""
    signature = signature_of(function)
    names: list[str] = []
    if signature is not None:
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                names += [f"{parameter.name}[{i}]" for i in range(count - len(names))]
            elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(parameter.name)
    return [*names, *[f"argument {i}" for i in range(len(names), count)]][:count]
