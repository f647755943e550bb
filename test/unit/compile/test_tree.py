"""Trees of containers: taken apart, walked in one order, and put together."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import NamedTuple

from lamina.frontend.tree import leaves, leaves_with_paths, map_leaves, ordered


class Point(NamedTuple):
    x: int
    y: object


def test_leaves_come_in_the_order_of_keys():
    assert leaves({"b": 1, "a": [2, (3, None)]}) == [2, 3, None, 1]
    assert leaves(OrderedDict(b=1, a=2)) == [1, 2]
    assert leaves([]) == []
    assert leaves(5) == [5]


def test_paths_read_like_python():
    tree = {"w": [1, Point(2, {3: 4})], "a": 5}
    assert [("".join(path), leaf) for path, leaf in leaves_with_paths(tree)] == [
        ("['a']", 5),
        ("['w'][0]", 1),
        ("['w'][1].x", 2),
        ("['w'][1].y[3]", 4),
    ]


def test_mapping_keeps_the_containers_kinds():
    tree = {"b": [1, (2,)], "a": Point(3, defaultdict(list, k=4))}
    result = map_leaves(lambda leaf: leaf * 10, tree)
    assert result == {"a": Point(30, {"k": 40}), "b": [10, (20,)]}
    assert type(result["a"]) is Point
    assert result["a"].y["missing"] == []
    assert "missing" not in tree["a"].y


def test_keys_have_one_order():
    assert ordered({"b": 1, "a": 2}) == ["a", "b"]
    assert ordered({2: 1, "a": 2, 1: 3}) == ordered({"a": 2, 1: 3, 2: 1}) == [1, 2, "a"]
    mixed = [(1, "a"), ("a", 1), (2, 3)]
    assert ordered(dict.fromkeys(mixed)) == ordered(dict.fromkeys(reversed(mixed)))
