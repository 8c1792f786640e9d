"""Forms of ops that move elements, read and write at indices, or make tensors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import numpy_helper

from fuzz.forms import (
    EITHER_ZERO,
    MOVE,
    Form,
    form,
    index,
    ints,
    lengths,
    number,
    numpy_type,
    o,
    onnx_type,
    sequence,
    x,
)

INDEX_TYPES = ("int64", "int32")
WAYS = ("none", "add", "mul", "max", "min")
NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
           "float64")  # fmt: skip
FAR = np.iinfo(np.int64).max


def forms() -> Iterator[Form]:
    yield from shapes()
    yield from moves()
    yield from cuts()
    yield from gathers()
    yield from scatters()
    yield from selections()
    yield from fillings()
    yield from sequences()


def shapes() -> Iterator[Form]:
    yield form("Reshape", "N M", lengths("N M 1"), to="N M 1", kind=MOVE, allowzero=1)
    yield form("Reshape", "N M", lengths("M N"), to="M N", kind=MOVE, allowzero=1)
    yield form("Reshape", "N M", ints(-1), to="N*M", kind=MOVE)
    yield form("Reshape", "2*N M", ints(2, -1), to=("2 N*M",), kind=MOVE)
    yield form("Reshape", "P M K", ints(0, -1), to="P M*K", kind=MOVE)
    yield form("Reshape", "N M", lengths("N*M"), to="N*M", kind=MOVE, allowzero=1)
    yield form("Flatten", "N M K", to="N M*K", kind=MOVE)
    yield form("Flatten", "N M", to="N*M 1", kind=MOVE, axis=2)
    yield form("Squeeze", "1 N 1 M", ints(0, -2), to="N M", kind=MOVE)
    yield form("Squeeze", "1 P 1", to=(None,), kind=MOVE)
    yield form("Unsqueeze", "N M", ints(0, -1), to="1 N M 1", kind=MOVE)
    yield form("Unsqueeze", "", ints(0), to="1", kind=MOVE)
    yield form("Expand", "N 1", lengths("N M"), to="N M", kind=MOVE)
    yield form("Expand", "M", lengths("N 1"), to="N M", kind=MOVE)
    yield form("Expand", "", lengths("N M"), to="N M", kind=MOVE)
    yield form("Shape", "N M K", to="3")
    yield form("Shape", "N M K", to="1", start=-2, end=2)
    yield form("Size", "N M")


def moves() -> Iterator[Form]:
    yield form("Transpose", "N M", to="M N", kind=MOVE)
    yield form("Transpose", "N M 3", to="3 N M", kind=MOVE, perm=[2, 0, 1])
    yield form("Transpose", "N M 2 K", to="N 2 M K", kind=MOVE, perm=[0, 2, 1, 3])
    yield form("Concat", "N M", "K M", to="N+K M", kind=MOVE, axis=0)
    yield form("Concat", "N M", "N K", "N 1", to="N M+K+1", kind=MOVE, axis=-1)
    yield form("Concat", "N", to="N", kind=MOVE, axis=0)
    yield form("Split", "2*N M", to=("N M", "N M"), kind=MOVE, axis=0, num_outputs=2)
    yield form("Split", "N M+K", lengths("M K"), to=("N M", "N K"), kind=MOVE, axis=1)
    yield form("Split", "3*P", to=("P", "P", "P"), kind=MOVE, num_outputs=3)
    yield form("Tile", "N M", ints(2, 1), to="2*N M", kind=MOVE)
    yield form("Tile", "N 1", lengths("1 M"), to="N M", kind=MOVE)
    for mode in ("DCR", "CRD"):
        yield form("DepthToSpace", "N 8 M K", to="N 2 2*M 2*K", kind=MOVE, blocksize=2, mode=mode)
    yield form("SpaceToDepth", "N M 2*P 2*Q", to="N 4*M P Q", kind=MOVE, blocksize=2)
    yield form("ReverseSequence", "P Q K", o("int64", "Q", "length P"), to="P Q K", kind=MOVE)
    yield form("ReverseSequence", "P Q", o("int64", "P", "length Q"), to="P Q", kind=MOVE, batch_axis=0, time_axis=1)
    for upper in (0, 1):
        yield form("Trilu", "N M", to="N M", kind=MOVE, upper=upper)
        yield form("Trilu", "N M", o("int64", "", "offset"), to="N M", kind=MOVE, upper=upper)


def cuts() -> Iterator[Form]:
    yield form("Slice", "N+2 M", ints(1), ints(FAR), to="N+1 M", kind=MOVE)
    yield form("Slice", "N+1 M", ints(0), ints(-1), ints(0), to="N M", kind=MOVE)
    yield form("Slice", "N M", ints(-1), ints(-FAR - 1), ints(1), ints(-1), to="N M", kind=MOVE)
    yield form("Slice", "2*N M", ints(0, 0), ints(FAR, FAR), ints(0, 1), ints(2, 1), to="N M", kind=MOVE)
    yield form("Slice", "N+M K", lengths("N"), lengths("N+M"), ints(0), to="M K", kind=MOVE)
    yield form("Slice", "N M", o("int64", "1", "offset"), o("int64", "1", "offset"), ints(1), to="N ?", kind=MOVE)
    for mode in ("constant", "edge", "reflect", "wrap"):
        yield form("Pad", "H W", ints(1, 2, 0, 3), to="H+1 W+5", kind=MOVE, mode=mode)
        yield form("Pad", "H W", ints(-1, 2, 2, -2), to="H+1 W", kind=MOVE, mode=mode)
    yield form("Pad", "N M", ints(2, -1), "", ints(-1), to="N M+1", kind=MOVE)
    yield form("Pad", "N M", o("int64", "4", "below 3"), "", to="? ?", kind=MOVE)
    yield form("CenterCropPad", "H W", ints(5, 7), to="5 7", kind=MOVE)
    yield form("CenterCropPad", "N M", lengths("K"), to="K M", kind=MOVE, axes=[0])


def gathers() -> Iterator[Form]:
    for kind in INDEX_TYPES:
        yield form("Gather", "P M", index("K", "P", kind), to="K M", kind=MOVE)
        yield form("Gather", "N P", index("", "P", kind), to="N", kind=MOVE, axis=1)
        yield form("GatherElements", "P Q", index("K Q", "P", kind), to="K Q", kind=MOVE)
    yield form("Gather", "N P", index("K L", "P"), to="N K L", kind=MOVE, axis=-1)
    yield form("Gather", "P", ints(0), to="1", kind=MOVE)
    yield form("Gather", "P M", o("int64", "?", "spots P"), to="? M", kind=MOVE)
    yield form("GatherND", "P M", o("int64", "? 1", "places P"), to="? M", kind=MOVE)
    yield form("GatherElements", "P Q", index("P K", "Q"), to="P K", kind=MOVE, axis=1)
    yield form("GatherND", "P P M", index("K 2", "P"), to="K M", kind=MOVE)
    yield form("GatherND", "P M", index("K 1", "P"), to="K M", kind=MOVE)
    yield form("GatherND", "N P M", index("N 1", "P"), to="N M", kind=MOVE, batch_dims=1)


def scatters() -> Iterator[Form]:
    for way in WAYS:
        message = {} if way == "none" else {"reduction": way}
        message |= {"slack": EITHER_ZERO} if way in ("max", "min") else {}
        kind = MOVE if way in ("none", "max", "min") else "exact"
        types = () if way in ("none",) else NUMBERS
        yield form("ScatterElements", "P Q", index("K Q", "P"), "K Q", to="P Q", kind=kind, only=types, **message)
        yield form("ScatterND", "P M", index("K 1", "P"), "K M", to="P M", kind=kind, only=types, **message)
    yield form("ScatterElements", "P", index("K", "P", "int32"), "K", to="P", kind=MOVE)
    yield form("ScatterElements", "N P", index("N K", "P"), "N K", to="N P", kind=MOVE, axis=1)
    yield form("ScatterND", "P P", index("K 2", "P"), "K", to="P P", kind=MOVE)
    yield form("ScatterND", "P", index("1 1", "P"), "1", to="P", kind=MOVE)
    for way in ("none", "add"):
        message, types = ({}, ()) if way == "none" else ({"reduction": way}, NUMBERS)
        picked = x("?", "masked P")
        yield form("ScatterND", "P", o("int64", "? 1", "places P"), picked, to="P", only=types, **message)
        yield form("ScatterElements", "P", o("int64", "?", "spots P"), picked, to="P", only=types, **message)
    yield form("TensorScatter", "N 2 H M", "N 2 2 M", o("int64", "N", "below 3"), to="N 2 H M", kind=MOVE)
    yield form("TensorScatter", "N H M", "N 2 M", o("int64", "N", "below 9"), to="N H M", kind=MOVE, mode="circular")
    yield form("TensorScatter", "N H M", "N 2 M", to="N H M", kind=MOVE, axis=1)


def selections() -> Iterator[Form]:
    yield form("Compress", "N M", o("bool", "N"), to="? M", kind=MOVE, axis=0)
    yield form("Compress", "N M", o("bool", "N*M"), to="?", kind=MOVE)
    yield form("NonZero", "N M", to="2 ?")
    yield form("NonZero", "N", to="1 ?")
    for order in (0, 1):
        yield form("Unique", "N M", to=("?", "?", "N*M", "?"), sorted=order)
        yield form("Unique", x("N", "tame"), to=("?", "?", "N", "?"), sorted=order)
        yield form("Unique", x("N M", "tame"), to=("? M", "?", "N", "?"), axis=0, sorted=order)
        yield form("Unique", x("N 2 M", "tame"), to=("N ? M", "?", "2", "?"), axis=-2, sorted=order)
    for axis in (-1, 0):
        dims = "N M 5" if axis else "5 N M"
        yield form("OneHot", o("int64", "N M", "tame"), number(5), "2", to=dims, axis=axis)
    yield form("OneHot", x("N", "tame"), number(3), o("float32", "2"), to="N 3", gives=("float32",))
    for largest in (0, 1):
        yield form("TopK", "N P", ints(1), to=("N 1", "N 1"), largest=largest)
        yield form("TopK", "N M", lengths("M"), to=("N M", "N M"), largest=largest)
    yield form("TopK", "P 3", ints(1), to=("1 3", "1 3"), axis=0)
    for op in ("ArgMax", "ArgMin"):
        yield form(op, "P M", to="1 M")
        yield form(op, "N P", to="N", axis=-1, keepdims=0, select_last_index=1)
    for op in ("ReduceMax", "ReduceMin"):
        message = {"kind": MOVE, "slack": EITHER_ZERO}
        yield form(op, "N P", ints(1), to="N 1", **message)
        yield form(op, "N P", ints(-1), to="N", keepdims=0, **message)
        yield form(op, "P M Q", ints(0, 2), to="M", keepdims=0, **message)
        yield form(op, "N M", keepdims=0, **message)
    yield form("Hardmax", "N P", to="N P")


def fillings() -> Iterator[Form]:
    def value(dtype: str) -> dict[str, object]:
        return {"value": numpy_helper.from_array(np.array([1], numpy_type(dtype)))}

    for name in ("bool", "int8", "int64", "float16", "bfloat16", "float32", "float64", "uint8", "int32"):
        made = {"gives": (name,), "only": (name,), "label": f"of {name}"}
        yield form("ConstantOfShape", lengths("N M"), to="N M", by=value, **made)
        yield form("ConstantOfShape", lengths(""), to="", by=value, **made)
    yield form("EyeLike", "N M", to="N M", k=1, gives=("",))
    yield form("EyeLike", "N M", to="N M", gives=("int32",), dtype=onnx_type("int32"))
    for name in ("int64", "int32", "int16"):
        yield form("Range", o(name, "", "is 0"), o(name, "", "length N"), o(name, "", "is 1"), to="?", gives=(name,),
                   only=(name,))  # fmt: skip
    yield form("Range", number(5), o("int64", "", "offset"), number(-2), to="?", only=("int64",), gives=("int64",))
    for name in ("float32", "float64", "float16", "bfloat16"):
        yield form("Range", o(name, "", "tame"), o(name, "", "tame"), o(name, "", "is 0.5"), to="?", only=(name,),
                   gives=(name,))  # fmt: skip


def sequences() -> Iterator[Form]:
    yield form("SequenceAt", sequence("N M"), o("int64", "", "is 0"), to="N M", kind=MOVE, gives=("",))
    yield form("SequenceAt", sequence("N M"), index("", "2"), to="N M", kind=MOVE, gives=("",))
    yield form("SequenceLength", sequence("N"))
    yield form("ConcatFromSequence", sequence("N M"), to="? M", kind=MOVE, gives=("",), axis=0)
    yield form("ConcatFromSequence", sequence("N M"), to="N ? M", kind=MOVE, gives=("",), axis=1, new_axis=1)
    yield form("SequenceInsert", sequence("N M"), "N M", to="N M", kind=MOVE, sequence=True)
    yield form("SequenceInsert", sequence("N"), "N", index("", "2"), to="N", kind=MOVE, sequence=True)
