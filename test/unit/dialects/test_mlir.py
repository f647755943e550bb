"""Programs become modules and come back with every bit, name and line."""

from __future__ import annotations

import math
import struct
import threading

import numpy as np
import pytest
from mlir import ir

from lamina.dialects import dtypes, ops
from lamina.dialects import mlir as dialect
from lamina.dialects.mlir import LITERAL, from_mlir, literal_slots, parse, to_mlir
from lamina.dialects.primitive import TABLE, TensorType
from lamina.dialects.program import Instruction, Program, ProgramBuilder, encode
from lamina.errors import VerificationError

F32 = dtypes.float32


def function_of(module):
    return module.body.operations[0].operation


def round_trip(program: Program, *, through_text: bool = True) -> Program:
    with dialect.session():
        module = to_mlir(program)
        dialect.verify(module.operation)
        if through_text:
            text = module.operation.get_asm(enable_debug_info=True)
            module = parse(text)
        return from_mlir(function_of(module))


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


def quiet_nan(payload: int, *, sign: bool = False) -> float:
    """A NaN whose payload stands in the bits that every floating dtype keeps at its own place."""
    word = 0x7FF8_0000_0000_0000 | payload | (int(sign) << 63)
    return struct.unpack("<d", struct.pack("<Q", word))[0]


FLOATS = {
    "float64": [5e-324, 1.7976931348623157e308, 0.1, quiet_nan(1), quiet_nan(12345, sign=True)],
    "float32": [
        2.0**-149,
        3.4028234663852886e38,
        quiet_nan(1 << 29),
        quiet_nan(5 << 40, sign=True),
    ],
    "bfloat16": [2.0**-133, 3.3895313892515355e38, quiet_nan(3 << 45)],
    "float16": [2.0**-24, 65504.0, quiet_nan(5 << 42, sign=True)],
}
COMMON = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, -math.nan]


@pytest.mark.parametrize("name", FLOATS)
def test_floats_keep_their_bits(name):
    dtype = dtypes.from_name(name)
    values = [*FLOATS[name], *(dtype.numpy.type(value).item() for value in COMMON)]
    type_ = TensorType((), dtype)
    instructions = [Instruction(ops.constant, (), (value, dtype), type_) for value in values]
    again = round_trip(Program((), instructions, tuple(range(len(values)))))
    found = [instruction.attributes[0] for instruction in again.instructions]
    assert [bits(value) for value in found] == [bits(value) for value in values]


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.is_integer], ids=lambda d: d.name)
def test_integers_keep_their_bits(dtype):
    limits = np.iinfo(dtype.numpy)
    values = [int(limits.min), int(limits.max), 0, 1, int(limits.max) - 1, int(limits.max) // 2 + 1]
    type_ = TensorType((), dtype)
    instructions = [Instruction(ops.constant, (), (value, dtype), type_) for value in values]
    again = round_trip(Program((), instructions, tuple(range(len(values)))))
    assert [instruction.attributes for instruction in again.instructions] == [
        (value, dtype) for value in values
    ]
    assert all(type(i.attributes[0]) is int for i in again.instructions)


def test_bools_and_complex_numbers():
    values = [complex(a, b) for a in COMMON for b in COMMON]
    complexes = [
        Instruction(ops.constant, (), (value, dtypes.complex64), TensorType((), dtypes.complex64))
        for value in values
    ]
    truths = [
        Instruction(ops.constant, (), (value, dtypes.bool_), TensorType((), dtypes.bool_))
        for value in (True, False)
    ]
    again = round_trip(Program((), [*complexes, *truths], (0,)))
    found = [instruction.attributes[0] for instruction in again.instructions]
    assert [bits(z.real) + bits(z.imag) for z in found[:-2]] == [
        bits(z.real) + bits(z.imag) for z in values
    ]
    assert found[-2:] == [True, False]
    assert all(type(value) is bool for value in found[-2:])


# Every primitive, on operands of these shapes, with these attributes.
VECTOR, MATRIX = (4,), (2, 3)
ATTRIBUTES = {
    "constant": (1.0, F32),
    "iota": ((2, 3), F32, 1),
    "empty": ((2, 3), F32),
    "cast": (dtypes.bfloat16,),
    "bitcast": (dtypes.int32,),
    "reshape": ((3, 1, 2),),
    "transpose": ((1, 0),),
    "broadcast": (MATRIX,),
    "slice": ((0, 2), (2, 2), (1, -2)),
    "slice_update": ((0, 0), (1, 1)),
    "pad": ((0, 1), (2, 0)),
    "concatenate": (1,),
    "argmax": (1,),
    "argmin": (0,),
}
DTYPE_OF = {
    "real": dtypes.complex64, "imag": dtypes.complex64, "reduce_and": dtypes.bool_,
    "reduce_or": dtypes.bool_, "bitwise_invert": dtypes.uint8, "bitwise_and": dtypes.int64,
    "bitwise_or": dtypes.int64, "bitwise_xor": dtypes.int64, "left_shift": dtypes.uint64,
    "right_shift": dtypes.int8,
}  # fmt: skip
SAMPLES = {"ints": (1,), "int": 1, "bool": True}


def sample(primitive) -> Program:
    """A program of one op."""
    dtype = DTYPE_OF.get(primitive.name, F32)
    shape = {"broadcast": (1, 3)}.get(primitive.name, MATRIX)
    count = 2 if primitive.is_variadic else len(primitive.operands)
    inputs = [TensorType(shape, dtype)] * count
    if primitive.name == "select":
        inputs[0] = TensorType(MATRIX, dtypes.bool_)
    elif primitive.name == "pad":
        inputs[1] = TensorType((), dtype)
    elif primitive.name == "matmul":
        inputs[1] = TensorType((3, 5), dtype)
    attributes = ATTRIBUTES.get(primitive.name)
    if attributes is None:
        attributes = tuple(SAMPLES[kind] for _, kind in primitive.attributes)
    type_ = primitive.rule(tuple(inputs), attributes)
    instruction = Instruction(primitive, tuple(range(count)), attributes, type_)
    return Program(tuple(inputs), [instruction], (count,), [("/user/model.py", 7, "loss")])


@pytest.mark.parametrize("name", TABLE)
def test_every_primitive(name):
    program = sample(TABLE[name])
    assert round_trip(program) == program
    assert round_trip(program, through_text=False) == program


@pytest.mark.parametrize("count", [1, 2, 3, 300])
def test_any_number_of_operands(count):
    inputs = tuple(TensorType((n, 2), F32) for n in range(count))
    result = TensorType((sum(range(count)), 2), F32)
    concatenated = Instruction(ops.concatenate, tuple(range(count)), (0,), result)
    program = Program(inputs, [concatenated], (count,), [None])
    assert round_trip(program) == program


def test_inputs_are_outputs_and_repeat():
    type_ = TensorType((), F32)
    program = Program((type_, type_), [], (1, 0, 1))
    assert round_trip(program) == program


def test_locations_are_the_users_lines():
    type_ = TensorType(VECTOR, F32)
    places = [("/a/b.py", 3, "f"), None, ("<string>", 10_000, "<lambda>"), ("/a/ü.py", 1, "g")]
    instructions = [Instruction(ops.exp, (i,), (), type_) for i in range(len(places))]
    program = Program((type_,), instructions, (len(places),), places)
    assert round_trip(program).locations == places
    with dialect.session():
        text = to_mlir(program).operation.get_asm(enable_debug_info=True, use_local_scope=True)
    assert '"f"("/a/b.py":3:0)' in text


def test_literals_have_slots():
    builder = ProgramBuilder(())
    values = []
    for value in (1.0, 3.5, 0.0, 7.25):
        values.append(builder.add(ops.constant, (), (value, F32), TensorType((), F32)))
    program = builder.finish(values)
    with dialect.session():
        module = to_mlir(program)
        function = function_of(module)
        constants = [op.operation for op in function.regions[0].blocks[0].operations][:-1]
        slots = [LITERAL in op.attributes and op.attributes[LITERAL].value for op in constants]
        assert slots == [False, 0, False, 1]
        assert literal_slots(function) == {encode((3.5, F32)): 0, encode((7.25, F32)): 1}


def test_other_ops_are_not_programs():
    module = parse(
        """
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }
        """
    )
    with dialect.session(), pytest.raises(VerificationError, match=r"-:3:16: func\.call is not a"):
        from_mlir(function_of(module))


def test_one_context_without_threads():
    found = []
    thread = threading.Thread(target=lambda: found.append(dialect.context()))
    thread.start()
    thread.join()
    assert found == [dialect.context()]
    assert not dialect.context().allow_unregistered_dialects
    assert dialect.context().get_num_threads() <= 1


def test_sessions_nest_and_sort_out_their_context():
    with dialect.session() as outer, dialect.session() as inner:
        assert outer is inner
        assert ir.Context.current is outer
    assert ir.Context.current is None


def test_ops_are_handed_out_without_a_search():
    """The bindings look for a module of the dialect's name; see lamina.dialects.array."""
    from mlir._mlir_libs import _mlir

    dialect.context()
    assert _mlir.globals._check_dialect_module_loaded("array")
