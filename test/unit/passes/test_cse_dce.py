"""Equal ops become one, dead ones go; other ops stay as they are."""

from __future__ import annotations

import pytest

from lamina.dialects import dtypes
from lamina.dialects import mlir as dialect
from lamina.dialects.mlir import parse
from lamina.dialects.program import Program
from lamina.passes.pipeline import run_pipeline

F32 = dtypes.float32


def run(text: str, pipeline: str) -> str:
    with dialect.session():
        module = parse(text)
        run_pipeline(module, pipeline)
        return str(module)


def unmerged(laws, draft, *outputs):
    """The program as written, without the merging that recording does."""
    return Program(draft.builder.inputs, draft.builder.instructions, outputs)


TWICE = """
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
  %0 = "array.{op}"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "array.{op}"({swapped}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}}
"""


@pytest.mark.parametrize(
    ("op", "swapped", "left"),
    [
        ("add", "%x, %y", 1),
        ("add", "%y, %x", 1),
        ("maximum", "%y, %x", 1),
        ("subtract", "%x, %y", 1),
        ("subtract", "%y, %x", 2),
        ("power", "%y, %x", 2),
    ],
)
def test_equal_ops(op, swapped, left):
    text = run(TWICE.format(op=op, swapped=swapped), "cse")
    assert text.count("array.") == left
    assert text.count("return %0, %0" if left == 1 else "return %0, %1") == 1


def test_constants_are_equal_by_their_bits():
    lines, names = [], []
    for value in ("0.0", "-0.0", "0x7FC00000", "0x7FC00000", "0.0"):
        names.append(f"%c{len(names)}")
        lines.append(f'{names[-1]} = "array.constant"() {{value = {value} : f32, dtype = f32}} ')
        lines[-1] += ": () -> tensor<f32>"
    types = ", ".join(["tensor<f32>"] * 5)
    text = "\n".join(lines)
    text = f"func.func @f() -> ({types}) {{\n{text}\nreturn {', '.join(names)} : {types}\n}}"
    assert run(text, "cse").count("array.constant") == 3


def test_literals_are_equal_by_slot():
    lines = [
        f'%{i} = "array.constant"() {{value = 3.0 : f32, dtype = f32, literal = {slot} : i64}} '
        ": () -> tensor<f32>"
        for i, slot in enumerate((0, 1, 0))
    ]
    text = "\n".join([*lines, "return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>"])
    text = f"func.func @f() -> (tensor<f32>, tensor<f32>, tensor<f32>) {{\n{text}\n}}"
    assert run(text, "cse").count("array.constant") == 2


def test_attributes_and_types_count(laws):
    draft = laws.Draft(((2, 2), F32))
    outputs = [
        draft.reduce_sum(0, axes=(0,)),
        draft.reduce_sum(0, axes=(1,)),
        draft.cast(0, dtype=dtypes.int32),
        draft.cast(0, dtype=dtypes.uint32),
    ]
    simplified = laws.apply(unmerged(laws, draft, *outputs), "cse")
    assert len(simplified.instructions) == 4


def test_chains_merge_in_one_sweep():
    line = '%{b}{n} = "array.exp"(%{b}{m}) : (tensor<4xf32>) -> tensor<4xf32>'
    lines = [line.format(b=b, n=n + 1, m=n) for n in range(50) for b in "ab"]
    lines[0], lines[1] = (text.replace("%a0", "%x").replace("%b0", "%x") for text in lines[:2])
    text = "\n".join(lines)
    text = f"""func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
    {text}
    return %a50, %b50 : tensor<4xf32>, tensor<4xf32> }}"""
    assert run(text, "cse").count("array.exp") == 50


def test_dead_chains_go():
    text = run(
        """
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = "array.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = "array.add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %2 = "array.add"(%1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          return %x : tensor<4xf32>
        }
        """,
        "dce",
    )
    assert "array." not in text


CONTROL_FLOW = """
func.func @f(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %0 = "array.negative"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "array.negative"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  cf.cond_br %c, ^one(%1 : tensor<4xf32>), ^two
^one(%a: tensor<4xf32>):
  %2 = "array.add"(%a, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dead = "array.exp"(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
^two:
  %3 = scf.if %c -> tensor<4xf32> {
    %4 = "array.transpose"(%1) {permutation = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %4 : tensor<4xf32>
  } else {
    %5 = "array.negative"(%1) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %5 : tensor<4xf32>
  }
  return %3 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("pipeline", ["canonicalize", "cse", "dce", "canonicalize,cse,dce"])
def test_control_flow_is_rewritten_in_place(pipeline):
    text = run(CONTROL_FLOW, pipeline)
    assert text.count("cf.cond_br") == 1
    if pipeline == "canonicalize":
        assert "array.exp" not in text
        assert "array.transpose" not in text
        # -(-x) goes, and -x is used where -(-(-x)) was.
        assert text.count("array.negative") == 1


def test_unused_outputs_of_other_ops_are_left_alone():
    text = """
    func.func private @g(tensor<4xf32>) -> (tensor<4xf32>, index)
    func.func @f(%x: tensor<4xf32>) {
      %0:2 = call @g(%x) : (tensor<4xf32>) -> (tensor<4xf32>, index)
      %1 = "array.exp"(%0#0) : (tensor<4xf32>) -> tensor<4xf32>
      return
    }
    """
    after = run(text, "canonicalize,cse,dce")
    assert "call @g" in after
    assert "array.exp" not in after
