"""Tables of results: for the terminal, as Markdown, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from .results import BASELINE, LAMINA, PEERS, SCALES, TITLES, Result
from .running_time import NOT_OFFERED
from .sampling import Estimate

UNITS = {"ms": "ms", "us": "µs", "s": "s", "MB": "MB", "": ""}
_NOTHING = "-"

Cells = list[str]


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    digits = 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f}"


def interval(value: Estimate | None, suffix: str = "") -> str:
    """A median with its interval."""
    if value is None:
        return _NOTHING
    return f"{number(value.median)}{suffix} [{number(value.low)}, {number(value.high)}]"


def groups(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The results of each table."""
    tables: dict[str, list[Result]] = {}
    for result in results:
        tables.setdefault(result.group, []).append(result)
    return tables


def heads(results: Sequence[Result]) -> Cells:
    """The columns of one table."""
    columns = ["", "Lamina"]
    if any(result.fraction is not None for result in results):
        columns += ["baseline", "of the baseline", "NumPy"]
    columns += [TITLES[name] for name in _peers(results)]
    return [*columns, "best peer / Lamina", "bar", "met"]


def cells(result: Result, results: Sequence[Result]) -> Cells:
    """A row of the table of ``results``."""
    unit = f" {UNITS[result.unit]}".rstrip()
    row = [result.title, _value(result, LAMINA, unit)]
    if any(other.fraction is not None for other in results):
        fraction = result.ratio(BASELINE)
        row += [_value(result, BASELINE), interval(fraction), _value(result, "numpy")]
    row += [_peer(result, name) for name in _peers(results)]
    lead = result.lead
    best = _NOTHING if lead is None else f"{interval(lead[1], 'x')} {TITLES[lead[0]]}"
    return [*row, best, _bar(result, unit), _verdict(result)]


def _peers(results: Sequence[Result]) -> list[str]:
    """The libraries that have a value anywhere in a table."""
    return [name for name in PEERS if any(result.samples.get(name) for result in results)]


def _value(result: Result, library: str, unit: str = "") -> str:
    value = result.value(library)
    return _NOTHING if value is None else f"{number(value.median)}{unit}"


def _peer(result: Result, name: str) -> str:
    ratio = result.ratio(name)
    value = _value(result, name)
    return value if ratio is None else f"{value} ({number(ratio.median)}x)"


def _bar(result: Result, unit: str) -> str:
    if result.fraction is not None:
        return f">= {result.fraction}"
    if result.limit is not None:
        return f"<= {number(result.limit * SCALES[result.unit])}{unit}"
    return _NOTHING


def _verdict(result: Result) -> str:
    parts: list[str] = []
    if result.is_met is not None:
        parts.append("yes" if result.is_met else "NO")
    lead = result.lead
    if lead is not None and lead[1].median < 1:
        parts.append(f"behind {TITLES[lead[0]]}")
    return ", ".join(parts) or _NOTHING


def show(console: Console, results: Sequence[Result]) -> None:
    """Prints the tables."""
    for group, rows in groups(results).items():
        table = Table(*heads(rows), title=group, title_justify="left", box=SIMPLE_HEAD)
        for column in table.columns:
            column.no_wrap = True
        for column in table.columns[1:-1]:
            column.justify = "right"
        for row in rows:
            style = "red" if row.is_met is False else None
            table.add_row(*cells(row, rows), style=style)
        console.print(table)


def markdown(results: Sequence[Result]) -> str:
    """The tables as Markdown."""
    lines: list[str] = []
    for group, rows in groups(results).items():
        columns = heads(rows)
        lines += [f"### {group.capitalize()}", "", _line(columns)]
        lines.append(_line(["---", *["---:"] * (len(columns) - 2), "---"]))
        lines += [_line(cells(row, rows)) for row in rows]
        lines.append("")
    return "\n".join(lines)


def _line(row: Cells) -> str:
    return f"| {' | '.join(row)} |"


def notes(results: Sequence[Result], missing: dict[str, str]) -> list[str]:
    """What was left out, and what failed."""
    lines = [f"{TITLES[name]} is left out: {reason}" for name, reason in missing.items()]
    for result in results:
        for name, reason in result.missing.items():
            if name in PEERS and reason != NOT_OFFERED:
                lines.append(f"{result.title}: {TITLES[name]} is left out: {reason}")
        lines += [f"FAILED: {result.title}: {failure}" for failure in result.failures]
    return lines


def as_json(results: Sequence[Result], facts: dict[str, Any]) -> str:
    """All samples (seconds and bytes), with the facts of the run."""
    rows: list[dict[str, Any]] = []
    for result in results:
        ratios = {name: result.ratio(name) for name in result.samples}
        entry = asdict(result)
        entry["met"] = result.is_met
        entry["ratios"] = {name: asdict(each) for name, each in ratios.items() if each is not None}
        rows.append(entry)
    return json.dumps({**facts, "results": rows}, indent=1)
