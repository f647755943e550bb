"""Matrix products: which layouts a BLAS takes, their schedule, and their kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from ...dialects import ops
from ...dialects.program import Instruction, Program, without_dead_code
from ...errors import CodegenError, PassError
from . import views
from .kernel import Address, Contraction, KernelLaunch, Schedule
from .loops import schedule_blocks
from .views import View

BLOCK_ROWS, BLOCK_COLUMNS = 256, 1024
"""The block of the result that one unit computes with one call."""
SERIAL_WORK = 1 << 20
"""Products of fewer multiplications run on the calling thread."""
BLAS_LIMIT = 2**31 - 1
"""The largest extent or stride a 32-bit BLAS takes."""

ARGUMENTS = (
    "gemm", "lhs", "rhs", "result", "rows", "columns", "depth", "lhs_step", "rhs_step",
    "lhs_batch", "rhs_batch", "block_rows", "block_columns",
)  # fmt: skip
"""The argument words of a contraction: addresses, extents, steps between rows, and batches."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A batch of matrices as a BLAS reads it.

    Attributes:
        transposed: True if columns, not rows, are contiguous.
        step: elements from one row (or column) to the next.
        batch: elements from one matrix to the next.
        offset: elements before the first.
    """

    transposed: bool
    step: int
    batch: int
    offset: int


def matrix_of(view: View) -> Matrix | None:
    """How a BLAS reads a view, or None if it cannot."""
    rows, columns = view.shape[-2:]
    row_stride, column_stride = view.strides[-2:]
    batch = views.reshape(View(view.shape[:-2], view.strides[:-2]), (prod(view.shape[:-2]),))
    if batch is None:
        return None
    batch_stride = batch.strides[0] if batch.shape[0] > 1 else 0
    if columns == 1 or column_stride == 1:
        step = row_stride if rows > 1 else max(columns, 1)
        if step >= max(columns, 1) and (columns == 1 or column_stride == 1):
            return Matrix(False, step, batch_stride, view.offset)
    if rows == 1 or row_stride == 1:
        step = column_stride if columns > 1 else max(rows, 1)
        if step >= max(rows, 1):
            return Matrix(True, step, batch_stride, view.offset)
    return None


def schedule(program: Program) -> Schedule:
    """The launch of a body that holds one ``matmul`` of views of its inputs, and its epilogue."""
    number = next(
        i for i, entry in enumerate(program.instructions) if entry.primitive is ops.matmul
    )
    product = program.instructions[number]
    shape, dtype = product.type
    rows, columns = shape[-2:]
    batch = prod(shape[:-2])
    depth = program.type_of(product.operands[0]).shape[-1]
    if prod(shape) == 0:
        return Schedule(())
    matrices: list[Matrix] = []
    addresses: list[Address] = []
    for operand in product.operands:
        source, view = _read(program, operand)
        matrix = matrix_of(view)
        if matrix is None:
            raise PassError(f"matmul cannot read {view}")
        matrices.append(matrix)
        addresses.append(Address("input", source, matrix.offset * dtype.size))
    if max(rows, columns, depth, *(matrix.step for matrix in matrices)) > BLAS_LIMIT:
        raise CodegenError(f"matmul of {shape} is beyond the sizes of a 32-bit BLAS")
    block_rows = min(BLOCK_ROWS, rows)
    block_columns = min(columns, BLOCK_COLUMNS if rows >= BLOCK_ROWS else BLOCK_COLUMNS // 2)
    target, scratch = _target(program, len(program.inputs) + number)
    kernel = Contraction(dtype, (matrices[0].transposed, matrices[1].transposed))
    extra: tuple[Address | int, ...] = ()
    if program.outputs != (len(program.inputs) + number,):
        epilogue, extra = schedule_blocks(_epilogue(program, number), block_columns)
        extra = tuple(target if word == _product_address(program) else word for word in extra)
        kernel = replace(kernel, epilogue=epilogue)
    name = "cblas_sgemm" if dtype.size == 4 else "cblas_dgemm"
    arguments = (
        Address("library", 0, name=name), *addresses, target,
        rows, columns, depth, *(matrix.step for matrix in matrices),
        *(matrix.batch for matrix in matrices), block_rows, block_columns, *extra,
    )  # fmt: skip
    units = batch * -(-rows // block_rows) * -(-columns // block_columns)
    grain = 1 if batch * rows * columns * max(depth, 1) > SERIAL_WORK else units
    return Schedule((KernelLaunch(kernel, arguments, units, grain),), scratch)


def _product_address(program: Program) -> Address:
    """What stands for the product among an epilogue's inputs."""
    return Address("input", len(program.inputs))


def _target(program: Program, product: int) -> tuple[Address, tuple[int, ...]]:
    """Where the product goes: an output, one that the epilogue overwrites in place, or scratch."""
    type_ = program.type_of(product)
    for number, value in enumerate(program.outputs):
        if value == product:
            return Address("output", number), ()
    for number, value in enumerate(program.outputs):
        if program.type_of(value) == type_:
            return Address("output", number), ()
    return Address("scratch", 0), (type_.nbytes,)


def _epilogue(program: Program, number: int) -> Program:
    """The body without its product, which becomes a further input."""
    first = len(program.inputs)
    product = program.instructions[number]
    numbers = list(range(first))
    instructions: list[Instruction] = []
    for i, instruction in enumerate(program.instructions):
        if i == number:
            numbers.append(first)
            continue
        numbers.append(first + 1 + len(instructions))
        operands = tuple(numbers[operand] for operand in instruction.operands)
        instructions.append(instruction._replace(operands=operands))
    outputs = tuple(numbers[value] for value in program.outputs)
    inputs = (*program.inputs, product.type)
    return without_dead_code(Program(inputs, instructions, outputs))


def _read(program: Program, value: int) -> tuple[int, View]:
    """The input that a chain of views reads, and the view."""
    chain: list[int] = []
    first = len(program.inputs)
    while value >= first:
        chain.append(value)
        value = program.instructions[value - first].operands[0]
    view: View | None = views.dense(program.inputs[value].shape)
    for link in reversed(chain):
        instruction = program.instructions[link - first]
        assert view is not None
        view = views.apply(instruction.primitive, view, instruction.attributes)
    assert view is not None
    return value, view
