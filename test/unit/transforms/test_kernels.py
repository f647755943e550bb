"""Transforms through the whole compiler: kernels give what NumPy's references give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import lamina as lm
from lamina.dialects import reference
from lamina.frontend import graph, tree
from lamina.frontend.array import wrap

RANDOM = np.random.default_rng(3)


def normal(*shape: int) -> lm.array:
    return lm.array(RANDOM.normal(size=shape).astype(np.float32))


def check(function: Callable[..., Any], *arrays: lm.array) -> None:
    """Compares a function, compiled and op by op, with its program interpreted."""
    inputs = [graph.Node(None, (), (), a.shape, a.dtype) for a in arrays]
    outputs = tree.leaves(function(*map(wrap, inputs)))
    program = graph.record(inputs, [a.node for a in outputs])
    expected = reference.run(program, [np.asarray(a) for a in arrays])
    for run in (lm.compile(function), function):
        for got, wanted in zip(tree.leaves(run(*arrays)), expected, strict=True):
            np.testing.assert_allclose(np.asarray(got), wanted, rtol=2e-5, atol=2e-6)


def network(first: lm.array, second: lm.array, x: lm.array, target: lm.array) -> lm.array:
    hidden = lm.maximum(x @ first, lm.zeros((1,)))
    logits = hidden @ second
    return lm.logsumexp(logits, axis=-1).mean() - (lm.softmax(logits, axis=-1) * target).mean()


def test_a_network() -> None:
    first, second = normal(5, 8), normal(8, 3)
    x, target = normal(6, 5), normal(6, 3)
    check(lm.value_and_grad(network, argnums=(0, 1)), first, second, x, target)
    check(
        lm.vmap(lm.grad(network, argnums=1), in_axes=(None, None, 0, 0)), first, second,
        normal(2, 6, 5), normal(2, 6, 3),
    )  # fmt: skip


def test_scans_updates_and_products() -> None:
    def function(x: lm.array) -> lm.array:
        y = lm.cummax(x, axis=1) * lm.cumsum(x, axis=0, reverse=True)
        y[1:, ::2] = lm.prod(x, axis=1, keepdims=True)[1:] * 2
        return (lm.pad(y, 1, constant_values=x[0, 0]) ** 2).sum() + lm.cumprod(x[0]).sum()

    x = lm.array(RANDOM.permutation(np.linspace(-1.2, 1.3, 20)).reshape(4, 5).astype(np.float32))
    check(lm.grad(function), x)
    check(lambda x: lm.jvp(lm.grad(function), [x], [x])[1][0], x)


def test_guards_under_fusion() -> None:
    def function(x: lm.array) -> lm.array:
        return (lm.where(x > 0, lm.sqrt(x) + lm.log(x), x) / lm.where(x == 0, 1, x)).sum()

    x = lm.array([0.0, 1.0, -2.0, 4.0, 0.25])
    gradient = lm.compile(lm.grad(function))(x)
    assert np.isfinite(np.asarray(gradient)).all()
    check(lm.grad(function), x)
    check(lm.grad(lambda x: lm.checkpoint(lambda x: lm.sin(x) * x)(x).sum()), x)
