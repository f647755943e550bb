"""The rows of the table of running times: inputs, right answers, baselines and bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Values = list[np.ndarray[Any, Any]]

CHECKED = 4
"""How many leading entries of a result are compared with the right answer."""
EPSILON = 1e-5
"""What the norms add to a variance."""
_SEED = 20260


@dataclass(frozen=True)
class Row:
    """One measurement, the same for every library.

    Attributes:
        name: how the command line and the libraries call it.
        title: how the table calls it.
        shapes: the shapes of the inputs, all f32.
        quick: their shapes in a quick run.
        reference: the leading entries of each result, from the inputs in f64.
        baseline: ``copy`` or ``read`` of the row's bytes; None for work that memory does not bound.
        moved: a copy's elements as a multiple of the first input's.
        fraction: the bar beside the baseline.
        microseconds: the bar of a call.
        calls: how many calls one measurement makes.
        tolerance: the largest error, relative to the largest right value.
    """

    name: str
    title: str
    shapes: tuple[tuple[int, ...], ...]
    quick: tuple[tuple[int, ...], ...]
    reference: Callable[[Sequence[Any]], Sequence[Any]]
    baseline: Literal["copy", "read"] | None = None
    moved: int = 1
    fraction: float | None = None
    microseconds: float | None = None
    calls: int = 1
    tolerance: float = 2e-5

    def inputs(self, quick: bool) -> Values:
        """The inputs, equal in every process."""
        generator = np.random.default_rng(_SEED)
        return [
            generator.standard_normal(shape, dtype=np.float32)
            for shape in (self.quick if quick else self.shapes)
        ]

    @property
    def is_cold(self) -> bool:
        """Whether the caches are emptied before each call."""
        return self.baseline is not None


def check(row: Row, inputs: Values, results: Values) -> None:
    """Raises ValueError if the leading entries of results are wrong."""
    expected = row.reference([value.astype(np.float64) for value in inputs])
    if len(expected) != len(results):
        raise ValueError(f"{row.name}: {len(results)} results instead of {len(expected)}")
    for right, result in zip(expected, results):
        right = np.asarray(right)
        leading = result[: len(right)] if right.ndim else result
        scale = max(1.0, float(np.abs(right).max()))
        error = float(np.abs(leading.astype(np.float64) - right).max())
        if not error <= row.tolerance * scale or leading.shape != right.shape:
            raise ValueError(f"{row.name}: wrong result, off by {error:.3g} of {scale:.3g}")


def _gelu(x: Any) -> Any:
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def _reference_gelu(inputs: Sequence[Any]) -> Sequence[Any]:
    return [_gelu(inputs[0][:CHECKED])]


def _reference_chain(inputs: Sequence[Any]) -> Sequence[Any]:
    x = inputs[0][:CHECKED]
    y = np.sqrt(np.abs(x * 0.7 + 0.1)) * x - 0.3
    return [np.minimum(np.maximum(y, -1.0) * y + x, 3.0)]


def _reference_softmax(inputs: Sequence[Any]) -> Sequence[Any]:
    x = inputs[0][:CHECKED]
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return [exponentials / exponentials.sum(axis=-1, keepdims=True)]


def _reference_layer_norm(inputs: Sequence[Any]) -> Sequence[Any]:
    x, weight, bias = inputs
    x = x[:CHECKED]
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    return [centred / np.sqrt(variance + EPSILON) * weight + bias]


def _reference_rms_norm(inputs: Sequence[Any]) -> Sequence[Any]:
    x, residual, weight = inputs
    total = x[:CHECKED] + residual[:CHECKED]
    squares = np.square(total).mean(axis=-1, keepdims=True)
    return [total / np.sqrt(squares + EPSILON) * weight, total]


def _reference_column_sum(inputs: Sequence[Any]) -> Sequence[Any]:
    return [inputs[0].sum(axis=0)]


def _reference_full_sum(inputs: Sequence[Any]) -> Sequence[Any]:
    return [inputs[0].sum()]


def _reference_matmul(inputs: Sequence[Any]) -> Sequence[Any]:
    x, weight, bias = inputs
    return [_gelu(x[:CHECKED] @ weight + bias)]


def _reference_call(inputs: Sequence[Any]) -> Sequence[Any]:
    return [inputs[0] * 2 + 1]


def _reference_call_with_state(inputs: Sequence[Any]) -> Sequence[Any]:
    *arguments, state = inputs
    total = sum(arguments)
    return [total * state, state + total]


_MANY, _FEW = (1 << 24,), (1 << 12,)
_ROWS, _FEW_ROWS = (8192, 1024), (32, 64)
_COLUMNS, _FEW_COLUMNS = (16384, 1024), (64, 32)
_SMALL = (16,)

ROWS = (
    Row("gelu", "GELU, 16M", (_MANY,), (_FEW,), _reference_gelu, "copy", fraction=0.9),
    Row("chain", "ten ops, 16M", (_MANY,), (_FEW,), _reference_chain, "copy", fraction=0.9),
    Row(
        "softmax", "softmax, 8192x1024", (_ROWS,), (_FEW_ROWS,), _reference_softmax,
        "copy", fraction=0.85,
    ),
    Row(
        "layer_norm", "layer norm, 8192x1024",
        (_ROWS, _ROWS[1:], _ROWS[1:]), (_FEW_ROWS, _FEW_ROWS[1:], _FEW_ROWS[1:]),
        _reference_layer_norm, "copy", fraction=0.85,
    ),
    Row(
        "rms_norm", "RMS norm with residual, 8192x1024",
        (_ROWS, _ROWS, _ROWS[1:]), (_FEW_ROWS, _FEW_ROWS, _FEW_ROWS[1:]),
        _reference_rms_norm, "copy", moved=2, fraction=0.85,
    ),
    Row(
        "column_sum", "column sums, 16384x1024", (_COLUMNS,), (_FEW_COLUMNS,),
        _reference_column_sum, "read", fraction=0.9,
    ),
    Row(
        "full_sum", "sum, 16M", (_MANY,), (_FEW,), _reference_full_sum,
        "read", fraction=0.9, tolerance=1e-3,  # MLX and numexpr add one after the other
    ),
    Row(
        "matmul_gelu", "GELU(x @ w + b), 1024x1024x1024",
        ((1024, 1024), (1024, 1024), (1024,)), ((16, 32), (32, 48), (48,)), _reference_matmul,
    ),
    Row(
        "call", "call, 16 floats", (_SMALL,), (_SMALL,), _reference_call,
        microseconds=5, calls=1000,
    ),
    Row(
        "call_with_state", "call, 8 arguments and state", (_SMALL,) * 9, (_SMALL,) * 9,
        _reference_call_with_state, microseconds=15, calls=1000,
    ),
)  # fmt: skip

BY_NAME = {row.name: row for row in ROWS}
