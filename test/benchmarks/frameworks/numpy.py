"""NumPy, where it does no more than the baseline: a copy, a sum, a product of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rows import Row, Values
from .base import Call, NotOffered


class Numpy:
    is_baseline = True

    def version(self) -> str:
        return np.__version__

    def prepare(self, row: Row, inputs: Values) -> Call:
        if row.baseline == "copy":
            source = np.concatenate([inputs[0]] * row.moved)
            target = np.empty_like(source)
            return lambda: np.copyto(target, source)
        if row.baseline == "read":
            return inputs[0].sum
        if row.name == "matmul_gelu":
            x, weight, _ = inputs
            out = np.empty((len(x), weight.shape[1]), np.float32)
            return lambda: np.matmul(x, weight, out=out)
        raise NotOffered

    def results(self, result: Any) -> Values:
        return []
