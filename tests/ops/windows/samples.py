"""Random convolutions: sizes and attributes that onnxruntime takes."""

import numpy as np


def normal(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


class Case:
    """Random sizes and attributes of a convolution; onnxruntime pads dilated kernels by explicit numbers only."""

    def __init__(self, seed, rank=None, automatic=True):
        self.rng = rng = np.random.default_rng(seed)
        rank = rank or int(rng.integers(1, 4))
        draw = lambda low, high: [int(n) for n in rng.integers(low, high, rank)]  # noqa: E731
        automatic = automatic and rng.integers(2)
        self.kernel, self.strides, self.dilations = draw(1, 4), draw(1, 4), [1] * rank if automatic else draw(1, 3)
        self.span = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
        self.lengths = [max(n, s) for n, s in zip(draw(3, 9), self.span, strict=True)]
        self.pads = [int(rng.integers(0, s)) for s in self.span * 2]
        self.group, self.depth, self.features, self.batch = (int(n) for n in rng.integers(1, 4, 4))
        self.attributes = {"group": self.group, "strides": self.strides, "dilations": self.dilations}
        padding = {"auto_pad": str(rng.choice(["SAME_UPPER", "SAME_LOWER"]))} if automatic else {"pads": self.pads}
        self.attributes |= padding

    def counts(self):
        begins, ends = self.pads[: len(self.pads) // 2], self.pads[len(self.pads) // 2 :]
        each = zip(self.lengths, begins, ends, self.span, self.strides, strict=True)
        return [(n + begin + end - span) // stride + 1 for n, begin, end, span, stride in each]

    def x(self):
        return normal(self.rng, self.batch, self.group * self.depth, *self.lengths)

    def w(self):
        return normal(self.rng, self.group * self.features, self.depth, *self.kernel)

    def bias(self):
        return normal(self.rng, self.group * self.features) if self.rng.integers(2) else None
