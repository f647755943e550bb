"""Compiled kernels give the bits that the NumPy scalars give."""

from __future__ import annotations

import numpy as np
import pytest
from measure import F32, F64, UNARY, compute, moderate, special_values, stratified

import lamina as lm
from lamina.passes.math import FUNCTIONS

DTYPES = {F32: lm.float32, F64: lm.float64}
TWO_OPERANDS = {"power": lm.power, "arctan2": lm.arctan2, "logaddexp": lm.logaddexp,
                "remainder": lm.remainder, "floor_divide": lm.floor_divide}  # fmt: skip


def compiled(name: str, *operands: np.ndarray) -> np.ndarray:
    """The same function of arrays, uncompiled calls being compiled kernels too."""
    function = TWO_OPERANDS.get(name) or getattr(lm, name)
    arrays = [lm.array(operand, dtype=DTYPES[operand.dtype]) for operand in operands]
    return np.array(function(*arrays))


def assert_same_bits(a: np.ndarray, b: np.ndarray) -> None:
    """NaN are one value; everything else has to be the same, zeros by their sign."""
    np.testing.assert_array_equal(a, b)
    number = ~np.isnan(a)
    np.testing.assert_array_equal(np.signbit(a[number]), np.signbit(b[number]))


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_kernels_agree_with_the_scalars(name, dtype):
    generator = np.random.default_rng(7)
    x = generator.permutation(np.concatenate([stratified(dtype, 2)[:4000], moderate(dtype, 200)]))
    x = np.concatenate([x, special_values(dtype)])
    operands = (x,) if name in UNARY else (x, generator.permutation(x))
    assert_same_bits(compiled(name, *operands), compute(name, *operands))
