"""Muon in float32: momentum whose matrix is orthogonalised, equal shapes in one batch.

PyTorch's own orthogonalises in bfloat16, which CPUs without bfloat16 units do far more slowly.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

_ITERATIONS = 5
# The quintic iteration's coefficients (K. Jordan, "Muon", 2024): singular values end near 1, not exactly there.
_A, _B, _C = 3.4445, -4.7750, 2.0315


def orthogonalised(matrices: Tensor) -> Tensor:
    """Return [n, rows, columns] with every singular value pushed towards 1 (Newton-Schulz)."""
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.transpose(1, 2)
        x = _A * x + (_B * gram + _C * gram @ gram) @ x
    return x.transpose(1, 2) if tall else x


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised, for matrices; decoupled weight decay."""

    def __init__(
        self, matrices: Iterable[nn.Parameter], lr: float, weight_decay: float, momentum: float = 0.95
    ) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        """Take one step from the gradients."""
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[nn.Parameter]] = {}
            for parameter in group["params"]:
                by_shape.setdefault(parameter.shape, []).append(parameter)
            for parameters in by_shape.values():
                updates = orthogonalised(torch.stack([self._momentum(p, group["momentum"]) for p in parameters]))
                scale = group["lr"] * max(1.0, updates.shape[1] / updates.shape[2]) ** 0.5
                for parameter, update in zip(parameters, updates, strict=True):
                    parameter.mul_(1 - group["lr"] * group["weight_decay"]).sub_(update, alpha=scale)

    def _momentum(self, parameter: nn.Parameter, momentum: float) -> Tensor:
        state = self.state[parameter]
        average = state.setdefault("average", torch.zeros_like(parameter))
        average.lerp_(parameter.grad, 1 - momentum)
        return parameter.grad.lerp(average, momentum)
