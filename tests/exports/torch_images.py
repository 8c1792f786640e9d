"""Blocks of image networks of torch, as they are published: what they are made of, at sizes that are quick to try."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from exports.cases import Table, floats

TABLE = Table("dynamo trace")
network = TABLE.network


def normalized(channels: int) -> nn.BatchNorm2d:
    """A normalization that has seen images."""
    norm, generator = nn.BatchNorm2d(channels), torch.Generator().manual_seed(channels)
    for numbers in (norm.running_mean, norm.weight.data, norm.bias.data):
        assert numbers is not None
        numbers.copy_(torch.rand(channels, generator=generator) - 0.5)
    assert norm.running_var is not None
    norm.running_var.copy_(torch.rand(channels, generator=generator) + 0.5)
    return norm


def depthwise(channels: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(channels, channels, kernel, stride, kernel // 2, groups=channels, bias=False)


class Squeeze(nn.Module):
    """Scales channels by what their means say."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, 8, 1), nn.Conv2d(8, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        scale = functional.relu(self.down(functional.adaptive_avg_pool2d(x, 1)))
        return x * functional.hardsigmoid(self.up(scale))


@network(floats("n", 16, 20, 20))
def inverted_residual() -> nn.Module:
    """Of MobileNetV3."""
    return nn.Sequential(
        *(nn.Conv2d(16, 48, 1, bias=False), normalized(48), nn.Hardswish()),
        *(depthwise(48, 5, 2), normalized(48), nn.Hardswish(), Squeeze(48)),
        *(nn.Conv2d(48, 24, 1, bias=False), normalized(24)),
    )


class Branches(nn.Module):
    """Depthwise convolutions side by side, added up, as MobileOne is trained."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.paths = nn.ModuleList([nn.Sequential(depthwise(channels, k), normalized(channels)) for k in (1, 3, 3)])
        self.norm = normalized(channels)

    def forward(self, x: Tensor) -> Tensor:
        total = self.norm(x)
        for path in self.paths:
            total = total + path(x)
        return functional.relu(total)


@network(floats("n", 32, 14, 14))
def depthwise_branches() -> nn.Module:
    return nn.Sequential(Branches(32), nn.Conv2d(32, 48, 1), nn.ReLU(), Branches(48))


class DenseLayer(nn.Module):
    """Of a DenseNet: the features so far, and more that are made of them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(normalized(channels), nn.ReLU(), nn.Conv2d(channels, 48, 1, bias=False)),
            *(normalized(48), nn.ReLU(), nn.Conv2d(48, 16, 3, padding=1, bias=False)),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.body(x)], 1)


@network(floats("n", 32, 14, 14))
def dense_layers() -> nn.Module:
    return nn.Sequential(DenseLayer(32), DenseLayer(48), DenseLayer(64), normalized(80), nn.ReLU(), nn.AvgPool2d(2))


@network(floats("n", 3, 32, 32))
def convnext_block() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, 32, 4, 4), depthwise(32, 7), ToLast(), nn.LayerNorm(32)),
        *(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32), ToFirst(), nn.Conv2d(32, 48, 2, 2)),
    )


class ToLast(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.permute(0, 2, 3, 1)


class ToFirst(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.permute(0, 3, 1, 2)


class ShiftedWindows(nn.Module):
    """Attention of Swin in windows of 7 x 7 of a rolled image of 14 x 14; what met over its edge is masked."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        part = torch.zeros(14, 14)
        part[7:11], part[11:] = 1, 2
        part = (3 * part + part.T).reshape(2, 7, 2, 7).transpose(1, 2).reshape(4, 49)
        differs = part[:, None, :] != part[:, :, None]
        self.register_buffer("mask", torch.zeros(4, 1, 49, 49).masked_fill(differs[:, None], -100.0))

    def forward(self, x: Tensor) -> Tensor:
        channels = x.shape[-1]
        rolled = torch.roll(x, (-3, -3), (1, 2)).reshape(-1, 2, 7, 2, 7, channels)
        windows = rolled.transpose(2, 3).reshape(-1, 49, channels)
        qkv = self.qkv(windows).reshape(-1, 49, 3, self.heads, channels // self.heads).permute(2, 0, 3, 1, 4)
        scores = (qkv[0] @ qkv[1].transpose(-1, -2)).reshape(-1, 4, self.heads, 49, 49) + self.mask
        scores = scores.reshape(-1, self.heads, 49, 49).softmax(-1)
        y = self.out((scores @ qkv[2]).transpose(1, 2).reshape(-1, 49, channels))
        y = y.reshape(-1, 2, 2, 7, 7, channels).transpose(2, 3).reshape(-1, 14, 14, channels)
        return torch.roll(y, (3, 3), (1, 2))


@network(floats("n", 14, 14, 48))
def shifted_windows() -> nn.Module:
    return ShiftedWindows(48, 3)


class ConvolvedPerceptron(nn.Module):
    """Of PVT v2: tokens become an image for a depthwise convolution, and tokens again."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first, self.conv, self.last = nn.Linear(channels, 128), depthwise(128, 3), nn.Linear(128, channels)

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x).transpose(1, 2).reshape(-1, 128, 28, 28)
        return x + self.last(functional.gelu(self.conv(y).flatten(2).transpose(1, 2)))


@network(floats("n", 784, 32))
def convolved_perceptron() -> nn.Module:
    return ConvolvedPerceptron(32)
