"""k-means: points around three centres, found again in a few compiled steps.

Run it: python examples/kmeans.py
"""

from __future__ import annotations

import numpy as np

import lamina as lm


@lm.compile
def step(points: lm.Array, centroids: lm.Array) -> lm.Array:
    """The means of the points that are nearest to each centroid: ``(n, d), (k, d) -> (k, d)``."""
    distances = lm.square(points[:, None, :] - centroids[None, :, :]).sum(axis=2)
    nearest = lm.argmin(distances, axis=1)
    member = (nearest[:, None] == lm.arange(centroids.shape[0])).astype(points.dtype)
    return member.T @ points / lm.maximum(member.sum(axis=0), 1)[:, None]


def main() -> None:
    centres = np.array([[0, 0], [5, 1], [1, 6]], np.float32)
    generator = np.random.default_rng(0)
    noise = generator.standard_normal((3, 2000, 2), dtype=np.float32)
    data = (centres[:, None, :] + noise).reshape(-1, 2)

    points = lm.array(data)
    centroids = points[:: len(data) // 3][:3]
    for _ in range(10):
        centroids = step(points, centroids)

    print(centroids)
    assert np.abs(np.array(centroids) - centres).max() < 0.2


if __name__ == "__main__":
    main()
