"""Samples: interleaved rounds, and what they say about ratios."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
_PAUSE = 0.002
"""Seconds between processes, so that no thread still looks for work while another one runs."""


@dataclass(frozen=True)
class Estimate:
    """A median and the interval that holds the true median with at least CONFIDENCE."""

    median: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> Estimate:
    """The median of independent samples with an interval from order statistics.

    The number of samples below the true median is binomial, whatever their distribution is. With
    fewer than six samples no interval is that sure; theirs is from the least to the largest.
    """
    ordered = sorted(values)
    count = len(ordered)
    skipped, tail = 0, 0.5**count
    while tail + math.comb(count, skipped + 1) * 0.5**count <= (1 - CONFIDENCE) / 2:
        skipped += 1
        tail += math.comb(count, skipped) * 0.5**count
    return Estimate(statistics.median(ordered), ordered[skipped], ordered[count - 1 - skipped])


def paired_ratios(numerators: Sequence[float], denominators: Sequence[float]) -> Estimate:
    """The median of the ratios of pairs, with its interval."""
    return estimate([n / d for n, d in zip(numerators, denominators, strict=True)])


def interleave(
    actions: Mapping[str, Callable[[], float]], rounds: int, pause: float = _PAUSE
) -> dict[str, list[float]]:
    """Samples of several actions: in each round one of each, the first one another each time."""
    names = list(actions)
    samples: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            time.sleep(pause)
            samples[name].append(actions[name]())
    return samples
