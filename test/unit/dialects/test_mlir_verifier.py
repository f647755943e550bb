"""The verifier says which op breaks which rule, and where."""

from __future__ import annotations

import pytest
from mlir import ir

from lamina.dialects import dtypes, ops
from lamina.dialects import mlir as dialect
from lamina.dialects.mlir import op_name, parse, to_mlir
from lamina.dialects.primitive import TABLE, TensorType
from lamina.dialects.program import Instruction, Program
from lamina.errors import VerificationError

ARGUMENTS = "%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<4xi32>, %d: tensor<?xf32>"


def message(body: str, before: str = "") -> str:
    text = f"{before}func.func @f({ARGUMENTS}) {{\n  {body}\n  return\n}}"
    with pytest.raises(VerificationError) as caught:
        parse(text)
    return str(caught.value)


BROKEN = {
    "shapes": (
        '%0 = "array.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>',
        "-:2:8: array.add(f32[4], f32[5]): operands must have one shape, got f32[4], f32[5]",
    ),
    "dtypes": (
        '%0 = "array.add"(%x, %i) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>',
        "array.add(f32[4], i32[4]): operands must have one dtype",
    ),
    "result": (
        '%0 = "array.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>',
        "array.add(f32[4], f32[4]): the result must be f32[4], got f32[5]",
    ),
    "arity": (
        '%0 = "array.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>',
        "-:2:8: array.add: op expects exactly 2 operands, but got 1",
    ),
    "dynamic": (
        '%0 = "array.exp"(%d) : (tensor<?xf32>) -> tensor<?xf32>',
        "array.exp: expected a tensor of known sizes, got tensor<?xf32>",
    ),
    "missing attribute": (
        '%0 = "array.reshape"(%x) : (tensor<4xf32>) -> tensor<2x2xf32>',
        'attribute "shape" is expected but not provided',
    ),
    "attribute of another width": (
        '%0 = "array.reshape"(%x) {shape = array<i32: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>',
        "array.reshape(f32[4]): attribute shape must be array<i64: ...>",
    ),
    "axis": (
        '%0 = "array.argmax"(%x) {axis = 1 : i64} : (tensor<4xf32>) -> tensor<1xui32>',
        "array.argmax(f32[4]): axis 1 is out of range for 1 dimensions",
    ),
    "element type": (
        '%0 = "array.cast"(%x) {dtype = f80} : (tensor<4xf32>) -> tensor<4xf80>',
        "array.cast(f32[4]): f80 is not a dtype",
    ),
    "value": (
        '%0 = "array.constant"() {value = 3 : i32, dtype = f32} : () -> tensor<f32>',
        "array.constant: 3 : i32 is not a number of dtype float32",
    ),
    "unknown attribute": (
        '%0 = "array.exp"(%x) {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>',
        "array.exp: has no attribute axis",
    ),
    "literal": (
        '%0 = "array.constant"() {value = 3.0 : f32, dtype = f32, literal = -1 : i64} '
        ": () -> tensor<f32>",
        "array.constant: literal must be a slot number of type i64, got -1 : i64",
    ),
    "literal elsewhere": (
        '%0 = "array.exp"(%x) {literal = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>',
        "array.exp: has no attribute literal",
    ),
    "unknown op": (
        '%0 = "array.sort"(%x) : (tensor<4xf32>) -> tensor<4xf32>',
        "-:2:8: unregistered operation 'array.sort'",
    ),
    "parts": (
        '%0 = "array.concatenate_2"(%x, %i) {axis = 0 : i64} '
        ": (tensor<4xf32>, tensor<4xi32>) -> tensor<8xf32>",
        "array.concatenate_2(f32[4], i32[4]): operands must have one dtype",
    ),
    "concatenated ranks": (
        '%0 = "array.concatenate_2"(%x, %y) {axis = 1 : i64} '
        ": (tensor<4xf32>, tensor<5xf32>) -> tensor<9xf32>",
        "array.concatenate_2(f32[4], f32[5]): axis 1 is out of range for 1 dimensions",
    ),
    "another number of operands": (
        '%0 = "array.concatenate_3"(%x, %y) {axis = 0 : i64} '
        ": (tensor<4xf32>, tensor<5xf32>) -> tensor<9xf32>",
        "array.concatenate_3: op expects exactly 3 operands, but got 2",
    ),
    "too many operands": (
        '%0 = "array.concatenate_999999999999"(%x) {axis = 0 : i64} '
        ": (tensor<4xf32>) -> tensor<4xf32>",
        "-:2:8: unregistered operation",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule(name):
    body, expected = BROKEN[name]
    assert expected in message(body)


def test_calls_of_fusions_follow_their_bodies():
    body = """func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    """
    call = '%0 = "func.call"(%y) {callee = @k, kind = "loop"} : (tensor<5xf32>) -> tensor<4xf32>'
    assert "func.call" in message(call, body)
    missing = '%0 = "func.call"(%x) {callee = @none} : (tensor<4xf32>) -> tensor<4xf32>'
    assert "'none' does not reference a valid function" in message(missing)


def test_launches_name_their_kernel_and_words():
    text = 'func.func @f() { "array.launch"() {kernel = @k, units = 1 : i64, grain = 1 : i64} '
    with pytest.raises(VerificationError, match='"arguments" is expected but not provided'):
        parse(text + ": () -> ()\n return }")


def test_attributes_of_other_dialects_are_allowed():
    parse(
        'func.func @f(%x: tensor<4xf32>) { %0 = "array.exp"(%x) {mine.note = 1 : i64} '
        ": (tensor<4xf32>) -> tensor<4xf32> return }"
    )


def test_a_syntax_error_has_its_place():
    with pytest.raises(VerificationError, match=r"^-:2:3: "):
        parse("func.func @f() {\n  !\n}")


def test_the_users_line_is_named():
    type_ = TensorType((4,), dtypes.float32)
    wrong = Instruction(ops.exp, (0,), (), TensorType((5,), dtypes.float32))
    module = to_mlir(Program((type_,), [wrong], (1,), [("/user/model.py", 12, "loss")]))
    with pytest.raises(VerificationError, match=r"^/user/model.py:12: array.exp\(f32\[4\]\)"):
        dialect.verify(module.operation)


def test_ops_inside_regions_are_checked():
    text = """
    func.func @f(%c: i1, %x: tensor<4xf32>) {
      scf.if %c {
        %0 = "array.exp"(%x) : (tensor<4xf32>) -> tensor<5xf32>
      }
      return
    }
    """
    with pytest.raises(VerificationError, match=r"^-:4:14: array.exp"):
        parse(text)


JUNK = [
    "array<i64>", "array<i64: -1>", "array<i64: 0, 0>", "array<i64: 9223372036854775807>",
    "-1 : i64", "9223372036854775807 : i64", "true", "f32", "1.0 : f32", '"text"', "unit", "[]",
]  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_no_attributes_break_the_verifier(name):
    """Whatever stands in the attributes, the answer is a VerificationError or an accepted op."""
    primitive = TABLE[name]
    count = 2 if primitive.is_variadic else len(primitive.operands)
    operands = ", ".join(["%x"] * count)
    types = ", ".join(["tensor<2x3xf32>"] * count)
    for result in ("tensor<2x3xf32>", "tensor<f32>"):
        for junk in JUNK:
            named = ", ".join(f"{attribute} = {junk}" for attribute, _ in primitive.attributes)
            text = (
                f"func.func @f(%x: tensor<2x3xf32>) {{ "
                f'%0 = "{op_name(primitive, count)}"({operands}) {{{named}}} '
                f": ({types}) -> {result}\n return }}"
            )
            try:
                parse(text)
            except VerificationError:
                continue


def test_a_detached_function_is_verified_alone():
    type_ = TensorType((4,), dtypes.float32)
    with dialect.session():
        module = to_mlir(Program((type_,), [Instruction(ops.exp, (0,), (), type_)], (1,)))
        function = module.body.operations[0].operation.clone(ip=ir.InsertionPoint(module.body))
        function.attributes["sym_name"] = ir.StringAttr.get("other")
        dialect.verify(function)
