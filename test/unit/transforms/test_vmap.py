"""``vmap``: axes, prefix trees, keyword arguments, errors, composition."""

from __future__ import annotations

import numpy as np
import pytest

import lamina as lm
from lamina import errors

X = lm.arange(6, dtype=lm.float32).reshape(2, 3)
Y = lm.arange(8, dtype=lm.float32).reshape(2, 4)


def test_axes_in_and_out():
    def outer(x, y):
        return lm.outer(x, y)

    expected = np.einsum("bi,bj->bij", np.asarray(X), np.asarray(Y))
    for in_axes, args in (
        (0, (X, Y)),
        ((0, 0), (X, Y)),
        ([1, 0], (X.T, Y)),
        ((-1, -2), (X.T, Y)),
    ):
        np.testing.assert_array_equal(np.asarray(lm.vmap(outer, in_axes)(*args)), expected)
    for out_axes in (1, 2, -1, -3):
        got = lm.vmap(outer, out_axes=out_axes)(X, Y)
        np.testing.assert_array_equal(np.asarray(got), np.moveaxis(expected, 0, out_axes))
    one = lm.vmap(outer, in_axes=(0, None))(X, Y[0])
    np.testing.assert_array_equal(
        np.asarray(one), np.einsum("bi,j->bij", np.asarray(X), np.asarray(Y[0]))
    )


def test_prefix_trees_and_other_leaves():
    def function(tree, scale, mode):
        assert mode == "sum"
        return {"a": tree["x"].sum() * scale, "b": (tree["rest"][0] + tree["rest"][1], mode)}

    tree = {"x": X, "rest": (Y.T, Y[0, 0])}
    axes = ({"x": 0, "rest": (1, None)}, None, None)
    got = lm.vmap(function, axes, out_axes={"a": 0, "b": (1, None)})(tree, 2.0, "sum")
    assert got["a"].tolist() == [6, 24]
    np.testing.assert_array_equal(np.asarray(got["b"][0]), np.asarray(Y).T)
    assert got["b"][1] == "sum"


def test_keyword_arguments():
    function = lm.vmap(lambda x, y, twice=False: x.sum() + y.sum() * (2 if twice else 1))
    assert function(X, y=Y).tolist() == [9, 34]
    assert function(X, twice=True, y=Y).tolist() == [15, 56]
    across = lm.vmap(lambda x, y: x.sum() + y.sum(), in_axes=1)
    assert across(X[:, :2], y=Y[:, :2]).tolist() == [7, 11]


def test_outputs_that_do_not_depend_on_the_example():
    assert lm.vmap(lambda x: lm.array(2.0))(X).tolist() == [2, 2]
    assert lm.vmap(lambda x: (x.sum(), lm.array(2.0)), out_axes=(0, None))(X)[1].item() == 2
    assert lm.vmap(lambda x: x)(X).tolist() == X.tolist()
    assert lm.vmap(lambda x, y: y, in_axes=(0, None))(X, Y[0]).shape == (2, 4)


def test_maps_in_maps():
    products = lm.vmap(lm.vmap(lambda x, y: x * y, in_axes=(None, 0)), in_axes=(0, None))
    assert products(X[0], Y[0]).tolist() == [[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 4, 6]]
    closure = lm.vmap(lambda x: lm.vmap(lambda y: x * y)(Y[0]))(X[0])
    assert closure.tolist() == products(X[0], Y[0]).tolist()


def test_functions_of_the_frontend():
    x = lm.array(np.random.default_rng(1).normal(size=(3, 4, 5)).astype(np.float32))
    for function in (
        lambda x: lm.softmax(x, axis=-1),
        lambda x: lm.logsumexp(x, axis=0),
        lambda x: lm.std(x),
        lambda x: lm.cumsum(x, axis=1, reverse=True),
        lambda x: lm.argmax(x, axis=0),
        lambda x: lm.argmin(x),
        lambda x: x[::-1, 1:3] @ x[:, 1:3].T,
        lambda x: x @ lm.ones((5,)),
        lambda x: lm.ones((2, 4)) @ x,
        lambda x: lm.pad(x, ((1, 0), (0, 2)), constant_values=3.0),
        lambda x: lm.pad(x, 1, constant_values=x[0, 0]),
        lambda x: lm.concatenate([x, x * 2, lm.zeros((1, 5))], axis=0),
        lambda x: lm.roll(x, 2, 1),
        lambda x: lm.tile(x, (2, 1)),
        lambda x: lm.repeat(x, 2, axis=1),
        lambda x: lm.diagonal(x),
        lambda x: lm.where(x > 0, x, lm.arange(5.0)),
        lambda x: lm.transpose(x).reshape(2, 10),
        lambda x: x.astype(lm.int32) // 2,
        lambda x: lm.max(x, axis=(0, 1)),
    ):
        got = np.asarray(lm.vmap(function)(x))
        expected = np.stack([np.asarray(function(x[i])) for i in range(3)])
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        compiled = lm.compile(lm.vmap(function))
        np.testing.assert_allclose(np.asarray(compiled(x)), expected, rtol=1e-5, atol=1e-6)


def test_no_examples():
    assert lm.vmap(lambda x: (x * 2).sum())(lm.zeros((0, 3))).shape == (0,)


def test_gradients_of_maps_and_maps_of_gradients():
    weights = lm.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])

    def loss(weights, x):
        return lm.tanh(x @ weights).sum()

    each = lm.vmap(lm.grad(loss), in_axes=(None, 0))(weights, X)
    assert each.shape == (2, 3, 2)
    whole = lm.grad(lambda w: lm.vmap(loss, in_axes=(None, 0))(w, X).sum())(weights)
    np.testing.assert_allclose(np.asarray(each.sum(0)), np.asarray(whole), rtol=1e-5)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: lm.vmap(3), TypeError, "takes a function"),
        (
            lambda: lm.vmap(lambda x, other: x)(X, lm.zeros((3,))),
            errors.ShapeError,
            r"x is f32\[2,3\] with 2 along axis 0, other is f32\[3\] with 3 along axis 0",
        ),
        (
            lambda: lm.vmap(lambda x, y: x)(X, y=lm.zeros((3,))),
            errors.ShapeError,
            r"y is f32\[3\] with 3 along axis 0",
        ),
        (lambda: lm.vmap(lambda x: x, in_axes=2)(X), errors.AxisError, "gives axis 2 for x"),
        (lambda: lm.vmap(lambda x: x, in_axes=(0, 0))(X), ValueError, "2 entries for 1"),
        (lambda: lm.vmap(lambda x: x, in_axes=None)(X), ValueError, "without an array to map"),
        (lambda: lm.vmap(lambda x, y: x)(X, 2.0), TypeError, "y is not an array but float"),
        (lambda: lm.vmap(lambda x: x, in_axes=("a",))(X), TypeError, "got str for x"),
        (
            lambda: lm.vmap(lambda x: x, in_axes=({"b": 0},))({"a": X}),
            ValueError,
            "in_axes for x is not a prefix of its tree: dict with b for dict with a",
        ),
        (lambda: lm.vmap(lambda x: x, out_axes=2)(X[0]), errors.AxisError, "axis 2 for output"),
        (lambda: lm.vmap(lambda x: x, out_axes=None)(X), ValueError, "depends on the example"),
        (lambda: lm.vmap(lambda x: x, out_axes=(0, 0))(X), ValueError, "not a prefix"),
        (lambda: lm.vmap(lambda x: x.sum().item())(X), RuntimeError, "while vmap of .* was being"),
    ],
)
def test_errors(make, kind, message):
    with pytest.raises(kind, match=message) as caught:
        make()
    assert isinstance(caught.value, lm.LaminaError)
    assert f"{__file__}:" in str(caught.value)


def test_examples_that_leave_the_function_are_errors():
    kept = []

    def function(x):
        kept.append(x * 2)
        return x

    lm.vmap(function)(X)
    with pytest.raises(errors.LeakedTraceError, match="vmap of"):
        kept[0].tolist()
    with pytest.raises(errors.LeakedTraceError, match="vmap of"):
        lm.compile(lambda x: (lm.vmap(function)(x), kept[-1])[1])(X)
