"""Executables: values, kinds of slots and outputs, donation, errors."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lamina.errors import ArgumentError, CodegenError, ExecutionError
from lamina.runtime import memory
from lamina.runtime.artifact import Artifact, Launch, Output, Pointer, Slot
from lamina.runtime.buffer import Buffer, allocate, from_memory
from lamina.runtime.cpu import LoadedKernel, compile_llvm_ir, load
from lamina.runtime.executable import Executable

Fill = Callable[[np.ndarray[Any, Any]], Buffer]
Make = Callable[..., Executable]
Kernels = dict[str, LoadedKernel]

FLOATS = ((4,), "float32")


def floats(buffer: Buffer, count: int = 4) -> list[float]:
    return buffer.as_numpy(np.float32, (count,)).tolist()


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 1000, 20001])
@pytest.mark.parametrize("grain", [1, 7, 100000])
def test_values(add_program: Make, filled: Fill, count: int, grain: int) -> None:
    values = np.arange(count, dtype=np.float32)
    (result,) = add_program(count, grain).run([filled(values)])
    assert (result.as_numpy(np.float32, (count,)) == values + 3).all()


def test_each_call_has_outputs_of_its_own(add_program: Make, filled: Fill) -> None:
    program, zeros = add_program(4), filled(np.zeros(4, np.float32))
    first, second = program.run([zeros])[0], program.run([zeros])[0]
    assert first.address != second.address
    assert floats(first) == floats(second) == [3.0] * 4


def test_an_empty_output(add_program: Make, filled: Fill) -> None:
    (result,) = add_program(0, 1).run([filled(np.empty(0, np.float32))])
    assert result.nbytes == 0
    assert result.as_numpy(np.float32, (0,)).size == 0


def test_a_chain_through_workspace_and_several_outputs(kernels: Kernels, filled: Fill) -> None:
    """Workspace at an offset, an offset into an input, a literal, outputs handed back twice."""
    slots = (
        Slot("input"),
        Slot("workspace", offset=64),
        Slot("output", index=0),
        Slot("output", index=2),
        Slot("literal", offset=16),
    )
    launches = (
        Launch("add", (Pointer(0, 8), Pointer(1), 10), 2, 2),
        Launch("add", (Pointer(1), Pointer(2), 100), 2, 2),
        Launch("add", (Pointer(4), Pointer(3), -1), 4, 4),
        Launch("missing", (), 0, 1),
    )
    outputs = (
        Output((2,), "float32", ("slot", 2)),
        Output((4,), "float32", ("input", 0)),
        Output((4,), "float32", ("slot", 3)),
        Output((2,), "float32", ("output", 0)),
        Output((4,), "float32", ("slot", 4)),
    )
    artifact = Artifact("test", (FLOATS,), outputs, slots, launches, workspace=128)
    literals = bytes(16) + np.array([5, 6, 7, 8], np.float32).tobytes()
    given = filled(np.array([1, 2, 3, 4], np.float32))
    results = Executable(artifact, kernels, literals).run([given])
    assert floats(results[0], 2) == [113.0, 114.0]
    assert results[1] is given
    assert floats(results[2]) == [4.0, 5.0, 6.0, 7.0]
    assert results[3] is results[0]
    assert floats(results[4]) == [5.0, 6.0, 7.0, 8.0]


def test_numbers_keep_all_their_bits(filled: Fill) -> None:
    text = """
    define i32 @entry(ptr %words, i64 %begin, i64 %end) {
      %out = load ptr, ptr %words
      %number.at = getelementptr i64, ptr %words, i64 1
      %number = load i64, ptr %number.at
      store i64 %number, ptr %out
      ret i32 0
    }
    """
    kernel = load(compile_llvm_ir(text, "entry"))
    for number in (0, -1, 2**63 - 1, -(2**63), 0x0123456789ABCDEF):
        artifact = Artifact(
            *("test", (), (Output((1,), "int64", ("slot", 0)),), (Slot("output"),)),
            (Launch("k", (Pointer(0), number), 1, 1),),
            0,
        )
        (result,) = Executable(artifact, {"k": kernel}).run([])
        assert result.as_numpy(np.int64, (1,))[0] == number


def test_many_arguments(kernels: Kernels, filled: Fill) -> None:
    words = (Pointer(0), Pointer(1), 3, *range(5000))
    artifact = Artifact(
        *("test", (FLOATS,), (Output(*FLOATS, ("slot", 1)),), (Slot("input"), Slot("output"))),
        (Launch("add", words, 4, 1),),
        0,
    )
    (result,) = Executable(artifact, kernels).run([filled(np.zeros(4, np.float32))])
    assert floats(result) == [3.0] * 4
    launch = Launch("add", (0,) * 40000, 1, 1)
    with pytest.raises(CodegenError, match="40000 arguments"):
        Executable(Artifact("test", (), (), (), (launch,), 0), kernels)


def failing(kernels: Kernels, unit: int, status: int, units: int, grain: int) -> Executable:
    launches = (
        Launch("count", (Pointer(0),), units, grain),
        Launch("fail", (unit, status), units, grain),
        Launch("count", (Pointer(0),), units, grain),
    )
    type_ = ((units,), "int32")
    outputs = (Output(*type_, ("input", 0)),)
    return Executable(Artifact("test", (type_,), outputs, (Slot("input"),), launches, 0), kernels)


@pytest.mark.parametrize("grain", [1, 100])
@pytest.mark.parametrize("count", [1, 3])
def test_a_status_stops_the_list(
    kernels: Kernels, filled: Fill, threads: Callable[[int], None], grain: int, count: int
) -> None:
    threads(count)
    counts = filled(np.zeros(100, np.int32))
    with pytest.raises(ExecutionError, match="launch 2 of 3, kernel fail, failed with status 7"):
        failing(kernels, 42, 7, 100, grain).run([counts])
    assert (counts.as_numpy(np.int32, (100,)) == 1).all()
    failing(kernels, 1000, 7, 100, grain).run([counts])
    assert (counts.as_numpy(np.int32, (100,)) == 3).all()


def test_a_negative_status(kernels: Kernels, filled: Fill) -> None:
    with pytest.raises(ExecutionError, match="status 4294967295"):
        failing(kernels, 0, -1, 4, 4).run([filled(np.zeros(4, np.int32))])


def test_wrong_inputs(add_program: Make, filled: Fill) -> None:
    program, buffer = add_program(4), filled(np.zeros(4, np.float32))
    for inputs in ([], [buffer, buffer]):
        with pytest.raises(ArgumentError, match=f"takes 1 buffers, got {len(inputs)}"):
            program.run(inputs)
    with pytest.raises(ArgumentError, match="not buffers"):
        program.run([3])  # type: ignore[list-item]


def test_wrong_artifacts(kernels: Kernels) -> None:
    def make(slot: Slot, kernel: str = "add") -> Executable:
        launch = Launch(kernel, (Pointer(0), Pointer(0), 0), 1, 1)
        return Executable(Artifact("test", (), (), (slot,), (launch,), 0), kernels)

    with pytest.raises(CodegenError, match="no memory for"):
        make(Slot("input", index=3))
    with pytest.raises(CodegenError, match="no memory for"):
        make(Slot("output"))
    with pytest.raises(CodegenError, match="no machine code of kernel unknown"):
        make(Slot("literal"), "unknown")
    with pytest.raises(CodegenError, match="cblas_nothing"):
        make(Slot("library", name="cblas_nothing"))


class TestDonation:
    def test_a_named_input_gives_its_memory(self, add_program: Make, filled: Fill) -> None:
        program = add_program(4, donated=(0,))
        given = filled(np.zeros(4, np.float32))
        address = given.address
        (result,) = program.run([given], donate=(0,))
        assert result.address == address
        assert floats(result) == [3.0] * 4
        with pytest.raises(ArgumentError, match="donated"):
            given.as_numpy(np.float32, (4,))
        with pytest.raises(ArgumentError, match="input 0 was donated"):
            program.run([given])
        with pytest.raises(ArgumentError, match="input 0 was donated"):
            program.run([given], donate=(0,))

    def test_nothing_is_taken_unasked(self, add_program: Make, filled: Fill) -> None:
        program = add_program(4, donated=(0,))
        given = filled(np.zeros(4, np.float32))
        (result,) = program.run([given])
        assert result.address != given.address
        assert floats(given) == [0.0] * 4

    def test_owned_inputs_that_nobody_else_has(self, add_program: Make, filled: Fill) -> None:
        program = add_program(4, donated=(0,))
        inputs = [filled(np.zeros(4, np.float32))]
        address = inputs[0].address
        assert program.run(inputs, owned=True)[0].address == address

    def test_owned_inputs_that_somebody_has(self, add_program: Make, filled: Fill) -> None:
        program = add_program(4, donated=(0,))
        held = filled(np.zeros(4, np.float32))
        (result,) = program.run([held], owned=True)
        assert result.address != held.address
        assert floats(held) == [0.0] * 4

    def test_exports_are_never_overwritten(self, add_program: Make, filled: Fill) -> None:
        program = add_program(4, donated=(0,))
        given = filled(np.zeros(4, np.float32))
        view = given.as_numpy(np.float32, (4,))[1:3]
        (result,) = program.run([given], donate=(0,))
        assert view.tolist() == [0.0, 0.0]
        assert floats(result) == [3.0] * 4
        del view
        address = given.address
        assert program.run([given], donate=(0,))[0].address == address

    def test_foreign_memory_is_never_overwritten(self, add_program: Make) -> None:
        raw = np.zeros(64, np.float32)
        start = -raw.ctypes.data % 64 // 4
        given = from_memory(raw, raw.ctypes.data + 4 * start, 16)
        (result,) = add_program(4, donated=(0,)).run([given], donate=(0,))
        assert floats(result) == [3.0] * 4
        assert (raw == 0).all()

    def test_an_input_that_is_passed_twice(self, kernels: Kernels, filled: Fill) -> None:
        artifact = Artifact(
            *("test", (FLOATS, FLOATS), (Output(*FLOATS, ("slot", 1), (0,)),)),
            (Slot("input"), Slot("output")),
            (Launch("add", (Pointer(0), Pointer(1), 1), 4, 4),),
            0,
        )
        program = Executable(artifact, kernels)
        given = filled(np.zeros(4, np.float32))
        assert program.run([given, given], donate=(0,))[0].address != given.address
        address, other = given.address, filled(np.zeros(4, np.float32))
        assert program.run([given, other], donate=(0,))[0].address == address

    def test_one_donor_serves_one_output(self, kernels: Kernels, filled: Fill) -> None:
        outputs = (Output(*FLOATS, ("slot", 1), (0,)), Output(*FLOATS, ("slot", 2), (0,)))
        slots = (Slot("input"), Slot("output"), Slot("output", index=1), Slot("workspace"))
        launches = (
            Launch("add", (Pointer(0), Pointer(3), 1), 4, 4),
            Launch("add", (Pointer(3), Pointer(1), 1), 4, 4),
            Launch("add", (Pointer(3), Pointer(2), 2), 4, 4),
        )
        program = Executable(Artifact("test", (FLOATS,), outputs, slots, launches, 16), kernels)
        given = filled(np.zeros(4, np.float32))
        address = given.address
        first, second = program.run([given], donate=(0,))
        assert first.address == address
        assert second.address != address
        assert (floats(first), floats(second)) == ([2.0] * 4, [3.0] * 4)

    def test_an_input_that_is_handed_back(self, kernels: Kernels, filled: Fill) -> None:
        outputs = (Output(*FLOATS, ("slot", 1), (0,)), Output(*FLOATS, ("input", 0)))
        launches = (Launch("add", (Pointer(0), Pointer(1), 1), 4, 4),)
        slots = (Slot("input"), Slot("output"))
        program = Executable(Artifact("test", (FLOATS,), outputs, slots, launches, 0), kernels)
        given = filled(np.zeros(4, np.float32))
        first, second = program.run([given], donate=(0,))
        assert second is given
        assert (floats(first), floats(second)) == ([1.0] * 4, [0.0] * 4)

    def test_a_donor_that_is_too_small(self, kernels: Kernels, filled: Fill) -> None:
        big = ((1000,), "float32")
        artifact = Artifact(
            *("test", (FLOATS,), (Output(*big, ("slot", 1), (0,)),)),
            (Slot("input"), Slot("output")),
            (Launch("add", (Pointer(0), Pointer(1), 1), 4, 4),),
            0,
        )
        given = filled(np.zeros(4, np.float32))
        (result,) = Executable(artifact, kernels).run([given], donate=(0,))
        assert result.nbytes == 4000
        assert floats(given) == [0.0] * 4


def test_calls_from_many_threads(add_program: Make, filled: Fill) -> None:
    program = add_program(1000, 50)
    wrong: list[int] = []

    def call(number: int) -> None:
        values = np.full(1000, number, np.float32)
        given = filled(values)
        for _ in range(200):
            (result,) = program.run([given])
            if not (result.as_numpy(np.float32, (1000,)) == values + 3).all():
                wrong.append(number)

    callers = [threading.Thread(target=call, args=(i,)) for i in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []


def test_calls_leave_no_memory_behind(add_program: Make, filled: Fill) -> None:
    program, given = add_program(4), filled(np.zeros(4, np.float32))
    before = memory.get_active_memory()
    for _ in range(100):
        program.run([given])
    assert memory.get_active_memory() == before


def test_library_functions_get_their_address(filled: Fill) -> None:
    text = """
    define i32 @entry(ptr %words, i64 %begin, i64 %end) {
      %function = load ptr, ptr %words
      %x.at = getelementptr i64, ptr %words, i64 1
      %x = load ptr, ptr %x.at
      %out.at = getelementptr i64, ptr %words, i64 2
      %out = load ptr, ptr %out.at
      %dot = call float %function(i32 4, ptr %x, i32 1, ptr %x, i32 1)
      store float %dot, ptr %out
      ret i32 0
    }
    """
    artifact = Artifact(
        *("test", (FLOATS,), (Output((), "float32", ("slot", 2)),)),
        (Slot("library", name="cblas_sdot"), Slot("input"), Slot("output")),
        (Launch("k", (Pointer(0), Pointer(1), Pointer(2)), 1, 1),),
        0,
    )
    program = Executable(artifact, {"k": load(compile_llvm_ir(text, "entry"))})
    (result,) = program.run([filled(np.array([1, 2, 3, 4], np.float32))])
    assert floats(result, 1) == [30.0]


def test_bfloat16_sizes(kernels: Kernels) -> None:
    artifact = Artifact(
        *("test", (), (Output((5,), "bfloat16", ("slot", 0)),), (Slot("output"),), (), 0)
    )
    assert Executable(artifact, kernels).run([])[0].nbytes == 10


def test_the_code_outlives_its_kernels(add_program: Make, filled: Fill) -> None:
    kernels = {"add": load(compile_llvm_ir(ADD_ONE, "entry"))}
    artifact = Artifact(
        *("test", (FLOATS,), (Output(*FLOATS, ("slot", 0)),), (Slot("output"),)),
        (Launch("add", (Pointer(0),), 1, 1),),
        0,
    )
    program = Executable(artifact, kernels)
    del kernels["add"]
    (result,) = program.run([allocate(16)])
    assert ctypes.c_float.from_address(result.address).value == 1.0


ADD_ONE = """
define i32 @entry(ptr %words, i64 %begin, i64 %end) {
  %out = load ptr, ptr %words
  store float 1.0, ptr %out
  ret i32 0
}
"""
