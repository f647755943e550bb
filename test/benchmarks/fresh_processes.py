"""The rows that need fresh processes: first calls, imports, and the compilation of large graphs."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from .processes import WorkerError, run_program
from .results import LAMINA, Result
from .sampling import interleave

TIMEOUT = 180.0
"""Seconds; a peer that needs more is shown as left out."""
CHAIN_TIMEOUT = 300.0
SLOW_LIBRARIES = {"torch": 3}
"""Libraries that compile so slowly that they take part in the first rounds only."""
COMPILERS = ("lamina", "jax", "torch", "mlx")
FIRST_ROWS = {
    "first_loaded": ("gelu, nothing cached, compiler loaded", "second", "first", "cold", 40e-3),
    "first_cold": ("gelu, nothing cached, first call after import", "first", "first", "cold", None),
    "first_cold_start": (
        "gelu, nothing cached, from process start", "first", "total", "cold", 350e-3,
    ),
    "first_cached": ("gelu, cached, not the first call", "second", "first", "kept", 2e-3),
    "first_cached_import": (
        "gelu, cached, first call after import", "first", "first", "kept", 15e-3,
    ),
    "first_cached_start": ("gelu, cached, from process start", "first", "total", "kept", None),
}  # fmt: skip
"""Title, mode of the program, which of its times, whose cache, and the bar of each row."""
IMPORTS = {
    "lamina": ("lamina", "numpy", "ml_dtypes"),
    "jax": ("jax", "numpy", "ml_dtypes"),
    "torch": ("torch", "numpy"),
    "mlx": ("mlx.core", "numpy"),
    "numexpr": ("numexpr", "numpy"),
}
"""The module and what it needs from elsewhere."""
FORBIDDEN = frozenset(
    "mlir llvm llvmlite jax jaxlib torch triton cupy cuda vulkan Metal numba tvm".split()
)
"""What `import lamina` may not bring along."""
IMPORT_LIMIT = 20e-3
DISTINCT, CHAIN, FLOATS = 5000, 200_000, 1000
DISTINCT_LIMIT, CHAIN_LIMIT, CHAIN_BYTES = 10.0, 60.0, 2e9

Progress = Callable[[str], None]


class Fresh:
    """Runs programs in processes of their own and collects what they print.

    Args:
        installed: the libraries that are there.
        variables: the environment.
        folder: where caches go.
        rounds: how many pairs.
        quick: whether graphs are small.
        progress: is told what runs.
    """

    def __init__(
        self,
        installed: Iterable[str],
        variables: dict[str, str],
        folder: Path,
        rounds: int,
        quick: bool,
        progress: Progress,
    ) -> None:
        self.installed = set(installed)
        self.variables = variables
        self.folder = folder
        self.rounds = rounds
        self.quick = quick
        self.progress = progress
        self._numbers = itertools.count()

    def caches(self, name: str) -> dict[str, str]:
        """An environment in which every library keeps what it compiled in one folder."""
        folder = self.folder / f"caches-{name}"
        folder.mkdir(exist_ok=True)
        return {
            **self.variables,
            "LAMINA_CACHE_DIR": str(folder / "lamina"),
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
            "JAX_COMPILATION_CACHE_DIR": str(folder / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            "TMPDIR": str(folder),
        }

    def new_caches(self) -> dict[str, str]:
        """As :meth:`caches`, with nothing in them."""
        return self.caches(f"{next(self._numbers)}")

    # First calls

    def first_calls(self, wanted: set[str]) -> list[Result]:
        """How long the first result of a compiled function takes."""
        rows = {name: row for name, row in FIRST_ROWS.items() if name in wanted}
        results = {
            name: Result(name, title, "first call", "ms", limit=limit)
            for name, (title, _, _, _, limit) in rows.items()
        }
        kinds = sorted({(mode, cache) for _, mode, _, cache, _ in rows.values()})
        for mode, cache in kinds:
            self.progress(f"first calls: {mode} function, cache {cache}")
            taken = self._first_calls_of(mode, cache, list(results.values()))
            for name, (_, row_mode, key, row_cache, _) in rows.items():
                if (row_mode, row_cache) == (mode, cache):
                    for library, outcomes in taken.items():
                        results[name].samples[library] = [each[key] for each in outcomes]
        return list(results.values())

    def _first_calls_of(
        self, mode: str, cache: str, results: list[Result]
    ) -> dict[str, list[dict[str, float]]]:
        taken: dict[str, list[dict[str, float]]] = {}
        failed: set[str] = set()
        kept = self.caches("kept")
        libraries = [name for name in COMPILERS if name in self.installed]
        if cache == "kept":
            for name in libraries:
                self._first(name, "second", kept, failed, results)
        for number in range(self.rounds):
            for name in libraries:
                if name in failed or number >= SLOW_LIBRARIES.get(name, self.rounds):
                    continue
                variables = kept if cache == "kept" else self.new_caches()
                outcome = self._first(name, mode, variables, failed, results)
                if outcome is not None:
                    taken.setdefault(name, []).append(outcome)
        return taken

    def _first(
        self,
        name: str,
        mode: str,
        variables: dict[str, str],
        failed: set[str],
        results: list[Result],
    ) -> dict[str, float] | None:
        try:
            return run_program(
                f"first_{name}.py", str(time.perf_counter()), mode,
                variables=variables, timeout=TIMEOUT,
            )  # fmt: skip
        except WorkerError as error:
            failed.add(name)
            results[0].failures.append(str(error))
            return None

    # Imports

    def imports(self) -> list[Result]:
        """Lamina's share of its import, and the import of each library with what it needs."""
        self.progress("imports")
        own = Result("import_own", "import, Lamina's share", "import", "ms", limit=IMPORT_LIMIT)
        total = Result("import", "import, with what it needs", "import", "ms")
        forbidden: set[str] = set()
        libraries = [name for name in IMPORTS if name in self.installed]

        def imported(name: str) -> float:
            outcome = run_program(
                "import_library.py", *IMPORTS[name], variables=self.variables, timeout=TIMEOUT
            )
            if name == LAMINA:
                own.samples.setdefault(LAMINA, []).append(outcome["own"])
                forbidden.update(FORBIDDEN.intersection(outcome["modules"]))
            return outcome["total"]

        for name in libraries:  # bytecode and the system's file cache
            imported(name)
        own.samples.clear()
        total.samples = interleave(
            {name: lambda name=name: imported(name) for name in libraries}, self.rounds
        )
        if forbidden:
            own.failures.append(f"import lamina brings {', '.join(sorted(forbidden))}")
        return [own, total]

    # Large graphs

    def compile_time(self, wanted: set[str]) -> list[Result]:
        """The compilation of large graphs, and of one function for many floats."""
        results: list[Result] = []
        if "distinct" in wanted:
            results += self._distinct()
        if "long_chain" in wanted:
            results += self._chain()
        if "floats" in wanted:
            results.append(self._floats())
        return results

    def _distinct(self) -> list[Result]:
        count = 100 if self.quick else DISTINCT
        results: list[Result] = []
        for size, limit in ((count // 2, None), (count, DISTINCT_LIMIT)):
            self.progress(f"{size:,} distinct ops")
            result = Result(
                f"distinct_{size}", f"{size:,} distinct ops", "compile time", "s", limit=limit
            )
            results.append(result)
            for name in COMPILERS:
                if name in self.installed and (name == LAMINA or size == count):
                    self._graph(result, name, "distinct", size, TIMEOUT)
        return results

    def _chain(self) -> list[Result]:
        count = 1000 if self.quick else CHAIN
        results: list[Result] = []
        for size, limit, most in ((count // 2, None, None), (count, CHAIN_LIMIT, CHAIN_BYTES)):
            self.progress(f"a chain of {size:,} ops")
            title = f"chain of {size:,} ops"
            result = Result(f"chain_{size}", title, "compile time", "s", limit=limit)
            memory = Result(
                f"chain_{size}_memory", f"{title}, peak memory", "compile time", "MB", limit=most
            )
            peak = self._graph(result, LAMINA, "chain", size, CHAIN_TIMEOUT)
            if peak is not None:
                memory.samples[LAMINA] = [peak]
            results += [result, memory]
        return results

    def _graph(
        self, result: Result, name: str, kind: str, count: int, timeout: float
    ) -> float | None:
        """One compilation of a large graph; returns the peak of the process's memory."""
        try:
            outcome = run_program(
                "compile_ops.py", name, kind, str(count),
                variables=self.new_caches(), timeout=timeout,
            )  # fmt: skip
        except WorkerError as error:
            result.missing[name] = str(error).splitlines()[-1]
            if name == LAMINA:
                result.failures.append(str(error))
            return None
        result.samples.setdefault(name, []).append(outcome["seconds"])
        return outcome["peak"]

    def _floats(self) -> Result:
        count = 20 if self.quick else FLOATS
        self.progress(f"{count:,} float arguments")
        title = f"kernels compiled for {count:,} different float arguments"
        result = Result("floats", title, "compile time", "", limit=1)
        try:
            outcome = run_program(
                "float_arguments.py", str(count), variables=self.new_caches(), timeout=TIMEOUT
            )
        except WorkerError as error:
            result.failures.append(str(error))
            return result
        if not outcome["correct"]:
            result.failures.append("float_arguments.py: wrong results")
        result.samples[LAMINA] = [float(outcome["kernels"])]
        return result
