"""One op at a time: the launches of a small program, found without MLIR.

The fusions, schedules and storage are those that the passes use; what is left out is the
simplification of a whole graph. Kernels do not depend on sizes, so a new shape needs no new code.
"""

from __future__ import annotations

from ..dialects import ops
from ..dialects.program import Program
from .fusion.explicit import make_explicit
from .fusion.outline import FusionBody, body_of, kind_of, updated_inputs
from .fusion.partition import Partition
from .launches import LoweredLaunch, LoweredProgram, place_launches
from .schedule import contraction
from .schedule import loops as schedules
from .storage import StoragePlan


def lower(program: Program) -> LoweredProgram:
    """The launches of a program."""
    return _Lowering(make_explicit(program)).run()


class _Lowering:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.partition = Partition(program)
        self.plan = StoragePlan()
        self.literals = {value: slot for slot, (value, _, _) in enumerate(program.literals())}

    def run(self) -> LoweredProgram:
        """Plans storage over the fusions in order, then places their launches."""
        for number in range(len(self.program.inputs)):
            self.plan.named(number, f"input{number}")
        bodies = [body_of(self.partition, group) for group in self.partition.ordered()]
        for step, body in enumerate(bodies):
            self.plan.step = step
            self._define(body)
        self.plan.step = len(bodies)
        results = [self._resolve(value) for value in self.program.outputs]
        for value in results:
            self.plan.use(value)
        workspace = self.plan.finish(results)
        launches: list[LoweredLaunch] = []
        end = workspace
        for body in bodies:
            is_product = kind_of(body.program) == "contraction"
            schedule = (contraction if is_product else schedules).schedule(body.program)
            reads = [self.plan.name(self._buffer(value)) for value in body.reads]
            writes = [self.plan.name(value) for value in body.results]
            used = place_launches(schedule, reads, writes, workspace, None, launches)
            end = max(end, used)
        return LoweredProgram(launches, end, [self.plan.name(value) for value in results])

    def _define(self, body: FusionBody) -> None:
        updated = updated_inputs(body.program)
        for value in body.reads:
            self.plan.use(self._buffer(value))
        for number, value in enumerate(body.results):
            if number in updated:
                self.plan.share(value, self._buffer(body.reads[updated[number]]))
            else:
                self.plan.define(value, self.program.type_of(value).nbytes)

    def _buffer(self, value: int) -> object:
        """The value itself, or what stands for the buffer of a literal or a fresh buffer."""
        instruction = self.partition.instruction(value)
        if instruction is None or instruction.primitive.kind != "creation":
            return value
        key = ("creation", value)
        if key not in self.plan:
            if instruction.primitive is ops.empty:
                self.plan.define(key, instruction.type.nbytes)
            elif value in self.literals:
                self.plan.named(key, f"literal+{8 * self.literals[value]}")
            else:
                return value
        return key

    def _resolve(self, value: int) -> int:
        """The value whose buffer holds a result: reshapes of whole buffers are looked through."""
        while True:
            instruction = self.partition.instruction(value)
            if instruction is None or value in self.partition.copied:
                return value
            if instruction.primitive is not ops.reshape:
                return value
            value = instruction.operands[0]
