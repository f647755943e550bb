"""``grad``, ``value_and_grad``, ``vjp`` and ``jvp``: arguments, results, errors, composition."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref
from typing import NamedTuple

import numpy as np
import pytest
from differences import array64

import lamina as lm
from lamina import errors


class Pair(NamedTuple):
    first: lm.array
    second: lm.array


def product(x, y, z=1.0):
    """The sum of a product."""
    return (x * y).sum() * z


A, B = lm.array([1.0, 2.0]), lm.array([3.0, 4.0])


def test_results_by_position_and_by_name():
    def lists(value):
        if isinstance(value, tuple):
            return tuple(lists(one) for one in value)
        if isinstance(value, dict):
            return {key: lists(one) for key, one in value.items()}
        return None if value is None else value.tolist()

    assert lists(lm.grad(product)(A, B)) == [3, 4]
    assert lists(lm.grad(product, argnums=1)(A, B)) == [1, 2]
    assert lists(lm.grad(product, argnums=(0,))(A, B)) == [3, 4]
    assert lists(lm.grad(product, argnums=[1, 0])(A, B)) == ([1, 2], [3, 4])
    assert lists(lm.grad(product, argnames="y")(A, y=B)) == (None, {"y": [1, 2]})
    both = lm.grad(product, argnums=0, argnames=["y"])(A, y=B)
    assert lists(both) == ([3, 4], {"y": [1, 2]})
    assert lists(lm.value_and_grad(product)(A, B, z=2.0)) == (22.0, [6, 8])


def test_wrappers_look_like_the_function():
    for wrapper in (lm.grad(product), lm.value_and_grad(product), lm.vmap(product)):
        assert wrapper.__name__ == "product"
        assert wrapper.__doc__ == product.__doc__
        assert inspect.signature(wrapper) == inspect.signature(product)


def test_outputs_besides_the_scalar_come_back_as_they_are():
    def function(x):
        return x.sum(), {"twice": x * 2}, "text"

    (loss, rest, text), gradient = lm.value_and_grad(function)(A)
    assert (loss.item(), rest["twice"].tolist(), text) == (3, [2, 4], "text")
    assert gradient.tolist() == [1, 1]
    assert lm.grad(function)(A).tolist() == [1, 1]


def test_gradients_have_the_structure_and_dtypes_of_the_arguments():
    tree = {
        "w": [A, Pair(B, lm.array([1.0, 1.0], dtype=lm.float16))],
        "unused": (lm.ones((2, 2), dtype=lm.bfloat16),),
    }

    def loss(tree):
        pair = tree["w"][1]
        return (tree["w"][0] * pair.first * pair.second.astype(lm.float32)).sum()

    found = lm.grad(loss)(tree)
    assert found["w"][0].tolist() == [3, 4]
    assert isinstance(found["w"][1], Pair)
    assert found["w"][1].second.dtype is lm.float16
    assert found["w"][1].second.tolist() == [3, 8]
    assert found["unused"][0].dtype is lm.bfloat16
    assert found["unused"][0].tolist() == [[0, 0], [0, 0]]


def test_one_array_as_two_arguments_and_by_closure():
    by_both = lm.grad(product, argnums=(0, 1))(A, A)
    assert [g.tolist() for g in by_both] == [[1, 2], [1, 2]]
    assert lm.grad(lambda x: (x * A).sum())(A).tolist() == [1, 2]
    assert lm.grad(lambda x: A.sum())(A).tolist() == [0, 0]
    assert lm.grad(lambda x: x)(lm.array(2.0)).item() == 1


def test_integers_stop_derivatives():
    assert lm.grad(lambda x: x.astype(lm.int32).astype(lm.float32).sum())(A).tolist() == [0, 0]
    assert lm.grad(lambda x: lm.argmax(x) * x[0])(A).tolist() == [1, 0]


def test_slices_and_updates():
    def function(x):
        y = x * 2
        y[1:] = x[:-1] * 5
        return (y[::-1] * lm.array([1.0, 10.0, 100.0])).sum()

    assert lm.grad(function)(lm.array([1.0, 2.0, 3.0])).tolist() == [250, 5, 0]


def test_values_can_be_read_meanwhile():
    seen = []

    def function(x):
        y = x * x
        seen.append(y.item())
        lm.eval(y)
        return y * 3 if y.item() > 4 else y

    assert lm.grad(function)(lm.array(3.0)).item() == 18
    assert lm.grad(function)(lm.array(1.0)).item() == 2
    assert lm.grad(lm.grad(function))(lm.array(3.0)).item() == 6
    assert lm.jvp(function, [lm.array(3.0)], [lm.array(1.0)])[1][0].item() == 18
    assert seen[:2] == [9, 1]


def test_values_that_leave_the_function_stay_usable():
    kept = []

    def function(x):
        y = x * x
        kept.append(y)
        return y.sum()

    lm.grad(function)(A)
    assert kept[0].tolist() == [1, 4]
    lm.compile(lm.grad(function))(A)
    with pytest.raises(errors.LeakedTraceError):
        kept[1].tolist()


def test_values_that_were_read_do_not_keep_what_they_were_made_of():
    state = lm.array(1.0)

    def function(x):
        nonlocal state
        state = state * x
        state.item()
        return state

    lm.grad(function)(lm.array(2.0))
    node = state.node
    assert node.inputs == ()
    first = weakref.ref(node)
    lm.grad(function)(lm.array(2.0))
    del node
    gc.collect()
    assert first() is None
    assert state.item() == 4


def test_vjp_and_jvp():
    outputs, products = lm.vjp(lambda x, y: (x * y, x), (A, B), (A, B))
    assert [o.tolist() for o in outputs] == [[3, 8], [1, 2]]
    assert [p.tolist() for p in products] == [[6, 12], [1, 4]]
    outputs, products = lm.jvp(lambda x, y: [x * y], [A, B], [A, lm.array([1.0, 1.0])])
    assert [o.tolist() for o in outputs] == [[3, 8]]
    assert [p.tolist() for p in products] == [[4, 10]]
    _, products = lm.vjp(lambda tree: tree["a"] * 2, [{"a": A}], [B])
    assert products[0]["a"].tolist() == [6, 8]
    _, (nothing,) = lm.jvp(lambda x: lm.zeros((2,)), [A], [B])
    assert nothing.tolist() == [0, 0]
    _, (one,) = lm.vjp(lambda x: (x, x * 2), [A], [None, B])
    assert one.tolist() == [6, 8]


def test_composition():
    def cube(x):
        return x * x * x

    x = lm.array(2.0)
    one = lm.array(1.0)
    assert lm.grad(lm.grad(cube))(x).item() == 12
    assert lm.grad(lm.grad(lm.grad(cube)))(x).item() == 6
    assert lm.jvp(lm.grad(cube), [x], [one])[1][0].item() == 12
    assert lm.grad(lambda x: lm.jvp(cube, [x], [one])[1][0])(x).item() == 12
    assert lm.grad(lambda x: lm.vjp(cube, [x], [one])[1][0])(x).item() == 12
    assert lm.jvp(lambda x: lm.jvp(cube, [x], [one])[1][0], [x], [one])[1][0].item() == 12
    xs = lm.array([1.0, 2.0])
    assert lm.vmap(lm.grad(lm.grad(cube)))(xs).tolist() == [6, 12]
    assert lm.grad(lambda xs: lm.vmap(lm.grad(cube))(xs).sum())(xs).tolist() == [6, 12]
    compiled = lm.compile(lm.grad(lambda xs: lm.vmap(lm.compile(cube))(xs).sum()))
    assert compiled(xs).tolist() == [3, 12]
    assert lm.grad(lm.compile(cube))(x).item() == 12
    assert lm.compile(lm.value_and_grad(lm.compile(cube)))(x)[1].item() == 12


def test_perturbations_are_not_confused():
    def outer(x):
        inner = lm.grad(lambda y: x + y)(lm.array(1.0))
        return x * inner

    assert lm.grad(outer)(lm.array(3.0)).item() == 1
    nested = lm.jvp(
        lambda x: x * lm.jvp(lambda y: x * y, [lm.array(2.0)], [lm.array(1.0)])[1][0],
        [lm.array(3.0)],
        [lm.array(1.0)],
    )
    assert nested[1][0].item() == 6


def test_hessians():
    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    x = array64([0.5, -1.0, 2.0])
    hessian = lm.vmap(lambda v: lm.jvp(lm.grad(rosenbrock), [x], [v])[1][0])(
        lm.eye(3, dtype=lm.float64)
    )
    expected = [[702, -200, 0], [-200, 602, 400], [0, 400, 200]]
    np.testing.assert_allclose(np.asarray(hessian), expected)
    backward = lm.vmap(lambda v: lm.vjp(lm.grad(rosenbrock), [x], [v])[1][0])(
        lm.eye(3, dtype=lm.float64)
    )
    np.testing.assert_allclose(np.asarray(backward), expected)


def test_softmax_cross_entropy():
    logits = array64([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
    target = array64([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])

    def by_logsumexp(x):
        return (lm.logsumexp(x, axis=-1) - (x * target).sum(-1)).sum()

    def by_softmax(x):
        return -(lm.log(lm.softmax(x, axis=-1)) * target).sum()

    expected = np.asarray(lm.softmax(logits, axis=-1)) - np.asarray(target)
    for loss in (by_logsumexp, by_softmax):
        np.testing.assert_allclose(np.asarray(lm.grad(loss)(logits)), expected, rtol=1e-12)
        rows = lm.vmap(lm.grad(lambda x, t, f=loss: f(x)), in_axes=(None, 0))
        assert rows(logits, target).shape == (2, 2, 3)
    by_rows = lm.grad(lambda x: lm.vmap(lambda r: lm.logsumexp(r))(x).sum())(logits)
    np.testing.assert_allclose(np.asarray(by_rows), np.asarray(lm.softmax(logits, axis=-1)))


def test_a_compiled_training_step_with_captured_state():
    state = {"w": lm.array([0.0, 0.0])}
    x, y = lm.array([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]]), lm.array([5.0, 5.0, 2.0])

    def loss(w):
        state["mean"] = (x @ w).mean()
        return ((x @ w - y) ** 2).mean()

    state["mean"] = lm.array(0.0)

    @lm.compile(inputs=state, outputs=state)
    def step():
        value, gradient = lm.value_and_grad(loss)(state["w"])
        state["w"] = state["w"] - 0.1 * gradient
        return value

    losses = [step().item() for _ in range(60)]
    assert losses[-1] < 1e-3 < losses[0]
    assert state["w"].tolist() == pytest.approx([1, 2], abs=0.1)
    assert state["mean"].item() == pytest.approx(4, abs=0.1)


def test_long_chains():
    def chain(x):
        for _ in range(5_000):
            x = x * 1.00001 + 0.0
        return x

    assert lm.grad(chain)(array64(1.0)).item() == pytest.approx(1.00001**5_000)
    _, (tangent,) = lm.jvp(chain, [array64(1.0)], [array64(2.0)])
    assert tangent.item() == pytest.approx(2 * 1.00001**5_000)


@pytest.mark.slow
def test_chains_of_200_000_ops():
    def chain(x):
        for _ in range(200_000):
            x = lm.sin(x)
        return x

    assert lm.grad(chain)(lm.array(1.0)).shape == ()
    assert lm.vmap(chain)(lm.array([1.0, 2.0])).shape == (2,)


def test_threads():
    results = {}

    def work(i):
        x = lm.array(float(i))
        results[i] = [lm.grad(lambda x: x * x * x)(x).item() for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: [3.0 * i * i] * 20 for i in range(4)}


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: lm.grad(product, argnums=-1), ValueError, "must not be negative, got -1"),
        (lambda: lm.grad(product, argnums=(0, 0)), ValueError, "name an argument twice"),
        (lambda: lm.grad(product, argnames=("y", "y")), ValueError, "name an argument twice"),
        (lambda: lm.grad(product, argnums=()), ValueError, "no argument"),
        (lambda: lm.grad(product, argnums=0.5), TypeError, "argnums are integers, got 0.5"),
        (lambda: lm.grad(product, argnums=True), TypeError, "argnums are integers, got True"),
        (lambda: lm.grad(3), TypeError, "takes a function, got int"),
        (lambda: lm.grad(product, argnums=2)(A, B), ValueError, "argument 2, but was called with"),
        (lambda: lm.grad(product, argnames="y")(A, B), ValueError, "keyword argument 'y'"),
        (lambda: lm.grad(lambda x: x * 2)(A), ValueError, r"must return a scalar, got f32\[2\]"),
        (lambda: lm.grad(lambda x: 2.0)(A), TypeError, "must return a scalar array"),
        (lambda: lm.grad(lambda x: {"a": x})(A), TypeError, "got dict"),
        (lambda: lm.grad(lambda x: lm.argmax(x))(A), TypeError, r"u32\[\], which has no gradient"),
        (lambda: lm.grad(product)(lm.array([1, 2]), B), TypeError, r"x is i32\[2\]; only floating"),
        (
            lambda: lm.grad(lambda p: p["w"][0])({"w": [A, 3]}),
            TypeError,
            r"p\['w'\]\[1\] is not an array but int",
        ),
        (lambda: lm.vjp(lambda x: x, [A], [B, B]), ValueError, "2 cotangents for 1 outputs"),
        (
            lambda: lm.vjp(lambda x: x, [A], [lm.ones((3,))]),
            ValueError,
            r"cotangent 0 is f32\[3\] for output 0 of f32\[2\]",
        ),
        (
            lambda: lm.jvp(lambda x: x, [A], [lm.ones((3,))]),
            ValueError,
            r"tangent 0 is f32\[3\] for primal 0 of f32\[2\]",
        ),
        (lambda: lm.jvp(lambda x: x, A, [A]), TypeError, "primals are a list or a tuple"),
        (lambda: lm.jvp(lambda x: x, [lm.array(1)], [A]), TypeError, r"x is i32\[\]; only"),
        (lambda: lm.vjp(lambda x: 3, [A], [A]), TypeError, "must return arrays, got int"),
    ],
)
def test_errors(make, kind, message):
    with pytest.raises(kind, match=message) as caught:
        make()
    assert isinstance(caught.value, lm.LaminaError)
    assert f"{__file__}:" in str(caught.value)


def test_an_exception_leaves_the_transform():
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        lm.grad(broken)(A)
    assert lm.compile(lambda x: x + 1)(A).tolist() == [2, 3]
    assert (A * 2).tolist() == [2, 4]
