"""Runtimes as data: what their ops and loops cost, and which ops and ranks they do not have.

Costs are of one thread of a desktop CPU: they decide between two forms of one model, which the same CPU runs, and are
no prediction of a time.
"""

from __future__ import annotations

from msgspec import Struct

from whorl.ir.graph import Module
from whorl.ir.types import TensorType


class Prices(Struct, frozen=True):
    """Microseconds that a runtime takes for a `run`, an `op`, one that gives `lengths` alone, an `inner` one in a body,
    there for one that gives one element (`scalar`), a `loop`, each `iteration`, a `branch`, an `inner_branch` in a
    body, a `layer` of an RNN, a GRU or an LSTM, and there each gate of each row in each `step`.

    Nanoseconds for an `element`, for one that a sum so far goes on to (`serial`), for a `product`, and for an element
    of an operand of products (`packed`).
    """

    run: float
    op: float
    lengths: float
    inner: float
    scalar: float
    loop: float
    iteration: float
    branch: float
    inner_branch: float
    layer: float
    step: float
    element: float
    serial: float
    product: float
    packed: float


class Target(Struct, frozen=True):
    """A runtime, as messages name it. `prices`: what decides whether a loop goes; None where all go.

    `linear`: it has an LSTM of linear activations. `highest_rank`: axes that a tensor may have. `lacks`: names of ops.
    """

    title: str
    prices: Prices | None = None
    linear: bool = False
    highest_rank: int | None = None
    lacks: frozenset[str] = frozenset()

    @property
    def is_selective(self) -> bool:
        """Whether some loops are better kept for it."""
        return self.prices is not None or self.highest_rank is not None or bool(self.lacks)

    def missing(self, module: Module) -> frozenset[str]:
        """What a module needs that the runtime has not, in words."""
        ops = {node.op.name for node in module.nodes()} & self.lacks
        if self.highest_rank is None:
            return frozenset(ops)
        values = (value for node in module.nodes() for value in node.outputs)
        ranks = [value.type.rank or 0 for value in values if isinstance(value.type, TensorType)]
        too_high = {f"tensor of {rank} axes" for rank in ranks if rank > self.highest_rank}
        return frozenset(ops | too_high)


_SEQUENCES = frozenset(
    {
        "ConcatFromSequence",
        "SequenceAt",
        "SequenceConstruct",
        "SequenceEmpty",
        "SequenceErase",
        "SequenceInsert",
        "SequenceLength",
        "SplitToSequence",
    }
)
_INTEGERS = frozenset({"ConvInteger", "DynamicQuantizeLinear", "MatMulInteger"})
ONNXRUNTIME = Prices(
    run=2.9,
    op=0.25,
    lengths=0.25,
    inner=0.25,
    scalar=0.25,
    loop=1.5,
    iteration=0.38,
    branch=0.1,
    inner_branch=0.1,
    layer=4.5,
    step=0.028,
    element=0.25,
    serial=0.3,
    product=0.05,
    packed=0.2,
)
"""From models of `tests/deloop`, with their loops and without, on AVX-512."""
WHORL = Prices(
    run=2.5,
    op=0.1,
    lengths=0.0,
    inner=0.001,
    scalar=0.00003,
    loop=0.1,
    iteration=0.0005,
    branch=0.05,
    inner_branch=0.0001,
    layer=4.0,
    step=0.03,
    element=0.02,
    serial=0.5,
    product=0.01,
    packed=0.3,
)
DEFAULT = "default"
TARGETS: dict[str, Target] = {
    DEFAULT: Target("onnxruntime", prices=ONNXRUNTIME),
    "any": Target("any"),
    "onnxruntime": Target("onnxruntime", prices=ONNXRUNTIME, linear=True),
    "openvino": Target("OpenVINO"),
    "tensorrt": Target(
        "TensorRT", highest_rank=8, lacks=_SEQUENCES | _INTEGERS | {"Compress", "Det", "Multinomial", "Unique"}
    ),
    "coreml": Target("Core ML", highest_rank=5, lacks=_SEQUENCES),
    "tflite": Target("TensorFlow Lite", highest_rank=6, lacks=_SEQUENCES),
    "whorl": Target("whorl", prices=WHORL),
}
"""By name. `default` keeps what onnxruntime is slower at without its loop, and has no op that others do not have."""
