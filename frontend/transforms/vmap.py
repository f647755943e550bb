"""``vmap``: a function of one example, called on all of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from ...errors import ArgumentError, ArgumentTypeError, AxisError, ShapeError
from .. import graph, tree
from ..array import Array, wrap
from ..graph import Node, Trace
from ..operands import transpose
from .batching import batch, spread
from .scope import Scope, function_name, placeholder
from .signatures import argument_names

Axes = Any
"""An axis, None, or a tree of them that is a prefix of the tree of arrays."""


def vmap(fun: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[..., Any]:
    """A function that does for all examples what ``fun`` does for one.

    Args:
        fun: a function of arrays, or trees of them, that returns arrays or trees of them.
        in_axes: the axis of the arguments along which the examples lie: an integer for all
            arguments, or a tuple or list with an entry for each positional one. An entry is an
            integer, None for what is one for all examples, or a tree of these that is a prefix of
            the argument's. Arrays among keyword arguments lie along axis 0, or along the integer
            given for all.
        out_axes: the axis in the outputs, in the same way; None is for outputs that do not depend
            on the example.

    Returns a function of the same arguments. Leaves that are no arrays need an entry of None; as
    keyword arguments they are passed on.

    Raises ArgumentError for axes that do not fit the arguments or outputs, AxisError for an axis
    that an array does not have, ShapeError where the arguments differ in the number of examples.
    """
    if not callable(fun):
        raise ArgumentTypeError(
            f"vmap: takes a function, got {type(fun).__name__}{graph.user_line()}"
        )

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        axes = _argument_axes(fun, in_axes, args, kwargs)
        size = _size(fun, axes, args, kwargs)
        sources: list[Node] = []
        batched: list[Node] = []
        name = f"vmap of {function_name(fun)}"
        # The examples have a trace of their own, so that none outlives the map unnoticed.
        own = Trace(name)
        with Scope(name):
            places = iter(axes)

            def example(leaf: Any) -> Any:
                entry = next(places)
                if entry.axis is None:
                    return leaf
                node = _moved(leaf.node, entry.axis, 0)
                source = placeholder(node.shape[1:], node.dtype, own)
                sources.append(source)
                batched.append(node)
                return wrap(source)

            positional, keywords = tree.map_leaves(example, (args, kwargs))
            try:
                value = fun(*positional, **keywords)
            finally:
                own.finished = True
            return _collected(fun, value, out_axes, sources, batched, size)

    return mapped


class _Entry(NamedTuple):
    """A leaf of the arguments, how messages call it, and its axis."""

    label: str
    leaf: Any
    axis: int | None


def _argument_axes(
    fun: Callable[..., Any], in_axes: Axes, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[_Entry]:
    """The entry of each leaf of the arguments, in order."""
    names = argument_names(fun, len(args))
    if isinstance(in_axes, (list, tuple)):
        if len(in_axes) != len(args):
            raise ArgumentError(
                f"vmap: in_axes has {len(in_axes)} entries for {len(args)} positional arguments of "
                f"{function_name(fun)}{graph.user_line()}"
            )
        positional, keyword = list(in_axes), 0
    else:
        positional = [in_axes] * len(args)
        keyword = in_axes if in_axes is None or isinstance(in_axes, int) else 0
    entries: list[_Entry] = []
    for name, axes, value in zip(names, positional, args, strict=True):
        entries += [
            _checked_entry(name + "".join(path), leaf, axis)
            for path, leaf, axis in _with_axes("in_axes", name, axes, value, ())
        ]
    for key in tree.ordered(kwargs):
        for path, leaf in tree.leaves_with_paths(kwargs[key]):
            axis = keyword if isinstance(leaf, Array) else None
            entries.append(_checked_entry(key + "".join(path), leaf, axis))
    return entries


def _with_axes(
    what: str, name: str, axes: Axes, value: Any, path: tree.Path
) -> list[tuple[tree.Path, Any, int | None]]:
    """The leaves of a value with their paths and the axes that a prefix tree gives them."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [(where, leaf, axes) for where, leaf in tree.leaves_with_paths(value, path)]
    inner, taken = tree.parts(axes), tree.parts(value)
    place = name + "".join(path)
    if inner is None:
        raise ArgumentTypeError(
            f"vmap: {what} are integers, None, or trees of them; got {type(axes).__name__} for "
            f"{place}{graph.user_line()}"
        )
    if taken is None or list(inner.keys) != list(taken.keys):
        raise ArgumentError(
            f"vmap: {what} for {place} is not a prefix of its tree: {_outline(axes)} for "
            f"{_outline(value)}{graph.user_line()}"
        )
    found: list[tuple[tree.Path, Any, int | None]] = []
    steps = tree.child_steps(value, taken.keys)
    for step, entry, child in zip(steps, inner.children, taken.children, strict=True):
        found += _with_axes(what, name, entry, child, (*path, step))
    return found


def _outline(value: Any) -> str:
    taken = tree.parts(value)
    if taken is None:
        return type(value).__name__
    return f"{type(value).__name__} with {', '.join(map(str, taken.keys)) or 'nothing'}"


def _checked_entry(label: str, leaf: Any, axis: int | None) -> _Entry:
    if axis is None:
        return _Entry(label, leaf, None)
    if not isinstance(leaf, Array):
        raise ArgumentTypeError(
            f"vmap: {label} is not an array but {type(leaf).__name__}; give it None in in_axes"
            f"{graph.user_line()}"
        )
    return _Entry(label, leaf, _normal("in_axes", label, leaf.node, axis, leaf.ndim))


def _normal(what: str, label: str, node: Node, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise AxisError(
            f"vmap: {what} gives axis {axis} for {label}, which is {node.type}{graph.user_line()}"
        )
    return axis % rank


def _size(
    fun: Callable[..., Any], entries: list[_Entry], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> int:
    """The number of examples, which all arguments must agree on."""
    mapped = [entry for entry in entries if entry.axis is not None]
    if not mapped:
        raise ArgumentError(
            f"vmap: {function_name(fun)} was called without an array to map over: in_axes gives "
            f"None for all{graph.user_line()}"
        )
    sizes = [entry.leaf.shape[entry.axis] for entry in mapped]
    if len(set(sizes)) > 1:
        parts = ", ".join(
            f"{entry.label} is {entry.leaf.node.type} with {size} along axis {entry.axis}"
            for entry, size in zip(mapped, sizes, strict=True)
        )
        raise ShapeError(f"vmap: numbers of examples differ: {parts}{graph.user_line()}")
    return sizes[0]


def _moved(node: Node, source: int, place: int) -> Node:
    """The node with one axis moved."""
    order = [axis for axis in range(len(node.shape)) if axis != source]
    order.insert(place, source)
    return transpose(node, tuple(order))


def _collected(
    fun: Callable[..., Any],
    value: Any,
    out_axes: Axes,
    sources: list[Node],
    batched: list[Node],
    size: int,
) -> Any:
    """What the function returned, for all examples."""
    entries = _with_axes("out_axes", "output", out_axes, value, ())
    outputs = [leaf.node for _, leaf, _ in entries if isinstance(leaf, Array)]
    found = iter(batch(outputs, sources, batched, size))
    places = iter(entries)

    def whole(leaf: Any) -> Any:
        path, _, axis = next(places)
        if not isinstance(leaf, Array):
            return leaf
        node, label = next(found), "output" + "".join(path)
        if axis is None:
            if node is not None:
                raise ArgumentError(
                    f"vmap: out_axes gives None for {label} of {function_name(fun)}, which depends "
                    f"on the example; it is {leaf.node.type}{graph.user_line()}"
                )
            return leaf
        node = spread(leaf.node, size) if node is None else node
        return wrap(_moved(node, 0, _normal("out_axes", label, leaf.node, axis, leaf.ndim + 1)))

    return tree.map_leaves(whole, value)
