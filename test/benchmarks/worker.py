"""A worker: a process that holds one library and runs what its parent asks for, one at a time.

Requests and answers are lines of JSON on standard input and output:

* ``{"do": "hello"}`` gives the library's version
* ``{"do": "prepare", "row": name, "quick": bool}`` compiles a row, checks its results and warms up
* ``{"do": "time"}`` gives the seconds of a call of that row
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .frameworks.base import Call, Framework, NotOffered
from .rows import BY_NAME, Row, check

WARM_CALLS = 5
WARM_SECONDS = 0.2
_EVICTED_BYTES = 96 << 20
"""Read before a cold call: more than the last cache holds."""

MAKERS: dict[str, tuple[str, str]] = {
    "lamina": ("lamina", "Lamina"),
    "jax": ("jax", "Jax"),
    "torch": ("torch", "Torch"),
    "mlx": ("mlx", "Mlx"),
    "numexpr": ("numexpr", "Numexpr"),
    "baseline": ("baseline", "Baseline"),
    "numpy": ("numpy", "Numpy"),
}
"""The module and class of each library."""
_TAKES_THREADS = ("torch", "numexpr")


class Worker:
    """Answers requests for one library."""

    def __init__(self, framework: Framework) -> None:
        self.framework = framework
        self.row: Row | None = None
        self.call: Call | None = None
        self.evicted = np.ones(_EVICTED_BYTES // 8)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        if request["do"] == "hello":
            return {"version": self.framework.version()}
        if request["do"] == "prepare":
            return self.prepare(BY_NAME[request["row"]], request["quick"])
        return {"seconds": self.time()}

    def prepare(self, row: Row, quick: bool) -> dict[str, Any]:
        """Makes a row ready, or says that the library does not offer it."""
        self.call = None
        self.row = row
        inputs = row.inputs(quick)
        try:
            call = self.framework.prepare(row, inputs)
        except NotOffered:
            return {"offered": False}
        if not getattr(self.framework, "is_baseline", False):
            try:
                check(row, inputs, self.framework.results(call()))
            except ValueError as error:
                return {"offered": False, "error": str(error)}
        start = time.perf_counter()
        for _ in range(WARM_CALLS):
            call()
        while time.perf_counter() < start + (0 if quick else WARM_SECONDS):
            call()
        self.call = call
        return {"offered": True}

    def time(self) -> float:
        """The seconds of one call."""
        assert self.call is not None
        assert self.row is not None
        if self.row.is_cold:
            self.evicted.max()
        return time_calls(self.call, self.row.calls)


def time_calls(call: Callable[[], Any], count: int) -> float:
    """The mean of the seconds of some calls, one after the other."""
    if count == 1:
        start = time.perf_counter()
        # The result goes only after the clock has stopped.
        result = call()
        seconds = time.perf_counter() - start
        del result
        return seconds
    numbers = range(count)
    start = time.perf_counter()
    for _ in numbers:
        call()
    return (time.perf_counter() - start) / count


def make(name: str, threads: int) -> Framework:
    """The library of this name; raises ImportError if it is not installed."""
    module, maker = MAKERS[name]
    cls = getattr(importlib.import_module(f"{__package__}.frameworks.{module}"), maker)
    return cls(threads) if name in _TAKES_THREADS else cls()


def main(name: str, threads: int) -> None:
    """Serves requests until standard input ends."""
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    try:
        worker = Worker(make(name, threads))
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), file=answers)
        return
    print(json.dumps({"missing": None}), file=answers)
    for line in sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), file=answers)
