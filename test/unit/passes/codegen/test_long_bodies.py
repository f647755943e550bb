"""Bodies whose code is not repeated for the last vector: every vector is masked."""

from __future__ import annotations

import numpy as np
import pytest

import lamina as lm

STEPS = 12


def long(x):
    """Work beyond LONG_BODY that stays near its argument."""
    for _ in range(STEPS):
        x = x + lm.sin(x) * 0.01
    return x


def long_in_numpy(x):
    for _ in range(STEPS):
        x = x + np.sin(x) * 0.01
    return x


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 511, 513, 8193, 16385])
def test_maps(size):
    x = np.linspace(-2, 2, size, dtype=np.float32)
    np.testing.assert_allclose(
        np.array(lm.compile(long)(lm.array(x))), long_in_numpy(x.astype(np.float64)), rtol=2e-6
    )


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(3, 17), (40, 33), (5, 1000), (1000, 5), (2, 70001)])
def test_reductions(shape, axis):
    x = np.linspace(0.5, 2, shape[0] * shape[1], dtype=np.float32).reshape(shape)
    both = lm.compile(lambda x: (long(x).sum(axis=axis), long(x).max(axis=axis)))
    total, largest = (np.array(result) for result in both(lm.array(x)))
    expected = long_in_numpy(x.astype(np.float64))
    np.testing.assert_allclose(total, expected.sum(axis), rtol=2e-6)
    np.testing.assert_allclose(largest, expected.max(axis), rtol=2e-6)


def test_sums_keep_six_digits():
    x = np.full(1 << 22, 0.1, np.float32)
    total = float(lm.compile(lambda x: long(x).sum())(lm.array(x)))
    expected = long_in_numpy(np.float64(np.float32(0.1))) * (1 << 22)
    assert abs(total / expected - 1) < 1e-6
