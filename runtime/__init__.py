"""Devices, buffers, artifacts, launches and the module cache; never imports MLIR."""
