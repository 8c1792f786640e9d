"""Operators that onnxruntime adds to onnx, as its optimiser and its tools write them into models: domain com.microsoft.

Each is read as a formula of hub ops, so that whatever is done with a model, writing it as plain ONNX too, knows
nothing of them. A file is imported when one of its operators is read.
"""

from whorl.formats.onnx.importing import VERSIONS

OPS: dict[str, tuple[str, ...]] = {
    "activations": (
        "BiasGelu",
        "FastGelu",
        "GatedAdd",
        "Gelu",
        "LinearAttentionGate",
        "QuickGelu",
        "ScaledSiLU",
    ),
    "attention": (
        "Attention",
        "CausalConvWithState",
        "LinearAttention",
        "MultiHeadAttention",
        "QAttention",
    ),
    "grouped_attention": (
        "GroupQueryAttention",
        "RotaryEmbedding",
    ),
    "images": (
        "CropAndResize",
        "GridSample",
    ),
    "inverses": ("Inverse",),
    "movement": (
        "ExpandDims",
        "GatherND",
        "MurmurHash3",
        "NGramRepeatBlock",
        "Pad",
        "Range",
        "SampleOp",
        "Trilu",
        "UnfoldTensor",
        "Unique",
    ),
    "normalization": (
        "EmbedLayerNormalization",
        "GatedRMSNorm",
        "SimplifiedLayerNormalization",
        "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization",
    ),
    "packed_weights": (
        "GatherBlockQuantized",
        "MatMulBnb4",
        "MatMulNBits",
    ),
    "products": (
        "CDist",
        "ConvTransposeWithDynamicPads",
        "FusedConv",
        "FusedGemm",
        "FusedMatMul",
        "MatMulInteger16",
        "TransposeMatMul",
        "WordConvEmbedding",
    ),
    "quantized": (
        "DequantizeLinear",
        "DynamicQuantizeMatMul",
        "MatMulIntegerToFloat",
        "NhwcMaxPool",
        "QGemm",
        "QLinearAdd",
        "QLinearAveragePool",
        "QLinearConcat",
        "QLinearConv",
        "QLinearGlobalAveragePool",
        "QLinearLeakyRelu",
        "QLinearMul",
        "QLinearSigmoid",
        "QLinearSoftmax",
        "QLinearWhere",
        "QuantizeLinear",
    ),
    "searches": (
        "BeamSearch",
        "GreedySearch",
        "Sampling",
        "WhisperBeamSearch",
    ),
    "texts": ("Tokenizer",),
}
"""The operators that each module of the package reads."""

VERSIONS.add(__name__, OPS)
