"""Processes of the benchmarks: their environment, and the parent's side of a worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RUN = Path(__file__).with_name("run.py")


class WorkerError(Exception):
    """A process failed; the message holds the end of what it printed."""


def environment(threads: int, folder: Path) -> dict[str, str]:
    """The environment of all processes: so many threads, and caches in a folder of the run."""
    number = str(threads)
    return {
        **os.environ,
        "LAMINA_CACHE_DIR": str(folder / "lamina"),
        "LAMINA_NUM_THREADS": number,
        "OMP_NUM_THREADS": number,
        "OPENBLAS_NUM_THREADS": number,
        "NUMEXPR_NUM_THREADS": number,
        "NUMEXPR_MAX_THREADS": number,
        "JAX_PLATFORMS": "cpu",
        "TORCHINDUCTOR_CACHE_DIR": os.environ.get(
            "TORCHINDUCTOR_CACHE_DIR", str(folder / "inductor")
        ),
        "TMPDIR": str(folder),
    }


def restrict_cpus(threads: int) -> None:
    """Lets this process and its children run on so many processors only."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


class Remote:
    """A worker as its parent sees it.

    Attributes:
        missing: why the library cannot be measured here, or None.
        version: the library's version.
    """

    def __init__(self, name: str, threads: int, variables: dict[str, str]) -> None:
        self.name = name
        self._errors = tempfile.TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen(
            [sys.executable, str(RUN), "--worker", name, "--threads", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            env=variables, text=True, bufsize=1,
        )  # fmt: skip
        self.missing: str | None = self._answer()["missing"]
        self.version = "" if self.missing else self.ask(do="hello")["version"]

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to a request; raises WorkerError."""
        assert self._process.stdin is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except OSError as error:
            raise self._failure() from error
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._failure()
        return json.loads(line)

    def _failure(self) -> WorkerError:
        self._process.wait()
        self._errors.seek(0)
        return WorkerError(f"{self.name}: {self._errors.read()[-2000:].strip()}")

    def set_realtime(self, on: bool) -> None:
        """Puts all threads of the worker before everybody else's, or back; needs the right to."""
        policy, priority = (os.SCHED_FIFO, 5) if on else (os.SCHED_OTHER, 0)
        for thread in os.listdir(f"/proc/{self._process.pid}/task"):
            os.sched_setscheduler(int(thread), policy, os.sched_param(priority))

    def close(self) -> None:
        """Ends the process."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()


def run_program(
    program: str, *arguments: str, variables: dict[str, str], timeout: float
) -> dict[str, Any]:
    """The JSON that a program of ``programs/`` prints; raises WorkerError."""
    path = RUN.parent / "programs" / program
    try:
        process = subprocess.run(
            [sys.executable, str(path), *arguments],
            env=variables, capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise WorkerError(f"{program}: took more than {timeout:g} s") from None
    if process.returncode:
        raise WorkerError(f"{program}: {process.stderr[-2000:].strip()}")
    return json.loads(process.stdout.splitlines()[-1])
