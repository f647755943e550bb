"""What makes two calls the same kind of call."""

from __future__ import annotations

import dataclasses
import decimal
import enum
import itertools
import math
import random
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.errors import ArgumentTypeError, LaminaError
from lamina.frontend import devices, dtypes
from lamina.frontend.array import Array
from lamina.frontend.compile import compile
from lamina.frontend.tree import REGISTERED, register_pytree_node

X = Array([1.0, 2.0])


def traces(*calls: tuple[tuple[Any, ...], dict[str, Any]]) -> int:
    """How often a function is traced by these calls."""
    compiled = compile(lambda *args, **kwargs: len(args))
    for args, kwargs in calls:
        compiled(*args, **kwargs)
    return compiled.traces


def same(a: Any, b: Any) -> bool:
    return traces(((X, a), {}), ((X, b), {})) == 1


def test_shapes_and_dtypes():
    assert same(Array([1.0]), Array([2.0]))
    assert not same(Array([1.0]), Array([1.0, 2.0]))
    assert not same(Array([1.0]), Array([[1.0]]))
    assert not same(Array([1.0]), Array([1]))
    assert not same(Array([1.0]), Array([1.0], dtypes.float16))
    assert not same(Array(1.0), 1.0)


def test_numbers_of_other_types_differ():
    assert traces(*[((X, value), {}) for value in (1, 1.0, True, 1 + 0j, np.int32(1))]) == 5
    assert same(1, 1)
    assert not same(2, 3)
    assert not same(1.0, math.nextafter(1.0, 2))


def test_zeros_and_nan():
    assert not same(0.0, -0.0)
    assert same(math.nan, float("nan"))
    assert same(-0.0, -0.0)
    assert not same(complex(0.0, 1.0), complex(-0.0, 1.0))
    assert same(complex(math.nan, 1.0), complex(float("nan"), 1.0))
    assert not same(np.float32(0.0), np.float32(-0.0))
    assert same(np.float32("nan"), np.float32("nan"))
    assert not same(math.nan, "nan")
    assert not same(0.0, "0.0")


def test_texts_and_integers_that_hash_alike():
    assert hash(-1) == hash(-2)
    assert not same(-1, -2)
    modulus = 2**61 - 1
    assert hash(modulus) == hash(0)
    assert not same(modulus, 0)
    assert not same("a", "b")
    assert not same("1", b"1")
    assert not same("1", 1)

    class Text(str):
        __slots__ = ()

        def __hash__(self):
            return 1

    assert hash(Text("a")) == hash(Text("b"))
    assert not same(Text("a"), Text("b"))


def test_containers_and_lengths():
    Pair = namedtuple("Pair", "a b")  # noqa: PYI024
    Other = namedtuple("Other", "a b")  # noqa: PYI024
    kinds = [[X, X], (X, X), Pair(X, X), Other(X, X), {0: X, 1: X}, [X, [X]], [[X], X], [X], []]
    assert traces(*[((kind,), {}) for kind in kinds]) == len(kinds)
    assert not same([], ())
    assert not same({}, [])
    assert not same(None, [])
    assert same({}, {})
    assert not same(OrderedDict(a=X), {"a": X})


def test_where_an_argument_ends():
    calls = [
        ((X, X), {}),
        ((X, (X,)), {}),
        (((X, X),), {}),
        ((X,), {"a": X}),
        ((), {"a": X, "b": X}),
    ]
    assert traces(*calls) == len(calls)
    assert traces(((1, 2), {}), (((1, 2),), {}), ((1, (2,)), {})) == 3


def test_keys_of_dictionaries():
    assert not same({"a": X}, {"b": X})
    assert traces(*[(({key: X},), {}) for key in (1, 1.0, True)]) == 3
    assert not same({0.0: X}, {-0.0: X})
    assert not same({(1,): X}, {(True,): X})
    assert not same({"a": X, "b": 1}, {"a": 1, "b": X})


def test_the_order_of_dictionaries_and_keywords_does_not_matter():
    a, b = Array([1.0]), Array([2.0, 3.0])
    compiled = compile(lambda tree, **named: (tree["a"] - tree["b"], named["c"] * named["d"]))
    for first, second in (("a", "b"), ("b", "a")):
        values = {"a": a, "b": b, "c": a, "d": b}
        difference, product = compile_call = compiled(
            {first: values[first], second: values[second]}, d=b, c=a
        )
        assert len(compile_call) == 2
        assert difference.tolist() == [-1.0, -2.0]
        assert product.tolist() == [2.0, 3.0]
    compiled({"a": a, "b": b}, c=a, d=b)
    assert compiled.traces == 1


def test_keys_without_an_order_of_their_own():
    class Color(enum.Enum):
        red = 1
        blue = 2

    keys = [Color.red, Color.blue, None, 1, "a", (1, "a"), (1, 2), frozenset([1]), 2.5]
    values = {key: Array([float(i)]) for i, key in enumerate(keys)}
    compiled = compile(lambda tree: [tree[key] for key in keys])
    generator = random.Random(1)
    for _ in range(5):
        generator.shuffle(order := list(keys))
        results = compiled({key: values[key] for key in order})
        assert [result.item() for result in results] == list(range(len(keys)))
    assert compiled.traces == 1


def test_an_ordered_dictionary_keeps_its_order():
    a, b = Array([1.0]), Array([2.0])
    compiled = compile(lambda tree: next(iter(tree.values())) * 10)
    assert compiled(OrderedDict(b=b, a=a)).tolist() == [20.0]
    assert compiled(OrderedDict(a=a, b=b)).tolist() == [10.0]
    assert compiled.traces == 2


def test_positional_and_keyword_passing_are_one_key():
    compiled = compile(lambda x, y, *, scale=1.0: (x - y) * scale)
    x, y = Array([5.0]), Array([3.0])
    for args, kwargs in [((x, y), {}), ((x,), {"y": y}), ((), {"y": y, "x": x})]:
        assert compiled(*args, **kwargs).tolist() == [2.0]
    assert compiled.traces == 1
    assert compiled(x, y, scale=2.0).tolist() == compiled(y=y, scale=2.0, x=x).tolist() == [4.0]
    assert compiled.traces == 2


def test_positional_only_and_variadic_parameters():
    def function(a, /, b, *rest, **named):
        return a * 100 + b * 10 + sum(rest) + named.get("a", 0) * 1000

    compiled = compile(function)
    one, two, three = Array([1.0]), Array([2.0]), Array([3.0])
    assert compiled(one, two, three).tolist() == [123.0]
    assert compiled(one, b=two).tolist() == [120.0]
    assert compiled(one, two).tolist() == [120.0]
    assert compiled(one, b=two, a=three).tolist() == [3120.0]
    assert compiled.traces == 3


@dataclasses.dataclass(frozen=True)
class Config:
    size: Any
    name: str = "c"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (dtypes.float32, dtypes.float16),
        (slice(0, 2), slice(0, 3)),
        (slice(1, None), slice(True, None)),
        (1 + 2j, 1 + 3j),
        (enum.Enum("E", "a").a, enum.Enum("E", "a").a),
        (Config(1), Config(2)),
        (Config(1), Config(1.0)),
        (Config(1), Config(True)),
        (Config((1,)), Config((True,))),
        (Config(0.0), Config(-0.0)),
        (frozenset([1]), frozenset([True])),
        (range(3), range(4)),
        (range(0, 3, 2), range(0, 4, 2)),
        (b"a", b"b"),
        (devices.cpu, None),
        (np.dtype("f4"), np.dtype("f8")),
        (decimal.Decimal(1), decimal.Decimal(2)),
        (print, len),
        (Ellipsis, NotImplemented),
        (int, float),
    ],
)
def test_hashable_constants(a, b):
    assert same(a, a)
    assert not same(a, b)
    received = []
    compile(lambda x, constant: received.append(constant))(X, a)
    assert received == [a]


def test_equal_constants_are_one_key():
    assert same(slice(0, 2), slice(0, 2))
    assert same(Config(1), Config(1))
    assert same(Config(math.nan), Config(float("nan")))
    assert same(frozenset([1, 2]), frozenset([2, 1]))
    assert same(range(3), range(3))


def test_a_dataclass_that_is_equal_by_identity():
    @dataclasses.dataclass(eq=False)
    class Box:
        items: list[int]

    box = Box([1])
    assert same(box, box)
    assert not same(box, Box([1]))


@dataclasses.dataclass
class Mutable:
    size: int


class Bad:
    __hash__ = None  # pyright: ignore


@pytest.mark.parametrize(
    ("leaf", "name"),
    [
        ({1}, "set"),
        (bytearray(b"a"), "bytearray"),
        (np.zeros(2), "numpy.ndarray"),
        (Mutable(1), "Mutable"),
        (Config([1]), "Config"),
        (Bad(), "Bad"),
    ],
)
def test_an_unhashable_leaf_is_named_with_its_path(leaf, name):
    def function(x, options, *rest, **named):
        return x

    compiled = compile(function)
    compiled(X, {"a": [1]})
    for call, path in [
        (lambda: compiled(X, leaf), r"argument `options`: "),
        (lambda: compiled(X, {"a": [1, {"b": leaf}]}), r"argument `options`\['a'\]\[1\]\['b'\]: "),
        (lambda: compiled(X, 1, 2, leaf), r"argument `rest\[1\]`: "),
        (lambda: compiled(X, 1, extra=(leaf,)), r"argument `extra`\[0\]: "),
        (lambda: compiled(X, options=leaf), r"argument `options`: "),
    ]:
        with pytest.raises(ArgumentTypeError, match=path) as caught:
            call()
        assert isinstance(caught.value, TypeError)
        assert name in str(caught.value)
        assert "function" in str(caught.value)
    assert compiled.cache_size == 1


def test_numpy_arrays_are_refused_with_a_hint():
    with pytest.raises(LaminaError, match=r"lamina\.array"):
        compile(lambda x: x)(np.zeros(2))


class Point:
    def __init__(self, x, y, label):
        self.x, self.y, self.label = x, y, label


@pytest.fixture
def registered():
    register_pytree_node(
        Point, lambda p: ((p.x, p.y), p.label), lambda label, xy: Point(*xy, label)
    )
    yield
    del REGISTERED[Point]


@pytest.mark.usefixtures("registered")
def test_registered_types():
    compiled = compile(lambda p: Point(p.x + 1, p.y, p.label + "!"))
    result = compiled(Point(Array([1.0]), {"k": 3}, "a"))
    assert isinstance(result, Point)
    assert (result.x.tolist(), result.y, result.label) == ([2.0], {"k": 3}, "a!")
    assert compiled(Point(Array([5.0]), {"k": 3}, "a")).x.tolist() == [6.0]
    assert compiled.traces == 1
    assert compiled(Point(Array([5.0]), {"k": 4}, "a")).y == {"k": 4}
    assert compiled(Point(Array([5.0]), {"k": 4}, "b")).label == "b!"
    assert compiled.traces == 3
    assert not same(Point(X, X, 1), Point(X, X, True))
    with pytest.raises(ArgumentTypeError, match="what flattening a Point left over"):
        compiled(Point(X, X, [1]))


def test_registration_is_checked():
    with pytest.raises(LaminaError, match="takes a type and two functions"):
        register_pytree_node("Point", None, None)
    with pytest.raises(LaminaError, match="list is a container already"):
        register_pytree_node(list, lambda a: (a, None), lambda _, a: list(a))


def test_subclasses_of_containers_keep_their_kind():
    class Stack(list):
        pass

    groups = defaultdict(list, a=Array([1.0]))
    stack = Stack([Array([2.0])])
    stack.name = "s"

    def function(groups, stack):
        assert type(groups) is defaultdict
        assert groups.default_factory is list
        assert type(stack) is Stack
        assert stack.name == "s"
        return groups, stack

    first, second = compile(function)(groups, stack)
    assert type(first) is defaultdict
    assert first["a"].tolist() == [1.0]
    assert first["missing"] == []
    assert type(second) is Stack
    assert second.name == "s"
    assert second[0].tolist() == [2.0]


def test_the_default_device_is_part_of_the_key(monkeypatch):
    from lamina.frontend import compile as compile_module

    now = [devices.Device(devices.cpu, 0)]
    monkeypatch.setattr(compile_module, "default_device", lambda: now[0])
    compiled = compile(lambda x: x + 1)
    compiled(X)
    now[0] = devices.Device(devices.cpu, 1)
    compiled(X)
    assert compiled.traces == 2
    now[0] = devices.Device(devices.cpu, 0)
    compiled(X)
    compiled(X)
    assert compiled.traces == 2


def test_lazy_arguments_are_computed_before_the_launch():
    compiled = compile(lambda x: x * 2)
    lazy = Array([1.0]) + Array([2.0])
    assert lazy.node.buffer is None
    assert compiled(lazy).node.buffer is not None
    assert lazy.node.buffer is not None
    assert compiled(Array([1.0]) + 4.0).tolist() == [10.0]


leaves = st.one_of(
    st.integers(0, 3), st.floats(allow_nan=True), st.booleans(), st.text(max_size=2), st.none(),
    st.builds(lambda n, v: Array([float(v)] * n), st.integers(1, 3), st.integers(0, 99)),
)  # fmt: skip
trees = st.recursive(
    leaves,
    lambda child: st.one_of(
        st.lists(child, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers(0, 3)), child, max_size=3),
        st.tuples(child, child),
    ),
    max_leaves=8,
)


def shuffled(value: Any, generator: random.Random) -> Any:
    """The same tree with its dictionaries filled in another order."""
    if isinstance(value, dict):
        items = [(key, shuffled(child, generator)) for key, child in value.items()]
        generator.shuffle(items)
        return dict(items)
    if isinstance(value, (list, tuple)):
        return type(value)(shuffled(child, generator) for child in value)
    return value


def plain(value: Any) -> Any:
    """The tree with arrays as lists, and text for numbers, so that NaN equals itself."""
    if isinstance(value, dict):
        return {(type(key), key): plain(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return (type(value), [plain(child) for child in value])
    return ("array", value.tolist()) if isinstance(value, Array) else repr(value)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), trees, max_size=4), st.integers(0, 10**6))
def test_shuffled_trees_are_one_key_and_come_back_right(arguments, seed):
    compiled = compile(lambda **named: named)
    generator = random.Random(seed)
    for _ in range(3):
        named = shuffled(arguments, generator)
        assert plain(compiled(**named)) == plain(arguments)
    assert compiled.traces == 1


def test_all_pairs_of_unequal_trees_are_unequal_keys():
    values = [
        1, 1.0, True, "1", None, (), [], {}, (1,), [1], {1: 1}, {"1": 1}, (1.0,), ((1,),), ([1],),
        (1, 1), {"a": (1,)}, {"a": [1]}, {"a": 1, "b": ()}, {"b": 1, "a": ()}, X, [X], {"a": X},
    ]  # fmt: skip
    for a, b in itertools.combinations(values, 2):
        assert not same(a, b), (a, b)
