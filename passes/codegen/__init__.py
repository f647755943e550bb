"""Code generation: kernels over MLIR's upstream dialects, and on to LLVM IR."""
