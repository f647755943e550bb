"""What people read: the pretty printer and the generated reference page."""

from __future__ import annotations

from pathlib import Path

import pytest

import lamina
from lamina.dialects import documentation, dtypes, ops
from lamina.dialects import mlir as dialect
from lamina.dialects.mlir import parse, to_mlir
from lamina.dialects.primitive import TABLE, TensorType
from lamina.dialects.printer import pretty
from lamina.dialects.program import Instruction, Program


def test_a_program():
    f32 = dtypes.float32
    row, square = TensorType((1, 3), f32), TensorType((2, 3), f32)
    program = Program(
        (square, row),
        [
            Instruction(ops.broadcast, (1,), ((2, 3),), square),
            Instruction(ops.subtract, (0, 2), (), square),
            Instruction(ops.reduce_sum, (3,), ((0, 1),), TensorType((1, 1), f32)),
            Instruction(ops.constant, (), (1.5, f32), TensorType((), f32)),
            Instruction(ops.constant, (), (True, dtypes.bool_), TensorType((), dtypes.bool_)),
            Instruction(ops.slice_, (3,), ((0, 2), (2, 2), (1, -1)), TensorType((2, 2), f32)),
        ],
        (3, 4, 5, 6, 7),
        [("/m.py", 1, "f"), ("/m.py", 2, ""), None, None, None, None],
    )
    with dialect.session():
        text = pretty(to_mlir(program).operation, locations=True)
    assert text.splitlines() == [
        "func @main(%0: f32[2,3], %1: f32[1,3]) -> (f32[2,3], f32[1,1], f32[], bool[], f32[2,2]) {",
        "  %2 = broadcast(%1) : f32[2,3]                               // /m.py:1 in f",
        "  %3 = subtract(%0, %2) : f32[2,3]                            // /m.py:2",
        "  %4 = reduce_sum(%3) axes=[0,1] : f32[1,1]",
        "  %5 = constant 1.5 [literal 0] : f32[]",
        "  %6 = constant True : bool[]",
        "  %7 = slice(%3) start=[0,2] step=[1,-1] : f32[2,2]",
        "  return %3, %4, %5, %6, %7",
        "}",
    ]


def test_calls_and_launches():
    text = pretty(
        parse(
            """
            func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> {
              return %x : tensor<4xf32>
            }
            func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {
              %0 = "func.call"(%x) {callee = @k, kind = "loop"} : (tensor<4xf32>) -> tensor<4xf32>
              %1 = "array.concatenate_2"(%0, %x) {axis = 0 : i64}
                : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
              "array.launch"() {kernel = @k, arguments = ["input0", 4], units = 1 : i64,
                                grain = 1 : i64} : () -> ()
              return %1 : tensor<8xf32>
            }
            """
        ).operation
    )
    assert text == (
        "private func @k(%0: f32[4]) -> f32[4] {\n  return %0\n}\n\n"
        "func @main(%0: f32[4]) -> f32[8] {\n"
        "  %1 = call @k(%0) kind=loop : f32[4]\n"
        "  %2 = concatenate(%1, %0) axis=0 : f32[8]\n"
        '  launch @k() arguments=["input0", 4] grain=1 : i64 units=1 : i64\n'
        "  return %2\n}\n"
    )


def test_other_dialects_are_printed_as_mlir_does():
    text = pretty(
        parse(
            """
            func.func @f(%i: index) -> index { return %i : index }
            memref.global @g : memref<4xf32>
            """
        ).operation
    )
    assert "func @f(%0: index) -> index {\n  return %0\n}" in text
    assert "memref.global @g : memref<4xf32>" in text


def test_the_reference_page_is_current():
    page = Path(lamina.__file__).parent / "docs" / "dialect.md"
    if not page.parent.exists():
        pytest.skip("lamina is not run from a checkout")
    assert page.read_text(encoding="utf-8") == documentation.reference(), (
        "run python -m lamina.dialects.documentation > docs/dialect.md"
    )


def test_the_reference_page_is_complete():
    page = documentation.reference()
    for name, primitive in TABLE.items():
        assert f"### array.{name}\n" in page
        assert primitive.meaning.replace("``", "`") in page
