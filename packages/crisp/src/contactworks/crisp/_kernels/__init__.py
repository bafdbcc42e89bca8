"""Compiled kernels of crisp: numbers and record arrays in, numbers out; they never raise."""
