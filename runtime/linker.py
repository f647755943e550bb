"""A small linker: a relocatable ELF object becomes a flat image that runs anywhere.

Code and constants lie in one block whose references are all relative to the program counter, so an
image is loaded by copying it to fresh pages. What would need more than that (writable data, symbols
from elsewhere, absolute addresses) is refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ..errors import CodegenError
from .image import Image

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")

_X86_64, _AARCH64 = 62, 183
_RELOCATABLE = 1
_PROGBITS, _SYMTAB, _RELA, _NOBITS, _REL = 1, 2, 4, 8, 9
_WRITE, _ALLOC, _EXECUTE, _THREAD_LOCAL = 1, 2, 4, 0x400
_UNDEFINED, _RESERVED = 0, 0xFF00
_PAGE = 4096

_UNWIND_SECTIONS = (".eh_frame", ".note", ".llvm")
"""Allocated sections that running code does not read."""


class _Section:
    """A section; ``address`` is its place in the image, once it has one."""

    __slots__ = ("address", "alignment", "data", "flags", "info", "kind", "link", "name")

    def __init__(
        self, name: str, kind: int, flags: int, alignment: int, data: bytes, link: int, info: int
    ) -> None:
        self.name = name
        self.kind = kind
        self.flags = flags
        self.alignment = alignment
        self.data = data
        self.link = link
        self.info = info
        self.address: int | None = None


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


def link(data: bytes, entry: str) -> Image:
    """The image of a relocatable ELF object of this or another machine.

    Args:
        data: the object.
        entry: the symbol that runs.

    Raises CodegenError when the object refers to symbols it does not define (all are named), holds
    writable data, or uses a relocation that is not relative to the program counter.
    """
    try:
        machine, sections = _read(data)
        symbols = _read_symbols(sections)
        code = _lay_out(sections)
        _check_defined(sections, symbols)
        for place, kind, symbol, addend in _relocations(sections):
            target = _address(sections, symbols[symbol])
            _relocate(machine, code, place, kind, target + addend)
        found = next(symbol for symbol in symbols if symbol.name == entry and symbol.section)
        return Image(bytes(code), _address(sections, found))
    except StopIteration:
        raise CodegenError(f"the object defines no symbol {entry!r}") from None
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, CodegenError):
            raise
        raise CodegenError(f"{len(data)} bytes are not an ELF object: {error}") from error


def _read(data: bytes) -> tuple[int, list[_Section]]:
    header = _HEADER.unpack_from(data)
    identification, kind, machine, table, size, count, names = (
        *header[:3],
        *(header[6], header[11], header[12], header[13]),
    )
    if identification[:6] != b"\x7fELF\x02\x01" or kind != _RELOCATABLE:
        raise CodegenError("not a little-endian 64-bit relocatable ELF object")
    if machine not in (_X86_64, _AARCH64):
        raise CodegenError(f"an ELF object for machine {machine}, which is not supported")
    raw = [_SECTION.unpack_from(data, table + i * size) for i in range(count)]
    name_table = data[raw[names][4] : raw[names][4] + raw[names][5]]
    sections = []
    for name, kind, flags, _, offset, length, linked, info, alignment, _ in raw:
        content = bytes(length) if kind == _NOBITS else data[offset : offset + length]
        sections.append(
            _Section(_string(name_table, name), kind, flags, alignment, content, linked, info)
        )
    return machine, sections


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()


def _read_symbols(sections: list[_Section]) -> list[_Symbol]:
    for section in sections:
        if section.kind == _SYMTAB:
            names = sections[section.link].data
            return [
                _Symbol(_string(names, name), index, value)
                for name, _, _, index, value, _ in _SYMBOL.iter_unpack(section.data)
            ]
    return []


def _lay_out(sections: list[_Section]) -> bytearray:
    """Gives loaded sections their addresses, code first, and puts them together."""
    loaded = [section for section in sections if _is_loaded(section)]
    for section in loaded:
        if section.flags & (_WRITE | _THREAD_LOCAL) and section.data:
            raise CodegenError(f"the object has writable data, in section {section.name}")
        if section.alignment > _PAGE:
            raise CodegenError(f"section {section.name} is aligned to {section.alignment} bytes")
    code = bytearray()
    for section in sorted(loaded, key=lambda section: not section.flags & _EXECUTE):
        code += bytes(-len(code) % max(section.alignment, 1))
        section.address = len(code)
        code += section.data
    return code


def _is_loaded(section: _Section) -> bool:
    return (
        bool(section.flags & _ALLOC)
        and section.kind in (_PROGBITS, _NOBITS)
        and not section.name.startswith(_UNWIND_SECTIONS)
    )


def _check_defined(sections: list[_Section], symbols: list[_Symbol]) -> None:
    missing = sorted(
        {
            symbols[symbol].name
            for _, _, symbol, _ in _relocations(sections)
            if symbols[symbol].section == _UNDEFINED
        }
    )
    if missing:
        raise CodegenError(
            f"the object needs symbols that it does not define: {', '.join(missing)}"
        )


def _relocations(sections: list[_Section]) -> Iterator[tuple[int, int, int, int]]:
    """The place, kind, symbol and addend of each relocation of what is loaded."""
    for section in sections:
        if section.kind not in (_RELA, _REL) or sections[section.info].address is None:
            continue
        if section.kind == _REL:
            raise CodegenError(f"section {section.name} has relocations without addends")
        base = sections[section.info].address or 0
        for offset, info, addend in _RELOCATION.iter_unpack(section.data):
            yield base + offset, info & 0xFFFFFFFF, info >> 32, addend


def _address(sections: list[_Section], symbol: _Symbol) -> int:
    if not _UNDEFINED < symbol.section < _RESERVED:
        raise CodegenError(f"symbol {symbol.name!r} is absolute or common")
    base = sections[symbol.section].address
    if base is None:
        name = sections[symbol.section].name
        raise CodegenError(f"symbol {symbol.name!r} lies in section {name}, which is not loaded")
    return base + symbol.value


def _relocate(machine: int, code: bytearray, place: int, kind: int, target: int) -> None:
    if machine == _X86_64:
        _relocate_x86_64(code, place, kind, target)
    else:
        _relocate_aarch64(code, place, kind, target)


_X86_64_RELATIVE = {2: 4, 4: 4, 24: 8}
"""Bytes of R_X86_64_PC32, PLT32 and PC64."""


def _relocate_x86_64(code: bytearray, place: int, kind: int, target: int) -> None:
    size = _X86_64_RELATIVE.get(kind)
    if size is None:
        raise CodegenError(f"x86-64 relocation {kind} is not relative to the program counter")
    code[place : place + size] = _signed(target - place, 8 * size).to_bytes(size, "little")


_AARCH64_RELATIVE = {260: 8, 261: 4}
"""Bytes of R_AARCH64_PREL64 and PREL32."""
_AARCH64_BRANCHES = {283: (26, 0), 282: (26, 0), 280: (19, 5), 273: (19, 5), 279: (14, 5)}
"""Width and place of the word offset in CALL26, JUMP26, CONDBR19, LD_PREL_LO19 and TSTBR14."""
_AARCH64_PAGE_OFFSETS = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4}
"""Shifts of the 12-bit page offsets in ADD and LDST8 to LDST128."""
_AARCH64_ADR, _AARCH64_ADRP = 274, 275


def _relocate_aarch64(code: bytearray, place: int, kind: int, target: int) -> None:
    if kind in _AARCH64_RELATIVE:
        size = _AARCH64_RELATIVE[kind]
        code[place : place + size] = _signed(target - place, 8 * size).to_bytes(size, "little")
        return
    (word,) = struct.unpack_from("<I", code, place)
    if kind in _AARCH64_BRANCHES:
        width, shift = _AARCH64_BRANCHES[kind]
        word |= _signed((target - place) >> 2, width) << shift
    elif kind in _AARCH64_PAGE_OFFSETS:
        shift = _AARCH64_PAGE_OFFSETS[kind]
        if target % (1 << shift):
            raise CodegenError(f"an access of {1 << shift} bytes to misaligned constant {target}")
        word |= (target % _PAGE >> shift) << 10
    elif kind in (_AARCH64_ADR, _AARCH64_ADRP):
        distance = target - place
        if kind == _AARCH64_ADRP:
            distance = target // _PAGE - place // _PAGE
        distance = _signed(distance, 21)
        word |= (distance & 3) << 29 | (distance >> 2) << 5
    else:
        raise CodegenError(f"AArch64 relocation {kind} is not relative to the program counter")
    struct.pack_into("<I", code, place, word)


def _signed(value: int, width: int) -> int:
    """A signed number as the bits of a field of ``width`` bits."""
    if not -(1 << (width - 1)) <= value < 1 << (width - 1):
        raise CodegenError(f"a distance of {value} does not fit {width} bits")
    return value & ((1 << width) - 1)
