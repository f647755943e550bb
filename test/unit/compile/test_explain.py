"""``explain`` says whether a call would be traced, and why."""

from __future__ import annotations

import dataclasses

import pytest

from lamina.errors import ArgumentTypeError
from lamina.frontend import dtypes
from lamina.frontend.array import Array
from lamina.frontend.compile import compile
from lamina.frontend.explain import Change, explain

X = Array([1.0, 2.0])


def reasons(compiled, *args, **kwargs):
    return [str(change) for change in explain(compiled, *args, **kwargs).changes]


def test_a_first_call():
    compiled = compile(lambda x: x + 1)
    told = explain(compiled, X)
    assert (told.hit, told.changes, told.entries, told.traces) == (False, (), 0, 0)
    assert "miss" in str(told)
    assert "nothing like this call is compiled" in str(told)
    assert compiled.traces == 0


def test_a_hit_tells_of_the_program():
    outside = Array([5.0, 6.0])
    compiled = compile(lambda x: ((x + 1) * outside, x + 1))
    compiled(X)
    told = explain(compiled, X)
    assert told.hit
    assert told.changes == ()
    assert told.program["operands"] == 2
    assert told.program["outputs"] == 2
    assert told.program["arrays by closure"] == 1
    assert told.program["operations"] >= 2
    assert "hit (1 compiled, traced once)" in str(told)
    assert "2 operands" in str(told)


@pytest.mark.parametrize(
    ("args", "kwargs", "expected"),
    [
        (
            (Array([1.0]), {"w": [X]}),
            {},
            ["argument `x`: array f32[2] became array f32[1]"],
        ),
        (
            (Array([1, 2]), {"w": [X]}),
            {},
            ["argument `x`: array f32[2] became array i32[2]"],
        ),
        (
            (X, {"w": [Array([1.0, 2.0], dtypes.float16)]}),
            {},
            ["argument `options`['w'][0]: array f32[2] became array f16[2]"],
        ),
        (
            (X, {"w": [X, 3]}),
            {},
            [
                "argument `options`['w']: list of 1 became list of 2",
                "argument `options`['w'][1]: int 3 is new",
            ],
        ),
        (
            (X, {"v": [X]}),
            {},
            [
                "argument `options`['v']: list of 1 is new",
                "argument `options`['v'][0]: array f32[2] is new",
                "argument `options`['w']: list of 1 is gone",
                "argument `options`['w'][0]: array f32[2] is gone",
            ],
        ),
        ((X, {"w": [X]}), {"rate": 1}, ["argument `rate`: float 1.0 became int 1"]),
        ((X, {"w": [X]}), {"rate": -0.0}, ["argument `rate`: float 1.0 became float -0.0"]),
        ((X, {"w": [X]}), {"rate": None}, ["argument `rate`: float 1.0 became None"]),
        ((X, (X,)), {}, None),
    ],
)
def test_what_changed_is_named(args, kwargs, expected):
    def function(x, options, *, rate=1.0):
        return x

    compiled = compile(function)
    compiled(X, {"w": [X]}, rate=1.0)
    told = explain(compiled, *args, **{"rate": 1.0, **kwargs})
    assert not told.hit
    assert compiled.traces == 1
    if expected is None:
        assert Change("argument `options`", "dict of 1", "tuple of 1") in told.changes
    else:
        assert [str(change) for change in told.changes] == expected


def test_keyword_order_and_passing_is_a_hit():
    compiled = compile(lambda x, y=1, *, z=2: x)
    compiled(X, 1, z=2)
    assert explain(compiled, z=2, y=1, x=X).hit


def test_the_nearest_call_is_compared_with():
    compiled = compile(lambda x, a, b, c: x)
    compiled(X, 1, 2, 3)
    compiled(X, 7, 8, 9)
    assert reasons(compiled, X, 1, 2, 4) == ["argument `c`: int 3 became int 4"]
    assert reasons(compiled, X, 7, 0, 9) == ["argument `b`: int 8 became int 0"]


def test_captures_are_named():
    class Module(dict):
        pass

    state = {"mode": "train", "model": Module(w=X)}
    state["model"].training = True
    compiled = compile(lambda x: x, inputs=state)
    compiled(X)
    assert explain(compiled, X).hit
    state["mode"] = "eval"
    assert reasons(compiled, X) == ["captured inputs['mode']: str 'train' became str 'eval'"]
    state["mode"] = "train"
    state["model"].training = False
    assert reasons(compiled, X) == [
        "captured inputs['model']: Module of 1, training=True became Module of 1, training=False"
    ]
    state["model"].training = True
    state["momentum"] = Array([1.0])
    assert "captured inputs['momentum']: array f32[1] is new" in reasons(compiled, X)


def test_constants_are_shown_by_their_fields():
    @dataclasses.dataclass(frozen=True)
    class Config:
        size: int
        rate: float

    compiled = compile(lambda x, config, s: x)
    compiled(X, Config(1, 0.5), slice(1, 2))
    assert reasons(compiled, X, Config(2, 0.5), slice(1, 3)) == [
        "argument `config`: Config (1, 0.5) became Config (2, 0.5)",
        "argument `s`: slice (1, 2, None) became slice (1, 3, None)",
    ]


def test_methods_of_instances():
    class Model:
        @compile
        def forward(self, x):
            return x + 1

    model = Model()
    model.forward(X)
    assert explain(model.forward, X).hit
    assert explain(model.forward, X).function.endswith("forward")
    assert not explain(Model().forward, X).hit


def test_what_is_not_compiled_is_refused():
    with pytest.raises(ArgumentTypeError, match="takes a compiled function, got function"):
        explain(lambda x: x, X)
    with pytest.raises(ArgumentTypeError, match="argument `x`: a set"):
        explain(compile(lambda x: x), {1})
