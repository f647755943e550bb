"""``first_lamina.py START MODE``: Lamina's first results in this process.

START is the monotonic time before the process; in mode ``second`` another function was compiled
before. Prints seconds as JSON, as the other ``first_*.py`` do.
"""

import sys
import time

import lamina as lm

imported = time.perf_counter()


def other(x):
    return lm.tanh(x) * 3 - 1


def gelu(x):
    return x * (1 + lm.erf(x / 2**0.5)) / 2


x = lm.array([0.5] * 1024)
lm.eval(x)
if sys.argv[2] == "second":
    lm.eval(lm.compile(other)(x))
begin = time.perf_counter()
lm.eval(lm.compile(gelu)(x))
end = time.perf_counter()
print(f'{{"first": {end - begin}, "total": {end - float(sys.argv[1])}}}')
