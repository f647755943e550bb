"""numexpr: one expression, into an array that is there already."""

from __future__ import annotations

from typing import Any

import numexpr
import numpy as np

from ..rows import Row, Values
from .base import Call, NotOffered, as_tuple

EXPRESSIONS = {
    "chain": "minimum(maximum(sqrt(abs(x * a + b)) * x - c, d) * "
    "(sqrt(abs(x * a + b)) * x - c) + x, e)",
    "column_sum": "sum(x, axis=0)",
    "full_sum": "sum(x)",
    "call": "x * a + b",
}
"""It has no error function, no broadcast reductions and no products of matrices."""

# Plain constants would make everything f64.
CONSTANTS = {
    "chain": {"a": 0.7, "b": 0.1, "c": 0.3, "d": -1.0, "e": 3.0},
    "call": {"a": 2.0, "b": 1.0},
}


class Numexpr:
    def __init__(self, threads: int) -> None:
        numexpr.set_num_threads(threads)

    def version(self) -> str:
        return numexpr.__version__

    def prepare(self, row: Row, inputs: Values) -> Call:
        expression = EXPRESSIONS.get(row.name)
        if expression is None:
            raise NotOffered
        constants = CONSTANTS.get(row.name, {})
        names = {"x": inputs[0], **{name: np.float32(each) for name, each in constants.items()}}
        out = None if row.name.endswith("_sum") else np.empty_like(inputs[0])
        return lambda: numexpr.evaluate(expression, names, {}, out=out)

    def results(self, result: Any) -> Values:
        return [np.asarray(array) for array in as_tuple(result)]
