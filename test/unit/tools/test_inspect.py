"""``lamina inspect``: arguments, stages and messages."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from lamina.errors import ArgumentError
from lamina.frontend.array import Array
from lamina.tools import inspect as command
from lamina.tools.stages import STAGES

SOURCE = """
import lamina as lm


def gelu(x):
    return x * (1 + lm.erf(x / 2**0.5)) / 2


def scale(parameters, x, *, times=1):
    for _ in range(times):
        x = x * parameters["w"]
    return x


def wrong(x):
    return x + lm.zeros((3,))


class Model:
    @staticmethod
    def forward(x):
        return -x


number = 3
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "inspected.py"
    path.write_text(SOURCE, encoding="utf-8")
    return str(path)


def lamina_inspect(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="lamina inspect")
    command.add_arguments(parser)
    return command.run(parser.parse_args(arguments))


def test_the_default_stage_is_fused(source, capsys):
    assert lamina_inspect(f"{source}:gelu", "--arg", "f32[8]") == 0
    output = capsys.readouterr().out
    assert output.count("kind=loop") == 1
    assert "erf(" in output
    assert "-----" not in output


def test_all_stages_in_order(source, capsys):
    assert lamina_inspect(f"{source}:gelu", "--arg", "f32[8]", "--stage", "all") == 0
    output = capsys.readouterr().out
    headings = [line for line in output.splitlines() if line.startswith("// -----")]
    assert [heading.split()[2].rstrip(":") for heading in headings] == list(STAGES)
    texts = dict(zip(STAGES, output.split("// -----")[1:], strict=True))
    assert "divide" in texts["trace"]
    # Halving is multiplying by 0.5, to the bit.
    assert texts["simplified"].count("divide") == 1
    assert "reads=" in texts["planned"]
    assert "launch @kernel_" in texts["kernels"]
    assert "vector.load" in texts["kernels"]
    assert "define i32 @kernel_" in texts["llvm"]
    assert "_entry:" in texts["asm"]


def test_locations_are_the_users(source, capsys):
    assert (
        lamina_inspect(f"{source}:gelu", "--arg", "f32[8]", "--stage", "trace", "--locations") == 0
    )
    assert f"{source}:6 in gelu" in capsys.readouterr().out


def test_the_generic_form_can_be_read_again(source, capsys):
    from lamina.dialects import mlir

    options = ("--arg", "bf16[2,3]", "--stage", "trace", "--generic")
    assert lamina_inspect(f"{source}:gelu", *options) == 0
    module = mlir.parse(capsys.readouterr().out)
    assert "tensor<2x3xbf16>" in str(module)


def test_another_pipeline(source, capsys):
    options = ("--arg", "f32[8]", "--stage", "planned", "--pipeline", "cse,fuse,plan-buffers")
    assert lamina_inspect(f"{source}:gelu", *options) == 0
    # Without canonicalize the division by two stays.
    assert capsys.readouterr().out.count("divide") == 2


def test_nested_and_named_arguments(source, capsys):
    options = ("--arg", "{'w': f32[4]}", "--arg", "f32[4]", "--arg", "times=3", "--stage", "trace")
    assert lamina_inspect(f"{source}:scale", *options) == 0
    assert capsys.readouterr().out.count("multiply") == 3


def test_a_static_method(source, capsys):
    assert lamina_inspect(f"{source}:Model.forward", "--arg", "i32[]", "--stage", "trace") == 0
    assert "negative" in capsys.readouterr().out


def test_a_module_by_its_name(source, capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(source).parent))
    assert lamina_inspect("inspected:gelu", "--arg", "f32[8]") == 0


def test_errors_of_the_function(source, capsys):
    assert lamina_inspect(f"{source}:wrong", "--arg", "f32[4]") == 1
    error = capsys.readouterr().err
    assert "ShapeError" in error
    assert f"{source}:16" in error
    assert lamina_inspect(f"{source}:gelu") == 1
    assert "TypeError" in capsys.readouterr().err


def test_an_unknown_pass(source, capsys):
    assert lamina_inspect(f"{source}:gelu", "--arg", "f32[4]", "--pipeline", "polish") == 1
    assert "polish" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{source}", "wanted MODULE:FUNCTION"),
        ("{source}:", "wanted MODULE:FUNCTION"),
        ("{source}:nothing", "has no nothing"),
        ("{source}:number", "is no function"),
        ("no_such_module:gelu", "cannot import no_such_module"),
        ("/nonexistent.py:gelu", "cannot import /nonexistent.py"),
    ],
)
def test_functions_that_are_none(source, capsys, name, message):
    assert lamina_inspect(name.format(source=source), "--arg", "f32[2]") == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("f32[2,3]", (2, 3), "float32"),
        ("f32[ 2 , 3 ]", (2, 3), "float32"),
        ("u8[5]", (5,), "uint8"),
        ("c64[]", (), "complex64"),
        ("bool[0,4]", (0, 4), "bool"),
    ],
)
def test_arrays(text, shape, dtype):
    array = command.parse_value(text)
    assert isinstance(array, Array)
    assert (array.shape, array.dtype.name) == (shape, dtype)


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), (" -1.5", -1.5), ("(1, 'a', None)", (1, "a", None))]
)
def test_literals(text, value):
    assert command.parse_value(text) == value


@pytest.mark.parametrize("text", ["f33[2]", "f32[-1]", "f32[2.5]", "open('x')", "", "[f32[2]"])
def test_arguments_that_are_none(text):
    with pytest.raises(ArgumentError, match="neither an array"):
        command.parse_value(text)
