"""Compiled kernels that the engines share: plain scalars and small arrays in, arrays out."""
