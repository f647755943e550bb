"""Functions on trees: what MLX's give, but for cases where those lose or misread something."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import pytest

import lamina as lm
import lamina.utils
from lamina.errors import ArgumentError, ArgumentTypeError, IndexingError
from lamina.utils import (
    register_pytree_node,
    tree_flatten,
    tree_map,
    tree_map_with_path,
    tree_merge,
    tree_reduce,
    tree_unflatten,
)

TREE = {"b": [1, {"z": 2, "a": 3}], "a": (4, 5), "n": None, "e": [], "d": {}, "i": {1: 7}}
FLAT = [("b.0", 1), ("b.1.z", 2), ("b.1.a", 3), ("a.0", 4), ("a.1", 5), ("n", None), ("i.1", 7)]


class Point(NamedTuple):
    x: Any
    y: Any


class Box:
    def __init__(self, *children):
        self.children = children


register_pytree_node(Box, lambda box: (box.children, None), lambda _, children: Box(*children))


def together(*leaves):
    return leaves


def is_tuple(tree):
    return isinstance(tree, tuple)


def test_the_module():
    assert lamina.utils is lm.utils
    assert all(getattr(lm.utils, name).__doc__ for name in lm.utils.__all__)


def test_flatten():
    assert tree_flatten(TREE) == FLAT
    assert tree_flatten(5) == [("", 5)]
    assert tree_flatten([]) == []
    assert tree_flatten(Point(1, [2])) == [("0", 1), ("1.0", 2)]
    assert tree_flatten(OrderedDict(b=1, a=2)) == [("b", 1), ("a", 2)]
    assert tree_flatten({"a.b": 1}) == [("a.b", 1)]
    assert tree_flatten({"w": Box(1, [2])}) == [("w.0", 1), ("w.1.0", 2)]


def test_flatten_with_a_prefix_leaves_or_a_destination():
    prefixed = [("pre." + path, leaf) for path, leaf in FLAT]
    assert tree_flatten(TREE, "pre") == tree_flatten(TREE, ".pre") == prefixed
    assert tree_flatten({"a": (1, 2)}, is_leaf=is_tuple) == [("a", (1, 2))]
    found = {"q": 0}
    assert tree_flatten(TREE, destination=found) is found
    assert found == {"q": 0, **dict(FLAT)}
    assert tree_flatten([1], destination=[("q", 0)]) == [("q", 0), ("0", 1)]
    with pytest.raises(ArgumentTypeError, match="destination"):
        tree_flatten([1], destination=())


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([("a.0.b", 1), ("a.1", 2), ("c", 3)], {"a": [{"b": 1}, 2], "c": 3}),
        ([("", 5)], 5),
        ([], []),
        ({}, []),
        ([("2.x", 1), ("0", 4)], [4, {}, {"x": 1}]),
        ({"a.b": 1, "a.c": 2}, {"a": {"b": 1, "c": 2}}),
        ([("0", 1), ("a", 2)], {"0": 1, "a": 2}),
        ([("a.1", 1), ("a.x", 2)], {"a": {"1": 1, "x": 2}}),
        ([("a.10", 1), ("a.2", 2)], {"a": [{}, {}, 2, {}, {}, {}, {}, {}, {}, {}, 1]}),
        ([("a.", 1)], {"a": 1}),
        ([("a.-1", 1)], {"a": {"-1": 1}}),
        ([("01", 1)], {"01": 1}),
        ([("²", 1)], {"²": 1}),
    ],
)
def test_unflatten(items, expected):
    assert tree_unflatten(items) == expected


def test_unflatten_is_the_inverse():
    tree = {"layers": [{"w": 1, "b": [2, 3]}, {"w": 4}], "scale": 5}
    assert tree_unflatten(tree_flatten(tree)) == tree
    assert tree_unflatten(tree_flatten(tree, destination={})) == tree
    assert tree_unflatten(iter(tree_flatten(tree))) == tree
    with pytest.raises(ArgumentTypeError, match="paths must be strings"):
        tree_unflatten([(1, 1)])


def test_map():
    expected = {
        "b": [(1,), {"z": (2,), "a": (3,)}], "a": ((4,), (5,)), "n": (None,), "e": [], "d": {},
        "i": {1: (7,)},
    }  # fmt: skip
    mapped = tree_map(together, TREE)
    assert mapped == expected
    assert list(mapped) == list(TREE)
    assert tree_map(together, 3, 4) == (3, 4)
    assert tree_map(lambda x: x + 1, Point(1, 2)) == Point(2, 3)
    assert tree_map(lambda x: x + 1, {"w": Box(1, 2)})["w"].children == (2, 3)


def test_map_of_subclasses():
    class Names(list):
        pass

    class Module(dict):
        pass

    assert type(tree_map(together, Names([1]))) is Names
    assert type(tree_map(together, Module(a=1))) is dict
    assert type(tree_map(together, OrderedDict(a=1))) is dict


def test_map_of_several():
    assert tree_map(together, [1, {"a": 2}], (3, {"b": 5, "a": 4}), [6, {"a": [7]}]) == [
        (1, 3, 6),
        {"a": (2, 4, [7])},
    ]
    assert tree_map(together, [1], [3, 4]) == [(1, 3)]
    assert tree_map(together, [[1]], [2], is_leaf=lambda tree: tree == [1]) == [([1], 2)]
    assert tree_map(together, Box(1), Box(2)).children == ((1, 2),)


@pytest.mark.parametrize(
    ("tree", "other", "path"),
    [
        ([1, 2], [3], "1"),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, "a.b"),
        ([1], 2, "0"),
        ({"a": [1]}, {"a": {"0": 1}}, "a.0"),
        ({"0": 1}, [1], "0"),
    ],
)
def test_map_names_the_part_that_is_missing(tree, other, path):
    with pytest.raises(IndexingError, match=rf"tree_map: a tree has no part '{path}'.*test_trees"):
        tree_map(together, tree, other)


def test_map_with_path():
    expected = {
        "b": [("b.0", 1), {"z": ("b.1.z", 2), "a": ("b.1.a", 3)}],
        "a": (("a.0", 4), ("a.1", 5)), "n": ("n", None), "e": [], "d": {}, "i": {1: ("i.1", 7)},
    }  # fmt: skip
    assert tree_map_with_path(together, TREE) == expected
    assert tree_map_with_path(together, [1], [2], path="p") == [("p.0", 1, 2)]
    assert tree_map_with_path(together, {"a": [1]}, path="") == {"a": [("a.0", 1)]}
    assert tree_map_with_path(together, 5) == (None, 5)
    assert tree_map_with_path(together, 5, path="") == ("", 5)
    assert tree_map_with_path(together, {"a": (1,)}, is_leaf=is_tuple) == {"a": ("a", (1,))}


def test_reduce():
    def add(a, b):
        return a + b

    assert tree_reduce(add, [1, [2, {"a": 3}]]) == 6
    assert tree_reduce(add, [1, [2]], 10) == 13
    assert tree_reduce(add, []) is None
    assert tree_reduce(add, [], 7) == 7
    assert tree_reduce(add, 5) == 5
    assert tree_reduce(add, 5, 1) == 6
    assert tree_reduce(lambda a, b: [*a, b], {"b": 1, "a": 2, "t": (3, 4)}, []) == [1, 2, 3, 4]
    assert tree_reduce(add, [[1], [2]], is_leaf=lambda tree: tree in ([1], [2])) == [1, 2]
    assert tree_reduce(lambda a, b: (a, b), [1, 2], 0) == ((0, 1), 2)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ([1, None], [None, 2], [1, 2]),
        ([1], [None, 2], [1, 2]),
        ([1, 2], [None], [1, 2]),
        ({"a": {"x": 1}, "c": [1]}, {"a": {"y": 2}, "c": {}}, {"a": {"x": 1, "y": 2}, "c": [1]}),
        ((1,), (None, 2, 3), (1, 2, 3)),
        ([], {"a": 1}, {"a": 1}),
        ({}, 5, 5),
        (None, 5, 5),
        (1, None, 1),
        ((), [3], [3]),
        ([], [], []),
        ({}, None, {}),
        (None, {}, {}),
        (None, None, None),
        ({"a": 1, "b": 2}, {"b": None, "c": 3}, {"a": 1, "b": 2, "c": 3}),
        (Point(1, None), Point(None, 2), Point(1, 2)),
    ],
)
def test_merge(a, b, expected):
    merged = tree_merge(a, b)
    assert merged == expected
    assert type(merged) is type(expected)


def test_merge_of_leaves():
    assert tree_merge({"a": 1}, {"a": 2}, lambda x, y: x + y) == {"a": 3}
    assert tree_merge([1], {"a": 2}, together) == ([1], {"a": 2})
    with pytest.raises(ArgumentError, match=r"both trees have a leaf at 'a\.0'"):
        tree_merge({"a": [1]}, {"a": [2]})
    with pytest.raises(ArgumentError):
        tree_merge([1], (2,))


def test_trees_of_arrays():
    parameters = {"w": lm.ones((2, 2)), "layers": [{"b": lm.zeros((2,))}]}
    gradients = tree_map(lm.ones_like, parameters)
    updated = tree_map(lambda p, g: p - 0.5 * g, parameters, gradients)
    assert updated["layers"][0]["b"].tolist() == [-0.5, -0.5]
    assert tree_reduce(lambda n, leaf: n + leaf.size, parameters, 0) == 6
    assert [path for path, _ in tree_flatten(updated)] == ["w", "layers.0.b"]
    assert tree_merge({"w": parameters["w"]}, {"v": gradients["w"]})["v"] is gradients["w"]


def test_registered_types_are_containers_everywhere():
    compiled = lm.compile(lambda box: Box(*[child + 1 for child in box.children]))
    assert [x.item() for x in compiled(Box(lm.array(1), lm.array(2))).children] == [2, 3]
    with pytest.raises(ArgumentError, match="already"):
        register_pytree_node(Box, tuple, Box)
