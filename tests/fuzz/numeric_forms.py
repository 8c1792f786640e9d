"""Forms of ops that add up: reductions, products of matrices, convolutions, pools, normalizations, recurrences."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.forms import EITHER_ZERO, EXACT, FUNCTION, SUM, Form, Slack, form, ints, lengths, number, o, onnx_type, x

BYTES = ("int8", "uint8")
SMALL, LARGE = Slack(16, 64), Slack(64, 2048)
"""Sums of a few numbers of size 1 to 4; sums of products, and what is done with them."""


def forms() -> Iterator[Form]:
    yield from reductions()
    yield from products()
    yield from convolutions()
    yield from pools()
    yield from normalizations()
    yield from losses()
    yield from windows()
    yield from draws()
    yield from recurrent_attention()
    yield from recurrences()
    yield from images()
    yield from attention()


def reductions() -> Iterator[Form]:
    for op in ("ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceProd", "ReduceLogSumExp"):
        slack = SMALL if op in ("ReduceSum", "ReduceMean", "ReduceL1") else LARGE
        message = {"kind": SUM, "slack": slack}
        mean = {"only": ("float16", "bfloat16", "float32", "float64")} if op in ("ReduceLogSumExp",) else {}
        draw = "factor" if op == "ReduceProd" else "tame"
        least = "P" if op in ("ReduceMean", "ReduceLogSumExp") else "M"
        other = "Q" if op in ("ReduceMean", "ReduceLogSumExp") else "K"
        yield form(op, x(f"N {least}", draw), ints(1), to="N 1", **message, **mean)
        yield form(op, x(f"{least} N", draw), ints(0), to="N", keepdims=0, **message, **mean)
        yield form(op, x(f"{least} N {other}", draw), ints(0, -1), to="1 N 1", **message, **mean)
        yield form(op, x(f"{least} {other}", draw), to="", keepdims=0, **message, **mean)
        yield form(op, x("N M", draw), to="N M", noop_with_empty_axes=1, **message, **mean)
    floats = ("float16", "bfloat16", "float32", "float64")
    yield form("ReduceLogSum", x("N P", "positive"), ints(1), to="N 1", kind=SUM, slack=LARGE, only=floats)
    for op in ("CumSum", "CumProd"):
        slack, draw = (SMALL, "tame") if op == "CumSum" else (LARGE, "factor")
        for exclusive in (0, 1):
            yield form(op, x("N M", draw), number(0), to="N M", kind=SUM, slack=slack, exclusive=exclusive)
            yield form(op, x("N M", draw), number(-1), to="N M", kind=SUM, slack=slack, exclusive=exclusive, reverse=1)
    for op in ("Softmax", "LogSoftmax"):
        yield form(op, "N P", to="N P", kind=SUM, slack=SMALL)
        yield form(op, "P N", to="P N", kind=SUM, slack=SMALL, axis=0)
        yield form(op, "N M", to="N M", kind=SUM, slack=SMALL)


def products() -> Iterator[Form]:
    message = {"kind": SUM, "slack": LARGE}
    for a, b, c in (("N K", "K M", "N M"), ("K", "K M", "M"), ("N K", "K", "N"), ("K", "K", ""),
                    ("2 N K", "K M", "2 N M"),                    ("L 1 N K", "2 K M", "L 2 N M")):  # fmt: skip
        yield form("MatMul", a, b, to=c, **message)
        yield form("MatMulInteger", o("uint8", a), x(b), to=c, only=BYTES)
    yield form("MatMulInteger", "N K", o("int8", "K M"), "", o("int8"), to="N M", only=BYTES)
    yield form("MatMulInteger", "N K", o("int8", "K M"), "N", o("int8", "M"), to="N M", only=BYTES)
    yield form("QLinearMatMul", "N K", _scale(), "", "K M", _scale(), "", _scale(), "", to="N M", only=BYTES)
    yield form("Gemm", "N K", "K M", to="N M", **message)
    yield form("Gemm", "N K", "K M", "M", to="N M", **message)
    yield form("Gemm", "K N", "M K", "N 1", to="N M", transA=1, transB=1, alpha=0.5, beta=2.0, **message)
    for equation, shapes, result in (
        ("ij,jk->ik", ("N K", "K M"), "N M"),
        ("bij,bkj->bik", ("L N K", "L M K"), "L N M"),
        ("ij->j", ("N M",), "M"),
        ("ij,ij->", ("N M", "N M"), ""),
        ("i,j->ij", ("N", "M"), "N M"),
    ):
        yield form("Einsum", *shapes, to=result, equation=equation, **message)


def _scale():
    return o("float32", "", "scale")


def convolutions() -> Iterator[Form]:
    message = {"kind": SUM, "slack": LARGE}
    yield form("Conv", "N 2 H W", "3 2 3 3", to="N 3 H-2 W-2", **message)
    yield form("Conv", "N 2 H W", "3 2 3 3", "3", to="N 3 H W", pads=[1, 1, 1, 1], **message)
    yield form("Conv", "N 4 H", "4 2 2", "4", to="N 4 ?", group=2, strides=[2], **message)
    yield form("Conv", "N 2 H W", "2 1 2 2", to="N 2 ? ?", group=2, dilations=[2, 1], auto_pad="SAME_UPPER", **message)
    yield form("ConvTranspose", "N 2 P Q", x("2 3 2 2", "finite"), "3", to="N 3 2*P 2*Q", strides=[2, 2], **message)
    yield form("ConvTranspose", "N 2 H", x("2 1 3", "finite"), to="N 1 H", pads=[1, 1], **message)
    yield form("ConvInteger", "N 2 H W", o("int8", "3 2 3 3"), to="N 3 H-2 W-2", only=BYTES)
    yield form(
        "ConvInteger", "N 2 H W", o("uint8", "3 2 3 3"), "", o("uint8"), to="N 3 H W", pads=[1, 1, 1, 1], only=BYTES
    )
    yield form("QLinearConv", "N 2 H W", _scale(), "", o("int8", "3 2 3 3"), _scale(), o("int8"), _scale(), "",
               to="N 3 H-2 W-2", only=BYTES)  # fmt: skip
    yield form("DeformConv", "N 2 H W", "3 2 2 2", "N 8 H-1 W-1", to="N 3 H-1 W-1", kernel_shape=[2, 2],
               kind=SUM, slack=Slack(256, 1 << 14))  # fmt: skip
    yield form("Col2Im", "N 8 9", ints(4, 4), ints(2, 2), to="N 2 4 4", kind=SUM, slack=SMALL)


def pools() -> Iterator[Form]:
    for op, kind, slack in (("MaxPool", EXACT, EITHER_ZERO), ("AveragePool", SUM, SMALL), ("LpPool", SUM, LARGE)):
        yield form(op, "N 2 H W", to="N 2 H-1 W-2", kernel_shape=[2, 3], kind=kind, slack=slack)
        yield form(
            op, "N 2 H", to="N 2 ?", kernel_shape=[3], strides=[2], pads=[1, 1], ceil_mode=1, kind=kind, slack=slack
        )
        yield form(op, "N P H", to="N P H", kernel_shape=[2], auto_pad="SAME_LOWER", kind=kind, slack=slack)
    yield form("MaxPool", "N 2 H W", to=("N 2 H-1 W-1", "N 2 H-1 W-1"), kernel_shape=[2, 2], slack=EITHER_ZERO)
    yield form(
        "AveragePool", "N 2 H", to="N 2 H", kernel_shape=[3], pads=[1, 1], count_include_pad=1, kind=SUM, slack=SMALL
    )
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield form(op, "N 2 P Q", to="N 2 1 1", kind=SUM, slack=LARGE if "Lp" in op else SMALL)
    yield form("MaxUnpool", "1 1 2 2", o("int64", "1 1 2 2", "distinct"), to="1 1 4 4", kernel_shape=[2, 2],
               strides=[2, 2])  # fmt: skip
    yield form("LRN", "N P H", to="N P H", size=3, kind=SUM, slack=LARGE)


def losses() -> Iterator[Form]:
    message = {"kind": SUM, "slack": Slack(512, 1 << 14)}
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        yield form(op, "N P M", o("int64", "N M", "below P"), to="N M", reduction="none", **message)
        yield form(op, "N P", o("int32", "N", "below P"), x("P", "positive"), to="", reduction="sum", **message)
        yield form(op, "Q P M", o("int64", "Q M", "below P"), to="", ignore_index=1, **message)


def windows() -> Iterator[Form]:
    message = {"kind": FUNCTION, "slack": Slack(8, 8), "only": ("int64",)}
    for op in ("BlackmanWindow", "HammingWindow", "HannWindow"):
        yield form(op, o("int64", "", "length N"), to="?", gives=("float32",), **message)
    yield form("HannWindow", o("int64", "", "length N"), to="?", gives=("float64",), periodic=0,
               output_datatype=onnx_type("float64"), **message)  # fmt: skip


def recurrent_attention() -> Iterator[Form]:
    message = {"kind": SUM, "slack": Slack(512, 1 << 14)}
    yield form("LinearAttention", "N P 4", "N P 2", "N P 3", "N 1 2 3", to=("N P 6", "N 1 2 3"), q_num_heads=2,
               kv_num_heads=1, update_rule="linear", **message)  # fmt: skip
    yield form(
        "CausalConvWithState", "N 4 H", "4 1 3", "4", "N 4 2", to=("N 4 H", "N 4 2"), activation="silu", **message
    )


def draws() -> Iterator[Form]:
    floats = ("float16", "bfloat16", "float32", "float64")
    yield form("RandomUniformLike", "N M", to="N M", only=floats, seed=1.0, low=-2.0, high=3.0, gives=("",))
    yield form("RandomNormalLike", "N M", to="N M", only=floats, seed=2.0, mean=1.0, scale=0.5, gives=("",))
    yield form("Bernoulli", "N", to="N", only=floats, seed=3.0, gives=("",))
    yield form("Multinomial", x("N P", "tame"), to="N 3", only=floats, seed=4.0, sample_size=3, gives=("int32",))


def normalizations() -> Iterator[Form]:
    message = {"kind": SUM, "slack": Slack(512, 1 << 14)}
    yield form("BatchNormalization", "N 3 H", "3", "3", "3", x("3", "positive"), to="N 3 H", **message)
    yield form("BatchNormalization", "N 3", "3", "3", "3", x("3", "positive"), to="N 3", **message)
    yield form("GroupNormalization", "N 4 H", "4", "4", to="N 4 H", num_groups=2, **message)
    yield form("InstanceNormalization", "N 2 H W", "2", "2", to="N 2 H W", **message)
    yield form("LayerNormalization", "N P", "P", to="N P", **message)
    yield form(
        "LayerNormalization",
        "N M P",
        "P",
        "P",
        to=("N M P", "N M 1", "N M 1"),
        gives=("", "float32", "float32"),
        **message,
    )
    yield form("LayerNormalization", "N P Q", "P Q", to="N P Q", axis=1, **message)
    yield form("RMSNormalization", "N P", "P", to="N P", **message)
    yield form("RMSNormalization", "N P Q", "P Q", to="N P Q", axis=-2, **message)
    yield form("LpNormalization", "N P", to="N P", kind=SUM, slack=LARGE)
    yield form("LpNormalization", "P M", to="P M", p=1, axis=0, kind=SUM, slack=LARGE)
    yield form("MeanVarianceNormalization", "N 2 H W", to="N 2 H W", **message)


def recurrences() -> Iterator[Form]:
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        message = {"kind": SUM, "slack": LARGE, "hidden_size": 2}
        inputs = ("L N 3", f"1 {2 * gates} 3", f"1 {2 * gates} 2")
        results = ("L 1 N 2", "1 N 2", *(("1 N 2",) if op == "LSTM" else ()))
        yield form(op, *inputs, to=results, **message)
        yield form(op, *inputs, f"1 {4 * gates}", o("int32", "N", "length L"), "1 N 2", to=results, **message)
        both = ("L N 3", f"2 {2 * gates} 3", f"2 {2 * gates} 2")
        yield form(op, *both, to=("L 2 N 2", "2 N 2"), direction="bidirectional", **message)
        yield form(op, *inputs, to=("L 1 N 2",), direction="reverse", **message)


def images() -> Iterator[Form]:
    floats = ("float16", "bfloat16", "float32", "float64")
    scales = o("float32", "4", "is 1 1 2 1.5")
    yield form("Resize", "1 2 H W", None, None, lengths("1 2 3 5"), to="1 2 3 5", mode="nearest")
    yield form("Resize", "N 1 H W", None, scales, to="N 1 2*H ?", mode="nearest",
               coordinate_transformation_mode="asymmetric", nearest_mode="floor")  # fmt: skip
    for mode in ("linear", "cubic"):
        message = {"kind": SUM, "slack": LARGE, "only": floats}
        yield form("Resize", "1 2 H W", None, None, lengths("1 2 3 7"), to="1 2 3 7", mode=mode, **message)
        yield form("Resize", "N 1 H W", None, scales, to="N 1 2*H ?", mode=mode, antialias=1, **message)
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            yield form("GridSample", "N 2 H W", o("float32", "N P Q 2", "grid"), to="N 2 P Q", mode=mode,
                       padding_mode=padding, kind=SUM, slack=Slack(256, 1 << 14), only=floats)  # fmt: skip
    yield form("AffineGrid", "N 2 3", lengths("N 2 H W"), to="N H W 2", kind=SUM, slack=LARGE)
    yield form("AffineGrid", "N 2 3", lengths("N 2 H W"), to="N H W 2", align_corners=1, kind=SUM, slack=LARGE)
    for mode in ("avg", "max"):
        yield form("RoiAlign", "2 1 H W", x("K 4", "box"), o("int64", "K", "below 2"), to="K 1 2 2", mode=mode,
                   output_height=2, output_width=2, sampling_ratio=2, kind=SUM, slack=Slack(256, 1 << 14))  # fmt: skip
    overlap, least = number(0.5, "float32"), number(0.1, "float32")
    for limits in ((number(3), overlap, least), (ints(9),), (number(2), None, least)):
        yield form("NonMaxSuppression", x("N P 4", "box"), x("N M P", "unit"), *limits, to="? 3", only=("float32",),
                   gives=("int64",), center_point_box=len(limits) % 2)  # fmt: skip


def attention() -> Iterator[Form]:
    message = {"kind": SUM, "slack": LARGE}
    yield form("Attention", "N 2 L 4", "N 2 P 4", "N 2 P 3", to="N 2 L 3", **message)
    yield form("Attention", "N 2 P 4", "N 2 P 4", "N 2 P 4", to="N 2 P 4", is_causal=1, **message)
    yield form("Attention", "N 4 L 2", "N 2 P 2", "N 2 P 2", x("L P", "tame"), to="N 4 L 2", **message)
    yield form("RotaryEmbedding", "N 2 L 4", "8 2", "8 2", o("int64", "N L", "below 8"), to="N 2 L 4", **message)
    yield form("RotaryEmbedding", "N 2 L 4", "N L 2", "N L 2", to="N 2 L 4", interleaved=1, **message)
    yield form("RotaryEmbedding", "N L 8", "N L 2", "N L 2", to="N L 8", num_heads=2, **message)
