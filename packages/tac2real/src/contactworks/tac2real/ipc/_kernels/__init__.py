"""Taichi kernels; importing a module in here imports Taichi."""
