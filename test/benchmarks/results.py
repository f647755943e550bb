"""What the benchmarks found: samples by library, bars, and whether these were met."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .sampling import Estimate, estimate, paired_ratios

LAMINA = "lamina"
BASELINE = "baseline"
PEERS = {"jax": "JAX", "torch": "torch.compile", "mlx": "MLX", "numexpr": "numexpr"}
TITLES = {LAMINA: "Lamina", BASELINE: "baseline", "numpy": "NumPy", **PEERS}

Unit = Literal["ms", "us", "s", "MB", ""]
SCALES: dict[Unit, float] = {"ms": 1e3, "us": 1e6, "s": 1, "MB": 1e-6, "": 1}
"""What a sample is multiplied by: samples are in seconds and bytes."""


@dataclass
class Result:
    """The samples of one row.

    Attributes:
        row: the row's name.
        title: how tables call it.
        group: the table it belongs to.
        unit: what its values are shown in.
        samples: each library's, the pairs at the same index.
        fraction: the bar beside the baseline; higher is better.
        limit: the bar of a value, in the samples' unit.
        missing: why a library has no samples.
        failures: what went wrong.
    """

    row: str
    title: str
    group: str
    unit: Unit
    samples: dict[str, list[float]] = field(default_factory=dict)
    fraction: float | None = None
    limit: float | None = None
    missing: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def value(self, library: str) -> Estimate | None:
        """A library's median, in the row's unit."""
        samples = self.samples.get(library)
        if not samples:
            return None
        return estimate([sample * SCALES[self.unit] for sample in samples])

    def ratio(self, library: str) -> Estimate | None:
        """How many times as long as Lamina a library takes, by pairs."""
        ours, theirs = self.samples.get(LAMINA), self.samples.get(library)
        if not ours or not theirs or library == LAMINA:
            return None
        pairs = min(len(ours), len(theirs))
        return paired_ratios(theirs[:pairs], ours[:pairs])

    @property
    def is_met(self) -> bool | None:
        """Whether the row's own bar is met; None if it has none."""
        value, ratio = self.value(LAMINA), self.ratio(BASELINE)
        if self.fraction is not None and ratio is not None:
            return ratio.median >= self.fraction
        if self.limit is not None and value is not None:
            return value.median <= self.limit * SCALES[self.unit]
        return None

    @property
    def lead(self) -> tuple[str, Estimate] | None:
        """The best peer, and how many times as long as Lamina it takes."""
        ratios = [(name, ratio) for name in PEERS if (ratio := self.ratio(name)) is not None]
        return min(ratios, key=lambda each: each[1].median, default=None)
