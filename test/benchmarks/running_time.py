"""The rows of running time: workers side by side, one call at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from .processes import Remote, WorkerError
from .results import Result
from .rows import Row
from .sampling import interleave

SETTLING_SECONDS = 0.05
"""Before each call: threads of other libraries spin for a while after theirs (OpenBLAS's for some
2**26 cycles), and would take a core from it."""
NOT_OFFERED = "has no way to say it"
LIBRARIES = ("lamina", "baseline", "jax", "torch", "mlx", "numexpr", "numpy")


class Workers:
    """The processes of all libraries that are installed.

    Attributes:
        missing: why a library is left out.
        versions: the others' versions.
    """

    def __init__(
        self, libraries: Iterable[str], threads: int, variables: dict[str, str], realtime: bool
    ) -> None:
        self.realtime = realtime
        self.missing: dict[str, str] = {}
        self._running: dict[str, Remote] = {}
        for name in libraries:
            worker = Remote(name, threads, variables)
            if worker.missing:
                self.missing[name] = worker.missing
                worker.close()
            else:
                self._running[name] = worker

    @property
    def versions(self) -> dict[str, str]:
        return {name: each.version for name, each in self._running.items() if each.version}

    def measure(self, row: Row, rounds: int, quick: bool) -> Result:
        """The samples of a row; a library that fails is left out from then on."""
        unit = "ms" if row.calls == 1 else "us"
        limit = None if row.microseconds is None else row.microseconds * 1e-6
        result = Result(
            row.name, row.title, "running time", unit, fraction=row.fraction, limit=limit
        )
        ready: dict[str, Callable[[], float]] = {}
        for name, worker in list(self._running.items()):
            try:
                answer = worker.ask(do="prepare", row=row.name, quick=quick)
                if answer["offered"]:
                    ready[name] = _timer(worker)
                else:
                    result.missing[name] = answer.get("error", NOT_OFFERED)
                if "error" in answer:
                    result.failures.append(f"{name}: {answer['error']}")
            except WorkerError as error:
                self._drop(name, error, result)
        if ready:
            result.samples = self._interleaved(ready, rounds)
        return result

    def _interleaved(
        self, ready: dict[str, Callable[[], float]], rounds: int
    ) -> dict[str, list[float]]:
        if not self.realtime:
            return interleave(ready, rounds)
        running = [self._running[name] for name in ready]
        for worker in running:
            worker.set_realtime(True)
        try:
            return interleave(ready, rounds)
        finally:
            for worker in running:
                worker.set_realtime(False)

    def _drop(self, name: str, error: WorkerError, result: Result) -> None:
        result.missing[name] = "failed"
        result.failures.append(str(error))
        self._running.pop(name).close()

    def close(self) -> None:
        """Ends the processes."""
        for worker in self._running.values():
            worker.close()


def _timer(worker: Remote) -> Callable[[], float]:
    def timed() -> float:
        time.sleep(SETTLING_SECONDS)
        return worker.ask(do="time")["seconds"]

    return timed


def measure(
    rows: Sequence[Row],
    libraries: Iterable[str],
    rounds: int,
    threads: int,
    quick: bool,
    realtime: bool,
    variables: dict[str, str],
    progress: Callable[[str], None],
) -> tuple[list[Result], dict[str, str], dict[str, str]]:
    """The results of rows, the libraries' versions, and why some are left out."""
    progress("starting the workers")
    workers = Workers(libraries, threads, variables, realtime)
    results: list[Result] = []
    try:
        for row in rows:
            progress(row.title)
            results.append(workers.measure(row, rounds, quick))
        return results, workers.versions, workers.missing
    finally:
        workers.close()
