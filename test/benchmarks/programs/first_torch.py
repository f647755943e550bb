"""As ``first_lamina.py``, for PyTorch."""

import sys
import time

import torch


def other(x):
    return torch.tanh(x) * 3 - 1


def gelu(x):
    return torch.nn.functional.gelu(x)


with torch.inference_mode():
    x = torch.full((1024,), 0.5)
    if sys.argv[2] == "second":
        torch.compile(other)(x)
    begin = time.perf_counter()
    torch.compile(gelu)(x)
    end = time.perf_counter()
print(f'{{"first": {end - begin}, "total": {end - float(sys.argv[1])}}}')
