"""Lamina."""

from __future__ import annotations

from typing import Any

import numpy as np

import lamina as lm

from ..rows import EPSILON, Row, Values
from .base import Call, as_tuple


def gelu(x: Any) -> Any:
    return x * (1 + lm.erf(x / 2**0.5)) / 2


def chain(x: Any) -> Any:
    y = lm.sqrt(lm.abs(x * 0.7 + 0.1)) * x - 0.3
    return lm.minimum(lm.maximum(y, -1.0) * y + x, 3.0)


def softmax(x: Any) -> Any:
    return lm.softmax(x, axis=-1)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    mean = lm.mean(x, axis=-1, keepdims=True)
    variance = lm.var(x, axis=-1, keepdims=True)
    return (x - mean) * lm.rsqrt(variance + EPSILON) * weight + bias


def rms_norm(x: Any, residual: Any, weight: Any) -> Any:
    total = x + residual
    squares = lm.mean(lm.square(total), axis=-1, keepdims=True)
    return total * lm.rsqrt(squares + EPSILON) * weight, total


def column_sum(x: Any) -> Any:
    return lm.sum(x, axis=0)


def full_sum(x: Any) -> Any:
    return lm.sum(x)


def matmul_gelu(x: Any, weight: Any, bias: Any) -> Any:
    return gelu(x @ weight + bias)


def call(x: Any) -> Any:
    return x * 2 + 1


FUNCTIONS = {
    function.__name__: function
    for function in (
        gelu, chain, softmax, layer_norm, rms_norm, column_sum, full_sum, matmul_gelu, call,
    )
}  # fmt: skip


class Lamina:
    def version(self) -> str:
        from importlib.metadata import version

        return version("lamina")

    def prepare(self, row: Row, inputs: Values) -> Call:
        arrays = [lm.array(value) for value in inputs]
        lm.eval(arrays)
        if row.name == "call_with_state":
            return _with_state(arrays)
        function = lm.compile(FUNCTIONS[row.name])
        return lambda: function(*arrays)

    def results(self, result: Any) -> Values:
        arrays = as_tuple(result)
        # A compiled call returns when the results are there: nothing is left to wait for.
        assert all(array.node.buffer is not None for array in arrays)
        return [np.array(array) for array in arrays]


def _with_state(arrays: list[Any]) -> Call:
    *arguments, first = arrays
    state = {"value": first}

    def step(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
        total = a + b + c + d + e + f + g + h
        result = total * state["value"]
        state["value"] = state["value"] + total
        return result

    compiled = lm.compile(step, inputs=state, outputs=state)
    return lambda: (compiled(*arguments), state["value"])
