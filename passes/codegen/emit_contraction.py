"""Emits the kernel of a contraction: a call of a BLAS for each block of the result."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import func, scf

from ..schedule.contraction import ARGUMENTS
from ..schedule.kernel import Contraction
from . import emit_kernel
from .emitter import Emitter, Value

ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE = 101, 111, 112
"""CBLAS's enumerations."""
POINTERS = 4
"""How many of a contraction's argument words, the first, are addresses."""
EPILOGUE_SUFFIX = "_epilogue"


def emit(kernel: Contraction, name: str) -> None:
    """Emits ``func.func @name(begin, end, arguments...)`` at the insertion point."""
    epilogue_types: list[ir.Type] = []
    if kernel.epilogue is not None:
        emit_kernel.emit(kernel.epilogue, name + EPILOGUE_SUFFIX, "private")
        epilogue_types = emit_kernel.argument_types(kernel.epilogue)
    emission = _Emission(kernel, name + EPILOGUE_SUFFIX)
    index = emission.e.index_type
    types = [index, index] + [emission.pointer] * POINTERS + [index] * (len(ARGUMENTS) - POINTERS)
    types += epilogue_types
    function = func.FuncOp(name, ir.FunctionType.get(types, []))
    block = function.add_entry_block()
    with ir.InsertionPoint(block):
        emission.function(list(block.arguments))
        func.ReturnOp([])


class _Emission:
    def __init__(self, kernel: Contraction, epilogue: str) -> None:
        self.kernel = kernel
        self.epilogue = epilogue
        self.e = Emitter()
        self.pointer = ir.Type.parse("!llvm.ptr")
        self.element = "f32" if kernel.dtype.size == 4 else "f64"

    def function(self, arguments: list[Value]) -> None:
        """The loop over blocks."""
        count = 2 + len(ARGUMENTS)
        self.words: dict[str, Value] = dict(zip(ARGUMENTS, arguments[2:count], strict=True))
        self.epilogue_words = arguments[count:]
        one = self.e.index(1)
        loop = scf.ForOp(arguments[0], arguments[1], one, [])
        with ir.InsertionPoint(loop.body):
            self._block(loop.induction_variable)
            scf.YieldOp([])

    def _blocks(self, extent: str, block: str) -> Value:
        e = self.e
        above = e.subi(e.addi(self.words[extent], self.words[block]), e.index(1))
        return e.divui(above, self.words[block])

    def _block(self, unit: Value) -> None:
        e, words = self.e, self.words
        across = self._blocks("columns", "block_columns")
        down = self._blocks("rows", "block_rows")
        block = e.remui(unit, across)
        column = e.muli(block, words["block_columns"])
        unit = e.divui(unit, across)
        row = e.muli(e.remui(unit, down), words["block_rows"])
        batch = e.divui(unit, down)
        rows = e.minui(words["block_rows"], e.subi(words["rows"], row))
        columns = e.minui(words["block_columns"], e.subi(words["columns"], column))
        lhs_transposed, rhs_transposed = self.kernel.transposed
        lhs = e.addi(
            e.muli(batch, words["lhs_batch"]),
            row if lhs_transposed else e.muli(row, words["lhs_step"]),
        )
        rhs = e.addi(
            e.muli(batch, words["rhs_batch"]),
            e.muli(column, words["rhs_step"]) if rhs_transposed else column,
        )
        line = e.addi(e.muli(batch, words["rows"]), row)
        result = e.addi(e.muli(line, words["columns"]), column)
        self._call(
            rows, columns, self._at("lhs", lhs), self._at("rhs", rhs), self._at("result", result)
        )
        if self.kernel.epilogue is not None:
            self._finish(line, rows, across, block)

    def _finish(self, line: Value, rows: Value, across: Value, block: Value) -> None:
        """Runs the epilogue over the rows of a block: its units are chunks of rows."""
        e, one = self.e, self.e.index(1)
        loop = scf.ForOp(line, e.addi(line, rows), one, [])
        with ir.InsertionPoint(loop.body):
            unit = e.addi(e.muli(loop.induction_variable, across), block)
            operands = [unit, e.addi(unit, one), *self.epilogue_words]
            callee = ir.FlatSymbolRefAttr.get(self.epilogue)
            e.effect("func.call", operands, {"callee": callee})
            scf.YieldOp([])

    def _at(self, buffer: str, position: Value) -> Value:
        position = self.e.index_cast(position, "i64")
        attributes = {
            "elem_type": ir.TypeAttr.get(self.e.type(self.element)),
            "rawConstantIndices": ir.DenseI32ArrayAttr.get([-(2**31)]),
        }
        operands = [self.words[buffer], position]
        return self.e.op("llvm.getelementptr", operands, self.pointer, attributes)

    def _integer(self, value: Value | int) -> Value:
        if isinstance(value, int):
            return self.e.constant(value, "i32")
        return self.e.index_cast(value, "i32")

    def _call(self, rows: Value, columns: Value, lhs: Value, rhs: Value, result: Value) -> None:
        words, e = self.words, self.e
        flags = [TRANSPOSE if flag else NO_TRANSPOSE for flag in self.kernel.transposed]
        operands = [
            words["gemm"],
            *map(self._integer, (ROW_MAJOR, *flags, rows, columns, words["depth"])),
            e.constant(1.0, self.element),
            lhs, self._integer(words["lhs_step"]),
            rhs, self._integer(words["rhs_step"]),
            e.constant(0.0, self.element),
            result, self._integer(words["columns"]),
        ]  # fmt: skip
        attributes = {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        }
        e.effect("llvm.call", operands, attributes)
