"""MLX on its CPU device: compiled functions, its fast ops, and ``eval``."""

from __future__ import annotations

import math
from typing import Any

import mlx.core as mx
import numpy as np

from ..rows import EPSILON, Row, Values
from .base import Call, as_tuple


def gelu(x: Any) -> Any:
    return x * (1 + mx.erf(x / math.sqrt(2))) / 2


def chain(x: Any) -> Any:
    y = mx.sqrt(mx.abs(x * 0.7 + 0.1)) * x - 0.3
    return mx.minimum(mx.maximum(y, -1.0) * y + x, 3.0)


def softmax(x: Any) -> Any:
    return mx.softmax(x, axis=-1)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    return mx.fast.layer_norm(x, weight, bias, EPSILON)


def rms_norm(x: Any, residual: Any, weight: Any) -> Any:
    total = x + residual
    return mx.fast.rms_norm(total, weight, EPSILON), total


def column_sum(x: Any) -> Any:
    return mx.sum(x, axis=0)


def full_sum(x: Any) -> Any:
    return mx.sum(x)


def matmul_gelu(x: Any, weight: Any, bias: Any) -> Any:
    return gelu(mx.addmm(bias, x, weight))


def call(x: Any) -> Any:
    return x * 2 + 1


FUNCTIONS = {
    function.__name__: function
    for function in (
        gelu, chain, softmax, layer_norm, rms_norm, column_sum, full_sum, matmul_gelu, call,
    )
}  # fmt: skip


class Mlx:
    def version(self) -> str:
        return mx.__version__

    def prepare(self, row: Row, inputs: Values) -> Call:
        mx.set_default_device(mx.cpu)
        arrays = [mx.array(value) for value in inputs]
        mx.eval(arrays)
        if row.name == "call_with_state":
            return _with_state(arrays)
        function = mx.compile(FUNCTIONS[row.name])

        def run() -> Any:
            result = function(*arrays)
            mx.eval(result)
            return result

        return run

    def results(self, result: Any) -> Values:
        return [np.array(array) for array in as_tuple(result)]


def _with_state(arrays: list[Any]) -> Call:
    *arguments, first = arrays
    state = {"value": first}

    def step(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
        total = a + b + c + d + e + f + g + h
        result = total * state["value"]
        state["value"] = state["value"] + total
        return result

    compiled = mx.compile(step, inputs=state, outputs=state)

    def run() -> Any:
        result = compiled(*arguments)
        mx.eval(result, state)
        return result, state["value"]

    return run
