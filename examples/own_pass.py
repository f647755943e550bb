"""A pass of one's own, with options: what would it cost to compute one op in 16 bits?

Run it: python examples/own_pass.py

A package offers its passes to the ``lamina`` command through an entry point of the group
``lamina.passes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

import lamina as lm
from lamina.dialects import dtypes, ops
from lamina.dialects.primitive import TABLE
from lamina.passes.driver import PIPELINE
from lamina.passes.registry import register
from lamina.passes.simplify.rewriter import Rewriter

if TYPE_CHECKING:
    from mlir import ir

    from lamina.passes.simplify.dataflow import Op


@dataclass(frozen=True)
class Options:
    """Which op is computed in 16 bits, and in which."""

    op: str = "erf"
    dtype: Literal["bf16", "f16"] = "bf16"


@register("narrow-op", "Computes one kind of f32 op on f32 arrays in 16 bits.", Options)
def narrow_op(module: ir.Operation, options: Options) -> None:
    from lamina.passes.simplify.dataflow import Dataflow, functions

    narrow = dtypes.BY_SHORT[options.dtype]

    def rewrite(op: Op, rewriter: Rewriter) -> Op | None:
        if any(value.type.dtype is not dtypes.float32 for value in (op, *op.operands)):
            return None
        operands = [rewriter.create(ops.cast, [value], (narrow,)) for value in op.operands]
        result = rewriter.create(TABLE[options.op], operands, op.attributes)
        return rewriter.create(ops.cast, [result], (dtypes.float32,))

    for function in functions(module.operation):
        flow = Dataflow(function)
        Rewriter(flow, {TABLE[options.op]: [rewrite]}).run()
        flow.write()


def gelu(x: lm.Array) -> lm.Array:
    return x * (1 + lm.erf(x / 2**0.5)) / 2


def main() -> None:
    x = lm.array(np.linspace(-4, 4, 100_001, dtype=np.float32))
    exact = np.array(lm.compile(gelu)(x))
    errors: list[float] = []
    for options in ("{op=erf dtype=bf16}", "{op=erf dtype=f16}", "{op=multiply dtype=bf16}"):
        narrowed = lm.compile(gelu, pipeline=f"narrow-op{options},{PIPELINE}")
        errors.append(float(np.abs(np.array(narrowed(x)) - exact).max()))
        print(f"narrow-op{options}: largest difference {errors[-1]:.1e}")
    assert all(1e-5 < error < 0.1 for error in errors)


if __name__ == "__main__":
    main()
