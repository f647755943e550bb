"""``grad`` and ``value_and_grad``: gradients of scalar functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from .. import graph, tree
from ..array import Array, wrap
from ..graph import Node
from ..operands import filled
from . import derivatives, walks  # noqa: F401 - the rules register themselves
from .scope import Scope, function_name, same
from .signatures import argument_names


class _Selection(NamedTuple):
    """Which arguments gradients are taken by: positions, names, and how results are put."""

    numbers: tuple[int, ...]
    names: tuple[str, ...]


def _selection(
    transform: str, argnums: int | Sequence[int] | None, argnames: str | Sequence[str]
) -> _Selection:
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    if argnums is None:
        numbers: tuple[Any, ...] = () if names else (0,)
    elif isinstance(argnums, (list, tuple)):
        numbers = tuple(argnums)
    else:
        numbers = (argnums,)
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise ArgumentTypeError(
                f"{transform}: argnums are integers, got {number!r}{graph.user_line()}"
            )
        if number < 0:
            raise ArgumentError(
                f"{transform}: argnums must not be negative, got {number}{graph.user_line()}"
            )
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"{transform}: argnames are strings, got {name!r}{graph.user_line()}"
            )
    for what, given in (("argnums", numbers), ("argnames", names)):
        if len(set(given)) != len(given):
            raise ArgumentError(
                f"{transform}: {what} name an argument twice, got {given}{graph.user_line()}"
            )
    if not numbers and not names:
        raise ArgumentError(f"{transform}: no argument to differentiate by{graph.user_line()}")
    return _Selection(numbers, names)


class _Variables:
    """The arrays that a function is differentiated by, marked."""

    def __init__(self, transform: str) -> None:
        self._transform = transform
        self.marks: list[Node] = []

    def marked(self, label: str, value: Any) -> Any:
        """The argument with a mark in place of each array."""
        for path, leaf in tree.leaves_with_paths(value):
            check_differentiable(self._transform, f"{label}{''.join(path)}", leaf)
        return tree.map_leaves(self._mark, value)

    def _mark(self, leaf: Array) -> Array:
        node = same(leaf.node)
        self.marks.append(node)
        return wrap(node)


def check_differentiable(transform: str, label: str, leaf: Any) -> None:
    """Raises for a leaf of an argument that has no derivative."""
    if not isinstance(leaf, Array):
        raise ArgumentTypeError(
            f"{transform}: {label} is not an array but {type(leaf).__name__}; only arrays have "
            f"derivatives{graph.user_line()}"
        )
    if not leaf.dtype.is_inexact:
        raise DTypeError(
            f"{transform}: {label} is {leaf.node.type}; only floating and complex arrays have "
            f"derivatives, cast it first{graph.user_line()}"
        )


def _loss(transform: str, name: str, value: Any) -> Node:
    """The scalar among what a function returned: all of it, or the first of a tuple."""
    first = value[0] if isinstance(value, tuple) and value else value
    if not isinstance(first, Array):
        raise ArgumentTypeError(
            f"{transform}: {name} must return a scalar array, or a tuple that begins with one; got "
            f"{type(first).__name__}{graph.user_line()}"
        )
    if first.shape:
        raise ShapeError(
            f"{transform}: {name} must return a scalar, got {first.node.type}; reduce it, by a "
            f"sum or a mean{graph.user_line()}"
        )
    if not first.dtype.is_inexact:
        raise DTypeError(
            f"{transform}: {name} returned {first.node.type}, which has no gradient"
            f"{graph.user_line()}"
        )
    return first.node


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    argnames: str | Sequence[str] = (),
) -> Callable[..., tuple[Any, Any]]:
    """A function that returns what ``fun`` does, and the gradient of its scalar.

    Args:
        fun: a function that returns a scalar array, or a tuple that begins with one and goes on
            with anything.
        argnums: the positions of the arguments to differentiate by; the first argument unless
            ``argnames`` is given.
        argnames: the names of those passed by keyword.

    Returns a function of the same arguments that gives the pair of the value and the gradient. The
    arguments that are differentiated by are floating or complex arrays or trees of them, and their
    gradients have their structure, shapes and dtypes; several positions give a tuple. With
    ``argnames`` the gradient is the pair of that (None without positions) and a dictionary by name.

    Raises ArgumentError for positions or names that are negative, repeated, or not in the call;
    ArgumentTypeError for arguments that are no arrays, DTypeError for integer ones, ShapeError if
    the value is not a scalar.
    """
    return _differentiated("value_and_grad", fun, argnums, argnames)


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    argnames: str | Sequence[str] = (),
) -> Callable[..., Any]:
    """A function that returns the gradient of ``fun``.

    Args:
        fun: a function that returns a scalar array, or a tuple that begins with one.
        argnums: the positions of the arguments to differentiate by; the first argument unless
            ``argnames`` is given.
        argnames: the names of those passed by keyword.

    Returns and raises what :func:`value_and_grad` does, without the value.
    """
    function = _differentiated("grad", fun, argnums, argnames)

    @functools.wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)[1]

    return gradient


def _differentiated(
    transform: str,
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None,
    argnames: str | Sequence[str],
) -> Callable[..., tuple[Any, Any]]:
    if not callable(fun):
        raise ArgumentTypeError(
            f"{transform}: takes a function, got {type(fun).__name__}{graph.user_line()}"
        )
    numbers, names = _selection(transform, argnums, argnames)

    @functools.wraps(fun)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        name = function_name(fun)
        _check_present(transform, name, numbers, names, args, kwargs)
        variables = _Variables(transform)
        with Scope(f"{transform} of {name}"):
            positional, keywords = list(args), dict(kwargs)
            for number in numbers:
                label = argument_names(fun, number + 1)[number]
                positional[number] = variables.marked(label, args[number])
            for key in names:
                keywords[key] = variables.marked(key, kwargs[key])
            value = fun(*positional, **keywords)
            loss = _loss(transform, name, value)
            one = filled(1, loss.dtype, ())
            cotangents = walks.pullback([loss], [one], variables.marks)
            found = iter(walks.filled_in(cotangents, variables.marks))
        by_number = [tree.map_leaves(lambda _: wrap(next(found)), args[i]) for i in numbers]
        by_name = {key: tree.map_leaves(lambda _: wrap(next(found)), kwargs[key]) for key in names}
        gradient: Any = by_number[0] if len(numbers) == 1 else tuple(by_number) or None
        return value, (gradient, by_name) if names else gradient

    return differentiated


def _check_present(
    transform: str,
    name: str,
    numbers: Sequence[int],
    names: Sequence[str],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    for number in numbers:
        if number >= len(args):
            raise ArgumentError(
                f"{transform}: {name} is differentiated by positional argument {number}, but was "
                f"called with {len(args)}{graph.user_line()}"
            )
    for key in names:
        if key not in kwargs:
            raise ArgumentError(
                f"{transform}: {name} is differentiated by keyword argument {key!r}, but was "
                f"called with {sorted(kwargs) or 'none'}{graph.user_line()}"
            )
