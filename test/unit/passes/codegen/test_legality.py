"""What LLVM IR has no words for is refused before LLVM sees it."""

from __future__ import annotations

import pytest
from mlir import ir

from lamina.dialects import mlir
from lamina.errors import CodegenError
from lamina.passes.codegen import to_llvm

KERNEL = """
func.func @kernel(%begin: index, %end: index, %buffer: memref<?xf32>) {
  %value = memref.load %buffer[%begin] : memref<?xf32>
  %result = BODY : f32
  memref.store %result, %buffer[%begin] : memref<?xf32>
  return
}
"""


def lower(body: str) -> str:
    with mlir.session():
        module = ir.Module.parse(KERNEL.replace("BODY", body))
        to_llvm.lower(module.operation)
        return to_llvm.to_text(module)


def test_an_op_without_a_lowering_is_named():
    with pytest.raises(CodegenError, match=r"math\.erf has no lowering to LLVM IR"):
        lower("math.erf %value")


def test_a_legal_kernel_gets_an_entry_point():
    assert "define i32 @kernel_entry(ptr" in lower("arith.addf %value, %value")
