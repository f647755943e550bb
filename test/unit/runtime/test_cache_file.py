"""The entry format: what goes in comes out, and nothing else does."""

from __future__ import annotations

import struct

import pytest

from lamina.runtime import cache_file
from lamina.runtime.cache_file import DamagedEntry, entry_name, pack, unpack

PARTS = {"image": bytes(range(40)), "empty": b"", "info": b"{}"}
ENTRY = pack("kernel", b"\x00\xffkey", 12.5, {"name": "gelu", "ms": 3}, PARTS)


def test_round_trip():
    found = unpack(ENTRY)
    assert found.kind == "kernel"
    assert found.key == b"\x00\xffkey"
    assert found.created == 12.5
    assert found.metadata == {"name": "gelu", "ms": 3}
    assert found.parts == PARTS
    assert list(found.parts) == list(PARTS)


def test_an_entry_may_have_no_parts():
    assert unpack(pack("program", b"", 0.0, {}, {})).parts == {}


def test_part_names_are_any_text():
    parts = {"größe \n\x00": b"1", "": b"2"}
    assert unpack(pack("program", b"k", 0.0, {}, parts)).parts == parts


def test_directory_can_be_read_alone():
    directory_bytes, total = cache_file.read_head(ENTRY[: cache_file.HEAD_BYTES])
    start = cache_file.HEAD_BYTES
    directory = cache_file.read_directory(ENTRY[start : start + directory_bytes])
    assert total == len(ENTRY)
    assert directory.sizes == {"image": 40, "empty": 0, "info": 2}
    assert directory.key == b"\x00\xffkey"


def test_every_flipped_bit_is_noticed():
    for position in range(len(ENTRY)):
        for bit in range(8):
            damaged = bytearray(ENTRY)
            damaged[position] ^= 1 << bit
            with pytest.raises(DamagedEntry):
                unpack(bytes(damaged))


def test_every_truncation_is_noticed():
    for length in range(len(ENTRY)):
        with pytest.raises(DamagedEntry):
            unpack(ENTRY[:length])


def test_bytes_after_the_end_are_noticed():
    with pytest.raises(DamagedEntry, match="bytes where its head says"):
        unpack(ENTRY + b"\0")


def test_another_version_is_refused():
    other = ENTRY[:8] + struct.pack("<I", cache_file.FORMAT_VERSION + 1) + ENTRY[12:]
    with pytest.raises(DamagedEntry, match="format version"):
        unpack(other)


@pytest.mark.parametrize(
    "directory",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        b'{"kind":"k","key":"zz","created":0,"metadata":{},"parts":[]}',
        b'{"kind":"k","key":"","created":0,"metadata":3,"parts":[]}',
        b'{"kind":"k","key":"","created":0,"metadata":{},"parts":[["a",-1]]}',
        b'{"kind":"k","key":"","created":0,"metadata":{},"parts":[["a",0],["a",0]]}',
        b'{"kind":"k","key":"","created":0,"metadata":{},"parts":[["a"]]}',
    ],
)
def test_a_directory_of_another_form_is_refused(directory):
    with pytest.raises(DamagedEntry):
        cache_file.read_directory(directory)


def test_names_are_short_and_differ():
    names = {entry_name(kind, key) for kind in ("a", "ab", "b") for key in (b"", b"b", b"bb")}
    assert len(names) == 9
    assert entry_name("kernel", b"x" * 100_000).isalnum()
    assert len(entry_name("kernel", b"x" * 100_000)) == 32


def test_name_is_equal_in_every_process():
    assert entry_name("kernel", b"key") == "d2dffd3cfeb10ddafb979807fae862c3"
