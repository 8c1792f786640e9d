"""Recurrent cells in torch's loops."""

from __future__ import annotations

import torch
from exports.cases import Table, floats, integers
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


class LongShortTermMemory(nn.Module):
    """torch's own cell in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 6)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(x.size(1), 6)
        c = torch.zeros(x.size(1), 6)
        rows: list[Tensor] = []
        for i in range(x.size(0)):
            h, c = self.cell(x[i], (h, c))
            rows.append(h)
        return torch.stack(rows)


class Gates(nn.Module):
    """The same by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.x, self.h = nn.Linear(4, 24), nn.Linear(6, 24)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(x.size(1), 6)
        c = torch.zeros(x.size(1), 6)
        rows: list[Tensor] = []
        for k in range(x.size(0)):
            i, f, n, o = (self.x(x[k]) + self.h(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(n)
            h = torch.sigmoid(o) * torch.tanh(c)
            rows.append(h)
        return torch.stack(rows)


@TABLE.network(floats("n", "m", 4))
def lstm_cell_in_a_loop() -> nn.Module:
    return LongShortTermMemory()


@TABLE.network(floats("n", "m", 4))
def lstm_by_hand_in_a_loop() -> nn.Module:
    return Gates()


@TABLE.function(floats("n", 9), floats(9, 9))
def beam_search(x: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    score, token = torch.topk(x.sum(0), 3)
    beams = token.unsqueeze(1)
    for _ in range(4):
        total = score.unsqueeze(1) + table[beams[:, -1]]
        score, at = torch.topk(total.flatten(), 3)
        beams = torch.cat([beams[at // 9], (at % 9).unsqueeze(1)], 1)
    return beams, score


@TABLE.function(floats("n", 9), floats(9, 9))
def beam_search_until_all_end(x: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    score, token = torch.topk(x.sum(0), 3)
    beams = token.unsqueeze(1)
    step = 0
    while step < 4 and bool((beams[:, -1] != 0).any()):
        total = score.unsqueeze(1) + table[beams[:, -1]]
        score, at = torch.topk(total.flatten(), 3)
        beams = torch.cat([beams[at // 9], (at % 9).unsqueeze(1)], 1)
        step += 1
    return beams, score


@TABLE.function(floats("n", 4), integers(0, 4, "n"))
def repeat_interleave(x: Tensor, repeats: Tensor) -> Tensor:
    return torch.repeat_interleave(x, repeats, dim=0)
