"""How arrays print: as MLX prints them, long axes cut in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dialects.dtypes import DType
from ..errors import ArgumentTypeError

EDGE = 3
"""How many elements are printed at either end of an axis longer than twice that."""


@dataclass(slots=True)
class PrintOptions:
    """How arrays print.

    Attributes:
        precision: significant digits of floats; -1 is the usual 6.
    """

    precision: int = -1


_options = PrintOptions()


def set_printoptions(precision: int = -1) -> None:
    """Sets how many significant digits of floats are printed; -1 is the usual 6."""
    if not isinstance(precision, int):
        raise ArgumentTypeError("set_printoptions: the precision must be an integer")
    _options.precision = precision


def get_printoptions() -> PrintOptions:
    """A copy of how arrays print at present."""
    return PrintOptions(_options.precision)


@contextmanager
def printoptions(precision: int = -1) -> Iterator[None]:
    """Within ``with``: as :func:`set_printoptions`."""
    before = _options.precision
    set_printoptions(precision)
    try:
        yield
    finally:
        _options.precision = before


def format_array(values: np.ndarray[Any, Any], dtype: DType) -> str:
    """The text of an array: ``array([1, 2, 3], dtype=int32)``."""
    return f"array({_format(values, dtype, len('array('))}, dtype={dtype.name})"


def _format(values: np.ndarray[Any, Any], dtype: DType, indent: int) -> str:
    if not values.ndim:
        return _format_scalar(values[()], dtype)
    count = len(values)
    rows = range(count)
    if count > 2 * EDGE:
        rows = [*range(EDGE), None, *range(count - EDGE, count)]
    items = ["..." if row is None else _format(values[row], dtype, indent + 1) for row in rows]
    separator = ", " if values.ndim == 1 else ",\n" + " " * (indent + 1)
    return f"[{separator.join(items)}]"


def _format_scalar(value: Any, dtype: DType) -> str:
    if dtype.kind == "complex":
        imag = _format_float(value.imag)
        return f"{_format_float(value.real)}{'' if imag.startswith('-') else '+'}{imag}j"
    return _format_float(value) if dtype.kind == "floating" else str(value)


def _format_float(value: Any) -> str:
    precision = _options.precision
    return f"{float(value):.{6 if precision < 0 else precision}g}"
