"""Networks of torch: recurrent layers, attention with a cache, convolutions, embeddings.

What dynamo writes for LSTM and GRU has the example's length as a number in a Reshape: those are traced alone.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from exports.cases import Table, booleans, floats, integers

TABLE = Table("dynamo trace")
function, network = TABLE.function, TABLE.network


@network(floats("n", "m", 4), by="trace")
def lstm() -> nn.Module:
    return nn.LSTM(4, 6)


@network(floats(3, "n", 4))
def lstm_bidirectional() -> nn.Module:
    return nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True)


@network(floats("n", 2, 4), floats(1, 2, 6), by="trace")
def gru() -> nn.Module:
    return nn.GRU(4, 6)


@network(floats("n", 2, 4))
def rnn() -> nn.Module:
    return nn.RNN(4, 6, nonlinearity="relu")


@network(floats("n", 4), floats("n", 6), n=(0, 3, 8))
def gru_cell() -> nn.Module:
    return nn.GRUCell(4, 6)


@network(floats("n", 8), n=(0, 3, 8))
def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3), nn.Softmax(-1))


@network(floats("n", 3, 12, 12))
def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, groups=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


@network(floats(1, 2, "n", 10), n=(1, 5, 9))
def upsampling() -> nn.Module:
    return nn.Sequential(nn.ConvTranspose2d(2, 3, 3, stride=2), nn.Upsample(scale_factor=2), nn.SiLU())


@network(integers(0, 12, "n", "m"), n=(0, 3, 8))
def embedding() -> nn.Module:
    return nn.Sequential(nn.Embedding(12, 6), nn.Linear(6, 4), nn.Tanh())


@network(floats("n", "m", 8), amplification=4)
def encoder_layer() -> nn.Module:
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)


class Attention(nn.Module):
    """One step of a decoder: the new row is attended to together with a cache of earlier ones."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        keys = torch.cat([keys, self.key(x)], dim=1)
        values = torch.cat([values, self.value(x)], dim=1)
        scores = self.query(x) @ keys.transpose(1, 2) / 8**0.5
        return torch.softmax(scores, -1) @ values, keys, values


@network(floats(2, 1, 8), floats(2, "n", 8), floats(2, "n", 8), by="dynamo trace script", n=(0, 3, 8))
def attention_with_cache() -> nn.Module:
    return Attention()


class Decoder(nn.Module):
    """One step of a decoder of one layer: the logits of the next token, and the caches of keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.attention, self.before, self.after = (
            nn.Embedding(9, 8),
            Attention(),
            *map(nn.LayerNorm, (8, 8)),
        )
        self.up, self.down, self.head = nn.Linear(8, 16), nn.Linear(16, 8), nn.Linear(8, 9)

    def forward(self, token: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x = self.embedding(token)
        mixed, keys, values = self.attention(self.before(x), keys, values)
        x = x + mixed
        x = x + self.down(functional.gelu(self.up(self.after(x))))
        return self.head(x), keys, values


@network(integers(0, 9, 2, 1), floats(2, "n", 8), floats(2, "n", 8), by="trace", n=(0, 3, 8))
def decoder_with_cache() -> nn.Module:
    return Decoder()


class MambaBlock(nn.Module):
    """Projections, a causal convolution and a gate around a selective scan."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.leave = nn.Linear(4, 12), nn.Linear(6, 4)
        self.near = nn.Conv1d(6, 6, 3, groups=6, padding=2)
        self.delta, self.project, self.decay = nn.Linear(6, 6), nn.Linear(6, 6), nn.Parameter(torch.zeros(6, 3))

    def forward(self, x: Tensor) -> Tensor:
        inner, gate = self.enter(x).chunk(2, dim=1)
        inner = functional.silu(self.near(inner.t().unsqueeze(0))[0, :, : x.size(0)].t())
        b, c = self.project(inner).chunk(2, dim=1)
        step = functional.softplus(self.delta(inner)).unsqueeze(2)
        state = torch.zeros(6, 3)
        rows: list[Tensor] = []
        for i in range(x.size(0)):
            moved = step[i] * inner[i].unsqueeze(1) * b[i].unsqueeze(0)
            state = state * torch.exp(-step[i] * torch.exp(self.decay)) + moved
            rows.append(state @ c[i])
        return self.leave(torch.stack(rows) * functional.silu(gate))


@network(floats("n", 4), by="script", amplification=4)
def mamba_block() -> nn.Module:
    return MambaBlock()


@function(floats(1, 2, "n", 8), floats(1, 2, "n", 8), floats(1, 2, "n", 8))
def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


@function(floats(1, 2, "n", 8), floats(1, 2, "m", 8), booleans("n", "m"))
def masked_attention(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    scores = (q @ k.transpose(-1, -2)).masked_fill(mask, -1e4)
    return functional.softmax(scores, -1) @ k


@function(floats("n", 1, 4, 6), n=(0, 3, 8))
def rotary(x: Tensor) -> Tensor:
    angles = torch.outer(torch.arange(4), 1 / 10 ** (torch.arange(3) / 3))
    angles = torch.cat([angles, angles], dim=-1)
    turned = torch.cat([-x[..., 3:], x[..., :3]], dim=-1)
    return x * angles.cos() + turned * angles.sin()


@function(floats("n", 2, 6, 6), floats("n", 4, 4, 2))
def grid_sample(x: Tensor, grid: Tensor) -> Tensor:
    return functional.grid_sample(x, grid.tanh(), align_corners=False)


@function(floats("n", 4), floats("m", 4), by="dynamo trace script")
def pairwise_distances(x: Tensor, y: Tensor) -> Tensor:
    return ((x[:, None] - y[None]) ** 2).sum(-1).sqrt()


@function(floats("n", 4), floats("m", 4), amplification=16)
def cdist(x: Tensor, y: Tensor) -> Tensor:
    return torch.cdist(x, y)


@function(floats("n", 4), floats(4, 5))
def einsum(x: Tensor, y: Tensor) -> Tensor:
    return torch.einsum("ni,ij,nj->n", x, y, x @ y)


@function(floats(1, 1, 16), floats(3, 1, 4), by="dynamo trace script")
def convolution_by_weights(x: Tensor, w: Tensor) -> Tensor:
    return functional.conv1d(functional.pad(x, [2, 1]), w)


@function(floats("n", 3), amplification=4)
def statistics(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x.mean(0), x.var(0, unbiased=False), torch.logsumexp(x, 0)


@function(floats("n", "m", dtype="float64"), by="dynamo trace script")
def double(x: Tensor) -> Tensor:
    return torch.softmax(x, dim=-1).cumsum(-1) + x.max()


@function(
    integers(-100, 100, "n", dtype="int32"), integers(1, 9, "n", dtype="int32"), n=(0, 3, 8), by="dynamo trace script"
)
def integer_arithmetic(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return x % y, torch.div(x, y, rounding_mode="floor"), (x << 2) & 0xFF


@function(floats("n", 5, dtype="float16"), n=(0, 3, 8))
def half(x: Tensor) -> Tensor:
    return torch.relu(x) * 2 - x.abs()
