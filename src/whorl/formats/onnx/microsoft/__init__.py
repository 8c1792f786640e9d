"""Operators that onnxruntime adds to onnx, as its optimiser and its tools write them into models: domain com.microsoft.

Each is read as a formula of hub ops, so that whatever is done with a model, writing it as plain ONNX too, knows
nothing of them. A file is imported when one of its operators is read.
"""

from whorl.formats.onnx.importing import VERSIONS

OPS: dict[str, tuple[str, ...]] = {
    "activations": ("BiasGelu", "FastGelu", "GatedAdd", "Gelu", "LinearAttentionGate", "QuickGelu", "ScaledSiLU"),
    "normalization": (
        "EmbedLayerNormalization",
        "GatedRMSNorm",
        "SimplifiedLayerNormalization",
        "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization",
    ),
    "products": (
        "CDist",
        "ConvTransposeWithDynamicPads",
        "FusedConv",
        "FusedGemm",
        "FusedMatMul",
        "MatMulInteger16",
        "TransposeMatMul",
    ),
}
"""The operators that each module of the package reads."""

VERSIONS.add(__name__, OPS)
