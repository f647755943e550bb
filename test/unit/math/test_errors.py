"""The stated errors hold at samples from every binade; test_sweep.py tries every f32."""

from __future__ import annotations

import numpy as np
import pytest
from measure import (
    DOMAINS,
    F32,
    F64,
    UNARY,
    compute,
    errors_in_ulps,
    errors_of_f64,
    moderate,
    reference_of_f32,
    stratified,
)  # fmt: skip

from lamina.passes.math import FUNCTIONS, STATED_ULPS

SLOW_REFERENCES = {"erfinv": 150, "arccosh": 400}


def test_every_function_states_its_errors():
    assert set(STATED_ULPS) == set(FUNCTIONS)
    assert all(set(entry) == {"f32", "f64"} for entry in STATED_ULPS.values())


@pytest.mark.parametrize("name", UNARY)
def test_f32(name):
    x = np.concatenate([stratified(F32, 24), moderate(F32, 3000)])
    result = compute(name, x)
    assert result.dtype == F32
    errors = errors_in_ulps(result, reference_of_f32(name, x))
    worst = int(np.argmax(errors))
    assert errors[worst] <= STATED_ULPS[name]["f32"], f"{errors[worst]} ulps at {x[worst]!r}"


@pytest.mark.parametrize("name", UNARY)
def test_f64(name):
    x = np.random.default_rng(2).permutation(stratified(F64, 2))
    x = np.concatenate([x[:500], moderate(F64, 120)])
    if name in DOMAINS:
        x = x[DOMAINS[name](x)]
    elif name in ("exp", "expm1", "sinh", "cosh", "sigmoid"):
        x = x[np.abs(x) < 800]
    x = x[: SLOW_REFERENCES.get(name, len(x))]
    result = compute(name, x)
    assert result.dtype == F64
    errors = errors_of_f64(name, result, x)
    worst = int(np.argmax(errors))
    assert errors[worst] <= STATED_ULPS[name]["f64"], f"{errors[worst]} ulps at {x[worst]!r}"


def pairs(name: str, dtype: np.dtype, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Operands of all sizes, of like sizes, and for power ones whose result is in range."""
    generator = np.random.default_rng(3)
    values = np.concatenate([stratified(dtype, 3), moderate(dtype, 500)])
    a, b = (generator.choice(values, count) for _ in range(2))
    near = generator.uniform(-3, 3, (2, count)).astype(dtype)
    a, b = np.concatenate([a, near[0]]), np.concatenate([b, near[1]])
    if name == "power":
        a = np.abs(a)
        with np.errstate(all="ignore"):
            largest = (128 if dtype == F32 else 1024) / np.log2(a)
            b = np.where(np.isfinite(largest), largest * generator.uniform(-1.1, 1.1, len(a)), b)
    return a, b.astype(dtype)


@pytest.mark.parametrize("name", ["arctan2", "logaddexp", "power"])
def test_f32_of_two_operands(name):
    a, b = pairs(name, F32, 10000)
    result, reference = compute(name, a, b), reference_of_f32(name, a, b)
    if name == "logaddexp":
        # The error is measured by the larger operand where the terms cancel.
        size = np.maximum(np.abs(a), np.abs(b)).astype(np.float64)
        shift = np.where(np.abs(reference) < size, size, 0)
        with np.errstate(all="ignore"):
            errors = np.abs(result - reference) / np.spacing(
                np.maximum(np.abs(reference), shift).astype(np.float32)
            )
        errors[result == reference] = 0
    else:
        errors = errors_in_ulps(result, reference)
    worst = int(np.argmax(errors))
    where = f"{errors[worst]} ulps at {a[worst]!r}, {b[worst]!r}"
    assert errors[worst] <= STATED_ULPS[name]["f32"], where


@pytest.mark.parametrize("name", ["arctan2", "logaddexp", "power"])
def test_f64_of_two_operands(name):
    a, b = pairs(name, F64, 400)
    finite = np.isfinite(a) & np.isfinite(b) & (a != 0)
    a, b = a[finite], b[finite]
    errors = errors_of_f64(name, compute(name, a, b), a, b)
    worst = int(np.argmax(errors))
    where = f"{errors[worst]} ulps at {a[worst]!r}, {b[worst]!r}"
    assert errors[worst] <= STATED_ULPS[name]["f64"], where
