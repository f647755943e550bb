"""The ``array`` dialect's module for MLIR's Python bindings, which look for one by this name.

It is empty on purpose: the dialect is declared in :mod:`lamina.dialects.ops` and loaded from IRDL.
Without a module to find, the bindings search the import path again for every op they hand out
(19 us instead of 0.7 us an op).
"""
