"""``float_arguments.py COUNT``: one function called with so many different Python floats.

Prints the number of kernels that became machine code in all, the seconds of a new float, and
whether the results are right, as JSON.
"""

import json
import sys
import time

import numpy as np

import lamina as lm
from lamina.runtime import cpu

compile_llvm_ir = cpu.compile_llvm_ir
compiled = []


def counting(text, entry, *arguments):
    compiled.append(entry)
    return compile_llvm_ir(text, entry, *arguments)


cpu.compile_llvm_ir = counting


@lm.compile
def function(x, factor):
    return lm.tanh(x * factor) + factor


values = np.linspace(-1, 1, 64, dtype=np.float32)
x = lm.array(values)
count = int(sys.argv[1])
# No factor is one that simplification knows, such as 1: such a program has code of its own.
function(x, 0.3)
correct = True
begin = time.perf_counter()
for number in range(1, count):
    factor = 0.3 + number / (1.7 * count)
    result = function(x, factor)
    if number % 100 == 1:
        expected = np.tanh(values * np.float32(factor)) + np.float32(factor)
        correct &= bool(np.allclose(np.array(result), expected, atol=1e-6))
seconds = (time.perf_counter() - begin) / max(1, count - 1)
kernels = sum(entry == "kernel_entry" for entry in compiled)
print(json.dumps({"kernels": kernels, "seconds": seconds, "correct": correct}))
