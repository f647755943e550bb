"""Captured containers: read, updated in place by path, and put back when a trace fails."""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import lamina as lm
from lamina.errors import ArgumentTypeError, LeakedTraceError
from lamina.frontend.array import Array
from lamina.frontend.compile import compile

Pair = namedtuple("Pair", "x y")  # noqa: PYI024


def plain(value):
    """Containers with arrays as lists of numbers."""
    if isinstance(value, Array):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(child) for child in value)
    return value


def both(make, step, calls=4):
    """Runs a step with its state compiled and not, compares all states; the compiled function."""
    expected, state = make(), make()
    compiled = compile(lambda *args: step(state, *args), inputs=state, outputs=state)
    for i in range(calls):
        x = Array([float(i + 1)])
        wanted = plain(step(expected, x))
        assert plain(compiled(x)) == wanted
        assert plain(state) == plain(expected)
        assert repr(list(state)) == repr(list(expected))  # the order of keys as well
    return compiled


def one(value=1.0):
    return Array([value])


def test_a_dictionary():
    def step(state, x):
        state["n"] = state["n"] + x
        return state["n"] * 2

    assert both(lambda: {"n": one(), "fixed": one(3.0), "mode": "a"}, step).traces == 1


def test_a_list():
    def step(state, x):
        state[1] = state[0] + x
        state[0] = x

    assert both(lambda: [one(), one(2.0)], step).traces == 1


def test_nested_containers():
    def step(state, x):
        state["layers"][0]["w"] = state["layers"][0]["w"] + x
        state["layers"][1]["w"] = state["layers"][0]["w"] * state["pair"][0]["b"]
        state["pair"][1][0] = x
        return state["pair"][1][0]

    def make():
        return {"layers": [{"w": one()}, {"w": one(2.0)}], "pair": ({"b": one(3.0)}, [one()])}

    assert both(make, step).traces == 1


def test_containers_are_updated_in_place():
    inner = {"w": one()}
    state = {"inner": inner, "list": [one()]}
    kept = state["list"]

    def step(x):
        state["inner"]["w"] = x
        state["list"][0] = x * 2

    compile(step, inputs=state, outputs=state)(one(5.0))
    assert state["inner"] is inner
    assert state["list"] is kept
    assert plain(state) == {"inner": {"w": [5.0]}, "list": [[10.0]]}


def test_in_place_operators_and_assignments():
    def step(state, x):
        state["n"] += x
        state["m"][0] = x[0] * 2
        value = state["k"]
        value *= 3

    assert both(lambda: {"n": one(), "m": one(), "k": one(2.0)}, step).traces == 1


def test_subclasses_of_arrays():
    class Named(Array):
        pass

    def step(state, x):
        state["n"] = state["n"] + x

    assert both(lambda: {"n": one(), "named": Named([2.0])}, step).traces == 1
    assert both(lambda: {"n": Named([2.0])}, step).traces == 1
    assert compile(lambda x: x + 1)(Named([1.0])).tolist() == [2.0]


def test_the_old_arrays_keep_their_values():
    state = {"n": one()}
    before = state["n"]
    compile(lambda x: state.update(n=state["n"] + x), inputs=state, outputs=state)(one(2.0))
    assert before.tolist() == [1.0]
    assert state["n"].tolist() == [3.0]


def test_state_that_gains_leaves_is_retraced_once():
    def step(state, x):
        if "momentum" not in state:
            state["momentum"] = {"w": lm.zeros(1)}
            state["history"] = [x]
        state["momentum"]["w"] = state["momentum"]["w"] * 0.5 + x
        state["w"] = state["w"] - state["momentum"]["w"]

    assert both(lambda: {"w": one()}, step, calls=6).traces == 2


def test_an_empty_container_as_outputs():
    state: dict = {}

    def step(x):
        state["y"] = x * 2
        return x

    compiled = compile(step, outputs=state)
    for i in range(4):
        compiled(one(float(i)))
        assert state["y"].tolist() == [2.0 * i]
    assert compiled.traces == 2


def test_inputs_alone_are_read_and_not_written():
    state = {"n": one(), "sub": [one()]}

    def step(x):
        state["n"] = state["n"] + x
        state["sub"].append(x)
        state["new"] = x
        return state["n"]

    compiled = compile(step, inputs=state)
    for _ in range(2):
        assert compiled(one(2.0)).tolist() == [3.0]
        assert plain(state) == {"n": [1.0], "sub": [[1.0]]}
    state["n"] = one(10.0)
    assert compiled(one(2.0)).tolist() == [12.0]
    assert compiled.traces == 1


def test_outputs_alone_are_written_and_read_as_constants():
    state = {"n": one(), "list": [one(7.0)]}

    def step(x):
        state["n"] = state["n"] + x
        state["list"][0][0] = x[0]

    compiled = compile(step, outputs=state)
    for i in range(3):
        compiled(one(float(i)))
        assert plain(state) == {"n": [1.0 + i], "list": [[float(i)]]}
    assert compiled.traces == 1


def test_a_list_that_grows_is_right_each_time():
    def step(state, x):
        state["history"].append(x)
        state["front"].insert(0, x)

    both(lambda: {"history": [], "front": []}, step)
    history: list = []
    compiled = compile(lambda x: history.append(x), outputs=history)
    for i in range(4):
        compiled(one(float(i)))
    assert plain(history) == [[0.0], [1.0], [2.0], [3.0]]


def test_removed_and_reinserted_keys():
    def step(state, x):
        state["a"] = state.pop("a") + x
        if "temporary" in state:
            del state["temporary"]
        state["sub"].pop("gone", None)

    def make():
        return {"a": one(), "b": one(2.0), "temporary": one(), "sub": {"gone": one(), "k": 1}}

    both(make, step)


def test_keys_in_another_order():
    state = {"a": one(1.0), "b": one(2.0)}
    compiled = compile(
        lambda x: state.update(a=state["a"] + 10 * x, b=state["b"] + 100 * x),
        inputs=state,
        outputs=state,
    )
    compiled(one())
    assert plain(state) == {"a": [11.0], "b": [102.0]}
    state["a"] = state.pop("a")
    assert list(state) == ["b", "a"]
    compiled(one())
    assert plain(state) == {"a": [21.0], "b": [202.0]}
    assert compiled.traces == 1


def test_containers_in_another_order():
    state = {"a": {"n": one(1.0)}, "b": {"n": one(2.0)}}

    def step(x):
        state["a"]["n"] = state["a"]["n"] + x
        state["b"]["n"] = state["b"]["n"] * x

    compiled = compile(step, inputs=state, outputs=state)
    compiled(one(10.0))
    state["a"] = state.pop("a")
    compiled(one(10.0))
    assert plain(state) == {"a": {"n": [21.0]}, "b": {"n": [200.0]}}
    assert compiled.traces == 1


def test_leaves_that_move_between_dictionaries():
    state = {"a": {"x": one(1.0), "y": one(2.0)}, "b": {}}

    def step(scale):
        for group in state.values():
            for key in group:
                group[key] = group[key] * scale
        return sum(v * (1 if name == "a" else 10) for name, g in state.items() for v in g.values())

    compiled = compile(step, inputs=state, outputs=state)
    assert compiled(one(2.0)).tolist() == [6.0]
    state["b"]["y"] = state["a"].pop("y")
    assert compiled(one(2.0)).tolist() == [84.0]
    assert plain(state) == {"a": {"x": [4.0]}, "b": {"y": [8.0]}}
    assert compiled.traces == 2


def test_the_function_moves_arrays_and_containers():
    def step(state, x):
        state["a"], state["b"] = state["b"], state["a"]
        state["list"][0], state["list"][1] = state["list"][1], state["list"][0]
        state["sub"]["one"], state["sub"]["two"] = state["sub"]["two"], state["sub"]["one"]
        state["sub"]["one"]["n"] = state["sub"]["one"]["n"] + x

    def make():
        sub = {"one": {"n": one(5.0)}, "two": {"n": one(6.0)}}
        return {"a": one(1.0), "b": one(2.0), "list": [one(3.0), one(4.0)], "sub": sub}

    assert both(make, step).traces == 1


def test_new_containers_in_the_place_of_old_ones():
    def step(state, x):
        state["sub"] = {"n": state["sub"]["n"] + x, "deep": [x, {"k": 1}]}

    state = {"sub": {"n": one()}}
    old = state["sub"]
    compiled = compile(lambda x: step(state, x), inputs=state, outputs=state)
    compiled(one(2.0))
    assert plain(state) == {"sub": {"n": [3.0], "deep": [[2.0], {"k": 1}]}}
    assert plain(old) == {"n": [1.0]}
    first = state["sub"]
    compiled(one(2.0))
    compiled(one(2.0))
    assert plain(state)["sub"]["n"] == [7.0]
    assert first is not state["sub"]


def test_a_changed_mode_is_a_new_trace():
    state = {"mode": "train", "rate": 0.5, "n": one()}
    compiled = compile(lambda x: x * state["rate"] if state["mode"] == "train" else x, inputs=state)
    assert compiled(one(2.0)).tolist() == [1.0]
    state["mode"] = "eval"
    assert compiled(one(2.0)).tolist() == [2.0]
    state["mode"] = "train"
    assert compiled(one(2.0)).tolist() == [1.0]
    assert compiled.traces == 2
    state["rate"] = 1
    assert compiled(one(2.0)).tolist() == [2.0]
    state["rate"] = 1.0
    assert compiled(one(2.0)).tolist() == [2.0]
    assert compiled.traces == 4


def test_python_values_in_state_are_updated():
    def step(state, x):
        state["count"] = state["count"] + 1
        state["mode"] = "b" if state["mode"] == "a" else "a"
        return x * state["count"]

    both(lambda: {"count": 0, "mode": "a"}, step)


def test_shapes_and_dtypes_of_state_may_change():
    def step(state, x):
        state["n"] = lm.concatenate([state["n"], x])

    both(lambda: {"n": one()}, step)


def test_containers_that_occur_twice():
    def make():
        shared = {"n": one()}
        return {"a": shared, "b": shared}

    def step(state, x):
        state["a"]["n"] = state["a"]["n"] + x
        return state["b"]["n"]

    compiled = both(make, step)
    assert compiled.traces == 1
    state = {"a": {"n": one()}, "b": {"n": one(7.0)}}
    compiled = compile(lambda x: step(state, x), inputs=state, outputs=state)
    assert compiled(one(2.0)).tolist() == [7.0]
    state["b"] = state["a"]
    assert compiled(one(2.0)).tolist() == [5.0]
    state["z"], state["b"] = state["b"], {"n": one(9.0)}
    assert compiled(one(2.0)).tolist() == [9.0]


def test_a_container_that_contains_itself():
    state: dict = {"n": one()}
    state["self"] = state

    def step(x):
        state["self"]["n"] = state["n"] + x

    compile(step, inputs=state, outputs=state)(one(2.0))
    assert state["n"].tolist() == [3.0]


def test_other_containers_for_inputs_and_outputs():
    model, optimizer, log = {"w": one()}, {"m": one(0.0)}, {"loss": one()}

    def step(x):
        optimizer["m"] = optimizer["m"] + x
        model["w"] = model["w"] - optimizer["m"]
        log["loss"] = model["w"] * 2

    compiled = compile(step, inputs=[model, optimizer], outputs=(model, log, [optimizer]))
    for _ in range(3):
        compiled(one())
    assert plain([model, optimizer, log]) == [{"w": [-5.0]}, {"m": [3.0]}, {"loss": [-10.0]}]
    assert compiled.traces == 1


@pytest.mark.parametrize("name", ["inputs", "outputs"])
@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: (one(),), r"=\[0\]"),
        (lambda: ({"a": one()}, one()), r"=\[1\]"),
        (lambda: [{"a": (1, one())}], r"=\[0\]\['a'\]\[1\]"),
        (lambda: {"p": Pair(1, one())}, r"=\['p'\]\.y"),
    ],
)
def test_an_array_in_a_tuple_is_refused(name, make, path):
    with pytest.raises(ArgumentTypeError, match=name + path) as caught:
        compile(lambda x: x, **{name: make()})
    assert "in place" in str(caught.value)


@pytest.mark.parametrize("value", [one(), 3, "text", {1}, lambda: None])
def test_what_cannot_be_updated_is_refused(value):
    with pytest.raises(ArgumentTypeError, match="inputs= takes lists, dictionaries"):
        compile(lambda x: x, inputs=value)


def test_a_tuple_that_comes_later_is_refused_as_well():
    state = {"n": one()}
    compiled = compile(lambda x: x + state["n"], inputs=state)
    compiled(one())
    state["pair"] = (one(), one())
    with pytest.raises(ArgumentTypeError, match=r"inputs=\['pair'\]\[0\]"):
        compiled(one())


def test_a_tuple_that_the_function_makes_is_refused_at_once():
    state = {"n": one(), "sub": [0]}

    def step(x):
        state["sub"][0] = {"pair": (1, x)}

    compiled = compile(step, inputs=state, outputs=state)
    for _ in range(2):
        with pytest.raises(ArgumentTypeError, match=r"tuple.*in place"):
            compiled(one())
        assert plain(state) == {"n": [1.0], "sub": [0]}
    written: dict = {}
    compiled = compile(lambda x: written.update(pair=(1, x)), outputs=written)
    for i in range(3):
        compiled(one(float(i)))
        assert plain(written) == {"pair": (1, [float(i)])}


def test_an_unhashable_leaf_is_named():
    state = {"n": one(), "sub": [{"data": np.zeros(2)}]}
    compiled = compile(lambda x: x, inputs=state)
    with pytest.raises(ArgumentTypeError, match=r"inputs=\['sub'\]\[0\]\['data'\]: a .*ndarray"):
        compiled(one())


def test_an_exception_leaves_the_containers_as_they_were():
    class Mode(dict):
        pass

    mode = Mode(k=one(4.0))
    mode.training = True
    a, b, c = one(1.0), one(2.0), one(3.0)
    state = {"b": b, "a": a, "list": [c, "x"], "mode": mode, "sub": OrderedDict(z=1, y=one())}
    before = plain(state)
    orders = [list(state), list(state["sub"])]
    fail = [True]

    def step(x):
        state["a"] = state.pop("a") + x
        state["b"][0] = x[0]
        state["new"] = [x]
        state["list"].append(x)
        state["list"][1] = "y"
        state["sub"].move_to_end("z")
        mode["k"] = x
        mode.training = False
        mode.other = x
        if fail[0]:
            raise ValueError("on purpose")
        return x

    compiled = compile(step, inputs=state, outputs=state)
    for _ in range(2):
        with pytest.raises(ValueError, match="on purpose"):
            compiled(one(5.0))
        assert plain(state) == before
        assert [list(state), list(state["sub"])] == orders
        assert state["a"] is a
        assert state["b"] is b
        assert state["list"][0] is c
        assert vars(mode) == {"training": True}
        assert compiled.cache_size == 0
    fail[0] = False
    compiled(one(5.0))
    assert state["a"].tolist() == [6.0]
    assert state["b"].tolist() == [5.0]
    assert mode.training is False
    assert list(state["sub"]) == ["y", "z"]


def test_an_exception_while_the_program_runs_leaves_the_state(monkeypatch):
    from lamina.frontend import compile as compile_module

    class Failing:
        def __init__(self, *_):
            pass

        def run(self, inputs):
            raise RuntimeError("the device failed")

    monkeypatch.setattr(compile_module, "executable_for", Failing)
    state = {"n": one()}
    compiled = compile(lambda x: state.update(n=x), inputs=state, outputs=state)
    with pytest.raises(RuntimeError, match="the device failed"):
        compiled(one(5.0))
    assert plain(state) == {"n": [1.0]}


class Module(dict):
    """Like a module: parameters are items, everything else attributes."""

    def __init__(self, **items):
        super().__init__(items)
        self.training = True
        self._ignored = {1}

    def __setitem__(self, key, value):
        raise AssertionError("only the function itself may use a container's own methods")

    def update(self, *_):
        raise AssertionError("not dict.update")

    def put(self, key, value):
        dict.__setitem__(self, key, value)


def test_modules():
    class Layer(Module):
        __setitem__ = dict.__setitem__

    model = Layer(w=one(2.0), child=Layer(b=one(1.0)))

    def forward(x):
        y = x * model["w"] + model["child"]["b"]
        model["child"]["b"] = y
        return y if model["child"].training else -y

    compiled = compile(forward, inputs=model, outputs=model)
    assert compiled(one(3.0)).tolist() == [7.0]
    assert compiled(one(3.0)).tolist() == [13.0]
    assert compiled.traces == 1
    model["child"].training = False
    assert compiled(one(3.0)).tolist() == [-19.0]
    assert compiled.traces == 2


def test_attributes_that_a_function_sets():
    model = Module(w=one(2.0))

    def forward(x):
        model.training = not model.training
        return x * model["w"]

    compiled = compile(forward, inputs=model, outputs=model)
    for expected in (False, True, False, True):
        compiled(one(3.0))
        assert model.training is expected
    assert compiled.traces == 2


def test_putting_containers_back_does_not_use_their_own_methods():
    model = Module(w=one(2.0))

    def forward(x):
        model.put("w", x)
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        compile(forward, inputs=model)(one())
    assert plain(model) == {"w": [2.0]}


class ThreadState:
    """An object that stands for the calling thread's list."""

    def __init__(self):
        self._local = threading.local()

    def __lamina_state__(self):
        if not hasattr(self._local, "state"):
            self._local.state = [one(0.0)]
        return self._local.state


def test_an_object_that_stands_for_a_container():
    state = ThreadState()

    def step(x):
        current = state.__lamina_state__()
        current[0] = current[0] + x
        return current[0]

    compiled = compile(step, inputs=[state], outputs=[state])
    assert [compiled(one(2.0)).item() for _ in range(3)] == [2.0, 4.0, 6.0]
    results = []
    thread = threading.Thread(target=lambda: results.append(compiled(one(2.0)).item()))
    thread.start()
    thread.join()
    assert results == [2.0]
    assert compiled.traces == 1
    assert compile(lambda x: step(x), inputs=state, outputs=state)(one(1.0)).item() == 7.0


def test_state_that_holds_an_escaped_array():
    kept = []
    compile(kept.append)(one())
    state = {"n": kept[0]}
    compiled = compile(lambda x: x + state["n"], inputs=state)
    with pytest.raises(LeakedTraceError):
        compiled(one())


def test_a_captured_array_changed_by_another_way_is_an_escaped_array():
    array = one()
    state = {"n": array}

    def step(x):
        array[0] = x[0]
        return state["n"] + x

    assert compile(step, inputs=state, outputs=state)(one(2.0)).tolist() == [3.0]
    with pytest.raises(LeakedTraceError):
        array.tolist()


def test_threads_do_not_see_one_anothers_traced_state():
    state = {"w": one(2.0)}
    inside, leave = threading.Event(), threading.Event()

    def function(x):
        if x.shape == (2,):
            inside.set()
            leave.wait(10)
        return x * state["w"]

    compiled = compile(function, inputs=state, outputs=state)
    assert compiled(one(3.0)).tolist() == [6.0]
    results = []
    tracing = threading.Thread(target=lambda: results.append(compiled(Array([1.0, 2.0])).tolist()))
    tracing.start()
    inside.wait(10)
    hits = [threading.Thread(target=lambda: results.append(compiled(one(3.0)).tolist()))]
    hits.append(threading.Thread(target=lambda: results.append(compiled(one(4.0)).tolist())))
    for thread in hits:
        thread.start()
    leave.set()
    for thread in [tracing, *hits]:
        thread.join()
    assert sorted(results) == [[2.0, 4.0], [6.0], [8.0]]


def test_threads_that_share_state_in_two_functions():
    state = {"w": one(2.0)}
    failures = []

    def work(scale):
        for n in range(1, 6):
            compiled = compile(lambda x: x * state["w"] * scale, inputs=state)
            for _ in range(5):
                if compiled(Array([1.0] * n)).tolist() != [2.0 * scale] * n:
                    failures.append((scale, n))

    threads = [threading.Thread(target=work, args=(scale,)) for scale in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert plain(state) == {"w": [2.0]}


def test_a_change_by_another_thread_is_noticed_before_the_trace():
    state = {"mode": "a", "sub": {"w": one(2.0)}}
    compiled = compile(lambda x: x * state["sub"]["w"], inputs=state, outputs=state)
    scan = compiled._captures.scan
    calls = []

    def scan_and_change(tokens, nodes):
        found = scan(tokens, nodes)
        calls.append(1)
        if len(calls) == 1:
            state["mode"] = "b"
        if len(calls) == 3:
            state["sub"] = {"w": one(5.0)}
        return found

    class Captures(type(compiled._captures)):
        __slots__ = ()
        scan = staticmethod(scan_and_change)

    compiled._captures = Captures(state, state)
    assert compiled(one(3.0)).tolist() in ([6.0], [15.0])
    assert compiled(one(3.0)).tolist() == [15.0]
    assert len(calls) >= 4


def test_threads_that_train_together_lose_no_structure():
    state = {"w": one(0.0), "n": 0}
    compiled = [
        compile(
            lambda x, k=k: state.update(w=state["w"] + lm.sum(x) * k), inputs=state, outputs=state
        )
        for k in range(4)
    ]
    failures = []

    def work(function):
        try:
            for n in (1, 2, 3):
                for _ in range(20):
                    function(Array([[1.0]] * n))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(function,)) for function in compiled]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert state["w"].shape == (1,)
    assert 0 <= state["w"].item() <= 20 * (1 + 2 + 3) * (1 + 2 + 3)


def test_a_training_loop():
    def make():
        generator = np.random.default_rng(0)
        weights = [Array(generator.normal(size=(3, 3)).astype(np.float32)) for _ in range(2)]
        return {"weights": weights, "momentum": {}, "step": Array(0)}

    def step(state, x):
        y = x
        for weight in state["weights"]:
            y = lm.tanh(y @ weight)
        for i, weight in enumerate(state["weights"]):
            old = state["momentum"].get(i, lm.zeros_like(weight))
            state["momentum"][i] = old * 0.9 + weight * 0.1
            state["weights"][i] = weight - 0.1 * state["momentum"][i]
        state["step"] = state["step"] + 1
        return lm.sum(y * y)

    expected, state = make(), make()
    compiled = compile(lambda x: step(state, x), inputs=[state], outputs=[state])
    x = Array(np.ones((2, 3), np.float32))
    for _ in range(6):
        assert compiled(x).item() == pytest.approx(step(expected, x).item(), rel=1e-5)
    assert compiled.traces == 2
    for got, wanted in zip(state["weights"], expected["weights"], strict=True):
        np.testing.assert_allclose(np.array(got), np.array(wanted), rtol=1e-5)
    assert state["step"].item() == 6


def test_copied_state_is_another_state():
    state = {"n": one()}
    compiled = compile(lambda x: state.update(n=state["n"] + x), inputs=state, outputs=state)
    compiled(one())
    saved = copy.copy(state)
    compiled(one())
    assert plain(saved) == {"n": [2.0]}
    assert plain(state) == {"n": [3.0]}
