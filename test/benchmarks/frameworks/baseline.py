"""The baseline of rows that memory bounds: a copy or a read of the same bytes, by all threads.

The copy loads vectors and stores them past the caches; the read adds up vectors in registers. Both
run on Lamina's thread pool and take their outputs from its pool of memory, as Lamina's rows do.
"""

from __future__ import annotations

import ctypes
import math

import numpy as np

from lamina.runtime import cpu
from lamina.runtime.artifact import Artifact, Launch, Output, Pointer, Slot
from lamina.runtime.buffer import Buffer, allocate
from lamina.runtime.executable import Executable

from ..rows import Row, Values
from .base import Call, NotOffered

UNIT = 4096
"""Bytes of a unit of work."""
GRAIN = 32
"""Units that a thread takes at a time."""
_VECTOR = 64
_AT_A_TIME = 8
"""Vectors of an iteration: enough loads under way to cover the memory's latency."""


class Baseline:
    is_baseline = True

    def version(self) -> str:
        return ""

    def prepare(self, row: Row, inputs: Values) -> Call:
        if row.baseline is None:
            raise NotOffered
        values = np.concatenate([inputs[0].reshape(-1)] * row.moved)
        source = allocate(values.nbytes)
        ctypes.memmove(source.address, values.ctypes.data, values.nbytes)
        run = executable(row.baseline, values.nbytes).run
        result = np.array(run([source])[0].as_numpy(np.float32, (values.size,)))
        if row.baseline == "copy" and not np.array_equal(result, values):
            raise ValueError("the copy is wrong")
        if row.baseline == "read" and not math.isclose(_total(result), values.sum(), abs_tol=1):
            raise ValueError("the read is wrong")
        return lambda: run([source])

    def results(self, result: list[Buffer]) -> Values:
        return []


def _total(sums: np.ndarray) -> float:
    """The sum that a read left, one vector for each grain."""
    vectors = sums.reshape(-1, UNIT // 4)[::GRAIN, : _VECTOR // 4]
    return float(vectors.sum(dtype=np.float64))


def executable(kind: str, nbytes: int) -> Executable:
    """A copy or a read of so many bytes, a multiple of UNIT."""
    units, rest = divmod(nbytes, UNIT)
    if rest:
        raise ValueError(f"{nbytes} bytes are no whole units of {UNIT}")
    kernel = cpu.load(cpu.compile_llvm_ir(_copy() if kind == "copy" else _read(), "entry"))
    shape = (nbytes // 4,)
    artifact = Artifact(
        target="",
        inputs=((shape, "float32"),),
        outputs=(Output(shape, "float32", ("slot", 1)),),
        slots=(Slot("input", 0), Slot("output", 0)),
        launches=(Launch(kind, (Pointer(0), Pointer(1)), units, GRAIN),),
        workspace=0,
    )
    return Executable(artifact, {kind: kernel})


_HEAD = f"""
define i32 @entry(ptr %arguments, i64 %begin, i64 %end) {{
entry:
  %source = load ptr, ptr %arguments
  %target.at = getelementptr i64, ptr %arguments, i64 1
  %target = load ptr, ptr %target.at
  %first = mul i64 %begin, {UNIT}
  %last = mul i64 %end, {UNIT}
  br label %loop
loop:
  %at = phi i64 [ %first, %entry ], [ %next, %loop ]
"""
_TAIL = f"""
  %next = add i64 %at, {_VECTOR * _AT_A_TIME}
  %more = icmp slt i64 %next, %last
  br i1 %more, label %loop, label %done
done:
"""


def _loads() -> str:
    lines: list[str] = []
    for number in range(_AT_A_TIME):
        lines += [
            f"  %offset.{number} = add i64 %at, {_VECTOR * number}",
            f"  %from.{number} = getelementptr i8, ptr %source, i64 %offset.{number}",
            f"  %value.{number} = load <16 x float>, ptr %from.{number}, align {_VECTOR}",
        ]
    return "\n".join(lines)


def _copy() -> str:
    stores: list[str] = []
    for number in range(_AT_A_TIME):
        stores += [
            f"  %to.{number} = getelementptr i8, ptr %target, i64 %offset.{number}",
            f"  store <16 x float> %value.{number}, ptr %to.{number}, align {_VECTOR}, "
            "!nontemporal !0",
        ]
    end = "  ret i32 0\n}\n!0 = !{i32 1}\n"
    return _HEAD + _loads() + "\n" + "\n".join(stores) + _TAIL + end


def _read() -> str:
    sums = [
        f"  %sum.{number} = phi <16 x float> [ zeroinitializer, %entry ], [ %new.{number}, %loop ]"
        for number in range(_AT_A_TIME)
    ]
    adds = [
        f"  %new.{number} = fadd <16 x float> %sum.{number}, %value.{number}"
        for number in range(_AT_A_TIME)
    ]
    total = ["  %total.0 = fadd <16 x float> %new.0, zeroinitializer"]
    total += [
        f"  %total.{number} = fadd <16 x float> %total.{number - 1}, %new.{number}"
        for number in range(1, _AT_A_TIME)
    ]
    end = f"""
  %to = getelementptr i8, ptr %target, i64 %first
  store <16 x float> %total.{_AT_A_TIME - 1}, ptr %to, align {_VECTOR}
  ret i32 0
}}
"""
    parts = (_HEAD, *sums, _loads(), *adds)
    return "\n".join(parts) + _TAIL + "\n".join(total) + end
