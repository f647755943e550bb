"""The benchmarks themselves, with tiny sizes: that they run, and that they count right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

RUN = Path(__file__).with_name("run.py")
sys.path.insert(0, str(RUN.parent.parent))
try:
    from benchmarks import report
    from benchmarks.frameworks import lamina as lamina_rows
    from benchmarks.results import Result
    from benchmarks.rows import ROWS, check
    from benchmarks.sampling import estimate, interleave, paired_ratios
finally:
    sys.path.remove(str(RUN.parent.parent))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(RUN), "--quick", *arguments],
        capture_output=True, text=True, timeout=120, env=dict(os.environ), check=False,
    )  # fmt: skip


def test_interval_of_a_median():
    # The tenth and the twenty-first of thirty: the textbook's interval.
    found = estimate([float(number) for number in range(1, 31)])
    assert (found.median, found.low, found.high) == (15.5, 10, 21)
    few = estimate([3.0, 1.0, 2.0])
    assert (few.median, few.low, few.high) == (2, 1, 3)


def test_the_interval_holds_the_median_as_often_as_it_says():
    generator = np.random.default_rng(0)
    found = [estimate(list(generator.exponential(size=31))) for _ in range(2000)]
    held = np.mean([each.low <= np.log(2) <= each.high for each in found])
    assert 0.95 <= held <= 0.985


def test_ratios_are_those_of_pairs():
    assert paired_ratios([2.0, 30.0, 8.0], [1.0, 10.0, 4.0]).median == 2


def test_rounds_interleave():
    order: list[str] = []

    def action(name: str):
        return lambda: order.append(name) or float(len(order))

    samples = interleave({"a": action("a"), "b": action("b")}, 3, pause=0)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert samples == {"a": [1, 4, 5], "b": [2, 3, 6]}


def test_bars():
    result = Result("row", "row", "group", "ms", fraction=0.9)
    result.samples = {"lamina": [1e-3, 1e-3], "baseline": [0.95e-3, 0.95e-3], "jax": [0.5e-3] * 2}
    assert result.is_met is True
    lead = result.lead
    assert lead is not None
    assert lead[0] == "jax"
    assert report.cells(result, [result])[-1] == "yes, behind JAX"
    result.samples["baseline"] = [0.5e-3, 0.5e-3]
    assert result.is_met is False


def test_wrong_results_are_seen():
    row = ROWS[0]
    inputs = row.inputs(quick=True)
    with pytest.raises(ValueError, match="gelu: wrong result"):
        check(row, inputs, [inputs[0]])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_lamina_computes_each_row(row):
    inputs = row.inputs(quick=True)
    library = lamina_rows.Lamina()
    check(row, inputs, library.results(library.prepare(row, inputs)()))


def test_a_run_with_peers_that_are_there_or_not(tmp_path):
    out, table = tmp_path / "out.json", tmp_path / "table.md"
    process = run(
        *("--only", "gelu", "--only", "full_sum", "--libraries", "lamina,baseline,numpy,numexpr"),
        *("--json", str(out), "--markdown", str(table)),
    )
    assert process.returncode == 0, process.stdout + process.stderr
    found = json.loads(out.read_text())
    for result in found["results"]:
        counts = {name: len(samples) for name, samples in result["samples"].items()}
        assert counts.items() >= {"lamina": 3, "baseline": 3, "numpy": 3}.items()
        assert not result["failures"]
    assert ("numexpr" in found["missing"]) == ("numexpr is left out" in process.stdout)
    assert "| GELU, 16M |" in table.read_text()


def test_fresh_processes():
    rows = ("first_cold", "first_cold_start", "first_cached", "import", "distinct", "long_chain")
    arguments = [word for row in (*rows, "floats") for word in ("--only", row)]
    process = run(*arguments, "--libraries", "lamina", "--rounds", "1")
    assert process.returncode == 0, process.stdout + process.stderr
    assert "kernels compiled for 20 different float arguments" in process.stdout
