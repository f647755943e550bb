"""``lamina opt`` and the ``lamina`` command: output, errors with their place, exit codes."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from lamina.tools import main as command
from lamina.tools import opt

GOOD = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "array.negative"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "array.negative"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
WRONG = """func.func @g(%x: tensor<4xf32>) {
  %0 = "array.negative"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}
"""
MALFORMED = "func.func @h() {\n  !\n}\n"


@pytest.fixture
def file(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "in.mlir"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_no_passes_parse_verify_and_print(file, capsys):
    assert command.main(["opt", file(GOOD)]) == 0
    out, err = capsys.readouterr()
    assert out.count("array.negative") == 2
    assert out.endswith("}\n")
    assert err == ""


def test_passes_run(file, capsys):
    assert command.main(["opt", "--pass-pipeline=canonicalize", file(GOOD)]) == 0
    assert "array." not in capsys.readouterr().out


def test_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(GOOD))
    assert command.main(["opt", "-", "--pass-pipeline", "canonicalize"]) == 0
    assert "array." not in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO(WRONG))
    assert command.main(["opt"]) == 1
    assert capsys.readouterr().err.startswith("<stdin>:2:8: array.negative")


def test_errors_have_file_line_and_column(file, capsys):
    path = file(WRONG)
    assert command.main(["opt", path]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"{path}:2:8: array.negative(f32[4]): the result must be f32[4], got f32[5]\n"
    assert command.main(["opt", file(MALFORMED)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:2:3: ")


def test_split_files_keep_their_line_numbers(file, capsys):
    path = file(f"{GOOD}// -----\n{WRONG}// -----\n{GOOD}")
    assert command.main(["opt", "--split-input-file", "--pass-pipeline=canonicalize", path]) == 1
    out, err = capsys.readouterr()
    assert out.count("module {") == 2
    assert out.count("// -----\n") == 1
    assert err.startswith(f"{path}:8:8: array.negative")


def test_a_failing_pass_prints_how_to_see_it_again(file, capsys):
    path = file(GOOD)
    assert command.main(["opt", "--pass-pipeline=one-shot-bufferize", path]) == 1
    err = capsys.readouterr().err
    assert f"pass one-shot-bufferize failed: {path}:2:8: " in err
    assert f"reproduce with: lamina opt --pass-pipeline=one-shot-bufferize {path}\n" in err


@pytest.mark.parametrize("pipeline", ["no-such-pass", "cse,,cse", "cse{x=1}"])
def test_a_wrong_pipeline_is_wrong_usage(file, capsys, pipeline):
    assert command.main(["opt", f"--pass-pipeline={pipeline}", file(GOOD)]) == 2
    assert "lamina opt: error: --pass-pipeline: " in capsys.readouterr().err


def test_a_file_that_cannot_be_read(tmp_path, capsys):
    assert command.main(["opt", str(tmp_path / "none.mlir")]) == 2
    assert "cannot read" in capsys.readouterr().err
    (tmp_path / "binary.mlir").write_bytes(b"\xff\xfe\x00")
    assert command.main(["opt", str(tmp_path / "binary.mlir")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_the_module_after_each_pass_and_the_times(file, capsys):
    arguments = ["--print-ir-after-all", "--timing", "--pass-pipeline=cse,builtin.module(cse)"]
    assert command.main(["opt", *arguments, file(GOOD)]) == 0
    err = capsys.readouterr().err
    assert err.count("// ----- after ") == 2
    assert "// ----- after builtin.module(cse)\nmodule {" in err
    assert " ms  cse\n" in err


def test_locations_are_printed_with_the_files_name(file, capsys):
    path = file(GOOD)
    assert command.main(["opt", "--print-locations", path]) == 0
    assert f'loc("{path}":2:8)' in capsys.readouterr().out


def test_output_to_a_file(file, tmp_path, capsys):
    target = tmp_path / "out.mlir"
    assert command.main(["opt", file(GOOD), "-o", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert target.read_text(encoding="utf-8").count("array.negative") == 2


def test_passes_are_listed_with_their_options(capsys):
    assert command.main(["opt", "--list-passes"]) == 0
    out = capsys.readouterr().out
    assert "canonicalize " in out
    assert "dce " in out


def test_a_module_is_verified_after_each_pass_unless_told_otherwise(file, capsys, monkeypatch):
    from lamina.passes import registry

    monkeypatch.setattr(registry, "PASSES", dict(registry.PASSES))

    @registry.register("spoil", "Makes an op that is wrong.")
    def spoil(op):
        from mlir import ir

        block = op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
        wrong = ir.Type.parse("tensor<5xf32>")
        point = ir.InsertionPoint(block.operations[0])
        ir.Operation.create("array.exp", [wrong], [block.arguments[0]], ip=point)

    path = file(GOOD)
    assert command.main(["opt", "--pass-pipeline=spoil", path]) == 1
    assert "pass spoil left an invalid module" in capsys.readouterr().err
    assert command.main(["opt", "--pass-pipeline=spoil", "--no-verify-each", path]) == 0
    assert "array.exp" in capsys.readouterr().out


# The command itself


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["opt", "--no-such-option"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(arguments)
    assert caught.value.code == 2
    assert "usage: lamina" in capsys.readouterr().err


def test_the_version(capsys):
    with pytest.raises(SystemExit) as caught:
        command.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("lamina ")


def test_an_interrupt_is_130(monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(opt, "run", interrupted)
    assert command.main(["opt"]) == 130


@pytest.mark.parametrize("arguments", [["--help"], ["opt", "--help"], ["--version"]])
def test_help_does_not_load_mlir(arguments):
    script = (
        "import sys\nfrom lamina.tools.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "print('mlir' in sys.modules)"
    )
    command_line = [sys.executable, "-c", script]
    done = subprocess.run(command_line, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_a_closed_pipe_ends_quietly():
    script = f"{sys.executable} -m lamina.tools.main opt --list-passes | head -c 1 >/dev/null"
    done = subprocess.run(script, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
