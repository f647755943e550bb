"""``lamina opt``: runs passes on MLIR text, as ``mlir-opt`` does, with Lamina's passes."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import LaminaError, PassError

if TYPE_CHECKING:
    from mlir import ir

SEPARATOR = "// -----"
"""The line between the parts of a file that ``--split-input-file`` takes apart."""

STANDARD_INPUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the subcommand."""
    parser.add_argument(
        "file", nargs="?", default=STANDARD_INPUT, help="MLIR text to read; - is standard input"
    )
    parser.add_argument(
        "--pass-pipeline",
        default="",
        metavar="PASSES",
        help="passes joined by commas, such as canonicalize,cse or func.func(canonicalize); "
        "none parses, verifies and prints",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file")
    parser.add_argument(
        "--list-passes", action="store_true", help="list the passes and their options, and exit"
    )
    parser.add_argument(
        "--split-input-file",
        action="store_true",
        help=f"take the parts between lines '{SEPARATOR}' one by one",
    )
    parser.add_argument(
        "--verify-each",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="verify after each pass (default: yes)",
    )
    parser.add_argument(
        "--print-ir-after-all",
        action="store_true",
        help="print the module to standard error after each pass",
    )
    parser.add_argument(
        "--timing", action="store_true", help="print the time of each pass to standard error"
    )
    parser.add_argument("--print-locations", action="store_true", help="print where ops came from")


def run(arguments: argparse.Namespace) -> int:
    """Runs the subcommand; errors are printed, each part of a split file on its own."""
    if arguments.list_passes:
        print(_listing())
        return 0
    from ..passes.pipeline import parse_pipeline

    try:
        pipeline = parse_pipeline(arguments.pass_pipeline)
    except PassError as error:
        print(f"lamina opt: error: --pass-pipeline: {error}", file=sys.stderr)
        return 2
    try:
        text = _read(arguments.file)
    except (OSError, UnicodeDecodeError) as error:
        print(f"lamina opt: error: cannot read {arguments.file}: {error}", file=sys.stderr)
        return 2
    printed: list[str] = []
    failures = 0
    for part in _parts(text) if arguments.split_input_file else [text]:
        try:
            printed.append(_process(part, str(pipeline), arguments))
        except LaminaError as error:
            failures += 1
            print(_with_name(str(error), arguments.file), file=sys.stderr)
    output = f"{SEPARATOR}\n".join(printed)
    if arguments.output:
        Path(arguments.output).write_text(output, encoding="utf-8")
    else:
        sys.stdout.write(output)
    return 1 if failures else 0


def _listing() -> str:
    """Every pass with its summary and options."""
    from ..passes import registry

    lines: list[str] = []
    for pass_ in registry.every():
        lines.append(f"{pass_.name:<20} {pass_.summary}")
        if pass_.options is not None:
            for name, kind, default in registry.option_fields(pass_.options):
                shown = getattr(kind, "__name__", None) or str(kind).replace("typing.", "")
                lines.append(f"    {name}: {shown} = {registry.format_value(default)}")
    lines.append("and every pass of MLIR, by its own name")
    return "\n".join(lines)


def _read(file: str) -> str:
    if file == STANDARD_INPUT:
        return sys.stdin.read()
    return Path(file).read_text(encoding="utf-8")


def _parts(text: str) -> list[str]:
    """The parts of a split file, each after as many empty lines as keep its line numbers."""
    parts: list[str] = []
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.rstrip() == SEPARATOR:
            parts.append("\n".join(lines))
            lines = [""] * number
        else:
            lines.append(line)
    return [*parts, "\n".join(lines)]


def _process(text: str, pipeline: str, arguments: argparse.Namespace) -> str:
    """One module through the pipeline, as text."""
    from ..dialects import mlir
    from ..passes.pipeline import run_pipeline

    seconds: list[tuple[str, float]] = []

    def after(name: str, op: ir.Operation, duration: float) -> None:
        seconds.append((name, duration))
        if arguments.print_ir_after_all:
            print(f"// ----- after {name}\n{op}", file=sys.stderr)

    with mlir.session():
        module = mlir.parse(text)
        run_pipeline(module, pipeline, after, verify=arguments.verify_each, source=arguments.file)
        if arguments.timing:
            for name, duration in seconds:
                print(f"{duration * 1e3:10.3f} ms  {name}", file=sys.stderr)
        printed = str(module.operation.get_asm(enable_debug_info=arguments.print_locations))
        printed = printed.replace('loc("-":', f'loc("{_shown(arguments.file)}":')
        return printed.rstrip("\n") + "\n"


def _shown(file: str) -> str:
    return "<stdin>" if file == STANDARD_INPUT else file


def _with_name(message: str, file: str) -> str:
    """A message whose locations name the file that was read instead of MLIR's ``-``."""
    name = _shown(file)
    return re.sub(r"(?m)(^|\s)-:(?=\d+:\d+)", lambda found: f"{found[1]}{name}:", message)
