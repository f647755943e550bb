"""Pipelines: the text that names passes, and the loop that runs them.

Grammar::

    pipeline := element ("," element)*          (or nothing)
    element  := name options? | anchor
    options  := "{" (name "=" value)* "}"       values may be quoted with " or '
    anchor   := op-name "(" ... ")"             MLIR's own text, such as func.func(canonicalize)

A bare name is Lamina's pass if there is one of that name, else one of MLIR's. What stands inside
an anchor is MLIR's: ``canonicalize`` is Lamina's pass, ``builtin.module(canonicalize)`` is MLIR's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import LaminaError, PassError
from . import registry
from .registry import Pass

if TYPE_CHECKING:
    from mlir import ir

Callback = Callable[[str, "ir.Operation", float], None]
"""Called after each pass with its text in the pipeline, the op it ran on, and its seconds."""


@dataclass(frozen=True, slots=True)
class OwnPass:
    """A registered pass with its options."""

    pass_: Pass
    options: Any = None

    def __str__(self) -> str:
        return self.pass_.name + registry.format_options(self.options)

    def run(self, op: ir.Operation) -> None:
        """Runs the pass on an op."""
        if self.pass_.options is None:
            self.pass_.run(op)
        else:
            self.pass_.run(op, self.options)


@dataclass(frozen=True, slots=True)
class UpstreamPass:
    """A pass of MLIR's, or an anchor with passes within, as its text."""

    text: str

    def __str__(self) -> str:
        return self.text

    def run(self, op: ir.Operation) -> None:
        """Runs the passes on an op; raises PassError with MLIR's diagnostics."""
        from ..dialects.mlir import MLIRError, diagnostics

        manager = _pass_manager(self.text, op.operation.name)
        try:
            manager.run(op.operation)
        except MLIRError as error:
            raise PassError(diagnostics(error)) from None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A list of passes; its text is canonical and parses back to an equal pipeline."""

    passes: tuple[OwnPass | UpstreamPass, ...] = ()

    def __str__(self) -> str:
        return ",".join(map(str, self.passes))


def _pass_manager(text: str, anchor: str) -> Any:
    from mlir import passmanager

    whole = text if text.startswith(f"{anchor}(") else f"{anchor}({text})"
    return passmanager.PassManager.parse(whole)


def parse_pipeline(text: str) -> Pipeline:
    """The pipeline that a text describes.

    Raises:
        PassError: for malformed text, an unknown pass, or an unknown or malformed option.
    """
    return Pipeline(tuple(_parse_element(element) for element in _split(text, ",")))


def _parse_element(element: str) -> OwnPass | UpstreamPass:
    end = next((i for i, c in enumerate(element) if c in "({ "), len(element))
    name, rest = element[:end], element[end:].strip()
    if not name:
        raise PassError(f"expected the name of a pass, got {element!r}")
    pass_ = None if rest.startswith("(") else registry.find(name)
    if pass_ is None:
        return _parse_upstream(name, element)
    if rest and not (rest.startswith("{") and rest.endswith("}")):
        raise PassError(f"expected {name}{{option=value ...}}, got {element!r}")
    given: dict[str, str] = {}
    for option in _split(rest[1:-1], " \t\n"):
        key, equals, value = option.partition("=")
        if not equals or not key:
            raise PassError(f"expected option=value in {element!r}, got {option!r}")
        if key in given:
            raise PassError(f"option {key} is given twice in {element!r}")
        given[key] = _unquote(value)
    return OwnPass(pass_, registry.parse_options(pass_, given))


def _parse_upstream(name: str, element: str) -> UpstreamPass:
    from ..dialects.mlir import session

    try:
        with session():
            _pass_manager(element, "builtin.module")
    except ValueError as error:
        if "(" in element:
            raise PassError(f"cannot parse {element!r}: {_first_line(error)}") from None
        if "{" in element and "registered pass" not in str(error):
            raise PassError(f"cannot parse {element!r}: {_first_line(error)}") from None
        hint = registry.closest(name)
        raise PassError(f"there is no pass {name!r}, of Lamina or of MLIR{hint}") from None
    return UpstreamPass(element)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _split(text: str, separators: str) -> Iterator[str]:
    """The parts of a text between separators that stand outside of brackets and quotes."""
    depth, quote, start = 0, "", 0
    escaped = False
    for i, c in enumerate(text):
        if escaped:
            escaped = False
        elif quote:
            escaped = c == "\\"
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "({[":
            depth += 1
        elif c in ")}]":
            depth -= 1
            if depth < 0:
                raise PassError(f"unbalanced {c!r} in pipeline {text!r}")
        elif c in separators and depth == 0:
            part = text[start:i].strip()
            if part:
                yield part
            elif separators == ",":
                raise PassError(f"empty element in pipeline {text!r}")
            start = i + 1
    if depth or quote:
        raise PassError(f"unbalanced {quote or 'brackets'} in pipeline {text!r}")
    part = text[start:].strip()
    if part:
        yield part
    elif start and separators == ",":
        raise PassError(f"empty element in pipeline {text!r}")


def _unquote(value: str) -> str:
    if len(value) < 2 or value[0] not in "\"'" or value[-1] != value[0]:
        return value
    inner, result, escaped = value[1:-1], [], False
    for c in inner:
        if c == "\\" and not escaped:
            escaped = True
            continue
        result.append(c)
        escaped = False
    return "".join(result)


def run_pipeline(
    module: ir.Module | ir.Operation,
    pipeline: Pipeline | str,
    callback: Callback | None = None,
    *,
    verify: bool = True,
    source: str | Callable[[], str] | None = None,
) -> None:
    """Runs the passes in order, on the module in place.

    Args:
        module: a module, or another op for pipelines whose passes take one.
        pipeline: a pipeline or its text.
        callback: called after each pass as ``callback(name, op, seconds)``.
        verify: checks the module after each pass.
        source: the file that the module came from, or a function that gives the text of the module
            as it was; used in the command line that a failure prints.

    Raises:
        PassError: names the pass that failed, or that left an invalid module, and the command line
            that reproduces it.
    """
    from ..dialects import mlir

    if isinstance(pipeline, str):
        pipeline = parse_pipeline(pipeline)
    op = module.operation
    with mlir.session():
        for pass_ in pipeline.passes:
            start = time.perf_counter()
            try:
                pass_.run(op)
            except Exception as error:
                problem = f"pass {pass_} failed: {_describe(error)}"
                raise PassError(problem + _reproduce(pipeline, source)) from error
            seconds = time.perf_counter() - start
            if verify:
                try:
                    mlir.verify(op)
                except LaminaError as error:
                    problem = f"pass {pass_} left an invalid module: {error}"
                    raise PassError(problem + _reproduce(pipeline, source)) from error
            if callback is not None:
                callback(str(pass_), op, seconds)


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, LaminaError) else f"{type(error).__name__}: {error}"


def _reproduce(pipeline: Pipeline, source: str | Callable[[], str] | None) -> str:
    """The last line of a failure: the command that shows it again."""
    import shlex
    import tempfile

    if callable(source):
        try:
            with tempfile.NamedTemporaryFile(
                "w", prefix="lamina-", suffix=".mlir", delete=False, encoding="utf-8"
            ) as file:
                file.write(source())
            source = file.name
        except OSError:
            source = None
    option = shlex.quote(f"--pass-pipeline={pipeline}")
    return f"\nreproduce with: lamina opt {option} {shlex.quote(source or 'FILE')}"
