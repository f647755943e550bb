"""``lamina demo``: two small programs, what the compiler makes of them, and how fast they run."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import lamina as lm  # pyright: ignore[reportMissingImports]  (editable installs)

from ..errors import LaminaError
from ..frontend import tracing
from .stages import STAGES, stages

CLUSTERS = 10
SHOWN_STAGES = ("trace", "simplified", "fused", "kernels")
_ROUNDS = 15


def gelu(x: lm.Array) -> lm.Array:
    """The Gaussian error linear unit, of any shape."""
    return x * (1 + lm.erf(x / 2**0.5)) / 2


def kmeans_step(points: lm.Array, centroids: lm.Array) -> lm.Array:
    """The means of the points that are nearest to each centroid: ``(n, d), (k, d) -> (k, d)``."""
    distances = lm.square(points[:, None, :] - centroids[None, :, :]).sum(axis=2)
    nearest = lm.argmin(distances, axis=1)
    member = (nearest[:, None] == lm.arange(centroids.shape[0])).astype(points.dtype)
    return member.T @ points / lm.maximum(member.sum(axis=0), 1)[:, None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.description = (
        "Compiles the GELU and one step of k-means over scikit-learn's handwritten digits, shows "
        "their IR and their speed, checks the results, and writes the centroids as a picture. "
        "Needs the extra 'demo'. Exit status: 0, or 1 if a result is wrong or a package is missing."
    )
    parser.add_argument(
        "--output", default="centroids.png", help="the picture; default: centroids.png"
    )
    parser.add_argument(
        "--lines", type=int, default=40, help="lines of IR to show of each stage; default: 40"
    )
    parser.add_argument(
        "--size", type=int, default=4_000_000, help="numbers that the GELU takes; default: 4000000"
    )
    parser.add_argument("--steps", type=int, default=20, help="steps of k-means; default: 20")


def run(arguments: argparse.Namespace) -> int:
    """Runs the demonstration; returns the exit status."""
    try:
        import scipy.special
        from PIL import Image
        from sklearn.datasets import load_digits
    except ImportError as error:
        print(f"lamina demo: {error}; pip install 'lamina[demo]'", file=sys.stderr)
        return 1
    console = Console(markup=False, highlight=False, soft_wrap=True)
    try:
        correct = _show_gelu(console, arguments, scipy.special.erf)
        points = load_digits(return_X_y=True)[0].astype(np.float32)
        centroids, agree = _show_kmeans(console, arguments, points)
        _picture(centroids, Image).save(arguments.output)
    except (LaminaError, OSError) as error:
        print(f"lamina demo: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    console.print(f"wrote the centroids to {arguments.output}")
    return 0 if correct and agree else 1


def _show_gelu(console: Console, arguments: argparse.Namespace, erf: Callable[[Any], Any]) -> bool:
    console.rule("GELU")
    data = np.random.default_rng(0).standard_normal(arguments.size, dtype=np.float32)
    x = lm.array(data)
    _print_stages(console, gelu, [x], arguments.lines)
    compiled = lm.compile(gelu)

    def numpy_gelu() -> Any:
        return data * (1 + erf(data / np.float32(2**0.5))) / 2

    first = _seconds(lambda: lm.eval(compiled(x)))
    console.print(f"first result of the compiled function after {first * 1e3:.1f} ms\n")
    _print_speeds(
        console,
        {
            "compiled": lambda: lm.eval(compiled(x)),
            "op by op": lambda: lm.eval(gelu(x)),
            "NumPy": numpy_gelu,
        },
    )
    return _check(console, np.array(compiled(x)), numpy_gelu(), 1e-6)


def _show_kmeans(
    console: Console, arguments: argparse.Namespace, points: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], bool]:
    console.rule(f"k-means over {len(points)} handwritten digits")
    x, start = lm.array(points), _start(points)
    centroids = lm.array(start)
    _print_stages(console, kmeans_step, [x, centroids], arguments.lines)
    step = lm.compile(kmeans_step)
    _print_speeds(
        console,
        {
            "compiled": lambda: lm.eval(step(x, centroids)),
            "op by op": lambda: lm.eval(kmeans_step(x, centroids)),
            "NumPy": lambda: _numpy_step(points, start),
        },
    )
    expected = start
    agree = True
    for _ in range(arguments.steps):
        # From the same centroids each time: a tie that rounding decides would part the two ways.
        expected = _numpy_step(points, np.array(centroids))
        centroids = step(x, centroids)
        agree &= bool(np.allclose(np.array(centroids), expected, atol=1e-3))
    result = np.array(centroids)
    console.print(f"{arguments.steps} steps")
    return result, _check(console, result, expected, 1e-3) and agree


def _start(points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Ten of the points, each far from those before it."""
    chosen = [points[0]]
    for _ in range(CLUSTERS - 1):
        distances = [np.square(points - point).sum(axis=1) for point in chosen]
        chosen.append(points[np.min(distances, axis=0).argmax()])
    return np.stack(chosen)


def _numpy_step(
    points: np.ndarray[Any, Any], centroids: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    distances = np.square(points[:, None, :] - centroids[None, :, :]).sum(axis=2)
    member = (distances.argmin(axis=1)[:, None] == np.arange(CLUSTERS)).astype(points.dtype)
    return member.T @ points / np.maximum(member.sum(axis=0), 1)[:, None]


def _print_stages(
    console: Console, function: Callable[..., Any], inputs: Sequence[lm.Array], lines: int
) -> None:
    name = function.__name__
    program = tracing.trace(function, name, inputs, {}).program
    types = " ".join(f"--arg '{type_}'" for type_ in program.inputs)
    for stage, text in stages(program, name):
        if stage in SHOWN_STAGES:
            shown = text.strip().splitlines()
            console.print(f"-- {stage}: {STAGES[stage]}\n")
            console.print("\n".join(line[:160] for line in shown[:lines]))
            if len(shown) > lines:
                command = f"lamina inspect lamina.tools.demo:{name} {types} --stage {stage}"
                console.print(f"... and {len(shown) - lines} more lines: {command}")
            console.print()
        if stage == SHOWN_STAGES[-1]:
            break


def _print_speeds(console: Console, variants: dict[str, Callable[[], object]]) -> None:
    """The medians of interleaved runs, after one run of each that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for count in range(_ROUNDS + 1):
        for name, action in variants.items():
            taken = _seconds(action)
            if count:
                seconds[name].append(taken)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    table = Table("", "median", "beside compiled", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, median in medians.items():
        table.add_row(name, f"{median * 1e3:.3f} ms", f"{median / medians['compiled']:.1f}x")
    console.print(table)
    console.print()


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _check(
    console: Console,
    result: np.ndarray[Any, Any],
    expected: np.ndarray[Any, Any],
    tolerance: float,
) -> bool:
    error = float(np.abs(result - expected).max())
    correct = error <= tolerance
    verdict = "the results agree" if correct else "WRONG: the results differ"
    console.print(f"{verdict}; largest difference from NumPy: {error:.2g}\n")
    return correct


def _picture(centroids: np.ndarray[Any, Any], image: Any) -> Any:
    """The centroids side by side, 8x8 pixels each, enlarged twelve times."""
    tiles = np.pad(centroids.reshape(-1, 8, 8) / 16, ((0, 0), (1, 1), (1, 1)), constant_values=0.5)
    row = np.clip(np.concatenate(list(tiles), axis=1), 0, 1)
    pixels = np.kron((255 * (1 - row)).astype(np.uint8), np.ones((12, 12), np.uint8))
    return image.fromarray(pixels)
