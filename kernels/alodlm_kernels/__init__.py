"""Kernels for the optimized decoder. None ship yet: the portable decoder uses PyTorch's own operators."""
