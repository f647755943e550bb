"""``vjp`` and ``jvp``: products of vectors with a function's Jacobian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from .. import graph, tree
from ..array import Array, wrap
from ..graph import Node
from ..operands import cast
from . import derivatives, walks  # noqa: F401 - the rules register themselves
from .gradients import check_differentiable
from .scope import Scope, function_name, same
from .signatures import argument_names


def vjp(
    fun: Callable[..., Any], primals: Sequence[Any], cotangents: Sequence[Any]
) -> tuple[list[Array], list[Any]]:
    """The products of cotangents with the Jacobian of a function.

    Args:
        fun: a function that returns an array, or a tree of arrays.
        primals: its arguments: floating or complex arrays, or trees of them.
        cotangents: an array for each array that ``fun`` returns, of its shape; None is zero.

    Returns the outputs as a list of arrays, and a list with the product for each argument.

    Raises ArgumentError if the number of cotangents is wrong, ShapeError where a shape is,
    DTypeError for integer arguments and ArgumentTypeError for what is no array.
    """
    given = _sequence("vjp", "primals", primals)
    with Scope(f"vjp of {function_name(fun)}"):
        marked, marks = _marked("vjp", fun, given)
        outputs = _outputs("vjp", fun, fun(*marked))
        vectors = _vectors("vjp", "cotangents", "output", cotangents, outputs)
        found = walks.pullback(outputs, vectors, marks)
        products = iter(walks.filled_in(found, marks))
    results = [tree.map_leaves(lambda _: wrap(next(products)), value) for value in given]
    return [wrap(node) for node in outputs], results


def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Array], list[Array]]:
    """The products of the Jacobian of a function with tangents.

    Args:
        fun: a function that returns an array, or a tree of arrays.
        primals: its arguments: floating or complex arrays, or trees of them.
        tangents: an array for each array in the arguments, of its shape; None is zero.

    Returns the outputs and their products, as lists of arrays.

    Raises ArgumentError if the number of tangents is wrong, ShapeError where a shape is,
    DTypeError for integer arguments and ArgumentTypeError for what is no array.
    """
    given = _sequence("jvp", "primals", primals)
    with Scope(f"jvp of {function_name(fun)}"):
        marked, marks = _marked("jvp", fun, given)
        vectors = _vectors("jvp", "tangents", "primal", tangents, marks)
        outputs = _outputs("jvp", fun, fun(*marked))
        found = walks.filled_in(walks.pushforward(outputs, marks, vectors), outputs)
    return [wrap(node) for node in outputs], [wrap(node) for node in found]


def _sequence(transform: str, what: str, value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ArgumentTypeError(
            f"{transform}: {what} are a list or a tuple, got {type(value).__name__}"
            f"{graph.user_line()}"
        )
    return list(value)


def _marked(
    transform: str, fun: Callable[..., Any], primals: Sequence[Any]
) -> tuple[list[Any], list[Node]]:
    marks: list[Node] = []

    def mark(leaf: Array) -> Array:
        marks.append(same(leaf.node))
        return wrap(marks[-1])

    marked: list[Any] = []
    for number, value in enumerate(primals):
        for path, leaf in tree.leaves_with_paths(value):
            if not isinstance(leaf, Array) or not leaf.dtype.is_inexact:
                name = argument_names(fun, number + 1)[number]
                check_differentiable(transform, f"{name}{''.join(path)}", leaf)
        marked.append(tree.map_leaves(mark, value))
    return marked, marks


def _outputs(transform: str, fun: Callable[..., Any], value: Any) -> list[Node]:
    leaves = tree.leaves_with_paths(value)
    for path, leaf in leaves:
        if not isinstance(leaf, Array):
            raise ArgumentTypeError(
                f"{transform}: {function_name(fun)} must return arrays, got {type(leaf).__name__}"
                f"{' at ' + ''.join(path) if path else ''}{graph.user_line()}"
            )
    return [leaf.node for _, leaf in leaves]


def _vectors(
    transform: str, what: str, noun: str, vectors: Sequence[Any], nodes: Sequence[Node]
) -> list[Node | None]:
    """Tangents or cotangents as nodes of the types of what they belong to."""
    leaves = tree.leaves(_sequence(transform, what, vectors))
    if len(leaves) != len(nodes):
        raise ArgumentError(
            f"{transform}: {len(leaves)} {what} for {len(nodes)} {noun}s{graph.user_line()}"
        )
    found: list[Node | None] = []
    for number, (vector, node) in enumerate(zip(leaves, nodes, strict=True)):
        if vector is None or not node.dtype.is_inexact:
            found.append(None)
            continue
        if not isinstance(vector, Array):
            raise ArgumentTypeError(
                f"{transform}: {what} are arrays, got {type(vector).__name__} for {noun} {number}"
                f"{graph.user_line()}"
            )
        if vector.shape != node.shape:
            raise ShapeError(
                f"{transform}: {what[:-1]} {number} is {vector.node.type} for {noun} {number} of "
                f"{node.type}{graph.user_line()}"
            )
        if vector.dtype.kind == "complex" and node.dtype.kind != "complex":
            raise DTypeError(
                f"{transform}: {what[:-1]} {number} is {vector.node.type} for {noun} {number} of "
                f"{node.type}{graph.user_line()}"
            )
        found.append(cast(vector.node, node.dtype))
    return found
