"""Compiled functions through the whole compiler: values, shared machine code, cost of calls."""

from __future__ import annotations

import timeit

import numpy as np
import pytest

import lamina as lm
from lamina.passes import driver


@pytest.fixture
def compilations(monkeypatch):
    """The programs that reached the passes, by their numbers of ops."""
    seen = []
    lower = driver.lower_graph

    def counted(program, *args):
        seen.append(len(program.instructions))
        return lower(program, *args)

    monkeypatch.setattr(driver, "lower_graph", counted)
    monkeypatch.setenv("LAMINA_CACHE", "0")
    return seen


def array(values, dtype=np.float32):
    return lm.array(np.asarray(values, dtype))


def gelu(x):
    return 0.5 * x * (1 + lm.erf(x / np.sqrt(2.0)))


def test_a_function_of_one_array():
    generator = np.random.default_rng(0)
    x = array(generator.normal(size=(33, 65)))
    compiled = lm.compile(gelu)
    np.testing.assert_allclose(np.array(compiled(x)), np.array(gelu(x)), rtol=1e-6, atol=1e-7)
    assert lm.explain(compiled, x).program["kernels"] == 1


def test_several_outputs_of_different_shapes():
    x = array(np.arange(12).reshape(3, 4))

    @lm.compile
    def function(x):
        y = lm.exp(-x)
        return {"rows": y.sum(axis=1), "all": [y.max(), y.T + 1], "same": x, "n": 3}

    result = function(x)
    y = np.exp(-np.array(x))
    np.testing.assert_allclose(np.array(result["rows"]), y.sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(np.array(result["all"][0]), y.max())
    np.testing.assert_allclose(np.array(result["all"][1]), y.T + 1, rtol=1e-6)
    np.testing.assert_array_equal(np.array(result["same"]), np.array(x))
    assert result["n"] == 3


def test_programs_without_work():
    x = array([1.0, 2.0])
    assert lm.compile(lambda x: x)(x).tolist() == [1.0, 2.0]
    assert lm.compile(lambda x: ())(x) == ()
    assert lm.compile(lambda: lm.full((2,), 3.5))().tolist() == [3.5, 3.5]
    assert lm.compile(lambda x: (lm.array(4.0), x))(x)[0].item() == 4.0
    first, second = lm.compile(lambda x: (x + 1, x + 1))(x)
    first[0] = 9.0
    assert second.tolist() == [2.0, 3.0]


def test_empty_arrays():
    x = array(np.zeros((0, 3)))
    result, total = lm.compile(lambda x: (x * 2, x.sum()))(x)
    assert result.shape == (0, 3)
    assert total.item() == 0.0


def test_a_new_number_is_traced_and_not_compiled(compilations):
    compiled = lm.compile(lambda x, rate: x * rate + 7.25)
    x = array([1.0, 2.0, 3.0])
    for rate in (0.1, 0.3, 1e-8, 12345.678):
        expected = np.array(x) * np.float32(rate) + np.float32(7.25)
        np.testing.assert_allclose(np.array(compiled(x, rate)), expected, rtol=1e-6)
    assert compiled.traces == 4
    assert len(compilations) == 1


def test_other_functions_with_the_same_program_share_it(compilations):
    x = array([1.0, 2.0, 3.0, 4.0, 5.0])
    outside = array([5.0] * 5)
    results = []
    for i in range(5):
        constant = outside * i
        results.append(lm.compile(lambda x, c=constant: lm.tanh(x) * c)(x).tolist())
    for i, result in enumerate(results):
        np.testing.assert_allclose(result, np.tanh([1, 2, 3, 4, 5]) * 5 * i, rtol=1e-6)
    assert len(compilations) == 1


def test_a_training_step():
    generator = np.random.default_rng(1)
    state = {
        "w": array(generator.normal(size=(8, 4))),
        "b": array(np.zeros(4)),
        "velocity": {},
        "steps": lm.array(0),
    }
    expected = {
        "w": np.array(state["w"]), "b": np.zeros(4, np.float32), "velocity": {}, "steps": 0,
    }  # fmt: skip
    x = array(generator.normal(size=(16, 8)))

    def update(state, library, x):
        hidden = library.tanh(x @ state["w"] + state["b"])
        for name, gradient in (("w", x.T @ hidden), ("b", hidden.sum(axis=0))):
            old = state["velocity"].get(name)
            velocity = gradient * 0.1 if old is None else old * 0.9 + gradient * 0.1
            state["velocity"][name] = velocity
            state[name] = state[name] - velocity * 0.01
        state["steps"] = state["steps"] + 1
        return (hidden * hidden).sum()

    step = lm.compile(lambda x: update(state, lm, x), inputs=state, outputs=state)
    for _ in range(5):
        loss = step(x)
        wanted = update(expected, np, np.array(x))
        np.testing.assert_allclose(loss.item(), wanted, rtol=1e-4)
    assert step.traces == 2
    for name in ("w", "b"):
        np.testing.assert_allclose(np.array(state[name]), expected[name], rtol=1e-4, atol=1e-5)
    assert state["steps"].item() == 5


def test_donated_state_is_never_seen_to_change():
    state = {"w": array(np.zeros(100_000))}
    step = lm.compile(lambda x: state.update(w=state["w"] + x), inputs=state, outputs=state)
    x = array(np.ones(100_000))
    kept, exported = [], []
    for i in range(4):
        kept.append(state["w"])
        exported.append(np.asarray(state["w"]))
        step(x)
        assert state["w"][0].item() == i + 1
    for i in range(4):
        assert kept[i][99_999].item() == i
        assert exported[i][12_345] == i


def test_state_and_donated_arguments_give_their_memory():
    state = {"w": array(np.zeros(100_000))}
    step = lm.compile(lambda x: state.update(w=state["w"] + x), inputs=state, outputs=state)
    x = array(np.ones(100_000))
    addresses = {state["w"].node.buffer.address}
    for _ in range(3):
        step(x)
        addresses.add(state["w"].node.buffer.address)
    assert len(addresses) == 1
    assert state["w"][5].item() == 3.0
    add = lm.compile(lambda x, y: x + y, donate="y")
    y = array(np.ones(100_000))
    address = y.node.buffer.address
    assert add(x, y).node.buffer.address == address
    with pytest.raises(lm.LaminaError, match="taken over its memory"):
        y.tolist()
    assert x[5].item() == 1.0


def test_threads_call_one_function():
    import threading

    compiled = lm.compile(lambda x, y: lm.exp(x - y).sum())
    generator = np.random.default_rng(2)
    data = [array(generator.normal(size=5000)) for _ in range(6)]
    wanted = {
        (i, j): float(np.exp(np.array(a) - np.array(b)).sum(dtype=np.float64))
        for i, a in enumerate(data)
        for j, b in enumerate(data)
    }
    failures = []

    def work(i):
        for j in range(6):
            for _ in range(5):
                got = compiled(data[i], data[j]).item()
                if abs(got - wanted[i, j]) > 1e-4 * wanted[i, j]:
                    failures.append((i, j, got))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert compiled.traces == 1


def test_a_long_chain():
    def function(x):
        for i in range(3000):
            x = x * 0.5 + (1.0 if i % 2 else 0.25)
        return x

    x = array([1.0, -2.0])
    np.testing.assert_allclose(np.array(lm.compile(function)(x)), function(np.array(x)), rtol=1e-5)


def test_a_call_costs_microseconds():
    """A loose bound, so that a busy machine does not fail it; the benchmarks measure."""
    x = array(np.arange(16))
    compiled = lm.compile(lambda x: x * 2 + 1)
    compiled(x)
    cost = min(timeit.repeat(lambda: compiled(x), number=100, repeat=100)) / 100
    assert cost < 20e-6
