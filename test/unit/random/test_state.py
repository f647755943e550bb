"""The implicit state: its order, threads, and what compiled functions do with it."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import lamina as lm
import lamina.random
from lamina.errors import ArgumentTypeError, DTypeError, LaminaError

STATE = lm.random.state


def in_thread(function):
    """What a function returns in a new thread."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def draw():
    return lm.random.uniform(shape=(2,))


def test_draws_after_a_seed():
    lm.random.seed(7)
    expected = [[0.51476705, 0.078491211], [0.80129373, 0.18442965], [0.24139982, 0.57127041]]
    np.testing.assert_allclose([draw().tolist() for _ in range(3)], expected, rtol=1e-6)
    assert STATE[0].tolist() == [4115690175, 2622646953]


def test_a_draw_keeps_the_first_key_of_a_split():
    lm.random.seed(3)
    kept, given = lm.random.split(lm.random.key(3))
    assert draw().tolist() == lm.random.uniform(shape=(2,), key=given).tolist()
    assert STATE[0].tolist() == kept.tolist()


def test_the_order_of_draws_counts_not_that_of_evaluation():
    lm.random.seed(5)
    a, b = draw(), draw()
    lm.random.seed(5)
    c, d = draw(), draw()
    lm.eval(d)
    assert (c.tolist(), d.tolist()) == (a.tolist(), b.tolist())


def test_the_state_is_a_list_of_one_key():
    lm.random.seed(11)
    assert len(STATE) == 1
    assert [key.tolist() for key in STATE] == [[0, 11]]
    kept = STATE[0]
    first = draw().tolist()
    STATE[0] = kept
    assert draw().tolist() == first
    lm.eval([{"random": STATE}])
    assert "lamina.random.state" in repr(STATE)
    with pytest.raises(ArgumentTypeError):
        STATE[0] = 5
    with pytest.raises(DTypeError):
        STATE[0] = lm.zeros((2,))
    with pytest.raises(IndexError):
        STATE[1] = kept


def test_a_lazy_key_in_the_state():
    STATE[0] = lm.random.split(lm.random.key(2), 3)[1]
    a, b = draw(), draw()
    STATE[0] = lm.array(np.array(lm.random.split(lm.random.key(2), 3)[1]))
    assert draw().tolist() == a.tolist()
    assert draw().tolist() == b.tolist()


def test_threads_start_from_keys_of_their_own():
    lm.random.seed(1)
    first = [in_thread(lambda: draw().tolist()) for _ in range(3)]
    main = draw().tolist()
    lm.random.seed(1)
    again = [in_thread(lambda: draw().tolist()) for _ in range(3)]
    assert first == again
    assert len({tuple(values) for values in [*first, main]}) == 4
    assert draw().tolist() == main


def test_a_seed_is_of_its_thread():
    def seeded():
        lm.random.seed(7)
        return draw().tolist()

    lm.random.seed(5)
    expected = draw().tolist()
    lm.random.seed(5)
    other = in_thread(seeded)
    assert draw().tolist() == expected
    lm.random.seed(7)
    assert draw().tolist() == other


def test_a_captured_state_advances():
    for captured in (STATE, [STATE], {"random": STATE, "other": {}}):
        compiled = lm.compile(lambda x: x + lm.random.uniform(), captured, captured)
        lm.random.seed(9)
        got = [compiled(lm.array(0.0)).item() for _ in range(3)]
        state = STATE[0].tolist()
        lm.random.seed(9)
        assert got == [lm.random.uniform().item() for _ in range(3)]
        assert state == STATE[0].tolist()
        assert compiled.traces == 1
        lm.random.seed(9)
        assert compiled(lm.array(0.0)).item() == got[0]


def test_several_draws_in_a_compiled_function():
    def step():
        return draw(), lm.random.normal((3,)), lm.random.randint(0, 9, (4,))

    compiled = lm.compile(step, inputs=STATE, outputs=STATE)
    lm.random.seed(4)
    got = [[array.tolist() for array in compiled()] for _ in range(2)]
    lm.random.seed(4)
    assert got == [[array.tolist() for array in step()] for _ in range(2)]
    assert len(STATE) == 1


def test_each_thread_has_its_own_captured_state():
    compiled = lm.compile(draw, inputs=STATE, outputs=STATE)

    def seeded():
        lm.random.seed(21)
        return [compiled().tolist() for _ in range(2)]

    lm.random.seed(20)
    first = compiled().tolist()
    other = in_thread(seeded)
    second = compiled().tolist()
    lm.random.seed(20)
    assert [draw().tolist() for _ in range(2)] == [first, second]
    lm.random.seed(21)
    assert [draw().tolist() for _ in range(2)] == other
    assert compiled.traces == 1


def test_a_compiled_function_within_another():
    inner = lm.compile(draw, inputs=STATE, outputs=STATE)
    outer = lm.compile(lambda: inner() + draw(), inputs=STATE, outputs=STATE)
    lm.random.seed(6)
    got = outer().tolist()
    lm.random.seed(6)
    assert got == (draw() + draw()).tolist()


def test_one_warning_where_the_state_is_not_captured():
    def step(x):
        noise = lm.random.uniform()  # the line of the warning
        return x + noise + lm.random.uniform()

    line = step.__code__.co_firstlineno + 1
    compiled = lm.compile(step)
    lm.random.seed(8)
    with pytest.warns(UserWarning, match=rf"random\.uniform at .*test_state\.py:{line}") as caught:
        first = compiled(lm.array(0.0)).item()
    assert len(caught) == 1
    assert (caught[0].filename, caught[0].lineno) == (__file__, line)
    assert "step" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(lm.array(0.0)).item() == first
        compiled(lm.zeros((2,)))
    draw().tolist()  # the state outlives the trace


def test_no_warning_with_a_key_or_without_compilation():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lm.compile(lambda key: lm.random.uniform(key=key))(lm.random.key(0))
        lm.disable_compile()
        try:
            lm.compile(draw)()
        finally:
            lm.enable_compile()


def test_an_error_in_a_trace_leaves_the_state():
    def fail():
        draw()
        raise ValueError("on purpose")

    lm.random.seed(12)
    compiled = lm.compile(fail, inputs=STATE, outputs=STATE)
    with pytest.raises(ValueError, match="on purpose"):
        compiled()
    assert STATE[0].tolist() == [0, 12]


def test_a_seed_within_a_compiled_function():
    def step():
        lm.random.seed(3)
        return draw()

    compiled = lm.compile(step, inputs=STATE, outputs=STATE)
    lm.random.seed(30)
    assert compiled().tolist() == compiled().tolist() == step().tolist()


def test_an_array_of_a_trace_does_not_stay_in_the_state():
    escape = lm.compile(lambda key: STATE.__setitem__(0, key))
    escape(lm.random.key(1))
    with pytest.raises(LaminaError):
        draw().tolist()
    lm.random.seed(1)
    assert draw().shape == (2,)


def test_the_module():
    assert lamina.random is lm.random
    assert set(lm.random.__all__) >= {"key", "seed", "split", "state", "uniform", "categorical"}
    for name in lm.random.__all__:
        assert getattr(lm.random, name).__doc__
