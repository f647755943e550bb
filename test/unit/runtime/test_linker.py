"""The linker: relocations of both architectures, checked by decoding what they point at."""

from __future__ import annotations

import struct

import pytest

from lamina.errors import CodegenError
from lamina.runtime import llvm
from lamina.runtime.image import Image
from lamina.runtime.linker import link

TABLE = tuple(range(1000, 1000 + 64))
WITH_CONSTANTS = f"""
@table = constant [64 x i64] [{", ".join(f"i64 {value}" for value in TABLE)}], align 16
define i64 @inner(i64 %i) noinline {{
  %at = getelementptr i64, ptr @table, i64 %i
  %value = load i64, ptr %at
  ret i64 %value
}}
define i32 @entry(ptr %out, i64 %b, i64 %c) {{
  %x = call i64 @inner(i64 %b)
  store volatile i64 %x, ptr %out
  %y = load i64, ptr getelementptr (i64, ptr @table, i64 5)
  store volatile i64 %y, ptr %out
  ret i32 0
}}
"""
AARCH64 = llvm.Target("aarch64-unknown-linux-gnu", "generic", "")


def words(code: bytes) -> list[int]:
    return [word for (word,) in struct.iter_unpack("<I", code[: len(code) // 4 * 4])]


def test_aarch64_addresses_of_constants() -> None:
    """``adrp`` and the following ``add`` or ``ldr`` give the table's place in the image."""
    image = link(llvm.compile_object(WITH_CONSTANTS, "entry", AARCH64), "entry")
    table = image.code.index(struct.pack("<64q", *TABLE))
    pages: dict[int, int] = {}
    found = []
    for index, word in enumerate(words(image.code)):
        place = 4 * index
        if place >= table:
            break
        if word >> 24 & 0x9F == 0x90:  # adrp
            distance = (word >> 29 & 3) | (word >> 5 & 0x7FFFF) << 2
            pages[word & 31] = (place >> 12) + distance << 12
        elif word >> 22 == 0x244 and (word >> 5 & 31) in pages:  # add, 64 bits, immediate
            found.append(pages[word >> 5 & 31] + (word >> 10 & 0xFFF))
        elif word >> 22 == 0x3E5 and (word >> 5 & 31) in pages:  # ldr, 64 bits
            found.append(pages[word >> 5 & 31] + (word >> 10 & 0xFFF) * 8)
    assert found
    assert all(table <= address < table + 512 for address in found)
    assert any(address in (table, table + 40) for address in found)


def test_aarch64_calls_reach_their_function() -> None:
    image = link(llvm.compile_object(WITH_CONSTANTS, "entry", AARCH64, "default<O0>"), "entry")
    calls = []
    for index, word in enumerate(words(image.code)):
        if word >> 26 == 0x25:  # bl
            offset = word & 0x3FFFFFF
            calls.append(4 * index + 4 * (offset - (offset >> 25 << 26)))
    starts = set(range(0, len(image.code), 4)) - {image.entry_offset}
    assert calls
    assert set(calls) <= starts


def test_sections_keep_their_alignment() -> None:
    text = """
    @wide = constant <16 x float> <float 1.0, float 2.0, float 3.0, float 4.0,
      float 5.0, float 6.0, float 7.0, float 8.0, float 9.0, float 10.0, float 11.0, float 12.0,
      float 13.0, float 14.0, float 15.0, float 16.0>, align 64
    define i32 @entry(ptr %out, i64 %i, i64 %c) {
      %at = getelementptr float, ptr @wide, i64 %i
      %value = load float, ptr %at
      store float %value, ptr %out
      ret i32 0
    }
    """
    image = link(llvm.compile_object(text, "entry"), "entry")
    assert image.code.index(struct.pack("<16f", *range(1, 17))) % 64 == 0


def test_an_image_survives_packing() -> None:
    image = Image(b"some code", 5)
    assert Image.unpack(image.pack()) == image


@pytest.mark.parametrize("data", [b"", b"1234", bytes(8), b"\xff" * 30])
def test_other_bytes_are_no_image(data: bytes) -> None:
    with pytest.raises(CodegenError, match="not a code image"):
        Image.unpack(data)


@pytest.mark.parametrize("length", [0, 10, 64, 300, 700])
def test_a_damaged_object_is_refused(length: int) -> None:
    data = llvm.compile_object(WITH_CONSTANTS, "entry")
    with pytest.raises(CodegenError):
        link(data[:length], "entry")


def test_the_entry_must_exist() -> None:
    data = llvm.compile_object(WITH_CONSTANTS, "entry")
    with pytest.raises(CodegenError, match="no symbol 'start'"):
        link(data, "start")


def test_absolute_addresses_are_refused() -> None:
    text = """
    @target = constant i32 7
    @address = constant ptr @target
    define i32 @entry(ptr %out, i64 %i, i64 %c) {
      %at = load volatile ptr, ptr @address
      store ptr %at, ptr %out
      ret i32 0
    }
    """
    with pytest.raises(CodegenError, match=r"writable data|relative"):
        link(llvm.compile_object(text, "entry"), "entry")
