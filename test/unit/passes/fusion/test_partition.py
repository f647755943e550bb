"""Which ops become one kernel: every op in one group, no cycles, bounds, and time."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from lamina.dialects import dtypes, ops
from lamina.dialects.program import Program
from lamina.passes import eager
from lamina.passes.fusion.explicit import make_explicit
from lamina.passes.fusion.outline import body_of, kind_of, updated_inputs
from lamina.passes.fusion.partition import (
    MAXIMUM_BUFFERS,
    MAXIMUM_WEIGHT,
    Partition,
)
from lamina.passes.schedule.loops import EXPENSIVE, EXPENSIVE_WEIGHT, ROW_CHUNK

F32 = dtypes.float32


def _bodies(program: Program) -> list[Program]:
    partition = Partition(make_explicit(program))
    return [body_of(partition, group).program for group in partition.ordered()]


def _kinds(program: Program) -> list[str]:
    return [kind_of(body) for body in _bodies(program)]


def _weight(body: Program) -> int:
    names = [i.primitive.name for i in body.instructions if i.primitive.kind == "elementwise"]
    return sum(EXPENSIVE_WEIGHT if name in EXPENSIVE else 1 for name in names)


def check(program: Program) -> None:
    """What holds for the partition of any program."""
    explicit = make_explicit(program)
    partition = Partition(explicit)
    order = partition.ordered()
    groups = [group for group in partition.groups if group is not None]
    assert sorted(map(id, order)) == sorted(map(id, groups))
    members = sorted(member for group in order for member in group.members)
    placed = [n for n, group in enumerate(partition.group_of) if group is not None]
    assert members == placed
    defined: set[int] = set(range(partition.first))
    for group in order:
        body = body_of(partition, group)
        for value in body.reads:
            instruction = partition.instruction(value)
            is_creation = instruction is not None and instruction.primitive.kind == "creation"
            assert value in defined or is_creation, "read before it is made"
        assert not defined & set(body.results)
        defined |= set(body.results)
        assert body.results, "a group that nobody needs"
        assert len(body.program.inputs) <= MAXIMUM_BUFFERS
        assert _weight(body.program) <= MAXIMUM_WEIGHT


def _random_program(laws: Any, seed: int, length: int) -> Program:
    rng = random.Random(seed)
    shape = rng.choice([(64,), (4, 8), (3, ROW_CHUNK * 5)])
    draft = laws.Draft(*[(shape, F32)] * 3)
    values = [0, 1, 2]
    for _ in range(length):
        value = rng.choice(values[-6:])
        kind = rng.choice("bbbeerstv")
        if kind == "b":
            op = rng.choice([draft.add, draft.multiply, draft.maximum])
            values.append(op(value, rng.choice(values)))
        elif kind == "e":
            values.append(rng.choice([draft.exp, draft.negative])(value))
        elif kind == "r":
            axes = (rng.randrange(len(shape)),)
            reduced = draft.reduce_sum(value, axes=axes)
            values.append(draft.broadcast(reduced, shape=shape))
        elif kind == "s":
            start = tuple(extent - 1 for extent in shape)
            values.append(draft.slice_(value, start=start, size=shape, step=(-1,) * len(shape)))
        elif kind == "t":
            axis = rng.randrange(len(shape))
            values.append(draft.cumsum(value, axis=axis, reverse=False, inclusive=True))
        else:
            half = tuple(-(-extent // 2) for extent in shape)
            part = draft.slice_(value, start=(0,) * len(shape), size=half, step=(1,) * len(shape))
            values.append(
                draft.slice_update(
                    rng.choice(values), part, start=(0,) * len(shape), step=(1,) * len(shape)
                )
            )
    return draft.program(*rng.sample(values[3:], min(3, length)), values[-1])


@pytest.mark.parametrize("seed", range(150))
def test_random_programs_are_partitioned(laws: Any, seed: int) -> None:
    check(_random_program(laws, seed, 4 + seed))


# Kinds


def test_a_map_is_one_loop(laws: Any) -> None:
    draft = laws.Draft(((4, 5), F32), ((1, 5), F32))
    wide = draft.broadcast(1, shape=(4, 5))
    assert _kinds(draft.program(draft.exp(draft.add(0, wide)))) == ["loop"]


def test_a_softmax_is_one_row(laws: Any) -> None:
    draft = laws.Draft(((4, 5), F32))
    largest = draft.broadcast(draft.reduce_max(0, axes=(1,)), shape=(4, 5))
    powers = draft.exp(draft.subtract(0, largest))
    total = draft.broadcast(draft.reduce_sum(powers, axes=(1,)), shape=(4, 5))
    assert _kinds(draft.program(draft.divide(powers, total))) == ["row"]


def test_reductions_over_one_domain_join_and_others_do_not(laws: Any) -> None:
    draft = laws.Draft(((4, 5), F32))
    first = draft.reduce_sum(0, axes=(1,))
    second = draft.reduce_max(draft.exp(0), axes=(1,))
    assert _kinds(draft.program(first, second)) == ["reduction"]
    third = draft.reduce_sum(0, axes=(0,))
    assert _kinds(draft.program(first, third)) == ["reduction", "reduction"]


def test_siblings_that_read_the_same_join(laws: Any) -> None:
    draft = laws.Draft(((4, 5), F32))
    assert _kinds(draft.program(draft.exp(0), draft.negative(0))) == ["loop"]
    draft = laws.Draft(((4, 5), F32), ((4, 5), F32))
    assert _kinds(draft.program(draft.exp(0), draft.negative(1))) == ["loop", "loop"]


def test_long_rows_that_are_stored_are_split_from_their_reduction(laws: Any) -> None:
    shape = (2, ROW_CHUNK * 8)
    draft = laws.Draft((shape, F32))
    total = draft.broadcast(draft.reduce_sum(draft.exp(0), axes=(1,)), shape=shape)
    kinds = _kinds(draft.program(draft.divide(draft.exp(0), total)))
    assert kinds == ["loop", "reduction", "loop"]


def test_what_is_read_through_a_view_comes_from_memory(laws: Any) -> None:
    draft = laws.Draft(((4, 4), F32))
    turned = draft.transpose(draft.exp(0), permutation=(1, 0))
    assert _kinds(draft.program(draft.negative(turned))) == ["loop", "loop"]


def test_a_product_finishes_with_its_epilogue(laws: Any) -> None:
    draft = laws.Draft(((4, 5), F32), ((5, 6), F32), ((4, 6), F32))
    product = draft.matmul(0, 1)
    program = draft.program(draft.maximum(draft.add(product, 2), 2))
    assert _kinds(program) == ["contraction"]
    assert _kinds(draft.program(product, draft.exp(product))) == ["contraction", "loop"]


def test_a_scan_stands_alone(laws: Any) -> None:
    draft = laws.Draft(((9,), F32))
    running = draft.cumsum(draft.exp(0), axis=0, reverse=False, inclusive=True)
    assert _kinds(draft.program(draft.negative(running))) == ["loop", "scan", "loop"]


def test_pieces_are_written_in_place(laws: Any) -> None:
    draft = laws.Draft(((4, 5), F32), ((4, 2), F32))
    program = draft.program(draft.concatenate(draft.exp(0), draft.negative(1), axis=1))
    bodies = _bodies(program)
    assert len(bodies) == 2
    for body in bodies:
        (updated,) = updated_inputs(body).values()
        assert body.inputs[updated].shape == (4, 7)


def test_an_update_of_an_input_copies_it_first(laws: Any) -> None:
    draft = laws.Draft(((9,), F32), ((2,), F32))
    program = draft.program(draft.slice_update(0, 1, start=(3,), step=(1,)))
    explicit = make_explicit(program)
    names = [instruction.primitive for instruction in explicit.instructions]
    assert names == [ops.empty, ops.slice_update, ops.slice_update]
    used_twice = draft.program(draft.slice_update(draft.exp(0), 1, start=(3,), step=(1,)))
    assert ops.empty not in [i.primitive for i in make_explicit(used_twice).instructions]


# Bounds


def test_one_kernel_reads_a_bounded_number_of_buffers(laws: Any) -> None:
    count = 3 * MAXIMUM_BUFFERS
    draft = laws.Draft(*[((64,), F32)] * count)
    total = 0
    for number in range(1, count):
        total = draft.add(total, number)
    program = draft.program(total)
    check(program)
    assert 3 <= len(_bodies(program)) <= 5


def test_one_kernel_holds_a_bounded_amount_of_work(laws: Any) -> None:
    draft = laws.Draft(((64,), F32))
    value = 0
    for _ in range(100):
        value = draft.exp(value)
    program = draft.program(value)
    check(program)
    fewest = -(-100 * EXPENSIVE_WEIGHT // MAXIMUM_WEIGHT)
    assert fewest <= len(_bodies(program)) <= fewest + 1


# Time


def _chain(draft: Any, count: int) -> list[int]:
    value = 0
    for number in range(count):
        value = [draft.negative, draft.abs_, draft.floor][number % 3](value)
    return [value]


def _random_graph(draft: Any, count: int) -> list[int]:
    rng = random.Random(0)
    values = [0]
    for _ in range(count):
        op = rng.choice([draft.add, draft.multiply, draft.maximum])
        values.append(op(values[-1], rng.choice(values)))
    return [values[-1]]


def _views_of_one(draft: Any, count: int) -> list[int]:
    hub = draft.exp(0)
    values = []
    for number in range(count // 2):
        part = draft.slice_(hub, start=(number % 60,), size=(4,), step=(1,))
        other = draft.slice_(0, start=(number % 59,), size=(4,), step=(1,))
        values.append(draft.add(part, other))
    return values


def _chain_of_views(draft: Any, count: int) -> list[int]:
    value = 0
    for _ in range(count):
        value = draft.slice_(value, start=(63,), size=(64,), step=(-1,))
    return [draft.exp(value)]


def _updates(draft: Any, count: int) -> list[int]:
    value = 0
    for number in range(count // 3):
        part = draft.slice_(value, start=(number % 64,), size=(1,), step=(1,))
        value = draft.slice_update(value, draft.negative(part), start=(number % 64,), step=(1,))
    return [value]


def _norms(draft: Any, count: int) -> list[int]:
    value = 0
    for _ in range(count // 3):
        total = draft.broadcast(draft.reduce_sum(value, axes=(0,)), shape=(64,))
        value = draft.subtract(value, total)
    return [value]


def _forth_and_back(draft: Any, count: int) -> list[int]:
    values = [0]
    for _ in range(count // 2):
        values.append(draft.cumsum(values[-1], axis=0, reverse=False, inclusive=True))
    gradient = values[-1]
    for value in reversed(values[:-1]):
        gradient = draft.cumsum(
            draft.multiply(gradient, value), axis=0, reverse=True, inclusive=True
        )
    return [gradient]


GRAPHS = [
    _chain, _random_graph, _views_of_one, _chain_of_views, _updates, _norms, _forth_and_back,
]  # fmt: skip


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__.strip("_"))
def test_time_is_in_proportion_to_the_ops(laws: Any, graph: Any) -> None:
    draft = laws.Draft(((64,), F32))
    draft.type_of = _fast_types(draft)
    program = draft.program(*graph(draft, 12_000))
    start = time.perf_counter()
    lowered = eager.lower(program)
    assert time.perf_counter() - start < 20
    assert lowered.launches


def _fast_types(draft: Any) -> Any:
    first, instructions = len(draft.builder.inputs), draft.builder.instructions

    def type_of(value: int) -> Any:
        return draft.builder.inputs[value] if value < first else instructions[value - first].type

    return type_of
