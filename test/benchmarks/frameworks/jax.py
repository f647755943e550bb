"""JAX: jitted functions, and ``block_until_ready``."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..rows import EPSILON, Row, Values
from .base import Call, as_tuple


def gelu(x: Any) -> Any:
    return jax.nn.gelu(x, approximate=False)


def chain(x: Any) -> Any:
    y = jnp.sqrt(jnp.abs(x * 0.7 + 0.1)) * x - 0.3
    return jnp.minimum(jnp.maximum(y, -1.0) * y + x, 3.0)


def softmax(x: Any) -> Any:
    return jax.nn.softmax(x, axis=-1)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    return jax.nn.standardize(x, axis=-1, epsilon=EPSILON) * weight + bias


def rms_norm(x: Any, residual: Any, weight: Any) -> Any:
    total = x + residual
    squares = jnp.mean(jnp.square(total), axis=-1, keepdims=True)
    return total * jax.lax.rsqrt(squares + EPSILON) * weight, total


def column_sum(x: Any) -> Any:
    return jnp.sum(x, axis=0)


def full_sum(x: Any) -> Any:
    return jnp.sum(x)


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


class Jax:
    def version(self) -> str:
        return jax.__version__

    def prepare(self, row: Row, inputs: Values) -> Call:
        arrays = [jnp.array(value).block_until_ready() for value in inputs]
        if row.name == "call_with_state":
            return _with_state(arrays)
        function = jax.jit(FUNCTIONS[row.name])
        if row.name == "rms_norm":
            return lambda: jax.block_until_ready(function(*arrays))
        return lambda: function(*arrays).block_until_ready()

    def results(self, result: Any) -> Values:
        return [np.asarray(array) for array in as_tuple(result)]


def _with_state(arrays: list[Any]) -> Call:
    *arguments, state = arrays

    @jax.jit
    def step(state: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
        total = a + b + c + d + e + f + g + h
        return total * state, state + total

    def run() -> Any:
        nonlocal state
        result, state = step(state, *arguments)
        state.block_until_ready()
        return result.block_until_ready(), state

    return run
