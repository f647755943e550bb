"""Executables: artifacts that are ready to run."""

from __future__ import annotations

import ctypes
import math
import struct
import sys
from collections.abc import Collection, Mapping, Sequence
from ctypes import c_int64, c_void_p
from operator import attrgetter
from typing import Protocol

import numpy as np

from ..errors import ArgumentError, CodegenError, ExecutionError
from .artifact import Artifact, Launch, Output, Pointer, Slot
from .blas import library_function
from .buffer import Buffer, allocate
from .loader import LoadedKernel
from .memory import pool
from .native import native

_CALL = ctypes.CFUNCTYPE(c_int64, c_void_p, c_void_p)
_BRIEF = ctypes.PYFUNCTYPE(c_int64, c_void_p, c_void_p)
"""Keeps the interpreter's lock: giving it up and waiting for it can cost more than the call."""
_BRIEF_BYTES, _BRIEF_LAUNCHES = 64 * 1024, 8
"""What a call may touch, and launch, to be brief."""
_LONGEST_TABLE = 32768
"""Words of an argument table, which lies on the calling thread's stack."""
_FIRST_BASE = 1
"""``bases[0]`` is zero, for plain numbers."""

_ITEM_SIZES = {"bfloat16": 2}
"""Bytes of the dtypes that NumPy has no name for."""

_address_of = attrgetter("address")


class Run(Protocol):
    """The type of :attr:`Executable.run`."""

    def __call__(
        self, inputs: Sequence[Buffer], donate: Collection[int] = (), owned: bool = False
    ) -> list[Buffer]:
        """Runs the program; see :class:`Executable`."""
        ...


class Executable:
    """A program ready to run on the CPU. Any number of threads may run it at once.

    ``run(inputs, donate=(), owned=False)`` takes a buffer for each input of the artifact and
    returns one for each output: an input or an earlier output itself where the artifact says so.
    Inputs whose index is in ``donate`` may give their memory to outputs; such a buffer has none
    from then on. With ``owned`` the list ``inputs`` itself is given up, and so may inputs that
    nothing but this list refers to. Exported and foreign memory is never taken over.

    ``run`` raises ExecutionError when a kernel reports a status, OutOfMemoryError, and
    ArgumentError for a wrong number of buffers and for buffers whose memory is gone.

    Args:
        artifact: what to run.
        kernels: the machine code of each kernel that the launches name, by key.
        literals: the bytes of the artifact's literals.
        lines: for each launch the user's ``(file, line, function)`` of what it computes.

    Raises CodegenError for kernels, slots or library functions that do not exist.
    """

    run: Run

    def __init__(
        self,
        artifact: Artifact,
        kernels: Mapping[str, LoadedKernel],
        literals: bytes = b"",
        lines: Sequence[Sequence[tuple[str, int, str]]] = (),
    ) -> None:
        self.artifact = artifact
        self.lines = lines
        self._launches = [
            (number, launch) for number, launch in enumerate(artifact.launches) if launch.units > 0
        ]
        self._kernels = {launch.kernel: _kernel(kernels, launch) for _, launch in self._launches}
        self._literals = allocate(len(literals))
        ctypes.memmove(self._literals.address, literals, len(literals))
        self._own = [
            number for number, output in enumerate(artifact.outputs) if output.source[0] == "slot"
        ]
        sizes = [_bytes_of(artifact.outputs[number]) for number in self._own]
        self._has_workspace = artifact.workspace > 0
        self._first_input = _FIRST_BASE + len(sizes) + self._has_workspace
        self._touched = sum(sizes) + artifact.workspace + sum(map(_bytes, artifact.inputs))
        if self._has_workspace:
            sizes.append(artifact.workspace)
        self._fresh = [(block.take, n, block) for n in sizes for block in (pool.size_class(n),)]
        words = self._words()
        self._list = (c_int64 * len(words))(*words)
        self._list_address = ctypes.addressof(self._list)
        self._pack = struct.Struct(f"={self._first_input + len(artifact.inputs)}q").pack
        self._call = (_BRIEF if self._is_brief() else _CALL)(native().replay)
        self.run = self._specialised()

    # The launch list

    def _words(self) -> list[int]:
        """The launch list as native.ll reads it."""
        bases = [self._base(slot) for slot in self.artifact.slots]
        longest = max([len(launch.arguments) for _, launch in self._launches], default=0)
        if longest > _LONGEST_TABLE:
            raise CodegenError(f"a kernel of {longest} arguments; at most {_LONGEST_TABLE} work")
        words = [native().pool, len(self._launches), longest]
        for _, launch in self._launches:
            address = self._kernels[launch.kernel].address
            words += [address, launch.units, max(launch.grain, 1), len(launch.arguments)]
            for argument in launch.arguments:
                if isinstance(argument, Pointer):
                    base, offset = bases[argument.slot]
                    words += [base, offset + argument.offset]
                else:
                    words += [0, argument]
        return words

    def _base(self, slot: Slot) -> tuple[int, int]:
        """The base and offset of a slot's address."""
        if slot.kind == "library":
            return 0, library_function(slot.name)
        if slot.kind == "literal":
            return 0, self._literals.address + slot.offset
        if slot.kind == "workspace":
            return self._first_input - 1, slot.offset
        if slot.kind == "input" and slot.index < len(self.artifact.inputs):
            return self._first_input + slot.index, slot.offset
        if slot.kind == "output" and slot.index in self._own:
            return _FIRST_BASE + self._own.index(slot.index), slot.offset
        raise CodegenError(f"the artifact has no memory for {slot}")

    def _is_brief(self) -> bool:
        return self._touched <= _BRIEF_BYTES and len(self._launches) <= _BRIEF_LAUNCHES

    # Calls

    def _specialised(self) -> Run:
        """The call with all that is known now decided now."""
        outputs = self.artifact.outputs
        is_plain = len(self._own) == len(outputs) and all(
            self._copied_literal(number) is None for number in self._own
        )
        if any(output.donated for output in outputs):
            return self._donating_run
        if is_plain and len(self._fresh) == 1:
            return self._single_output_run()
        return self._plain_run if is_plain else self._general_run

    def _single_output_run(self) -> Run:
        """The call of programs with one output of their own and no workspace."""
        ((take, nbytes, block),) = self._fresh
        pack, call, launches = self._pack, self._call, self._list_address

        def run(
            inputs: Sequence[Buffer], donate: Collection[int] = (), owned: bool = False
        ) -> list[Buffer]:
            output = Buffer(take(), nbytes, block)
            try:
                bases = pack(0, output.address, *map(_address_of, inputs))
            except (struct.error, AttributeError) as error:
                raise self._wrong_inputs(inputs, error) from None
            status = call(launches, bases)
            if status:
                raise self._failure(status)
            return [output]

        return run

    def _plain_run(
        self, inputs: Sequence[Buffer], donate: Collection[int] = (), owned: bool = False
    ) -> list[Buffer]:
        """The call of programs all of whose outputs have a buffer of their own."""
        fresh = [Buffer(take(), nbytes, block) for take, nbytes, block in self._fresh]
        try:
            bases = self._pack(0, *map(_address_of, fresh), *map(_address_of, inputs))
        except (struct.error, AttributeError) as error:
            raise self._wrong_inputs(inputs, error) from None
        status = self._call(self._list_address, bases)
        if status:
            raise self._failure(status)
        if self._has_workspace:
            fresh.pop()
        return fresh

    def _general_run(
        self, inputs: Sequence[Buffer], donate: Collection[int] = (), owned: bool = False
    ) -> list[Buffer]:
        return self._results(inputs, self._plain_run(inputs))

    def _donating_run(
        self, inputs: Sequence[Buffer], donate: Collection[int] = (), owned: bool = False
    ) -> list[Buffer]:
        if not donate and not owned:
            return self._general_run(inputs)
        try:
            addresses = list(map(_address_of, inputs))
        except AttributeError as error:
            raise self._wrong_inputs(inputs, error) from None
        if len(addresses) != len(self.artifact.inputs):
            raise self._wrong_inputs(inputs, None)
        own = self._take_over(inputs, donate, owned)
        bases = self._pack(0, *map(_address_of, own), *addresses)
        status = self._call(self._list_address, bases)
        if status:
            raise self._failure(status)
        return self._results(inputs, own)

    def _take_over(
        self, inputs: Sequence[Buffer], donate: Collection[int], owned: bool
    ) -> list[Buffer]:
        """Buffers for the outputs, some of them of inputs' memory, and the workspace."""
        donors = self._donors(inputs, donate, owned)
        # Memory is taken over last: nothing has been given away if there is none for the rest.
        own = [
            None if number in donors else Buffer(take(), nbytes, block)
            for number, (take, nbytes, block) in enumerate(self._fresh)
        ]
        return [
            buffer or inputs[donors[number]].donate(self._fresh[number][1])
            for number, buffer in enumerate(own)
        ]

    def _donors(
        self, inputs: Sequence[Buffer], donate: Collection[int], owned: bool
    ) -> dict[int, int]:
        """The input that gives its memory to each output of its own that has one."""
        outputs = self.artifact.outputs
        used = {output.source[1] for output in outputs if output.source[0] == "input"}
        donors: dict[int, int] = {}
        for number, output in enumerate(self._own):
            nbytes = self._fresh[number][1]
            for donor in outputs[output].donated:
                given = donor in donate or (owned and _references(inputs, donor) <= _UNSHARED)
                if given and donor not in used and _may_give(inputs, donor, nbytes):
                    donors[number] = donor
                    used.add(donor)
                    break
        return donors

    def _results(self, inputs: Sequence[Buffer], own: list[Buffer]) -> list[Buffer]:
        """The call's outputs from the buffers that were made for it."""
        results: list[Buffer] = []
        fresh = iter(own)
        for number, output in enumerate(self.artifact.outputs):
            kind, index = output.source
            if kind == "input":
                results.append(inputs[index])
            elif kind == "output":
                results.append(results[index])
            else:
                results.append(next(fresh))
                literal = self._copied_literal(number)
                if literal is not None:
                    ctypes.memmove(results[-1].address, literal, results[-1].nbytes)
        return results

    def _copied_literal(self, number: int) -> int | None:
        """The address of the literal that an output is a copy of, if it is one."""
        slot = self.artifact.slots[self.artifact.outputs[number].source[1]]
        return self._literals.address + slot.offset if slot.kind == "literal" else None

    # Errors

    def _wrong_inputs(self, inputs: Sequence[Buffer], error: Exception | None) -> ArgumentError:
        wanted = len(self.artifact.inputs)
        if len(inputs) != wanted:
            return ArgumentError(f"the program takes {wanted} buffers, got {len(inputs)}")
        gone = [
            number
            for number, each in enumerate(inputs)
            if isinstance(each, Buffer) and not hasattr(each, "address")
        ]
        if gone:
            return ArgumentError(
                f"the memory of input {gone[0]} was donated to an earlier call and is gone"
            )
        return ArgumentError(f"inputs that are not buffers: {error}")

    def _failure(self, report: int) -> ExecutionError:
        number, launch = self._launches[report >> 32]
        status = report & 0xFFFFFFFF
        places = self.lines[number] if self.lines else ()
        where = "".join(f"\n  at {file}:{line}" for file, line, _ in places)
        return ExecutionError(
            f"launch {number + 1} of {len(self.artifact.launches)}, kernel {launch.kernel}, "
            f"failed with status {status}{where}"
        )


def _kernel(kernels: Mapping[str, LoadedKernel], launch: Launch) -> LoadedKernel:
    try:
        return kernels[launch.kernel]
    except KeyError:
        raise CodegenError(f"there is no machine code of kernel {launch.kernel}") from None


def _bytes_of(output: Output) -> int:
    return _bytes((output.shape, output.dtype))


def _bytes(type_: tuple[tuple[int, ...], str]) -> int:
    shape, dtype = type_
    size = _ITEM_SIZES.get(dtype) or np.dtype(dtype).itemsize
    return math.prod(shape) * size


def _may_give(inputs: Sequence[Buffer], index: int, nbytes: int) -> bool:
    """Whether an input can give its memory to an output, and is no other input as well."""
    buffer = inputs[index]
    return (
        buffer.is_donatable
        and buffer.capacity >= nbytes
        and sum(each is buffer for each in inputs) == 1
    )


def _references(values: Sequence[object], index: int) -> int:
    return sys.getrefcount(values[index])


_UNSHARED = _references([object()], 0)
"""How many references Python counts on what only a list refers to."""
