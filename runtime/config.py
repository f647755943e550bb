"""Every environment variable that Lamina reads, with its type, default and meaning.

No other module reads the environment. A knob is read when it is used, so a program may set one
after ``import lamina``. None changes what a compilation gives, so none is part of the cache's keys.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..errors import ArgumentError

T = TypeVar("T")

PREFIX = "LAMINA_"


@dataclass(frozen=True)
class Knob(Generic[T]):
    """One environment variable.

    Attributes:
        name: the variable's name.
        parse: its value from the text; raises ValueError that says what was wanted.
        default: its value when the variable is unset or empty.
        doc: one sentence that says what it does.
    """

    name: str
    parse: Callable[[str], T]
    default: T
    doc: str

    def get(self) -> T:
        """The value now; raises ArgumentError for text that does not parse."""
        text = self.text()
        if not text:
            return self.default
        try:
            return self.parse(text)
        except ValueError as error:
            raise ArgumentError(f"{self.name}={text!r}: {error}") from None

    def text(self) -> str | None:
        """The variable's text now; None if it is unset."""
        return os.environ.get(self.name)

    def is_present(self) -> Callable[[], bool]:
        """A function that says if the variable is set at all, in some tens of nanoseconds."""
        variables = getattr(os.environ, "_data", os.environ)
        encode = getattr(os.environ, "encodekey", str)
        return functools.partial(variables.__contains__, encode(self.name))


_SWITCHES = {
    "1": True, "true": True, "yes": True, "on": True,
    "0": False, "false": False, "no": False, "off": False,
}  # fmt: skip
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_switch(text: str) -> bool:
    """True or False from ``1``, ``0``, ``true``, ``false``, ``yes``, ``no``, ``on``, ``off``."""
    value = _SWITCHES.get(text.strip().lower())
    if value is None:
        raise ValueError("wanted 1 or 0")
    return value


def parse_bytes(text: str) -> int:
    """A number of bytes from text such as ``4096``, ``64k``, ``1.5GiB`` (units of 1024)."""
    folded = text.strip().lower()
    digits = folded.rstrip("bikmgt ")
    unit = folded[len(digits) :].strip().removesuffix("b").removesuffix("i")
    try:
        value = float(digits) * _UNITS[unit]
        if value < 0:
            raise ValueError
        return int(value)
    except (KeyError, ValueError, OverflowError):
        raise ValueError("wanted a size such as 500MB or 2GiB") from None


def parse_count(text: str) -> int:
    """A whole number from 1 on."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ValueError("wanted a whole number from 1 on")
    return value


def parse_presence(text: str) -> bool:
    """True for any text but those that :func:`parse_switch` takes for False."""
    return _SWITCHES.get(text.strip().lower(), True)


CACHE_DIR = Knob(
    "LAMINA_CACHE_DIR", str, "", "The folder of the module cache; else the user's cache folder."
)
CACHE = Knob(
    "LAMINA_CACHE", parse_switch, True, "0 keeps the module cache in memory only, off the disk."
)
CACHE_STRICT = Knob(
    "LAMINA_CACHE_STRICT",
    parse_switch,
    False,
    "1 raises CacheError where the cache's folder fails; else one warning and a compilation.",
)
CACHE_BYTES = Knob(
    "LAMINA_CACHE_BYTES",
    parse_bytes,
    2 * 2**30,
    "The most that the cache's folder may hold; the least recently used goes first.",
)
CACHE_MEMORY_BYTES = Knob(
    "LAMINA_CACHE_MEMORY_BYTES",
    parse_bytes,
    128 * 2**20,
    "The most that the part of the cache in memory may hold.",
)
NUM_THREADS: Knob[int | None] = Knob(
    "LAMINA_NUM_THREADS",
    parse_count,
    None,
    "How many threads a CPU launch may use; else as many as the process may keep busy.",
)
DISABLE_COMPILE = Knob(
    "LAMINA_DISABLE_COMPILE",
    parse_presence,
    False,
    "1 makes compiled functions run op by op; it acts on the next call.",
)

KNOBS: tuple[Knob[object], ...] = tuple(
    value for value in globals().values() if isinstance(value, Knob)
)
"""Every knob, in the order of this file."""


def unknown_variables() -> list[str]:
    """The variables that start with ``LAMINA_`` and mean nothing, such as misspelt ones."""
    known = {knob.name for knob in KNOBS}
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)


@contextlib.contextmanager
def temporary_variable(name: str, value: str) -> Iterator[None]:
    """Sets an environment variable for what another library reads inside the ``with`` block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def xdg_cache_home() -> str:
    """The XDG base folder for caches: ``$XDG_CACHE_HOME``, else ``~/.cache``."""
    return os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")
