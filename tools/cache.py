"""``lamina cache``: look into the module cache, check it, and clean it up."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from ..errors import ArgumentError, CacheError, LaminaError
from ..runtime import config, serialization
from ..runtime.artifact import Artifact, Pointer, Slot
from ..runtime.cache import Entry, ModuleCache
from ..runtime.cache_file import DamagedEntry

_ORDERS: dict[str, Callable[[Entry], Any]] = {
    "used": lambda entry: -entry.used,
    "created": lambda entry: -entry.created,
    "size": lambda entry: -entry.nbytes,
    "key": lambda entry: entry.key,
}
_SHOWN_DIGITS = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the subcommands and their options."""
    parser.description = (
        "The module cache keeps what compilations left behind; see docs/cache.md. Exit status: 0 "
        "if all is well, 1 if something is damaged, missing or refused, 2 for wrong usage."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    listing = commands.add_parser("ls", help="list the entries")
    listing.add_argument("--kind", help="only entries of this kind, such as kernel")
    listing.add_argument("--sort", choices=_ORDERS, default="used", help="default: used")
    listing.add_argument("--json", action="store_true", help="one JSON object a line")
    listing.set_defaults(action=_list)

    show = commands.add_parser("show", help="show one entry")
    show.add_argument("key", help="the first digits of its key")
    show.add_argument("--kind", help="only entries of this kind")
    show.add_argument("--part", help="write this part's bytes to the standard output instead")
    show.set_defaults(action=_show)

    prune = commands.add_parser("prune", help="remove the least recently used entries")
    prune.add_argument("--max-size", help="what may stay, such as 500MB; default: the bound")
    prune.set_defaults(action=_prune)

    clear = commands.add_parser("clear", help="remove all entries")
    clear.set_defaults(action=_clear)

    verify = commands.add_parser("verify", help="read every entry and check it")
    verify.set_defaults(action=_verify)


def run(arguments: argparse.Namespace) -> int:
    """Runs the subcommand; returns the exit status."""
    try:
        return arguments.action(ModuleCache(strict=True), arguments)
    except (LaminaError, BrokenPipeError) as error:
        print(f"lamina cache: {error}", file=sys.stderr)
        return 2 if isinstance(error, ArgumentError) else 1


def format_bytes(count: float) -> str:
    """A number of bytes for people, such as ``1.5 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"


def format_age(seconds: float) -> str:
    """How long ago something was, such as ``3 h``."""
    for limit, length, unit in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if seconds < limit:
            return f"{max(seconds, 0) / length:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"


def _list(cache: ModuleCache, arguments: argparse.Namespace) -> int:
    entries = [entry for entry in cache.entries() if arguments.kind in (None, entry.kind)]
    entries.sort(key=_ORDERS[arguments.sort])
    if arguments.json:
        for entry in entries:
            print(json.dumps({**entry._asdict(), "key": entry.key.hex()}))
        return 0
    now = time.time()
    table = Table("kind", "key", "what", box=None, header_style="bold")
    for name in ("size", "created", "used"):
        table.add_column(name, justify="right", no_wrap=True)
    table.columns[1].no_wrap = True
    for entry in entries:
        table.add_row(
            entry.kind,
            entry.key.hex()[:_SHOWN_DIGITS],
            _what(entry),
            format_bytes(entry.nbytes),
            format_age(now - entry.created),
            format_age(now - entry.used),
        )
    console = Console(markup=False, highlight=False)
    if entries:
        console.print(table)
    total = format_bytes(sum(entry.nbytes for entry in entries))
    console.print(f"{_count(len(entries))}, {total} of {format_bytes(cache.max_bytes)}")
    console.print(cache.folder, soft_wrap=True)
    return 0


def _show(cache: ModuleCache, arguments: argparse.Namespace) -> int:
    entry = _find(cache, arguments.key.lower(), arguments.kind)
    contents = cache.contents(entry)
    if arguments.part is not None:
        if arguments.part not in contents.parts:
            names = ", ".join(contents.parts)
            raise CacheError(f"the entry has no part {arguments.part!r}; it has {names}")
        sys.stdout.buffer.write(contents.parts[arguments.part])
        sys.stdout.buffer.flush()
        return 0
    console = Console(markup=False, highlight=False, soft_wrap=True)
    table = Table(box=None, show_header=False)
    table.add_row("kind", entry.kind)
    table.add_row("key", entry.key.hex())
    table.add_row("file", entry.path)
    table.add_row("size", format_bytes(entry.nbytes))
    table.add_row("created", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.created)))
    for name, value in entry.metadata.items():
        table.add_row(name, value if isinstance(value, str) else json.dumps(value))
    for name, size in entry.sizes.items():
        table.add_row(f"part {name}", format_bytes(size))
    console.print(table)
    if "artifact" in contents.parts:
        try:
            _print_artifact(console, serialization.load(contents.parts["artifact"]))
        except DamagedEntry as error:
            raise CacheError(f"the artifact cannot be read: {error}") from None
    return 0


def _prune(cache: ModuleCache, arguments: argparse.Namespace) -> int:
    limit = cache.max_bytes
    if arguments.max_size is not None:
        try:
            limit = config.parse_bytes(arguments.max_size)
        except ValueError as error:
            raise ArgumentError(f"--max-size {arguments.max_size}: {error}") from None
    _report_removed(*cache.prune(limit))
    return 0


def _clear(cache: ModuleCache, _arguments: argparse.Namespace) -> int:
    _report_removed(*cache.clear())
    return 0


def _verify(cache: ModuleCache, _arguments: argparse.Namespace) -> int:
    count, damaged = cache.verify()
    for path, reason in damaged:
        print(f"{path}: {reason}")
    print(f"{_count(count)}, {len(damaged)} damaged")
    return 1 if damaged else 0


def _find(cache: ModuleCache, digits: str, kind: str | None) -> Entry:
    found = [
        entry
        for entry in cache.entries()
        if kind in (None, entry.kind) and entry.key.hex().startswith(digits)
    ]
    if not found:
        raise CacheError(f"no entry's key starts with {digits}")
    if len(found) > 1:
        keys = ", ".join(f"{entry.kind} {entry.key.hex()[:_SHOWN_DIGITS]}" for entry in found[:5])
        raise CacheError(f"{len(found)} keys start with {digits}: {keys}")
    return found[0]


def _print_artifact(console: Console, artifact: Artifact) -> None:
    table = Table("kernel", "units", "grain", "arguments", box=None, header_style="bold")
    table.columns[0].no_wrap = True
    for launch in artifact.launches:
        words = [
            _describe(artifact.slots[word.slot], word) if isinstance(word, Pointer) else str(word)
            for word in launch.arguments
        ]
        table.add_row(
            launch.kernel[:_SHOWN_DIGITS], str(launch.units), str(launch.grain), " ".join(words)
        )
    inputs = ", ".join(f"{dtype}{list(shape)}" for shape, dtype in artifact.inputs)
    outputs = ", ".join(
        f"{output.dtype}{list(output.shape)} from {' '.join(map(str, output.source))}"
        for output in artifact.outputs
    )
    console.print(f"\ntarget    {artifact.target}")
    console.print(f"inputs    {inputs}")
    console.print(f"outputs   {outputs}")
    console.print(f"workspace {format_bytes(artifact.workspace)}\n")
    console.print(table)


def _describe(slot: Slot, pointer: Pointer) -> str:
    name = {
        "input": f"input{slot.index}",
        "output": f"output{slot.index}",
        "library": slot.name,
    }.get(slot.kind, slot.kind)
    offset = slot.offset + pointer.offset
    return f"{name}+{offset}" if offset else name


def _what(entry: Entry) -> str:
    name = entry.metadata.get("name")
    return str(name) if name else " ".join(entry.sizes)


def _count(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries} entries"


def _report_removed(entries: int, nbytes: int) -> None:
    print(f"removed {_count(entries)}, {format_bytes(nbytes)}")
