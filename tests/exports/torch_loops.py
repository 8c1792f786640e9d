"""Functions of torch with loops and branches: torch's own operators, and Python that is scripted or unrolled."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from exports.cases import Table, floats, integers

TABLE = Table("script")
function, network = TABLE.function, TABLE.network


@function(floats("n", 4), by="dynamo")
def cond(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))


@function(floats("n", 4), by="dynamo")
def cond_nested(x: Tensor) -> Tensor:
    def inner(x: Tensor) -> Tensor:
        return torch.cond(x[0, 0] > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

    return torch.cond(x.sum() > 0, inner, lambda x: x - x.mean(), (x,))


@function(floats("n", 4), by="dynamo")
def while_loop(x: Tensor) -> Tensor:
    def go_on(i: Tensor, x: Tensor) -> Tensor:
        return i < 5

    def step(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, x * 0.5 + i

    return torch._higher_order_ops.while_loop(go_on, step, (torch.tensor(0), x))[1]


@function(floats("n", 4), by="dynamo")
def while_loop_until_small(x: Tensor) -> Tensor:
    def go_on(x: Tensor) -> Tensor:
        return x.abs().sum() > 1

    return torch._higher_order_ops.while_loop(go_on, lambda x: (x * 0.7,), (x,))[0]


@function(floats("n", 4), by="dynamo")
def scan(x: Tensor) -> tuple[Tensor, Tensor]:
    def step(carry: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        total = carry + row
        return total, total * 2

    return torch._higher_order_ops.scan(step, torch.zeros(4), x, dim=0)


@function(floats("n", 4), by="dynamo")
def scan_reverse(x: Tensor) -> tuple[Tensor, Tensor]:
    def step(carry: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        new = torch.tanh(carry * 0.5 + row)
        return new, new - carry

    return torch._higher_order_ops.scan(step, torch.ones(4), x, dim=0, reverse=True)


@function(floats("n", 4))
def for_over_rows(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for i in range(x.size(0)):
        total = total * 0.5 + x[i]
    return total


@function(floats("n", 4))
def list_append_and_stack(x: Tensor) -> Tensor:
    rows: list[Tensor] = []
    state = torch.zeros(4)
    for i in range(x.size(0)):
        state = torch.tanh(state + x[i])
        rows.append(state)
    return torch.stack(rows)


@function(floats("n", 4))
def list_append_and_concatenate(x: Tensor) -> Tensor:
    parts: list[Tensor] = []
    for i in range(x.size(0)):
        parts.append(x[: i + 1].sum(dim=0, keepdim=True))
    return torch.cat(parts, dim=0)


@function(floats("n", 4), n=(0, 3, 8))
def list_of_columns(x: Tensor) -> Tensor:
    columns: list[Tensor] = []
    for k in range(4):
        columns.append(x[:, k] * k)
    return torch.stack(columns, dim=1)


@function(floats("n", 4))
def while_over_tensor(x: Tensor) -> Tensor:
    i = 0
    while bool(x.abs().max() > 0.5):
        x = x * 0.8
        i += 1
    return x + i


@function(floats("n"))
def while_with_counter(x: Tensor) -> Tensor:
    i = 0
    total = torch.zeros(1)
    while i < x.size(0):
        total = total + x[i] * i
        i += 2
    return total


@function(floats("n", 4))
def if_on_sum(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        y = x * 2
    else:
        y = -x
    return y + 1


@function(floats("n", 4))
def if_in_loop(x: Tensor) -> Tensor:
    y = torch.zeros(4)
    for i in range(x.size(0)):
        if bool(x[i].sum() > 0):
            y = y + x[i]
        else:
            y = y * 0.5
    return y


@function(floats("n", 4))
def loop_in_loop(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for i in range(x.size(0)):
        for j in range(i + 1):
            total = total * 0.9 + x[i] * x[j]
    return total


@function(floats("n", 4))
def break_at_negative(x: Tensor) -> Tensor:
    total = torch.zeros(4)
    for i in range(x.size(0)):
        if bool(x[i, 0] < -0.5):
            break
        total = total + x[i]
    return total


@function(floats("n", 4))
def assign_rows_in_loop(x: Tensor) -> Tensor:
    y = torch.zeros_like(x)
    for i in range(x.size(0)):
        y[i] = x[i] * i
    return y


@function(floats("n", 4))
def assign_element_in_loop(x: Tensor) -> Tensor:
    y = x.clone()
    for i in range(1, x.size(0)):
        y[i, 0] = y[i - 1, 0] + x[i, 1]
    return y


@function(floats("n", 4))
def assign_mask_in_loop(x: Tensor) -> Tensor:
    y = x.clone()
    for _i in range(3):
        y[y > 0.5] = y[y > 0.5] * 0.5
    return y


@function(floats("n", 5))
def columns_in_loop(x: Tensor) -> Tensor:
    y = torch.zeros(x.size(0))
    for k in range(x.size(1)):
        y = y * 0.5 + x[:, k]
    return y


@function(floats("n", 4))
def growing_in_loop(x: Tensor) -> Tensor:
    cache = x[:1]
    for i in range(1, x.size(0)):
        weights = torch.softmax(cache @ x[i], dim=0)
        cache = torch.cat([cache, (weights @ cache).unsqueeze(0)], dim=0)
    return cache


@function(integers(0, 20, "n"))
def greedy_decode(tokens: Tensor) -> Tensor:
    table = torch.arange(400).reshape(20, 20).to(torch.float32)
    out = tokens[:1]
    for _i in range(6):
        scores = torch.sin(table[out[-1]])
        out = torch.cat([out, scores.argmax(dim=0, keepdim=True)])
    return out


@function(floats("n", 4))
def split_in_loop(x: Tensor) -> Tensor:
    total = torch.zeros(1, 4)
    for part in x.split(2, dim=0):
        total = total + part.sum(dim=0, keepdim=True)
    return total


@function(floats("n", 4))
def last_parts_first(x: Tensor) -> Tensor:
    parts = x.split(3, dim=0)
    total = torch.zeros(4)
    for k in range(len(parts)):
        total = total * 0.5 + parts[-k - 1].sum(dim=0)
    return total


@function(floats("n", 5), floats(5, 5))
def viterbi(scores: Tensor, transitions: Tensor) -> Tensor:
    best = scores[0]
    origins: list[Tensor] = []
    for i in range(1, scores.size(0)):
        values, chosen = (best.unsqueeze(1) + transitions).max(dim=0)
        best = values + scores[i]
        origins.append(chosen)
    state = best.argmax(dim=0)
    path = [state]
    for i in range(scores.size(0) - 1):
        state = origins[scores.size(0) - 2 - i][state]
        path.append(state)
    return torch.stack(path).flip(0)


@function(floats(3), integers(0, 30))
def euler_steps(x: Tensor, steps: Tensor) -> Tensor:
    for _i in range(int(steps)):
        x = x + 0.01 * torch.stack([10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]])
    return x


@function(floats("n", 4))
def if_by_shape(x: Tensor) -> Tensor:
    if x.size(0) > 4:
        y = x.mean(dim=0, keepdim=True)
    else:
        y = torch.cat([x, x * 2])
    return y + 1


@function(floats("n", 3), by="dynamo trace", n=(0, 3, 8))
def unrolled(x: Tensor) -> Tensor:
    y = x
    for k in range(4):
        y = torch.where(y > k / 4, y - k, y + k)
    return y


class Cell(nn.Module):
    """A recurrent cell called by a scripted loop."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 6)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(x.size(1), 6)
        rows: list[Tensor] = []
        for i in range(x.size(0)):
            state = self.cell(x[i], state)
            rows.append(state)
        return torch.stack(rows)


@network(floats("n", "m", 4))
def scripted_cell() -> nn.Module:
    return Cell()


class Beam(nn.Module):
    """A beam search of a few steps: top-k, gathers and a list of tokens, in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(9, 6)
        self.head = nn.Linear(6, 9)

    def forward(self, start: Tensor) -> tuple[Tensor, Tensor]:
        scores = torch.zeros(start.size(0))
        sequences = start.unsqueeze(1)
        for _ in range(4):
            logits = torch.log_softmax(self.head(torch.tanh(self.embedding(sequences[:, -1]))), dim=-1)
            best, flat = (scores.unsqueeze(1) + logits).reshape(-1).topk(3)
            rows = torch.div(flat, 9, rounding_mode="floor")
            sequences = torch.cat([sequences[rows], (flat % 9).unsqueeze(1)], dim=1)
            scores = best
        return sequences, scores


@network(integers(0, 9, "n"))
def beam_search() -> nn.Module:
    return Beam()
