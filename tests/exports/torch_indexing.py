"""Functions of torch that read and write by masks and indices.

What the older exporter writes for sums at indices that occur twice, and for assignments to rows at a mask of rows, does
not mean that: those are for dynamo alone.
"""

from __future__ import annotations

import torch
from torch import Tensor

from exports.cases import Table, booleans, floats, integers, positions

TABLE = Table("dynamo trace script")
function = TABLE.function


@function(floats("n", 4), n=(0, 3, 8))
def assign_at_mask(x: Tensor) -> Tensor:
    y = x.clone()
    y[x > 0] = 1.5
    return y


@function(floats("n", 4), booleans("n"), by="dynamo", n=(0, 3, 8))
def assign_rows_at_mask(x: Tensor, mask: Tensor) -> Tensor:
    y = x.clone()
    y[mask] = torch.zeros(4)
    return y


@function(floats("n", 4), booleans("n"), by="dynamo", n=(0, 3, 8))
def fill_rows_at_mask(x: Tensor, mask: Tensor) -> Tensor:
    y = x.clone()
    y[mask] = 2.5
    return y - x


@function(floats("n"), floats("n"))
def assign_tensor_at_mask(x: Tensor, values: Tensor) -> Tensor:
    y = x.clone()
    mask = x > 0
    y[mask] = values[mask] * 2
    return y


@function(floats("n", "m"), booleans("n", "m"), floats(64))
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    return x.masked_scatter(mask, source)


@function(floats("n", "m"), booleans("n", "m"), n=(0, 3, 8))
def masked_fill(x: Tensor, mask: Tensor) -> Tensor:
    return x.masked_fill(mask, -1e9).softmax(dim=-1)


@function(floats("n", "m"), n=(0, 3, 8))
def masked_select(x: Tensor) -> Tensor:
    return torch.masked_select(x, x > 0.2)


@function(floats("n", 4), n=(0, 3, 8))
def nonzero(x: Tensor) -> Tensor:
    return torch.nonzero(x > 0)


@function(floats("n", 3), n=(0, 3, 8))
def rows_at_mask(x: Tensor) -> Tensor:
    return x[x[:, 0] > 0] * 2 + 1


@function(floats("n"), n=(0, 3, 8))
def count_at_mask(x: Tensor) -> Tensor:
    return torch.stack([x[x > 0].sum(), (x > 0).sum().to(torch.float32)])


@function(integers(0, 5, "n"))
def unique(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    values, inverse, counts = torch.unique(x, sorted=True, return_inverse=True, return_counts=True)
    return values, inverse, counts


@function(floats(8, 3), positions(8, "n"), floats("n", 3))
def index_put(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    return x.index_put((index,), values)


@function(floats(8, 3), positions(8, "n"), floats("n", 3))
def index_put_accumulate_distinct(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    return x.index_put((index,), values, accumulate=True)


@function(floats(8, 3), integers(-8, 8, "n"), floats("n", 3), by="dynamo")
def index_put_accumulate(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    return x.index_put((index,), values, accumulate=True)


@function(floats(8, 6), positions(6, 4), floats(4))
def index_put_pairs(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    y = x.clone()
    y[index, index.flip(0)] = values
    return y + x


@function(floats(8, 3), positions(8, "n"), floats("n", 3))
def index_add_distinct(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    return x.index_add(0, index, values)


@function(floats(5, 3), integers(0, 5, "n"), floats("n", 3), by="dynamo")
def index_add(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    return x.index_add(0, index, values)


@function(floats(8, 3), positions(8, "n"), floats("n", 3))
def index_copy(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    return x.index_copy(0, index, values)


@function(floats(8, 3), positions(8, "n"))
def index_fill(x: Tensor, index: Tensor) -> Tensor:
    return x.index_fill(0, index, 7.0)


@function(floats("n", 5), integers(0, 5, "n", 3), n=(0, 3, 8))
def gather(x: Tensor, index: Tensor) -> Tensor:
    return torch.gather(x, 1, index)


@function(floats("n", 5), integers(0, 5, "n", 1), floats("n", 1), n=(0, 3, 8))
def scatter(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    return x.scatter(1, index, values)


@function(floats(4, 5), integers(0, 4, "n", 5), floats("n", 5))
def scatter_add(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    return x.scatter_add(0, index, values)


@function(floats(4, 5), integers(0, 4, "n", 5), floats("n", 5))
def scatter_reduce(x: Tensor, index: Tensor, values: Tensor) -> Tensor:
    return x.scatter_reduce(0, index, values, reduce="amax", include_self=True)


@function(floats("n", 6), integers(0, 6, 3), n=(0, 3, 8))
def index_columns(x: Tensor, index: Tensor) -> Tensor:
    return x[:, index]


@function(floats("n", 6))
def assign_slice(x: Tensor) -> Tensor:
    y = x.clone()
    y[:, 1:4] = 0.5
    y[:, ::2] += 1
    y[0] = x[-1]
    return y


@function(floats("n", 6))
def swap_columns(x: Tensor) -> Tensor:
    y = x.clone()
    y[:, 0] = x[:, 1]
    y[:, 1] = x[:, 0]
    return y


@function(floats("n", 3), floats("m", 3), by="dynamo script")
def slice_by_length(x: Tensor, y: Tensor) -> Tensor:
    k = min(x.size(0), y.size(0))
    return x[:k] + y[:k]


@function(floats("n", 3))
def halves(x: Tensor) -> Tensor:
    half = x.shape[0] // 2
    return torch.cat([x[half:], x[:half].flip(0)])


@function(floats("n", 4))
def roll(x: Tensor) -> Tensor:
    return torch.roll(x, shifts=1, dims=0) - torch.roll(x, shifts=-2, dims=1)


@function(floats("n", 5), n=(0, 3, 8))
def sort(x: Tensor) -> tuple[Tensor, Tensor]:
    values, order = torch.sort(x, dim=1, descending=True)
    return values, order


@function(floats("n", 7), n=(0, 3, 8))
def topk(x: Tensor) -> tuple[Tensor, Tensor]:
    values, order = torch.topk(x, 3, dim=1)
    return values, order


@function(floats("n", "m"))
def cumulative_sum(x: Tensor) -> Tensor:
    return torch.cumsum(x, dim=0) * torch.cumsum(x, dim=1)


@function(floats("n", "m"))
def where_of_triangle(x: Tensor) -> Tensor:
    return torch.where(torch.ones_like(x).tril() > 0, x, -x)


@function(integers(0, 6, "n"), n=(0, 3, 8))
def one_hot(x: Tensor) -> Tensor:
    return torch.nn.functional.one_hot(x, 6).to(torch.float32)


@function(floats("n"), floats(4))
def bucketize(x: Tensor, y: Tensor) -> Tensor:
    return torch.bucketize(x, torch.sort(y)[0])


@function(floats("n", 4))
def repeat_interleave(x: Tensor) -> Tensor:
    return x.repeat_interleave(3, dim=0)


@function(floats("n", 2, 3))
def unbind_and_stack(x: Tensor) -> Tensor:
    a, b = x.unbind(1)
    return torch.stack([b, a * 2], dim=1)
