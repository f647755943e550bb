"""Donation: arguments and state whose memory outputs take over, and that nobody sees it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from lamina.errors import ArgumentError, DonatedArrayError
from lamina.frontend import compile as compile_module
from lamina.frontend.array import Array
from lamina.frontend.compile import compile
from lamina.frontend.dispatch import Interpreted

N = 100_000


def big(value=1.0):
    return Array(np.full(N, value, np.float32))


class Taking(Interpreted):
    """Runs a program, and moves an output into the memory of each input it may take over."""

    __slots__ = ("artifact", "taken")

    made: ClassVar[list[Taking]] = []

    def __init__(self, program, pipeline=None):
        super().__init__(program)
        self.taken = []
        outputs = [
            SimpleNamespace(
                shape=program.type_of(value).shape,
                dtype=program.type_of(value).dtype.name,
                donated=tuple(range(len(program.inputs))),
            )
            for value in program.outputs
        ]
        self.artifact = SimpleNamespace(outputs=outputs, launches=(), workspace=0)
        Taking.made.append(self)

    def run(self, inputs, donate=()):
        outputs = super().run(inputs)
        self.taken = []
        for i, number in enumerate(donate):
            if i < len(outputs) and inputs[number].is_donatable:
                values = outputs[i].as_numpy("float32", (N,)).copy()
                outputs[i] = inputs[number].donate(inputs[number].nbytes)
                outputs[i].as_numpy("float32", (N,), writable=True)[:] = values
                self.taken.append(number)
        return outputs


@pytest.fixture
def taking(monkeypatch):
    monkeypatch.setattr(compile_module, "executable_for", Taking)
    Taking.made = []
    return lambda: Taking.made[-1].taken


def test_names_and_positions_are_checked():
    def function(x, y, *, z=1, **_):
        return x

    for donate in ("x", ("x", "y"), 0, (0, 1), "z", (), ["anything"]):
        compile(function, donate=donate)
    with pytest.raises(ArgumentError, match="position 2"):
        compile(function, donate=2)
    with pytest.raises(ArgumentError, match="position -1"):
        compile(function, donate=-1)
    with pytest.raises(ArgumentError, match="'w'"):
        compile(lambda x: x, donate="w")


@pytest.mark.parametrize("donate", ["y", 1])
def test_a_donated_array_cannot_be_used_afterwards(donate):
    def function(x, y):
        return x + y["a"], y["a"]

    compiled = compile(function, donate=donate)
    for call in (lambda x, y: compiled(x, {"a": y}), lambda x, y: compiled(y={"a": y}, x=x)):
        x, y = Array([1.0]), Array([2.0])
        total, same = call(x, y)
        assert total.tolist() == [3.0]
        assert same.tolist() == [2.0]
        assert x.tolist() == [1.0]
        assert y.shape == (1,)
        for use in (y.tolist, lambda y=y: (y + 1).tolist(), lambda y=y: compiled(y, {"a": y})):
            with pytest.raises(DonatedArrayError, match="function") as caught:
                use()
            assert "donate=" in str(caught.value)
            assert __file__ in str(caught.value)
    assert compiled.traces == 1


def test_variadic_arguments_are_donated_by_their_name():
    compiled = compile(lambda x, *rest: sum(rest, x), donate="rest")
    x, y, z = Array([1.0]), Array([2.0]), Array([3.0])
    assert compiled(x, y, z).tolist() == [6.0]
    assert x.tolist() == [1.0]
    for array in (y, z):
        with pytest.raises(DonatedArrayError):
            array.tolist()


def test_memory_is_taken_over(taking):
    compiled = compile(lambda x, y: x + y, donate="y")
    x, y = big(), big(2.0)
    address = y.node.buffer.address
    result = compiled(x, y)
    assert taking() == [1]
    assert result.node.buffer.address == address
    assert result[0].item() == 3.0
    assert compiled(y=big(5.0), x=x)[0].item() == 6.0
    assert taking() == [1]


def test_memory_that_others_hold_is_not(taking):
    compiled = compile(lambda x: x + 1, donate="x")

    def taken(array):
        compiled(array)
        return taking()

    assert taken(big()) == [0]
    x = big()
    exported = np.asarray(x)
    assert taken(x) == []
    assert exported[0] == 1.0
    x = big()
    pending = x * 2
    assert taken(x) == []
    assert pending[0].item() == 2.0
    x = big()
    flat = x.reshape(1, N)
    flat.tolist()
    assert taken(x) == []
    assert flat[0, 0].item() == 1.0
    x = big()
    other = Array(x)
    assert taken(x) == []
    assert other[0].item() == 1.0


def test_an_argument_that_is_passed_twice_or_by_closure_too(taking):
    x = big()
    twice = compile(lambda a, b: a + b, donate="a")
    assert twice(x, x)[0].item() == 2.0
    assert taking() == []
    y = big(3.0)
    closure = compile(lambda a: a + y, donate="a")
    assert closure(y)[0].item() == 6.0
    assert closure(big())[0].item() == 4.0


def test_small_arrays_are_left_alone(taking):
    compiled = compile(lambda x: x + 1, donate="x")
    compiled(Array([1.0]))
    assert taking() == []


def test_state_that_is_replaced_gives_its_memory(taking):
    state = {"w": big(), "fixed": big(3.0), "list": [big(2.0)]}

    def step(x):
        state["w"] = state["w"] + x * state["fixed"]
        state["list"][0] = x

    compiled = compile(step, inputs=state, outputs=state)
    address = state["w"].node.buffer.address
    compiled(big(2.0))
    assert sorted(taking()) == [2, 3]
    assert state["w"][0].item() == 7.0
    assert address in (state["w"].node.buffer.address, state["list"][0].node.buffer.address)
    assert state["fixed"][0].item() == 3.0


def test_state_that_others_hold_keeps_its_memory(taking):
    state = {"w": big()}
    compiled = compile(lambda x: state.update(w=state["w"] + x), inputs=state, outputs=state)
    kept = state["w"]
    compiled(big())
    assert taking() == []
    assert kept[0].item() == 1.0
    pending = state["w"] * 10
    compiled(big())
    assert taking() == []
    assert pending[0].item() == 20.0
    exported = np.asarray(state["w"])
    compiled(big())
    assert taking() == []
    assert exported[0] == 3.0
    del exported
    compiled(big())
    assert taking() == [1]
    assert state["w"][0].item() == 5.0


def test_an_error_gives_the_memory_back(monkeypatch):
    class Failing(Taking):
        __slots__ = ()

        def run(self, inputs, donate=()):
            assert list(donate) == [0]
            raise RuntimeError("the device failed")

    monkeypatch.setattr(compile_module, "executable_for", Failing)
    x = big()
    with pytest.raises(RuntimeError, match="the device failed"):
        compile(lambda a: a + 1, donate="a")(x)
    assert x[0].item() == 1.0


def test_captured_state_that_is_also_donated_stays_usable():
    state = {"w": Array([1.0]), "fixed": Array([2.0])}

    def step(w, fixed):
        state["w"] = w + fixed

    compiled = compile(step, inputs=state, outputs=state, donate=("w", "fixed"))
    for expected in (3.0, 5.0):
        old = state["w"]
        compiled(state["w"], state["fixed"])
        assert state["w"].tolist() == [expected]
        assert state["fixed"].tolist() == [2.0]
        with pytest.raises(DonatedArrayError):
            old.tolist()
