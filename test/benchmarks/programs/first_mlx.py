"""As ``first_lamina.py``, for MLX."""

import math
import sys
import time

import mlx.core as mx

mx.set_default_device(mx.cpu)


def other(x):
    return mx.tanh(x) * 3 - 1


def gelu(x):
    return x * (1 + mx.erf(x / math.sqrt(2))) / 2


x = mx.array([0.5] * 1024)
mx.eval(x)
if sys.argv[2] == "second":
    mx.eval(mx.compile(other)(x))
begin = time.perf_counter()
mx.eval(mx.compile(gelu)(x))
end = time.perf_counter()
print(f'{{"first": {end - begin}, "total": {end - float(sys.argv[1])}}}')
