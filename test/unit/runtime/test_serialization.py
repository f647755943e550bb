"""Artifacts as bytes: round trips, and damaged input that is refused."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.runtime import serialization
from lamina.runtime.artifact import Artifact, Launch, Output, Pointer, Slot
from lamina.runtime.cache_file import DamagedEntry
from lamina.runtime.serialization import dump, load

KERNELS = tuple(f"{number:064x}" for number in range(5))
TYPICAL = Artifact(
    target="x86_64-unknown-linux-gnu cpu=znver3 +avx2,+fma",
    inputs=(((1024, 1024), "float32"), ((1024,), "float32"), ((), "int32")),
    outputs=(
        Output((1024, 1024), "float32", ("slot", 3), (0,)),
        Output((1024 * 1024,), "float32", ("output", 0)),
        Output((), "int32", ("input", 2)),
    ),
    slots=(
        Slot("input", 0),
        Slot("input", 1),
        Slot("workspace", offset=4096),
        Slot("output", 0),
        Slot("literal", offset=8),
        Slot("library", name="cblas_sgemm"),
    ),
    launches=tuple(
        Launch(kernel, (Pointer(0), Pointer(2, 64), Pointer(3), Pointer(5), 1024, -1, 4, 1), 64, 4)
        for kernel in KERNELS
    ),
    workspace=8192,
)
EMPTY = Artifact("cpu", (), (), (), (), 0)

sizes = st.integers(0, 2**63 - 1)
shapes = st.lists(sizes, max_size=4).map(tuple)
words = st.integers(-(2**63), 2**63 - 1)


@st.composite
def artifacts(draw) -> Artifact:
    inputs = tuple(draw(st.lists(st.tuples(shapes, st.sampled_from(["float32", "bool"])))))
    slots = [Slot("workspace", 0, draw(sizes)), Slot("library", name=draw(st.text()))]
    slots += [Slot("input", number) for number in range(len(inputs))]
    pointers = st.builds(Pointer, st.integers(0, len(slots) - 1), sizes)
    launches = st.builds(
        Launch, st.text(), st.lists(pointers | words, max_size=9).map(tuple), sizes, sizes
    )
    outputs = [Output(draw(shapes), "float32", ("slot", 0), tuple(range(len(inputs))))]
    outputs += [Output((), "bool", ("input", i)) for i in range(len(inputs))]
    outputs.append(Output((1,), "float32", ("output", 0)))
    return Artifact(
        draw(st.text()),
        inputs,
        tuple(outputs),
        tuple(slots),
        tuple(draw(st.lists(launches, max_size=5))),
        draw(sizes),
    )


@pytest.mark.parametrize("artifact", [TYPICAL, EMPTY])
def test_round_trip(artifact):
    again = load(dump(artifact))
    assert again == artifact
    assert dump(again) == dump(artifact)


@settings(max_examples=60, deadline=None)
@given(artifacts())
def test_any_artifact_makes_the_round_trip(artifact):
    assert load(dump(artifact)) == artifact


def test_the_fields_are_those_of_this_version():
    # Whoever changes a field raises ARTIFACT_VERSION, then this list.
    kinds = (Artifact, Launch, Output, Pointer, Slot)
    names = {kind.__name__: [field.name for field in dataclasses.fields(kind)] for kind in kinds}
    assert (serialization.ARTIFACT_VERSION, names) == (
        1,
        {
            "Artifact": ["target", "inputs", "outputs", "slots", "launches", "workspace"],
            "Launch": ["kernel", "arguments", "units", "grain"],
            "Output": ["shape", "dtype", "source", "donated"],
            "Pointer": ["slot", "offset"],
            "Slot": ["kind", "index", "offset", "name"],
        },
    )


def test_every_truncation_is_refused():
    data = dump(TYPICAL)
    for length in range(len(data)):
        with pytest.raises(DamagedEntry):
            load(data[:length])


def test_a_changed_byte_is_refused_or_gives_a_sound_artifact():
    data = dump(TYPICAL)
    for position in range(len(data)):
        for byte in (b"[", b"9", b"-", b'"', b"\xff"):
            try:
                found = load(data[:position] + byte + data[position + 1 :])
            except DamagedEntry:
                continue
            slots = len(found.slots)
            for launch in found.launches:
                for word in launch.arguments:
                    assert isinstance(word, int) or 0 <= word.slot < slots
            for slot in found.slots:
                assert slot.kind != "input" or slot.index < len(found.inputs)


def changed(position: int, value: object) -> bytes:
    fields = json.loads(dump(TYPICAL))
    fields[position] = value
    return json.dumps(fields).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"3",
        b"[]",
        b"{}",
        b"[" * 100_000,
        changed(0, 2),
        changed(0, "1"),
        changed(1, 3),
        changed(2, [[[-1], "float32"]]),
        changed(2, [[[1.5], "float32"]]),
        changed(2, [[[True], "float32"]]),
        changed(2, []),
        changed(3, [[[1], "float32", ["slot", 6], []]]),
        changed(3, [[[1], "float32", ["output", 0], []]]),
        changed(3, [[[1], "float32", ["elsewhere", 0], []]]),
        changed(3, [[[1], "float32", ["slot", 0], [3]]]),
        changed(4, [["stack", 0, 0, ""]]),
        changed(4, [["input", 3, 0, ""]]),
        changed(4, []),
        changed(5, [["k", [[6, 0]], 1, 1]]),
        changed(5, [["k", [[0, -8]], 1, 1]]),
        changed(5, [["k", [2**63], 1, 1]]),
        changed(5, [["k", [1.0], 1, 1]]),
        changed(5, [["k", [True], 1, 1]]),
        changed(5, [["k", [], -1, 1]]),
        changed(6, None),
        changed(6, 2**63),
    ],
)
def test_what_is_no_artifact_is_refused(data):
    with pytest.raises(DamagedEntry):
        load(data)


def test_reading_and_writing_are_quick():
    data = dump(TYPICAL)

    def best(action) -> float:
        seconds = []
        for _ in range(200):
            start = time.perf_counter()
            action()
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    # 25 and 35 microseconds on a slow machine; the bounds leave room for a busy one.
    assert best(lambda: load(data)) < 200e-6
    assert best(lambda: dump(TYPICAL)) < 200e-6
