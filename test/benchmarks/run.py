"""Runs the benchmarks: ``python test/benchmarks/run.py --help``."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # As a package, from wherever it is started; its modules must not hide others of their names.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from benchmarks.command import main

    sys.exit(main())
