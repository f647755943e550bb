"""``import lamina``: what it leaves alone, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ("mlir", "llvm", "jax", "torch", "cuda", "cupy", "triton", "vulkan", "sklearn", "rich")

PROGRAM = """
import json, sys, time
import ml_dtypes
start = time.perf_counter()
import lamina
own = time.perf_counter() - start
print(json.dumps({"own": own, "modules": sorted(sys.modules)}))
"""
NUMPY = "import time; start = time.perf_counter(); import numpy; print(time.perf_counter() - start)"


def python(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    ).stdout


def test_no_compiler_is_imported():
    modules = json.loads(python(PROGRAM))["modules"]
    assert "lamina" in modules
    assert not [name for name in modules if name.split(".")[0] in HEAVY]


def test_lamina_costs_less_than_numpy():
    # A bound in seconds would measure the machine; NumPy is what every user waits for anyhow.
    own = min(json.loads(python(PROGRAM))["own"] for _ in range(5))
    numpy = min(float(python(NUMPY)) for _ in range(5))
    assert own < numpy, f"{own * 1e3:.0f} ms, NumPy {numpy * 1e3:.0f} ms"
