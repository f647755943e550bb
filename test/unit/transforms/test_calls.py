"""``stop_gradient``, ``custom_function`` and ``checkpoint``, under every transform."""

from __future__ import annotations

import numpy as np
import pytest

import lamina as lm
from lamina.frontend.transforms import walks

X = lm.array([1.0, 2.0])


def test_stop_gradient():
    def function(x):
        return (lm.stop_gradient(x * x) * x).sum()

    assert lm.stop_gradient(X) is not None
    assert lm.stop_gradient(X).tolist() == [1, 2]
    assert lm.stop_gradient(3.0).item() == 3
    assert lm.grad(function)(X).tolist() == [1, 4]
    assert lm.jvp(function, [X], [X])[1][0].item() == 9
    assert lm.grad(lambda x: lm.vmap(function)(x[:, None]).sum())(X).tolist() == [1, 4]
    assert lm.vmap(lm.grad(function))(X[:, None]).tolist() == [[1], [4]]
    assert lm.compile(lm.grad(function))(X).tolist() == [1, 4]
    assert lm.grad(lambda x: lm.grad(function)(x).sum())(X).tolist() == [0, 0]


def doubled_rule(with_vjp=False, with_jvp=False, with_vmap=False, calls=None):
    """The product of x and the sine of y, whose derivatives are said to be twice as large."""
    calls = [] if calls is None else calls

    @lm.custom_function
    def function(x, y):
        return x * lm.sin(y)

    if with_vjp:

        @function.vjp
        def backward(primals, cotangent, output):
            x, y = primals
            calls.append("vjp")
            return 2 * cotangent * lm.sin(y), 2 * cotangent * x * lm.cos(y)

    if with_jvp:

        @function.jvp
        def forward(primals, tangents):
            x, y = primals
            dx, dy = tangents
            calls.append("jvp")
            zero = lm.zeros_like(x)
            dx, dy = zero if dx is None else dx, zero if dy is None else dy
            return 2 * (dx * lm.sin(y) + x * lm.cos(y) * dy)

    if with_vmap:

        @function.vmap
        def mapped(inputs, axes):
            x, y = inputs
            calls.append(("vmap", axes))
            return x * lm.sin(y), 0

    return function


@pytest.mark.parametrize("rules", [{"with_vjp": True}, {"with_jvp": True}])
def test_either_rule_gives_both_directions(rules):
    function = doubled_rule(**rules)
    x, y = X, lm.array([0.5, 1.5])
    assert function.__name__ == "function"
    np.testing.assert_allclose(np.asarray(function(x, y)), np.asarray(x * lm.sin(y)))
    expected = 2 * np.sin(np.asarray(y)), 2 * np.asarray(x) * np.cos(np.asarray(y))

    def loss(x, y):
        return function(x, y).sum()

    ones = lm.ones((2,))
    for transform in (lambda f: f, lm.compile):
        found = transform(lm.grad(loss, argnums=(0, 1)))(x, y)
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-6)
    for tangents, wanted in (
        ([ones, None], expected[0]),
        ([None, ones], expected[1]),
        ([ones, ones], expected[0] + expected[1]),
    ):
        _, (got,) = lm.jvp(function, [x, y], tangents)
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-6)
    each = lm.vmap(lm.grad(loss, argnums=(0, 1)))(x, y)
    whole = lm.grad(lambda x, y: lm.vmap(function)(x, y).sum(), argnums=(0, 1))(x, y)
    shared = lm.grad(lambda x, y: lm.vmap(function, in_axes=(0, None))(x, y).sum(), argnums=1)
    for got, wanted in zip((*each, *whole), expected * 2, strict=True):
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-6)
    np.testing.assert_allclose(shared(x, y[0]).item(), 2 * 3 * np.cos(0.5), rtol=1e-6)
    np.testing.assert_allclose(
        np.asarray(lm.jvp(lm.vmap(function), [x, y], [ones, ones])[1][0]),
        expected[0] + expected[1],
        rtol=1e-6,
    )
    second = lm.grad(lambda x: lm.grad(loss)(x, y).sum())(x)
    assert second.tolist() == [0, 0]
    mixed = lm.grad(lambda y: lm.grad(loss)(x, y).sum())(y)
    np.testing.assert_allclose(np.asarray(mixed), 2 * np.cos(np.asarray(y)), rtol=1e-6)


def test_rules_use_the_output_with_its_rule():
    @lm.custom_function
    def exponential(x):
        return lm.exp(x)

    @exponential.vjp
    def backward(x, cotangent, output):
        return 3 * cotangent * output

    x = lm.array(0.5)
    assert lm.grad(exponential)(x).item() == pytest.approx(3 * np.exp(0.5))
    assert lm.grad(lm.grad(exponential))(x).item() == pytest.approx(9 * np.exp(0.5))
    assert lm.vmap(lm.grad(lm.grad(exponential)))(lm.array([0.5])).tolist() == pytest.approx(
        [9 * np.exp(0.5)]
    )


def test_batching_rule():
    calls = []
    function = doubled_rule(with_vjp=True, with_vmap=True, calls=calls)
    got = lm.vmap(function, in_axes=(0, None))(X, lm.array(0.5))
    np.testing.assert_allclose(np.asarray(got), np.asarray(X) * np.sin(0.5), rtol=1e-6)
    assert calls == [("vmap", (0, None))]
    plain = doubled_rule(with_vmap=True)
    gradient = lm.grad(lambda x: lm.vmap(plain)(x, X).sum())(X)
    np.testing.assert_allclose(np.asarray(gradient), np.sin(np.asarray(X)), rtol=1e-6)


def test_without_rules_the_function_is_looked_through():
    function = doubled_rule()
    assert lm.grad(lambda x: function(x, X).sum())(X).tolist() == pytest.approx(
        np.sin([1.0, 2.0]).tolist()
    )
    captured = lm.array(3.0)

    def outer(y):
        @lm.custom_function
        def inner(x):
            return x * y

        @inner.vjp
        def backward(x, cotangent, output):
            raise AssertionError("x does not vary")

        return inner(X).sum()

    assert lm.grad(outer)(captured).item() == 0


def test_trees_and_several_outputs():
    @lm.custom_function
    def function(tree, factor):
        return {"sum": tree["a"] + tree["b"][0], "product": tree["a"] * factor}

    @function.vjp
    def backward(primals, cotangents, outputs):
        _, factor = primals
        by_a = cotangents["sum"] + 10 * cotangents["product"] * factor
        assert set(outputs) == {"sum", "product"}
        return {"a": by_a, "b": [None]}, None

    def loss(tree):
        out = function(tree, 2.0)
        return (out["sum"] * out["product"]).sum()

    gradient = lm.grad(loss)({"a": X, "b": [X]})
    # sum = 2x, product = 2x: the cotangent of each is the other.
    assert gradient["a"].tolist() == [2 + 40, 4 + 80]
    assert gradient["b"][0].tolist() == [0, 0]
    only = lm.grad(lambda tree: function(tree, 2.0)["product"].sum())({"a": X, "b": [X]})
    assert only["a"].tolist() == [20, 20]


def test_keyword_arguments_of_custom_functions():
    function = doubled_rule(with_vjp=True)
    by_keyword = lm.grad(lambda x: function(y=X, x=x).sum())(X)
    assert by_keyword.tolist() == lm.grad(lambda x: function(x, X).sum())(X).tolist()


def test_rules_that_return_something_else():
    @lm.custom_function
    def function(x):
        return x * 2

    @function.vjp
    def backward(x, cotangent, output):
        return cotangent, cotangent

    with pytest.raises(ValueError, match=r"function\.vjp: returned 2 values for 1 inputs"):
        lm.grad(lambda x: function(x).sum())(X)

    @function.vjp
    def sums(x, cotangent, output):
        return cotangent.sum()

    with pytest.raises(ValueError, match=r"returned shape \(\) for an input of shape \(2,\)"):
        lm.grad(lambda x: function(x).sum())(X)

    @function.jvp
    def forward(x, tangent):
        return tangent.sum()

    with pytest.raises(ValueError, match=r"jvp: returned f32\[\] for outputs f32\[2\]"):
        lm.jvp(function, [X], [X])


def test_checkpoint_computes_again(monkeypatch):
    copies = []
    copied = walks.copied
    monkeypatch.setattr(walks, "copied", lambda *args: copies.append(1) or copied(*args))
    captured = lm.array([0.5, 0.25])

    def block(x, factor=2.0):
        return lm.sin(x * captured) * factor

    def loss(x, block):
        return (block(x) * block(block(x), factor=3.0)).sum()

    remembered = lm.checkpoint(block)
    assert remembered.__name__ == "block"
    expected = np.asarray(lm.grad(loss)(X, block))
    for transform in (lambda f: f, lm.compile):
        got = transform(lm.grad(lambda x: loss(x, remembered)))(X)
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6)
    assert len(copies) == 6
    _, (tangent,) = lm.jvp(lambda x: loss(x, remembered), [X], [X])
    np.testing.assert_allclose(tangent.item(), (expected * np.asarray(X)).sum(), rtol=1e-6)

    def single(x):
        return loss(x, remembered)

    second = lm.grad(lambda x: (lm.grad(single)(x) * X).sum())(X)
    plain = lm.grad(lambda x: (lm.grad(lambda x: loss(x, block))(x) * X).sum())(X)
    np.testing.assert_allclose(np.asarray(second), np.asarray(plain), rtol=1e-5)
    rows = lm.stack([X, X * 2])
    each = lm.vmap(lm.grad(single))(rows)
    whole = lm.grad(lambda rows: lm.vmap(single)(rows).sum())(rows)
    alone = lm.stack([lm.grad(single)(row) for row in rows])
    np.testing.assert_allclose(np.asarray(each), np.asarray(alone), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(whole), np.asarray(alone), rtol=1e-5)


def test_arrays_by_closure_have_gradients_in_checkpoints():
    def loss(weight):
        @lm.checkpoint
        def block(x):
            return lm.tanh(x * weight) * lm.exp(weight)

        return block(block(X)).sum()

    def plain(weight):
        def block(x):
            return lm.tanh(x * weight) * lm.exp(weight)

        return block(block(X)).sum()

    weight = lm.array(0.7)
    assert lm.grad(loss)(weight).item() == pytest.approx(lm.grad(plain)(weight).item(), rel=1e-6)


def test_custom_functions_in_checkpoints():
    function = doubled_rule(with_vjp=True)
    block = lm.checkpoint(lambda x: function(x, x) + 1)
    got = lm.grad(lambda x: (block(x) * x).sum())(X)
    plain = lm.grad(lambda x: ((function(x, x) + 1) * x).sum())(X)
    np.testing.assert_allclose(np.asarray(got), np.asarray(plain), rtol=1e-6)


def test_arguments():
    for make in (lm.checkpoint, lm.custom_function):
        with pytest.raises(TypeError, match="takes a function, got int"):
            make(3)
