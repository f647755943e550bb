"""Views against NumPy's strides."""

from __future__ import annotations

import random

import numpy as np
import pytest

from lamina.dialects import ops
from lamina.passes.schedule import views
from lamina.passes.schedule.views import View

ITEM = 8


def _array(view: View, base: np.ndarray) -> np.ndarray:
    strides = tuple(stride * ITEM for stride in view.strides)
    return np.lib.stride_tricks.as_strided(base[view.offset :], view.shape, strides)


def _random_shape(rng: random.Random) -> tuple[int, ...]:
    return tuple(rng.choice([1, 2, 3, 4, 6]) for _ in range(rng.randint(0, 4)))


def _random_factors(rng: random.Random, size: int) -> tuple[int, ...]:
    factors = []
    for prime in (2, 2, 3, 1, 2):
        if size % prime == 0 and rng.random() < 0.6:
            factors.append(prime)
            size //= prime
    factors.append(size)
    rng.shuffle(factors)
    return tuple(factors)


@pytest.mark.parametrize("seed", range(300))
def test_chains_of_views_are_numpys(seed: int) -> None:
    rng = random.Random(seed)
    shape = _random_shape(rng)
    base = np.arange(max(int(np.prod(shape)), 1), dtype=np.int64)
    array, view = base.reshape(shape), views.dense(shape)
    for _ in range(5):
        kind = rng.choice("tbsr")
        shape = view.shape
        if kind == "t":
            permutation = tuple(rng.sample(range(len(shape)), len(shape)))
            array = array.transpose(permutation)
            new = views.apply(ops.transpose, view, (permutation,))
        elif kind == "b":
            wide = tuple(rng.choice([1, 3]) if n == 1 else n for n in shape)
            array = np.broadcast_to(array, wide)
            new = views.apply(ops.broadcast, view, (wide,))
        elif kind == "s":
            steps = [rng.choice([1, 2, -1, -2]) for _ in shape]
            firsts = [rng.randrange(n) for n in shape]
            counts = [
                rng.randint(1, (n - 1 - first) // step + 1 if step > 0 else first // -step + 1)
                for n, first, step in zip(shape, firsts, steps, strict=True)
            ]
            index = np.ix_(
                *[
                    first + np.arange(count) * step
                    for first, count, step in zip(firsts, counts, steps, strict=True)
                ]
            )
            array = array[index] if shape else array
            new = views.apply(ops.slice_, view, (tuple(firsts), tuple(counts), tuple(steps)))
        else:
            other = _random_factors(rng, int(np.prod(shape)))
            new = views.reshape(view, other)
            strided = _array(view, base)
            reshaped = strided.reshape(other)
            # NumPy copies exactly where no strides describe the result.
            assert (new is None) == (strided.size > 1 and not np.shares_memory(reshaped, strided))
            if new is None:
                continue
            array = array.reshape(other)
        assert new is not None
        assert new.shape == array.shape
        np.testing.assert_array_equal(_array(new, base), array)
        view = new


def test_empty_arrays_reshape() -> None:
    assert views.reshape(views.dense((3, 0)), (0, 5, 2)) == View((0, 5, 2), (0, 0, 0))
