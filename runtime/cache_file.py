"""The format of a cache entry: all of its parts in one file, behind a checked head.

    magic  8 bytes   version  u32   directory length  u32   parts length  u64   checksum  16 bytes
    directory: JSON with kind, key, time of creation, metadata, and each part's name and length
    parts: their bytes, one after the other

Numbers are little-endian. The checksum covers all other bytes, so that an entry is used whole or
not at all. Nothing in an entry is executed or unpickled while it is read.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

MAGIC = b"\x89LAMINA\n"
FORMAT_VERSION = 1

_HEAD = struct.Struct("<8sIIQ16s")
_CHECKED = struct.Struct("<8sIIQ")
HEAD_BYTES = _HEAD.size


class DamagedEntry(ValueError):
    """Bytes that are not a whole entry of this version; the text says why."""


class Contents(NamedTuple):
    """What an entry holds."""

    kind: str
    key: bytes
    created: float
    metadata: dict[str, Any]
    parts: dict[str, bytes]


class Directory(NamedTuple):
    """What an entry says of itself; ``sizes`` are the bytes of each part, in file order."""

    kind: str
    key: bytes
    created: float
    metadata: dict[str, Any]
    sizes: dict[str, int]


def entry_name(kind: str, key: bytes) -> str:
    """The file name of an entry: 32 hexadecimal digits, whatever the key's length."""
    text = kind.encode()
    return hashlib.sha256(b"%d:" % len(text) + text + key).hexdigest()[:32]


def pack(
    kind: str,
    key: bytes,
    created: float,
    metadata: Mapping[str, Any],
    parts: Mapping[str, bytes],
) -> bytes:
    """The bytes of an entry; raises TypeError if JSON cannot hold the metadata."""
    directory = json.dumps(
        {
            "kind": kind,
            "key": key.hex(),
            "created": created,
            "metadata": dict(metadata),
            "parts": [[name, len(data)] for name, data in parts.items()],
        },
        separators=(",", ":"),
    ).encode()
    blobs = b"".join(parts.values())
    checked = _CHECKED.pack(MAGIC, FORMAT_VERSION, len(directory), len(blobs))
    return b"".join((checked, _checksum(checked, directory, blobs), directory, blobs))


def unpack(data: bytes) -> Contents:
    """What an entry's bytes hold; raises DamagedEntry for anything but a whole entry."""
    directory_bytes, total = read_head(data)
    if len(data) != total:
        raise DamagedEntry(f"{len(data)} bytes where its head says {total}")
    view = memoryview(data)
    body = view[HEAD_BYTES:]
    if _checksum(view[: _CHECKED.size], body) != data[_CHECKED.size : HEAD_BYTES]:
        raise DamagedEntry("its checksum does not hold")
    directory = read_directory(data[HEAD_BYTES : HEAD_BYTES + directory_bytes])
    start = HEAD_BYTES + directory_bytes
    parts: dict[str, bytes] = {}
    for name, size in directory.sizes.items():
        parts[name] = data[start : start + size]
        start += size
    if start != total:
        raise DamagedEntry("its parts do not add up to its length")
    return Contents(directory.kind, directory.key, directory.created, directory.metadata, parts)


def read_head(data: bytes) -> tuple[int, int]:
    """The directory's length and the file's, from the first HEAD_BYTES bytes."""
    if len(data) < HEAD_BYTES:
        raise DamagedEntry("too short for a head")
    magic, version, directory_bytes, parts_bytes, _ = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise DamagedEntry("not a cache entry")
    if version != FORMAT_VERSION:
        raise DamagedEntry(f"format version {version}, wanted {FORMAT_VERSION}")
    return directory_bytes, HEAD_BYTES + directory_bytes + parts_bytes


def read_directory(data: bytes) -> Directory:
    """What the directory's JSON says; raises DamagedEntry if it is of another form."""
    try:
        fields = json.loads(data)
        sizes = {str(name): int(size) for name, size in fields["parts"]}
        if len(sizes) != len(fields["parts"]) or min(sizes.values(), default=0) < 0:
            raise DamagedEntry("its directory names a part twice or gives it a negative length")
        return Directory(
            str(fields["kind"]),
            bytes.fromhex(fields["key"]),
            float(fields["created"]),
            dict(fields["metadata"]),
            sizes,
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedEntry(f"its directory cannot be read: {error}") from None


def _checksum(*chunks: bytes | memoryview) -> bytes:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.digest()[:16]
