"""PyTorch: ``torch.compile`` in inference mode."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as nn

from ..rows import EPSILON, Row, Values
from .base import Call, as_tuple


def gelu(x: Any) -> Any:
    return nn.gelu(x)


def chain(x: Any) -> Any:
    y = torch.sqrt(torch.abs(x * 0.7 + 0.1)) * x - 0.3
    return torch.clamp(torch.clamp(y, min=-1.0) * y + x, max=3.0)


def softmax(x: Any) -> Any:
    return nn.softmax(x, dim=-1)


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    return nn.layer_norm(x, x.shape[-1:], weight, bias, EPSILON)


def rms_norm(x: Any, residual: Any, weight: Any) -> Any:
    total = x + residual
    return nn.rms_norm(total, total.shape[-1:], weight, EPSILON), total


def column_sum(x: Any) -> Any:
    return torch.sum(x, dim=0)


def full_sum(x: Any) -> Any:
    return torch.sum(x)


def matmul_gelu(x: Any, weight: Any, bias: Any) -> Any:
    return nn.gelu(torch.addmm(bias, x, weight))


def call(x: Any) -> Any:
    return x * 2 + 1


FUNCTIONS = {
    function.__name__: function
    for function in (
        gelu, chain, softmax, layer_norm, rms_norm, column_sum, full_sum, matmul_gelu, call,
    )
}  # fmt: skip


class Torch:
    def __init__(self, threads: int) -> None:
        torch.set_num_threads(threads)
        # For the life of the worker: entering the mode in every call would be measured.
        torch.inference_mode().__enter__()

    def version(self) -> str:
        return torch.__version__

    def prepare(self, row: Row, inputs: Values) -> Call:
        tensors = [torch.from_numpy(value).clone() for value in inputs]
        if row.name == "call_with_state":
            return _with_state(tensors)
        function = torch.compile(FUNCTIONS[row.name], dynamic=False)
        return lambda: function(*tensors)

    def results(self, result: Any) -> Values:
        return [tensor.numpy() for tensor in as_tuple(result)]


def _with_state(tensors: list[Any]) -> Call:
    *arguments, state = tensors

    @torch.compile(dynamic=False)
    def step(state: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
        total = a + b + c + d + e + f + g + h
        return total * state, state + total

    def run() -> Any:
        nonlocal state
        result, state = step(state, *arguments)
        return result, state

    return run
