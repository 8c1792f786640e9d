"""Recurrent cells in torch's loops."""

from __future__ import annotations

import torch
from exports.cases import Table, floats
from torch import Tensor, nn

TABLE = Table("script")


class Cell(nn.Module):
    """A gated unit as it is written by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.x, self.h = nn.Linear(4, 12), nn.Linear(4, 12)

    def forward(self, v: Tensor, h: Tensor) -> Tensor:
        near, far = self.x(v), self.h(h)
        ar, az, an = near.chunk(3, 1)
        br, bz, bn = far.chunk(3, 1)
        r, z = torch.sigmoid(ar + br), torch.sigmoid(az + bz)
        return (1 - z) * torch.tanh(an + r * bn) + z * h


class Looped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = Cell()

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(x.size(1), 4)
        rows: list[Tensor] = []
        for i in range(x.size(0)):
            h = self.cell(x[i], h)
            rows.append(h)
        return torch.stack(rows)


class Scanned(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = Cell()

    def forward(self, x: Tensor) -> Tensor:
        def step(h: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
            new = self.cell(v, h)
            return new, new.clone()

        return torch._higher_order_ops.scan(step, torch.zeros(2, 4), x, dim=0)[1]


@TABLE.network(floats("n", "m", 4))
def gru_in_a_loop() -> nn.Module:
    return Looped()


@TABLE.network(floats("n", 2, 4), by="dynamo")
def gru_in_a_scan() -> nn.Module:
    return Scanned()
