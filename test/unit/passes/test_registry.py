"""Passes are registered by name, with typed options, by anyone."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Literal, Optional

import pytest

from lamina.errors import PassError
from lamina.passes import registry
from lamina.passes.pipeline import parse_pipeline
from lamina.passes.registry import Pass, register


@dataclass(frozen=True)
class Options:
    max_ops: int = 100
    scale: float = 1.5
    name: str = "plain"
    fast: bool = False
    kind: Literal["loop", "row"] = "loop"
    sizes: tuple[int, ...] = (1, 2)
    names: tuple[str, ...] = field(default_factory=tuple)
    limit: int | None = None
    note: Optional[str] = None  # noqa: UP045  (both spellings are taken)


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    for name in registry.BUILTIN:
        registry.find(name)
    monkeypatch.setattr(registry, "PASSES", dict(registry.PASSES))


@pytest.fixture
def configurable():
    @register("configurable", "Has options of every kind.", Options)
    def configurable(op, options):
        pass

    return registry.PASSES["configurable"]


def test_a_pass_is_found(configurable):
    assert registry.find("configurable") is configurable
    assert configurable.summary == "Has options of every kind."
    assert registry.find("no-such-pass") is None


def test_lamina_passes_are_listed():
    names = [pass_.name for pass_ in registry.every()]
    assert names == sorted(names)
    assert {"canonicalize", "cse", "dce", *registry.BUILTIN} <= set(names)
    for pass_ in registry.every():
        assert pass_.summary.endswith("."), pass_.name


@pytest.mark.parametrize("name", ["", "Upper", "under_score", "a--b", "-a", "with space", "a,b"])
def test_malformed_names(name):
    with pytest.raises(PassError, match="lower-case words"):
        register(name, "A pass.")


def test_a_name_is_taken_once(configurable):
    with pytest.raises(PassError, match="registered already"):

        @register("configurable", "Another one.")
        def other(op):
            pass


def test_options_must_be_frozen_typed_and_have_defaults():
    @dataclass
    class Mutable:
        x: int = 0

    @dataclass(frozen=True)
    class Required:
        x: int

    @dataclass(frozen=True)
    class Unknown:
        x: dict[str, int] = field(default_factory=dict)

    for options, match in [
        (Mutable, "frozen dataclass"),
        (Required, "needs a default"),
        (Unknown, "unknown kind"),
        (int, "frozen dataclass"),
    ]:
        with pytest.raises(PassError, match=match):
            register("any-name", "A pass.", options)


VALUES = [
    Options(),
    Options(max_ops=-3, scale=1e-300, fast=True),
    Options(scale=float("inf"), kind="row", sizes=(), names=("a", "b")),
    Options(name="with space, {braces} and \"quotes\" or 'these' and \\", limit=7),
    Options(sizes=(5,), note="text", name=""),
]


@pytest.mark.parametrize("options", VALUES, ids=range(len(VALUES)))
def test_text_round_trips(configurable, options):
    text = f"configurable{registry.format_options(options)}"
    (own,) = parse_pipeline(text).passes
    assert own.options == options
    assert str(own) == text


def test_option_values(configurable):
    text = "configurable{max-ops=0x10 scale=2 fast=true kind=row sizes=3,4 names='a,b' limit=none}"
    (own,) = parse_pipeline(text).passes
    assert own.options == Options(16, 2.0, "plain", True, "row", (3, 4), ("a", "b"), None)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("max_ops=1", "has no option max_ops: it has max-ops"),
        ("max-ops=many", "option max-ops of pass configurable"),
        ("fast=yes", "expected true or false, got 'yes'"),
        ("kind=column", "expected one of loop, row, got 'column'"),
        ("sizes=1,x", "option sizes of pass configurable"),
        ("max-ops", "expected option=value"),
        ("max-ops=1 max-ops=2", "given twice"),
    ],
)
def test_wrong_options(configurable, text, match):
    with pytest.raises(PassError, match=match):
        parse_pipeline(f"configurable{{{text}}}")


def test_a_pass_without_options_takes_none():
    with pytest.raises(PassError, match="pass cse has no option deep: it has none"):
        parse_pipeline("cse{deep=true}")


class EntryPoint:
    """A plug-in's entry point."""

    def __init__(self, name, load):
        self.name = name
        self.value = f"plugin:{name}"
        self.load = load


@pytest.fixture
def plugins(monkeypatch):
    found = []

    def entry_points(group):
        assert group == "lamina.passes"
        return found

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return found


def test_plugins_are_loaded_by_name(plugins):
    @dataclass(frozen=True)
    class Sides:
        count: int = 3

    def load():
        register("from-plugin", "Comes from elsewhere.", Sides)(lambda op, options: None)

    plugins.append(EntryPoint("from-plugin", load))
    plugins.append(EntryPoint("never-loaded", lambda: pytest.fail("loaded without need")))
    assert isinstance(registry.find("from-plugin"), Pass)
    (own,) = parse_pipeline("from-plugin{count=4}").passes
    assert own.options == Sides(4)


def test_a_broken_plugin_is_named_and_does_not_hide_the_others(plugins):
    def fail():
        raise RuntimeError("no such library")

    plugins.append(EntryPoint("broken", fail))
    plugins.append(EntryPoint("forgetful", lambda: None))
    with pytest.raises(PassError, match="plugin:broken of pass broken failed to load: no such lib"):
        parse_pipeline("broken")
    with pytest.raises(PassError, match="did not register forgetful"):
        registry.find("forgetful")
    with pytest.warns(RuntimeWarning) as warned:
        names = [pass_.name for pass_ in registry.every()]
    assert len(warned) == 2
    assert "cse" in names
    assert "broken" not in names


def test_own_pipelines_are_parsed_without_mlir():
    script = (
        "import sys; from lamina.passes.pipeline import parse_pipeline;"
        "print(parse_pipeline(' canonicalize , cse,dce '), 'mlir' in sys.modules)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "canonicalize,cse,dce False\n"


def test_the_public_names_are_those_of_the_registry_and_the_pipeline():
    import lamina.passes

    assert lamina.passes.register is register
    assert lamina.passes.parse_pipeline is parse_pipeline
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = lamina.passes.no_such_name
