"""``import lamina``: what it leaves alone, and what it costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HEAVY = ("mlir", "llvm", "jax", "torch", "cuda", "cupy", "triton", "vulkan", "sklearn", "rich")

PROGRAM = """
import json, sys, time
start = time.process_time()
import numpy, ml_dtypes
after = time.process_time()
import lamina
own = time.process_time() - after
print(json.dumps({"needed": after - start, "own": own, "modules": sorted(sys.modules)}))
"""


def imported(bytecode: Path) -> dict[str, object]:
    """What a process found; ``bytecode`` is where it keeps compiled modules."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return json.loads(process.stdout)


def test_no_compiler_is_imported(tmp_path):
    modules = imported(tmp_path)["modules"]
    assert "lamina" in modules
    assert not [name for name in modules if name.split(".")[0] in HEAVY]


def test_lamina_costs_less_than_what_it_needs(tmp_path):
    # In seconds the bound would measure the machine; NumPy is what every user waits for anyhow.
    imported(tmp_path)
    runs = [imported(tmp_path) for _ in range(5)]
    own, needed = (min(run[name] for run in runs) for name in ("own", "needed"))
    assert own < 0.6 * needed, f"{own * 1e3:.0f} ms, NumPy and ml_dtypes {needed * 1e3:.0f} ms"
