"""The table of docs/numerics.md is that of the code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from measure import F32, F64, UNARY
from numpy_scalars import NumpyScalars

import lamina
from lamina.passes.math import FUNCTIONS, STATED_ULPS

DOCUMENT = Path(lamina.__file__).parent / "docs" / "numerics.md"

pytestmark = pytest.mark.skipif(not DOCUMENT.exists(), reason="lamina is not run from a checkout")


def operations(name: str, dtype: np.dtype) -> int:
    """What a function executes for arguments that take no longer path."""
    s = NumpyScalars()
    x = np.array([0.25], dtype)
    with np.errstate(all="ignore"):
        FUNCTIONS[name](s, *[x] * (1 if name in UNARY else 2))
    return s.operations


def table() -> str:
    """The rows, one for each function."""
    rows = []
    for name in sorted(FUNCTIONS):
        errors, counts = STATED_ULPS[name], [operations(name, dtype) for dtype in (F32, F64)]
        rows.append(f"| `{name}` | {errors['f32']} | {errors['f64']} | {counts[0]} | {counts[1]} |")
    return "\n".join(rows)


def test_the_table_is_current():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert table() in text, f"the rows should be\n{table()}"
