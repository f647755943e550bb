"""The ``lamina`` command: finds the subcommand and leaves the rest to its module."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from ..errors import LaminaError

COMMANDS: dict[str, tuple[str, str]] = {
    "opt": ("opt", "run passes on a file of MLIR and print the result"),
    "inspect": ("inspect", "show the stages of a function, from trace to machine code"),
    "cache": ("cache", "show, check or clear the cache of compiled modules"),
    "doctor": ("doctor", "check the toolchain, the devices and the cache"),
    "demo": ("demo", "run a small program end to end"),
}
"""Each subcommand's module in :mod:`lamina.tools` and its line in the help. A module has
``add_arguments(parser)`` and ``run(arguments)``, which returns the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a subcommand; only its module is imported.

    Returns:
        0 on success, 1 on failure; argparse exits with 2 on wrong usage.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    parser, commands = _parser()
    name = next((word for word in arguments if not word.startswith("-")), None)
    if name in COMMANDS:
        module = importlib.import_module(f"{__package__}.{COMMANDS[name][0]}")
        module.add_arguments(commands[name])
        commands[name].set_defaults(run=module.run)
    parsed = parser.parse_args(arguments)
    try:
        code = int(parsed.run(parsed))
        sys.stdout.flush()
        return code
    except LaminaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader left; what is still in the buffer must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    parser = argparse.ArgumentParser(prog="lamina", description="An MLIR-based array compiler.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    subparsers = parser.add_subparsers(metavar="command", required=True)
    commands = {
        name: subparsers.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
        )
        for name, (_, summary) in COMMANDS.items()
    }
    return parser, commands


class _Version(argparse.Action):
    """Prints the version, which is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"lamina {version('lamina')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
