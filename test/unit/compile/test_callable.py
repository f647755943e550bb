"""The callable that ``compile`` returns: names, methods, lifetimes of instances."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import weakref
from typing import NamedTuple

import pytest

from lamina.errors import ArgumentError, ArgumentTypeError
from lamina.frontend.array import Array
from lamina.frontend.compile import compile


@compile
def at_module_level(x):
    """Doubles."""
    return x * 2


def test_names_documentation_and_signature_are_the_functions():
    def function(x, *, scale: float = 2.0) -> Array:
        """What it does."""
        return x * scale

    function.note = "kept"
    compiled = compile(function)
    assert compiled.__name__ == "function"
    assert compiled.__qualname__ == function.__qualname__
    assert compiled.__doc__ == "What it does."
    assert compiled.__module__ == __name__
    assert compiled.__wrapped__ is function
    assert compiled.note == "kept"
    assert inspect.signature(compiled) == inspect.signature(function)
    assert function.__name__ in repr(compiled)


def test_wraps_of_a_compiled_function():
    compiled = compile(lambda x: x + 1)

    @functools.wraps(compiled)
    def outer(x):
        return compiled(x)

    assert outer.__name__ == "<lambda>"
    assert outer(Array([1.0])).tolist() == [2.0]


def test_pickled_and_copied_by_name():
    assert pickle.loads(pickle.dumps(at_module_level)) is at_module_level
    assert copy.copy(at_module_level) is at_module_level
    assert copy.deepcopy(at_module_level) is at_module_level


def test_a_decorator_with_options():
    @compile(cache_limit=3)
    def function(x):
        return x + 1

    assert function(Array([1.0])).tolist() == [2.0]


def test_what_is_not_a_function_is_refused():
    with pytest.raises(ArgumentTypeError, match="takes a function, got int"):
        compile(3)
    with pytest.raises(ArgumentError, match="cache_limit"):
        compile(lambda x: x, cache_limit=0)


def test_generators_and_coroutines_are_refused():
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    for function in (generator, coroutine):
        with pytest.raises(ArgumentTypeError, match=function.__name__):
            compile(function)


def test_partials_builtins_and_callable_objects():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, x):
            return x * self.factor

    assert compile(functools.partial(lambda n, x: x * n, 3))(Array([1.0])).tolist() == [3.0]
    assert compile(abs)(Array([-1.0])).tolist() == [1.0]
    compiled = compile(Scale(4))
    assert compiled(Array([1.0])).tolist() == [4.0]
    assert compiled.__name__ == "Scale"


def test_wrong_arguments_raise_what_the_function_raises():
    compiled = compile(lambda x, y: x + y)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        compiled(Array([1.0]))
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        compiled(Array([1.0]), z=Array([1.0]))
    assert compiled.cache_size == 0


class Layer:
    def __init__(self, weight):
        self.weight = Array(weight)

    @compile
    def apply(self, x, *, bias=0.0):
        """Applies it."""
        return x * self.weight + bias

    @compile
    def itself(self, x):
        return self, [x + 1, self]

    @staticmethod
    @compile
    def outer_static(x):
        return x + 1

    @compile
    @staticmethod
    def inner_static(x):
        return x + 2

    @classmethod
    @compile
    def outer_class(cls, x):
        return x + len(cls.__name__)

    @compile
    @classmethod
    def inner_class(cls, x):
        return x - len(cls.__name__)

    @property
    @compile
    def doubled(self):
        return self.weight * 2


def test_methods():
    one, two = Layer([1.0]), Layer([2.0])
    x = Array([10.0])
    assert one.apply(x).tolist() == [10.0]
    assert two.apply(x).tolist() == [20.0]
    assert two.apply(x, bias=1.0).tolist() == [21.0]
    assert two.apply(bias=1.0, x=x).tolist() == [21.0]
    assert Layer.apply(two, x).tolist() == [20.0]
    assert one.apply == one.apply
    assert one.apply != two.apply
    assert hash(one.apply) == hash(one.apply)


def test_a_methods_names_and_signature():
    bound = Layer([1.0]).apply
    assert bound.__name__ == "apply"
    assert bound.__doc__ == "Applies it."
    assert str(inspect.signature(bound)) == "(x, *, bias=0.0)"


def test_a_methods_arrays_are_constants_of_its_instance():
    layer = Layer([1.0])
    x = Array([10.0])
    assert layer.apply(x).tolist() == [10.0]
    layer.weight = Array([5.0])
    assert layer.apply(x).tolist() == [10.0]


def test_static_and_class_methods_and_properties():
    layer, x = Layer([3.0]), Array([1.0])
    assert layer.outer_static(x).tolist() == Layer.outer_static(x).tolist() == [2.0]
    assert layer.inner_static(x).tolist() == Layer.inner_static(x).tolist() == [3.0]
    assert layer.outer_class(x).tolist() == Layer.outer_class(x).tolist() == [6.0]
    assert layer.inner_class(x).tolist() == Layer.inner_class(x).tolist() == [-4.0]
    assert layer.doubled.tolist() == [6.0]


def test_an_instance_is_not_kept_alive():
    layer = Layer([1.0])
    alive = weakref.ref(layer)
    layer.apply(Array([1.0]))
    me, (_, again) = layer.itself(Array([1.0]))
    assert me is again is layer
    assert layer.itself(Array([2.0]))[0] is layer
    del layer, me, again
    gc.collect()
    assert alive() is None
    assert not Layer.__dict__["apply"]._instances


def test_a_bound_method_keeps_its_instance():
    bound = Layer([2.0]).apply
    gc.collect()
    assert bound(Array([1.0])).tolist() == [2.0]


def test_instances_at_one_address_are_told_apart():
    results = []
    for i in range(50):
        results.append(Layer([float(i)]).apply(Array([1.0])).tolist())
    assert results == [[float(i)] for i in range(50)]


def test_instances_without_weak_references_are_arguments():
    class Pair(NamedTuple):
        a: Array
        b: Array

        @compile
        def total(self, x):
            return self.a + self.b + x

    x = Array([1.0])
    assert Pair(x, x).total(x).tolist() == [3.0]
    assert Pair(x, Array([5.0])).total(x).tolist() == [7.0]


def test_unhashable_instances_are_told_apart_by_identity():
    class Config:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return True

        __hash__ = None

        @compile
        def scale(self, x):
            return x * self.n

    one, two = Config(2), Config(3)
    assert one.scale(Array([1.0])).tolist() == [2.0]
    assert two.scale(Array([1.0])).tolist() == [3.0]


def test_a_bound_method_can_be_wrapped():
    class Model:
        def __init__(self):
            self.weight = Array([2.0])

        def forward(self, x):
            return x * self.weight

    model = Model()
    first, second = compile(model.forward), compile(model.forward)
    assert first(Array([3.0])).tolist() == [6.0]
    assert second(Array([3.0])).tolist() == [6.0]
    assert second.traces == 1
