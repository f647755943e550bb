"""Gradients and batches beside JAX's; run by hand where JAX is installed, outside of the tests.

python test/unit/transforms/compare_with_jax.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import lamina as lm

RANDOM = np.random.default_rng(11)
SQUARE = RANDOM.normal(size=(4, 4)).astype(np.float32)
POSITIVE = np.abs(SQUARE) + 0.5
UNIT = np.tanh(SQUARE).astype(np.float32) * 0.9

FUNCTIONS = [
    *[(name, lambda m, x, name=name: getattr(m, name)(x), UNIT) for name in (
        "sin", "cos", "tan", "exp", "expm1", "tanh", "sinh", "cosh", "arcsin", "arccos", "arctan",
        "arcsinh", "arctanh", "abs", "square", "prod", "max", "min", "std", "var", "mean",
    )],
    *[(name, lambda m, x, name=name: getattr(m, name)(x), POSITIVE) for name in (
        "sqrt", "log", "log1p", "log2", "log10", "reciprocal", "cumsum", "cumprod",
    )],
    ("power", lambda m, x: m.power(x, x), POSITIVE),
    ("arctan2", lambda m, x: m.arctan2(x, x.T), SQUARE),
    ("logaddexp", lambda m, x: m.logaddexp(x, x.T), SQUARE),
    ("remainder", lambda m, x: m.remainder(x, 1.7 + x.T), POSITIVE),
    ("maximum", lambda m, x: m.maximum(x, x.T), SQUARE),
    ("minimum", lambda m, x: m.minimum(x, 0.0 * x), SQUARE),
    ("ties", lambda m, x: m.max(m.where(x > 0, 1.0, x), axis=0), SQUARE),
    ("matmul", lambda m, x: m.tanh(x @ x.T @ x[:, 0]), SQUARE),
    ("softmax", lambda m, x: _softmax(m, x) ** 2, SQUARE),
    ("logsumexp", lambda m, x: m.log(m.sum(m.exp(x), axis=0)), SQUARE),
    ("where", lambda m, x: m.where(x > 0, m.sqrt(m.abs(x)), x * x), SQUARE),
    ("flip", lambda m, x: x[::-2, 1:] * m.concatenate([x, x], axis=1)[:2, 5:], SQUARE),
]  # fmt: skip


def _softmax(m, x):
    return m.softmax(x, axis=-1) if m is lm else jax.nn.softmax(x, axis=-1)


def main() -> None:
    """Compares gradients, their gradients, and gradients of batches; raises where they differ."""
    for name, function, x in FUNCTIONS:

        def ours(x, function=function):
            return lm.sin(function(lm, x)).sum()

        def theirs(x, function=function):
            return jnp.sin(function(jnp, x)).sum()

        def second(grad, value):
            return grad(lambda at: (grad(value)(at) ** 2).sum())

        pairs = (
            (lm.grad(ours)(lm.array(x)), jax.grad(theirs)(x)),
            (second(lm.grad, ours)(lm.array(x)), second(jax.grad, theirs)(x)),
            (
                lm.vmap(lm.grad(ours))(lm.array(np.stack([x, x * 0.9]))),
                jax.vmap(jax.grad(theirs))(np.stack([x, x * 0.9])),
            ),
        )
        for number, (got, expected) in enumerate(pairs):
            scale = max(1.0, float(np.abs(np.asarray(expected)).max()))
            error = float(np.abs(np.asarray(got) - np.asarray(expected)).max()) / scale
            print(f"{name:12} {number} {error:.1e}")
            assert error < 2e-4, (name, number, got, expected)


if __name__ == "__main__":
    main()
