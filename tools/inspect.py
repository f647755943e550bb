"""``lamina inspect``: what the compiler makes of a function, stage by stage."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..dialects import dtypes
from ..errors import ArgumentError, LaminaError
from ..frontend import creation, tracing, tree
from ..frontend.array import Array
from .stages import STAGES, stages

_ARRAY = re.compile(r"\b(" + "|".join(dtypes.BY_SHORT) + r")\[([\d,\s]*)\]")
_MARK = "\0array "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.description = (
        "Traces a function and prints the stages of its compilation. Nothing is run. Exit status: "
        "0, or 1 with a message if tracing or compiling fails, or 2 for wrong usage."
    )
    parser.epilog = "stages: " + "; ".join(f"{name}: {what}" for name, what in STAGES.items())
    parser.add_argument(
        "function", metavar="MODULE:FUNCTION", help="where it is; MODULE may be a path, x.py"
    )
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="VALUE",
        help="an argument: an array as f32[1024,1024], or a Python literal, in which arrays may "
        "stand, such as {'w': f32[8,8]}; NAME=VALUE passes it by name",
    )
    parser.add_argument(
        "--stage",
        action="append",
        choices=[*STAGES, "all"],
        help="what to print; may be given several times; default: fused",
    )
    parser.add_argument("--pipeline", help="other passes up to the launches")
    parser.add_argument(
        "--generic", action="store_true", help="print the form that 'lamina opt' reads"
    )
    parser.add_argument("--locations", action="store_true", help="print the source line of each op")


def run(arguments: argparse.Namespace) -> int:
    """Prints the stages; returns the exit status."""
    try:
        function = find_function(arguments.function)
        positional, keywords = parse_arguments(arguments.arg)
    except ArgumentError as error:
        print(f"lamina inspect: {error}", file=sys.stderr)
        return 2
    try:
        name = getattr(function, "__name__", "main")
        program = tracing.trace(function, name, positional, keywords).program
        _print_stages(program, name, arguments)
    except (LaminaError, TypeError) as error:
        print(f"lamina inspect: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def find_function(text: str) -> Callable[..., Any]:
    """The function that ``MODULE:FUNCTION`` names, under any transform that wraps it.

    Raises:
        ArgumentError: if there is no such module or function.
    """
    module_name, colon, path = text.rpartition(":")
    if not colon or not module_name or not path:
        raise ArgumentError(f"wanted MODULE:FUNCTION, got {text!r}")
    value: Any = _import(module_name)
    for part in path.split("."):
        if not hasattr(value, part):
            raise ArgumentError(f"{module_name} has no {path}")
        value = getattr(value, part)
    if not callable(value):
        raise ArgumentError(f"{text} is no function")
    return value


def parse_arguments(texts: list[str]) -> tuple[list[Any], dict[str, Any]]:
    """The positional and the named arguments that ``--arg`` options describe.

    Raises:
        ArgumentError: for text that is neither an array nor a literal.
    """
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for text in texts:
        named = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=(.*)", text, re.DOTALL)
        if named is None:
            positional.append(parse_value(text))
        else:
            keywords[named[1]] = parse_value(named[2])
    return positional, keywords


def parse_value(text: str) -> Any:
    """An argument from its text; arrays have a type and no data."""
    marked = _ARRAY.sub(lambda found: repr(_MARK + found[0]), text)
    try:
        value = ast.literal_eval(marked.strip())
    except (ValueError, SyntaxError):
        raise ArgumentError(
            f"{text!r} is neither an array such as f32[2,3] nor a Python literal"
        ) from None
    return tree.map_leaves(_array, value)


def _array(leaf: Any) -> Any:
    if not isinstance(leaf, str) or not leaf.startswith(_MARK):
        return leaf
    found = _ARRAY.fullmatch(leaf[len(_MARK) :])
    assert found is not None
    sizes = [int(size) for size in found[2].split(",") if size.strip()]
    # Never computed: tracing looks at its type only.
    array: Array = creation.zeros(sizes, dtypes.BY_SHORT[found[1]])
    return array


def _import(name: str) -> Any:
    path = Path(name)
    try:
        if path.suffix == ".py":
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[path.stem] = module
            spec.loader.exec_module(module)
            return module
        # As Python does for a program of its own.
        sys.path.insert(0, "")
        return importlib.import_module(name)
    except (ImportError, FileNotFoundError) as error:
        raise ArgumentError(f"cannot import {name}: {error}") from None


def _print_stages(program: Any, name: str, arguments: argparse.Namespace) -> None:
    wanted = set(arguments.stage or ["fused"])
    if "all" in wanted:
        wanted = set(STAGES)
    several = len(wanted) > 1
    for stage, text in stages(
        program, name, arguments.pipeline, arguments.locations, arguments.generic
    ):
        if stage in wanted:
            wanted.remove(stage)
            if several:
                print(f"// ----- {stage}: {STAGES[stage]}")
            print(text.rstrip("\n"))
            if several and wanted:
                print()
        if not wanted:
            break
