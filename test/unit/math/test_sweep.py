"""The stated errors of f32 functions, at every f32. Hours on one core: marked slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from measure import UNARY, compute, errors_in_ulps, reference_of_f32

import lamina as lm
from lamina.passes.math import STATED_ULPS

CHUNK = 1 << 20
"""Arguments at a time: some 100 MB with what the measurement makes of them."""


def every_f32() -> Iterator[np.ndarray]:
    """All bit patterns, in order."""
    for start in range(0, 1 << 32, CHUNK):
        yield np.arange(start, start + CHUNK, dtype=np.uint64).astype(np.uint32).view(np.float32)


def worst_error(
    name: str, function: Callable[[np.ndarray], np.ndarray], arguments: Iterator[np.ndarray]
) -> tuple[float, float]:
    """The largest error of a function in ulps, and an argument that has it."""
    worst = (0.0, 0.0)
    for x in arguments:
        errors = errors_in_ulps(function(x), reference_of_f32(name, x))
        position = int(np.argmax(errors))
        worst = max(worst, (float(errors[position]), float(x[position])))
    return worst


def compiled(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """The function as a compiled kernel."""
    kernel = lm.compile(getattr(lm, name))
    return lambda x: np.array(kernel(lm.array(x)))


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("name", UNARY)
def test_every_argument(name):
    error, argument = worst_error(name, compiled(name), every_f32())
    assert error <= STATED_ULPS[name]["f32"], f"{error} ulps at {argument!r}"


@pytest.mark.parametrize("name", ["exp", "sin"])
def test_the_sweep_measures(name):
    chunk = np.linspace(-40, 40, 1001, dtype=np.float32)
    error, _ = worst_error(name, lambda x: compute(name, x), iter([chunk]))
    assert 0.5 < error <= STATED_ULPS[name]["f32"]
    wrong, argument = worst_error(name, lambda x: compute(name, x * (1 + 1e-6)), iter([chunk]))
    assert wrong > 4
    assert argument in chunk
