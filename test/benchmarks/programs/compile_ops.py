"""``compile_ops.py LIBRARY KIND COUNT``: the first result of one large graph.

``distinct`` is a graph of COUNT different ops with reductions in between; ``chain`` is COUNT ops
each of which needs the one before. Prints seconds and the peak of the process's memory as JSON.
"""

import json
import random
import resource
import sys
import time

SIZE = (64, 64)
REDUCE_EVERY = 40


def distinct(np, x, count):
    """Binary ops on the two latest values in an order that never repeats for long."""
    choose = random.Random(0).choice
    binary = (np.add, np.subtract, np.multiply, np.maximum, np.minimum)
    unary = (np.sin, np.tanh, np.abs, np.sqrt, np.exp)
    before, latest = x, x * 0.5
    made = 1
    while made < count:
        if made % REDUCE_EVERY == 0:
            new = np.max(latest, axis=1, keepdims=True)
        elif made % 5 == 0:
            new = choose(unary)(latest)
        else:
            new = choose(binary)(latest, before)
        before, latest = latest, new
        made += 1
    return latest + before


def chain(np, x, count):
    """Four kinds of ops in an order without a period."""
    choose = random.Random(0).choice
    kinds = (np.add, np.multiply, np.subtract, np.maximum)
    y = x
    for _ in range(count):
        y = choose(kinds)(y, x)
    return y


def library(name):
    """The library's array namespace, its compiler, its way to wait, and a way to make an input."""
    if name == "lamina":
        import lamina as lm

        return lm, lm.compile, lm.eval, lm.ones
    if name == "jax":
        import jax

        return jax.numpy, jax.jit, jax.block_until_ready, jax.numpy.ones
    if name == "torch":
        import torch

        torch.inference_mode().__enter__()
        torch.max = torch.amax  # with the arguments of the others
        return torch, torch.compile, lambda value: value, torch.ones
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    return mx, mx.compile, mx.eval, mx.ones


name, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
namespace, compile_function, wait, ones = library(name)
build = {"distinct": distinct, "chain": chain}[kind]
x = ones(SIZE)
wait(x)
begin = time.perf_counter()
wait(compile_function(lambda x: build(namespace, x, count))(x))
seconds = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"seconds": seconds, "peak": peak}))
