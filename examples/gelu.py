"""The GELU: compiled into one kernel, and compared with NumPy's result.

Run it: python examples/gelu.py
"""

from __future__ import annotations

import math
import time

import numpy as np

import lamina as lm


@lm.compile
def gelu(x: lm.Array) -> lm.Array:
    return x * (1 + lm.erf(x / 2**0.5)) / 2


def main() -> None:
    values = np.linspace(-4, 4, 1_000_000, dtype=np.float32)
    x = lm.array(values)

    for call in ("first", "second"):
        start = time.perf_counter()
        y = gelu(x)
        lm.eval(y)
        print(f"{call} call: {(time.perf_counter() - start) * 1e3:.2f} ms")

    expected = [v * (1 + math.erf(v / 2**0.5)) / 2 for v in values[::1000].tolist()]
    error = np.abs(np.array(y)[::1000] - expected).max()
    print(f"largest difference from Python's floats: {error:.1e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
