"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.console import Console

from . import report, running_time, worker
from .fresh_processes import FIRST_ROWS, Fresh
from .processes import environment, restrict_cpus
from .results import TITLES, Result
from .rows import BY_NAME, ROWS

OTHER_ROWS = (*FIRST_ROWS, "import", "distinct", "long_chain", "floats")
ROUNDS, QUICK_ROUNDS = 40, 3
FIRST_ROUNDS = 30
THREADS = 2
FILE_WIDTH = 220
"""Columns of tables that go to a file or a pipe."""


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="test/benchmarks/run.py",
        description="Measures Lamina beside JAX, torch.compile, MLX and numexpr: one process for "
        "each library, one call at a time in turn. Exit status: 1 if something failed, else 0, "
        "whether or not the bars are met.",
    )
    made.add_argument("--quick", action="store_true", help="tiny sizes and few rounds")
    made.add_argument(
        "--only", action="append", metavar="ROW", choices=[*BY_NAME, *OTHER_ROWS],
        help="measure this row; may be given again. Rows: %(choices)s",
    )  # fmt: skip
    made.add_argument(
        "--libraries", default=",".join(running_time.LIBRARIES), metavar="NAMES",
        help="which to measure; default: %(default)s",
    )  # fmt: skip
    made.add_argument("--rounds", type=int, help=f"pairs of each row; default: {ROUNDS}")
    made.add_argument("--threads", type=int, default=THREADS, help="default: %(default)s")
    made.add_argument(
        "--realtime", action="store_true",
        help="while a library is measured it runs before all other programs (Linux, as root): "
        "for machines that others use as well",
    )  # fmt: skip
    made.add_argument("--json", metavar="FILE", help="write all samples")
    made.add_argument("--markdown", metavar="FILE", help="write the tables")
    made.add_argument("--worker", help=argparse.SUPPRESS)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit status."""
    options = parser().parse_args(arguments)
    if options.worker:
        worker.main(options.worker, options.threads)
        return 0
    restrict_cpus(options.threads)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    with tempfile.TemporaryDirectory(prefix="lamina-benchmarks-") as folder:
        results, facts = _measure(options, Path(folder), console)
    report.show(console, results)
    for note in report.notes(results, facts["missing"]):
        console.print(note, markup=False)
    if options.json:
        Path(options.json).write_text(report.as_json(results, facts), encoding="utf-8")
    if options.markdown:
        Path(options.markdown).write_text(report.markdown(results), encoding="utf-8")
    return int(any(result.failures for result in results))


def _measure(
    options: argparse.Namespace, folder: Path, console: Console
) -> tuple[list[Result], dict[str, Any]]:
    wanted = set(options.only or [*BY_NAME, *OTHER_ROWS])
    rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    libraries = [name for name in options.libraries.split(",") if name in TITLES]
    variables = environment(options.threads, folder)
    with console.status("") as status:
        results, versions, missing = running_time.measure(
            [row for row in ROWS if row.name in wanted],
            libraries, rounds, options.threads, options.quick, options.realtime, variables,
            status.update,
        )  # fmt: skip
        installed = [name for name in libraries if name not in missing]
        fresh = Fresh(
            installed, variables, folder, options.rounds or min(rounds, FIRST_ROUNDS),
            options.quick, status.update,
        )  # fmt: skip
        if wanted.intersection(FIRST_ROWS):
            results += fresh.first_calls(wanted)
        if "import" in wanted:
            results += fresh.imports()
        results += fresh.compile_time(wanted)
    facts = {
        "date": datetime.now(timezone.utc).isoformat(timespec="minutes"),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "threads": options.threads,
        "rounds": rounds,
        "python": platform.python_version(),
        "versions": versions,
        "missing": missing,
    }
    return results, facts


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
