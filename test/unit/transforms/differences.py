"""Derivatives by differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import lamina as lm


def array64(values: Any) -> lm.array:
    """A float64 array."""
    return lm.array(np.asarray(values, np.float64), dtype=lm.float64)


def difference(
    function: Callable[..., np.ndarray],
    points: Sequence[np.ndarray],
    directions: Sequence[np.ndarray],
    step: float = 1e-5,
) -> np.ndarray:
    """The derivative along a direction, by differences that are exact to the fourth order."""

    def at(distance: float) -> np.ndarray:
        moved = [x + distance * d for x, d in zip(points, directions, strict=True)]
        return np.asarray(function(*moved))

    return (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
