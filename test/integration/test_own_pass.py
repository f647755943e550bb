"""Passes from outside of Lamina, in the pipeline of ``compile``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import lamina as lm
from lamina.dialects import ops
from lamina.errors import PassError
from lamina.passes import registry
from lamina.passes.driver import PIPELINE
from lamina.passes.simplify.rewriter import Rewriter

X = np.array([4.0, 1.0, -2.0], np.float32)


@pytest.fixture(autouse=True)
def _no_pass_stays() -> Iterator[None]:
    known = {*registry.PASSES, *registry.BUILTIN}
    yield
    for name in set(registry.PASSES) - known:
        del registry.PASSES[name]


def register_rewrite(name: str, root: Any, rewrite: Any) -> str:
    """Registers a pass that rewrites one kind of op; returns a whole pipeline with it."""

    @registry.register(name, "A pass of a test.")
    def run(module: Any) -> None:
        from lamina.passes.simplify.dataflow import Dataflow, functions

        for function in functions(module.operation):
            flow = Dataflow(function)
            Rewriter(flow, {root: [rewrite]}).run()
            flow.write()

    return f"{name},{PIPELINE}"


def scaled(op: Any, rewriter: Rewriter) -> Any:
    (x,) = op.operands
    return rewriter.create(ops.multiply, [x, rewriter.splat(3.25, op.type)])


def test_numbers_of_a_pass_stand_beside_the_programs():
    pipeline = register_rewrite("exp-to-scale", ops.exp, scaled)
    function = lm.compile(lambda x, k: lm.exp(x) + k, pipeline=pipeline)
    for k in (1.5, 7.5, 3.25):
        np.testing.assert_array_equal(np.array(function(lm.array(X), k)), X * 3.25 + k)


@pytest.mark.parametrize("kept", [7.5, 3.25])
def test_numbers_of_a_pass_may_stand_in_place_of_the_programs(kept):
    def rewrite(op: Any, rewriter: Rewriter) -> Any:
        # Drops the multiplication inside, whose number is the program's last.
        (product,) = op.operands
        return rewriter.create(ops.multiply, [product.operands[0], rewriter.splat(3.25, op.type)])

    pipeline = register_rewrite("drop-a-number", ops.exp, rewrite)
    function = lm.compile(lambda x: (x + kept) * 4 + lm.exp(x * 2.75), pipeline=pipeline)
    expected = (X + np.float32(kept)) * 4 + X * 3.25
    np.testing.assert_array_equal(np.array(function(lm.array(X))), expected)


def test_numbers_of_every_dtype():
    for name in ("float16", "bfloat16", "float32", "float64", "int8", "int64", "complex64"):
        dtype = getattr(lm, name)

        def rewrite(op: Any, rewriter: Rewriter) -> Any:
            value = 5 if op.type.dtype.is_integer else 5.5
            return rewriter.splat(value, op.type)

        pipeline = register_rewrite(f"square-to-{name}", ops.negative, rewrite)
        function = lm.compile(lambda x: -x + 3, pipeline=pipeline)
        result = np.array(function(lm.ones((5,), dtype)).astype(lm.complex64))
        expected = 8 if name.startswith("int") else 8.5
        np.testing.assert_array_equal(result, np.full(5, expected, np.complex64), name)


def test_a_pass_that_fails_is_named():
    @registry.register("always-fails", "A pass of a test.")
    def fail(_module: Any) -> None:
        raise ZeroDivisionError("on purpose")

    function = lm.compile(lambda x: x + 1, pipeline=f"always-fails,{PIPELINE}")
    with pytest.raises(PassError, match=r"always-fails failed: ZeroDivisionError: on purpose"):
        function(lm.array(X))
