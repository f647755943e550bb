"""Pipelines run Lamina's passes and MLIR's, and say what failed and how to see it again."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from lamina.dialects import mlir as dialect
from lamina.errors import PassError
from lamina.passes import registry
from lamina.passes.pipeline import OwnPass, Pipeline, UpstreamPass, parse_pipeline, run_pipeline
from lamina.passes.registry import register

TEXT = """
func.func @f(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %true = arith.constant true
  %0 = arith.andi %c, %true : i1
  %1 = "array.negative"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "array.negative"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    for name in registry.BUILTIN:
        registry.find(name)
    monkeypatch.setattr(registry, "PASSES", dict(registry.PASSES))


@pytest.fixture
def module():
    return dialect.parse(TEXT)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("", []),
        ("canonicalize", [OwnPass]),
        ("builtin.module(canonicalize)", [UpstreamPass]),
        ("cse,sccp,dce", [OwnPass, UpstreamPass, OwnPass]),
        ("func.func(canonicalize,cse),cse", [UpstreamPass, OwnPass]),
        (
            "builtin.module(func.func(canonicalize{top-down=false max-iterations=3},cse))",
            [UpstreamPass],
        ),
        ("inline{default-pipeline=canonicalize},any(cse)", [UpstreamPass, UpstreamPass]),
    ],
)
def test_what_a_text_names(text, kinds):
    pipeline = parse_pipeline(text)
    assert [type(pass_) for pass_ in pipeline.passes] == kinds
    assert parse_pipeline(str(pipeline)) == pipeline


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (
            "canonicalise",
            "there is no pass 'canonicalise', of Lamina or of MLIR; did you mean canon",
        ),
        ("cse,,dce", "empty element"),
        ("cse,", "empty element"),
        (",cse", "empty element"),
        ("cse)", r"unbalanced '\)'"),
        ("func.func(cse", "unbalanced brackets"),
        ("cse{x='}", "unbalanced '"),
        ("func.func(no-such-pass)", "cannot parse .*no-such-pass"),
        ("builtin.module(dce,fuse)", "cannot parse .*dce"),
        ("sccp{x=1}", "cannot parse 'sccp{x=1}'"),
        ("cse x", "expected cse{option=value ...}"),
        ("{x=1}", "expected the name of a pass"),
    ],
)
def test_malformed_texts(text, match):
    with pytest.raises(PassError, match=match):
        parse_pipeline(text)


def test_both_kinds_run_in_order(module):
    calls = []

    def callback(name, op, seconds):
        assert seconds >= 0
        calls.append((name, str(op).count("array.negative"), str(op).count("arith.")))

    run_pipeline(module, "builtin.module(canonicalize),canonicalize,cse", callback)
    assert calls == [("builtin.module(canonicalize)", 2, 0), ("canonicalize", 0, 0), ("cse", 0, 0)]


def test_a_bare_name_is_laminas_and_an_anchored_one_mlirs(module):
    run_pipeline(module, "canonicalize")
    assert "array.negative" not in str(module)
    assert "arith.andi" in str(module)
    run_pipeline(module, "func.func(canonicalize)")
    assert "arith.andi" not in str(module)


def test_a_pass_gets_the_op_and_its_options(module):
    seen = []

    @register("look", "Looks.")
    def look(op):
        seen.append(op.name)

    run_pipeline(module, Pipeline((*parse_pipeline("look").passes, *parse_pipeline("look").passes)))
    assert seen == ["builtin.module", "builtin.module"]


def reproducer(error: PassError) -> list[str]:
    """The words of the command line in the last line of a failure."""
    line = str(error).splitlines()[-1]
    assert line.startswith("reproduce with: ")
    return shlex.split(line.removeprefix("reproduce with: "))


def test_a_failure_names_the_pass_and_the_command(module):
    @register("fail-now", "Fails.")
    def fail_now(op):
        raise RuntimeError("it broke")

    with pytest.raises(PassError, match="pass fail-now failed: RuntimeError: it broke") as caught:
        run_pipeline(module, "cse,fail-now,dce", source="my model.mlir")
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert reproducer(caught.value) == [
        "lamina", "opt", "--pass-pipeline=cse,fail-now,dce", "my model.mlir",
    ]  # fmt: skip


def test_a_reproducer_is_written_on_failure(module):
    @register("fail-now", "Fails.")
    def fail_now(op):
        raise PassError("it broke")

    with pytest.raises(PassError, match="pass fail-now failed: it broke") as caught:
        run_pipeline(module, "fail-now", source=lambda: TEXT)
    path = Path(reproducer(caught.value)[-1])
    assert path.read_text(encoding="utf-8") == TEXT
    path.unlink()


def test_an_invalid_module_is_blamed_on_the_pass(module):
    from mlir import ir

    @register("spoil", "Makes an op that is wrong.")
    def spoil(op):
        block = op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
        wrong = ir.Type.parse("tensor<5xf32>")
        point = ir.InsertionPoint(block.operations[0])
        ir.Operation.create("array.exp", [wrong], [block.arguments[0]], ip=point)

    with pytest.raises(PassError, match=r"pass spoil left an invalid module: .*array\.exp"):
        run_pipeline(module, "spoil,cse")


def test_verification_can_be_left_out(module):
    from mlir import ir

    @register("spoil", "Makes an op that is wrong.")
    def spoil(op):
        block = op.regions[0].blocks[0].operations[0].regions[0].blocks[0]
        wrong = ir.Type.parse("tensor<5xf32>")
        ir.Operation.create(
            "array.exp", [wrong], [block.arguments[0]], ip=ir.InsertionPoint(block.operations[0])
        )

    run_pipeline(module, "spoil", verify=False)


def test_mlirs_diagnostics_are_in_the_failure(module):
    with pytest.raises(PassError) as caught:
        run_pipeline(module, "cse,one-shot-bufferize")
    assert re.match(
        r"pass one-shot-bufferize failed: -:5:8: .*op was not bufferized\nreproduce with: ",
        str(caught.value),
    )


def test_an_interrupt_is_not_a_failure(module):
    @register("interrupt", "As if Ctrl-C had been pressed.")
    def interrupt(op):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_pipeline(module, "interrupt")
