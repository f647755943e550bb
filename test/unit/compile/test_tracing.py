"""What a function may do while it is traced, and what comes of it."""

from __future__ import annotations

import gc
import re
import threading
import weakref
from collections import OrderedDict, defaultdict, namedtuple
from pathlib import Path

import numpy as np
import pytest

import lamina as lm
from lamina.errors import LaminaError, LeakedTraceError, TracedValueError
from lamina.frontend import graph
from lamina.frontend.array import Array
from lamina.frontend.compile import compile
from lamina.frontend.evaluate import async_eval, eval

X = Array([1.0, 2.0])


def line_of(text: str) -> int:
    """The number of the line of this file that ends with a comment."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {text}"))


def test_types_may_be_read():
    def function(x):
        assert (x.shape, x.dtype, x.ndim, x.size) == ((2,), lm.float32, 1, 2)
        assert (len(x), x.nbytes, x.itemsize) == (2, 8, 4)
        return x * x.size

    assert compile(function)(X).tolist() == [2.0, 4.0]


READS = {
    "print": lambda x: str(x),
    "format": lambda x: f"{x}",
    "item": lambda x: x.sum().item(),
    "tolist": lambda x: x.tolist(),
    "bool": lambda x: bool(x.sum() > 0),
    "if": lambda x: 1 if x.sum() > 0 else 2,
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x.sum()),
    "numpy": lambda x: np.array(x).any(),
    "eval": lambda x: eval(x),
    "eval of a tree": lambda x: eval({"a": [x + 1]}),
    "async_eval": lambda x: async_eval(x),
}


@pytest.mark.parametrize("name", READS)
def test_reading_a_value_is_an_error_with_the_line_and_the_ways_out(name):
    read = READS[name]

    def function(x):
        return x if read(x * 2) else -x

    compiled = compile(function)
    with pytest.raises(TracedValueError) as caught:
        compiled(X)
    text = str(caught.value)
    assert re.search(rf"at {re.escape(__file__)}:\d+", text)
    assert "function" in text
    assert "lamina.where" in text
    assert "inputs=" in text
    assert compiled.cache_size == 0
    assert compiled.__wrapped__(X).tolist() in ([1.0, 2.0], [-1.0, -2.0])


def test_values_that_are_known_may_be_read():
    outside = Array([3.0])

    def function(x):
        return x * outside.item() if outside.item() > 2 else x

    assert compile(function)(X).tolist() == [3.0, 6.0]


def test_arrays_by_closure_are_constants():
    state = [Array([1.0, 1.0]), Array([2.0, 2.0]) * 2]
    compiled = compile(lambda x: x + state[0] * state[1])
    assert compiled(X).tolist() == [5.0, 6.0]
    state[0] = Array([9.0, 9.0])
    assert compiled(X).tolist() == [5.0, 6.0]
    assert compiled.traces == 1


def test_arrays_by_closure_are_operands_not_bytes_of_the_program():
    from lamina.frontend.tracing import trace

    programs = []
    for value in ([1.0, 2.0], [3.0, 4.0]):
        outside = Array(value)
        traced = trace(lambda x, c=outside: x + c, "f", (X,), {})
        programs.append(traced.program.key())
        assert traced.hidden == [outside.node]
    assert programs[0] == programs[1]


def test_an_assignment_to_a_closure_array_does_not_change_the_constant():
    outside = Array([1.0, 1.0])
    compiled = compile(lambda x: x + outside)
    compiled(X)
    outside[0] = 100.0
    assert compiled(X).tolist() == [2.0, 3.0]


def test_one_array_as_an_argument_and_by_closure():
    x = Array([1.0, 2.0])
    compiled = compile(lambda a: a * 10 + x)
    assert compiled(x).tolist() == [11.0, 22.0]
    assert compiled(Array([0.0, 0.0])).tolist() == [1.0, 2.0]
    assert compiled.traces == 1


def test_data_made_while_tracing_is_a_constant():
    compiled = compile(lambda x: x + Array(np.array([5.0, 6.0], np.float32)) + lm.zeros(2))
    assert compiled(X).tolist() == [6.0, 8.0]
    assert compiled(Array([0.0, 0.0])).tolist() == [5.0, 6.0]


def test_arguments_are_not_changed():
    def function(x, options):
        x[0] = 9.0
        options["list"].append(x)
        options["more"] = x
        return options

    options = {"list": [1]}
    x = Array([1.0, 2.0])
    result = compile(function)(x, options)
    assert x.tolist() == [1.0, 2.0]
    assert options == {"list": [1]}
    assert result["more"].tolist() == result["list"][1].tolist() == [9.0, 2.0]


LEAKS: list[Array] = []


def leaking(x):
    LEAKS.append(x * 2)  # the leak
    return x


def test_an_escaped_array_says_where_it_was_made_and_by_whom():
    LEAKS.clear()
    assert compile(leaking)(X).tolist() == [1.0, 2.0]
    assert LEAKS[0].shape == (2,)
    for use in (
        lambda: LEAKS[0].tolist(),
        lambda: (LEAKS[0] + 1).tolist(),
        lambda: print(LEAKS[0]),
        lambda: compile(lambda a: a + 1)(LEAKS[0]),
        lambda: compile(lambda a: a + LEAKS[0])(X),
    ):
        with pytest.raises(LeakedTraceError) as caught:
            use()
        text = str(caught.value)
        assert "leaking" in text
        assert f"{__file__}:{line_of('the leak')}" in text
        assert "outputs=" in text
        assert "return it" in text


def test_an_escaped_argument_is_an_error_too():
    kept = []
    compile(kept.append)(X)
    with pytest.raises(LeakedTraceError, match="outputs="):
        kept[0].tolist()


def test_a_closure_array_that_was_assigned_to_is_an_escaped_array():
    total = Array([0.0, 0.0])

    def function(x):
        total[0] = x[0]
        return x

    compile(function)(X)
    with pytest.raises(LeakedTraceError, match="function"):
        total.tolist()


Pair = namedtuple("Pair", "a b")  # noqa: PYI024


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x,
        lambda x: [x, x],
        lambda x: (x,),
        lambda x: [],
        lambda x: (),
        lambda x: None,
        lambda x: 3,
        lambda x: [[], x, (), {}],
        lambda x: [[x], x],
        lambda x: ([x, x + 1], x),
        lambda x: {"b": x + 1, "a": [x, "text", None], 3: (x * 2,)},
        lambda x: Pair(x, {"c": Pair(1, x)}),
        lambda x: (x * 2, x, x * 2, x),
        lambda x: lm.zeros((2, 2)),
        lambda x: (lm.arange(3), 5),
        lambda x: [x.sum(), x, x.reshape(2, 1)],
    ],
)
def test_outputs_are_any_tree(make):
    def plain(value):
        if isinstance(value, Array):
            return ("array", value.shape, value.tolist())
        if isinstance(value, dict):
            return [(key, plain(child)) for key, child in value.items()]
        if isinstance(value, (list, tuple)):
            return (type(value), [plain(child) for child in value])
        return value

    compiled = compile(make)
    for values in ([1.0, 2.0], [3.0, 4.0]):
        x = Array(values)
        assert plain(compiled(x)) == plain(make(x))
    assert compiled.traces == 1


def test_results_of_two_calls_share_no_container():
    compiled = compile(lambda x: ([x], {"a": [1]}, [x + 1]))
    first, second = compiled(X), compiled(X)
    first[0].append(1)
    first[1]["a"].append(2)
    assert len(second[0]) == 1
    assert second[1] == {"a": [1]}
    assert compiled(X)[1] == {"a": [1]}


def test_an_assignment_to_a_result_does_not_reach_others():
    compiled = compile(lambda x: (x, x + 0, lm.zeros(2)))
    x = Array([1.0, 2.0])
    first = compiled(x)
    for array in first:
        array[0] = 100.0
    assert x.tolist() == [1.0, 2.0]
    assert [array.tolist() for array in compiled(x)] == [[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]]


def test_one_handle_twice_stays_one_handle():
    def function(x):
        y = x + 1
        return y, y, y + 0

    first, second, third = compile(function)(X)
    assert first is second
    assert first is not third


def test_the_structure_may_differ_from_key_to_key():
    compiled = compile(lambda x, n: [x] * n if n < 3 else {"many": x})
    assert len(compiled(X, 2)) == 2
    assert compiled(X, 3)["many"].tolist() == [1.0, 2.0]
    assert compiled(X, 0) == []


def test_an_exception_leaves_no_entry_and_the_next_call_works():
    fail = [True]

    def function(x):
        y = x + 1
        if fail[0]:
            raise KeyError("on purpose")
        return y

    compiled = compile(function)
    for _ in range(2):
        with pytest.raises(KeyError, match="on purpose"):
            compiled(X)
    assert compiled.cache_size == 0
    assert graph.current.trace is None
    fail[0] = False
    assert compiled(X).tolist() == [2.0, 3.0]


def test_shape_errors_while_tracing_name_the_line():
    def function(x):
        return x + lm.zeros(3)  # does not fit

    with pytest.raises(LaminaError, match=f"{__file__}:{line_of('does not fit')}"):
        compile(function)(X)


def test_a_compiled_function_inside_another_is_seen_through():
    from lamina.frontend.tracing import trace

    inner = compile(lambda x: x * 2)
    outer = compile(lambda x: inner(x) + inner(x))
    assert outer(X).tolist() == [4.0, 8.0]
    assert inner.traces == 0
    traced = trace(outer.__wrapped__, "outer", (X,), {})
    assert [one.primitive.name for one in traced.program.instructions].count("multiply") == 1
    assert inner(X).tolist() == [2.0, 4.0]


def test_compiling_a_compiled_function():
    assert compile(compile(lambda x: x + 1))(X).tolist() == [2.0, 3.0]


def test_recursion():
    @compile
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    assert power(X, 5).tolist() == [1.0, 32.0]
    assert power.traces == 1
    assert power(X, 4).tolist() == [1.0, 16.0]


def test_a_function_made_and_compiled_while_tracing():
    def function(x):
        return compile(lambda y: y + x)(x * 2)

    assert compile(function)(X).tolist() == [3.0, 6.0]


def test_threads_trace_side_by_side():
    results = {}

    def work(n):
        compiled = compile(lambda x: sum([x * i for i in range(n)], x))
        results[n] = compiled(X).tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [1.0 + n * (n - 1) / 2, 2.0 + n * (n - 1)] for n in range(2, 10)}


def test_a_long_chain_does_not_recurse():
    def function(x):
        for _ in range(20_000):
            x = x + x
        return x

    assert compile(function)(Array([0.0])).tolist() == [0.0]


def test_lazy_work_outside_is_done_once():
    outside = Array([1.0, 2.0])
    for _ in range(3000):
        outside = outside + 1
    compiled = compile(lambda x: x + outside)
    assert compiled(X).tolist() == [3002.0, 3004.0]
    assert outside.node.buffer is not None


def test_nothing_of_a_trace_is_kept():
    made = []

    def function(x, tree):
        y = x * 2
        made.extend(weakref.ref(one.node) for one in (x, y, tree["a"]))
        state["fresh"] = {"k": [y], "t": OrderedDict(z=[y])}
        return {"y": y, "o": defaultdict(list, y=y)}, tree

    state = {}
    compiled = compile(function, inputs=state, outputs=state)
    first = compiled(X, {"a": X})
    second = compiled(X, {"a": X})
    gc.collect()
    assert len(made) == 6
    assert [one() for one in made] == [None] * 6
    assert first[0]["o"]["y"].tolist() == second[0]["y"].tolist() == [2.0, 4.0]
    assert state["fresh"]["t"]["z"][0].tolist() == [2.0, 4.0]
