"""``lamina.utils``: functions on trees, nested containers whose leaves are arrays or anything else.

Lists, tuples, named tuples, dictionaries and registered types are containers; everything else,
``None`` included, is a leaf. A leaf's path joins the keys and positions on the way to it by dots:
``"layers.0.weight"``. Dictionaries are walked in their own order and come out as plain ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from ..errors import ArgumentError, ArgumentTypeError, IndexingError
from . import tree as trees
from .graph import user_line
from .tree import register_pytree_node

_Children = tuple[Sequence[Any], Sequence[Any], Callable[[list[Any]], Any]]


def _children(tree: Any, is_leaf: Callable[[Any], bool] | None) -> _Children | None:
    """A container's keys, its children and what makes one like it; None for a leaf."""
    if is_leaf is not None and is_leaf(tree):
        return None
    if isinstance(tree, dict) and type(tree) not in trees.REGISTERED:
        keys = list(tree)
        return keys, [tree[key] for key in keys], lambda made: dict(zip(keys, made, strict=True))
    taken = trees.parts(tree)
    return None if taken is None else (taken.keys, taken.children, taken.rebuild)


def _step(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def tree_map(
    fn: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """The tree with ``fn`` applied to its leaves.

    Args:
        fn: takes a leaf, and what the other trees hold at its place.
        tree: the tree.
        rest: trees with at least the parts that ``tree`` has.
        is_leaf: says which parts are leaves although they are containers.

    Raises IndexingError where one of ``rest`` lacks a part.
    """
    return _mapped("tree_map", lambda _, *parts: fn(*parts), "", (tree, *rest), is_leaf)


def tree_map_with_path(
    fn: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[[Any], bool] | None = None,
    path: Any = None,
) -> Any:
    """As :func:`tree_map`, where ``fn`` takes the leaf's path first.

    Args:
        fn: takes the path, the leaf, and what the other trees hold at its place.
        tree: the tree.
        rest: trees with at least the parts that ``tree`` has.
        is_leaf: says which parts are leaves although they are containers.
        path: the path of ``tree``, which the leaves' paths begin with. A tree that is a leaf has
            this path, None included.

    Raises IndexingError where one of ``rest`` lacks a part.
    """
    if _children(tree, is_leaf) is None:
        return fn(path, tree, *rest)
    start = "" if path is None else str(path)
    return _mapped("tree_map_with_path", fn, start, (tree, *rest), is_leaf)


def _mapped(
    name: str,
    fn: Callable[..., Any],
    path: str,
    all_trees: tuple[Any, ...],
    is_leaf: Callable[[Any], bool] | None,
) -> Any:
    taken = _children(all_trees[0], is_leaf)
    if taken is None:
        return fn(path, *all_trees)
    keys, children, rebuild = taken
    made: list[Any] = []
    for key, child in zip(keys, children, strict=True):
        step = _step(path, key)
        others = [_part(name, other, key, step) for other in all_trees[1:]]
        made.append(_mapped(name, fn, step, (child, *others), is_leaf))
    return rebuild(made)


def _part(name: str, tree: Any, key: Any, path: str) -> Any:
    """A part of another tree, by the key that the first tree has it under."""
    taken = _children(tree, None)
    if taken is not None:
        keys, children, _ = taken
        if isinstance(tree, dict) and key in tree:
            return tree[key]
        if not isinstance(tree, dict) and isinstance(key, int) and key < len(keys):
            return children[key]
    raise IndexingError(f"{name}: a tree has no part {path!r}, which the first has{user_line()}")


def _leaves(
    tree: Any, path: str, is_leaf: Callable[[Any], bool] | None
) -> Iterator[tuple[str, Any]]:
    taken = _children(tree, is_leaf)
    if taken is None:
        yield path, tree
        return
    for key, child in zip(taken[0], taken[1], strict=True):
        yield from _leaves(child, _step(path, key), is_leaf)


def tree_flatten(
    tree: Any,
    prefix: str = "",
    is_leaf: Callable[[Any], bool] | None = None,
    destination: list[tuple[str, Any]] | dict[str, Any] | None = None,
) -> Any:
    """The leaves with their paths.

    Args:
        tree: the tree.
        prefix: what the paths begin with; a dot in front of it does not count.
        is_leaf: says which parts are leaves although they are containers.
        destination: a list or a dictionary that takes the leaves, and is returned.

    Returns a list of pairs of path and leaf, or the destination. Raises ArgumentTypeError for a
    destination of another kind.
    """
    found = _leaves(tree, prefix.removeprefix("."), is_leaf)
    if destination is None:
        return list(found)
    if isinstance(destination, dict):
        destination.update(found)
    elif isinstance(destination, list):
        destination.extend(found)
    else:
        raise ArgumentTypeError(
            "tree_flatten: the destination must be a list or a dictionary, got "
            f"{type(destination).__name__}{user_line()}"
        )
    return destination


def tree_unflatten(tree: Iterable[tuple[str, Any]] | dict[str, Any]) -> Any:
    """The nested lists and dictionaries that paths and leaves describe.

    Where all steps of a place are numbers, it becomes a list, with an empty dictionary for each
    number that is missing.

    Args:
        tree: pairs of path and leaf, or a dictionary from paths to leaves.
    """
    items = list(tree.items() if isinstance(tree, dict) else tree)
    if len(items) == 1 and items[0][0] == "":
        return items[0][1]
    groups: dict[str, list[tuple[str, Any]]] = {}
    for path, leaf in items:
        if not isinstance(path, str):
            raise ArgumentTypeError(
                f"tree_unflatten: paths must be strings, got {type(path).__name__}{user_line()}"
            )
        step, _, below = path.partition(".")
        groups.setdefault(step, []).append((below, leaf))
    if not all(_is_position(step) for step in groups):
        return {step: tree_unflatten(group) for step, group in groups.items()}
    made: list[Any] = []
    for step in sorted(groups, key=int):
        made.extend({} for _ in range(int(step) - len(made)))
        made.append(tree_unflatten(groups[step]))
    return made


def _is_position(step: str) -> bool:
    return step.isascii() and step.isdigit() and str(int(step)) == step


def tree_reduce(
    fn: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = None,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Folds the leaves: ``fn(fn(fn(initializer, a), b), c)``.

    Args:
        fn: takes what came before and a leaf.
        tree: the tree.
        initializer: what to begin with; None begins with the first leaf.
        is_leaf: says which parts are leaves although they are containers.

    Returns the initializer for a tree without leaves.
    """
    result = initializer
    for _, leaf in _leaves(tree, "", is_leaf):
        result = leaf if result is None else fn(result, leaf)
    return result


def tree_merge(tree_a: Any, tree_b: Any, merge_fn: Callable[[Any, Any], Any] | None = None) -> Any:
    """One tree with the leaves of two.

    ``None`` and empty containers give way to what the other tree has at their place.

    Args:
        tree_a, tree_b: the trees.
        merge_fn: makes one leaf of two at the same place.

    Raises ArgumentError where both have a leaf and there is no ``merge_fn``.
    """
    return _merged("", tree_a, tree_b, merge_fn)


def _merged(path: str, a: Any, b: Any, merge_fn: Callable[[Any, Any], Any] | None) -> Any:
    if _is_nothing(b):
        return b if a is None else a
    if _is_nothing(a):
        return b
    if isinstance(a, dict) and isinstance(b, dict):
        return {
            key: _merged(_step(path, key), a.get(key), b.get(key), merge_fn)
            for key in dict.fromkeys((*a, *b))
        }
    for kind in (list, tuple):
        if isinstance(a, kind) and isinstance(b, kind):
            pairs = enumerate(zip_longest(a, b))
            made = [_merged(_step(path, i), x, y, merge_fn) for i, (x, y) in pairs]
            taken = trees.parts(a)
            assert taken is not None
            return taken.rebuild(made)
    if merge_fn is None:
        raise ArgumentError(
            f"tree_merge: both trees have a leaf at {path!r} and there is no merge_fn{user_line()}"
        )
    return merge_fn(a, b)


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, (dict, list, tuple)) and len(value) == 0)


__all__ = [
    "register_pytree_node",
    "tree_flatten",
    "tree_map",
    "tree_map_with_path",
    "tree_merge",
    "tree_reduce",
    "tree_unflatten",
]
