"""The body of a fusion as a program of its own, and the kind that names it."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ops
from ...dialects.program import Program, ProgramBuilder
from ..schedule.body import domain_of
from .partition import Group, Partition


@dataclass(frozen=True, slots=True)
class FusionBody:
    """A group as a program of its own.

    Attributes:
        program: the body; its inputs are dense buffers.
        reads: for each input the value of the whole program that it is.
        results: for each output the value of the whole program that it is.
        members: the instruction numbers of the whole program that it computes.
    """

    program: Program
    reads: tuple[int, ...]
    results: tuple[int, ...]
    members: tuple[int, ...]


def body_of(partition: Partition, group: Group) -> FusionBody:
    """The body of a group; views and small constants are repeated in each body that reads them."""
    program = partition.program
    reads = tuple(sorted(group.reads))
    builder = ProgramBuilder(tuple(program.type_of(value) for value in reads))
    local = {value: number for number, value in enumerate(reads)}

    def number_of(value: int) -> int:
        pending = [value]
        while pending:
            current = pending[-1]
            instruction = partition.instruction(current)
            if current in local:
                pending.pop()
                continue
            assert instruction is not None, "an input that is not read"
            waiting = [operand for operand in instruction.operands if operand not in local]
            if waiting:
                pending.extend(waiting)
                continue
            operands = tuple(local[operand] for operand in instruction.operands)
            local[current] = builder.add(
                instruction.primitive, operands, instruction.attributes, instruction.type
            )
            pending.pop()
        return local[value]

    inside = set(group.members)
    for member in group.members:
        number_of(partition.first + member)
    results = tuple(
        partition.first + member
        for member in group.members
        if partition.is_needed(partition.first + member, inside)
    )
    body = builder.finish([local[value] for value in results])
    return FusionBody(body, reads, results, tuple(group.members))


def kind_of(body: Program) -> str:
    """The kind that names a fusion: loop, reduction, row, scan or contraction."""
    kinds = {instruction.primitive.kind for instruction in body.instructions}
    for kind in ("contraction", "scan"):
        if kind in kinds:
            return kind
    if "reduction" not in kinds:
        return "loop"
    domain, axes = domain_of(body)
    unit = tuple(1 if i in axes else n for i, n in enumerate(domain))
    is_row = any(body.type_of(value).shape == domain and domain != unit for value in body.outputs)
    return "row" if is_row else "reduction"


def updated_inputs(body: Program) -> dict[int, int]:
    """For the outputs of a body that are updates in place, the inputs that they update."""
    updated: dict[int, int] = {}
    first = len(body.inputs)
    for number, value in enumerate(body.outputs):
        if value >= first and body.instructions[value - first].primitive is ops.slice_update:
            value = body.instructions[value - first].operands[0]
            while value >= first:
                value = body.instructions[value - first].operands[0]
            updated[number] = value
    return updated
