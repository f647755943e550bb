"""The ``array`` dialect: dtypes, primitives, programs, and their MLIR form."""
