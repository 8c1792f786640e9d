# ruff: noqa: E501  (a model is a line)
"""Indices that lie outside, for every op that takes some, run natively against guard pages and by the interpreter.

`python index_attacks.py` prints each attack before it is made, then what both made of it: the last line of a process
that died names the attack.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, parser

import whorl

N = 4
LIMITS = "MemoryLimitError", "TimeLimitError"
TYPES = {"int32": (-(1 << 31), (1 << 31) - 1), "int64": (-(1 << 63), (1 << 63) - 1)}


@dataclass(frozen=True)
class Attacked:
    """An op: the text that gives y from the float[4] x and the index i, and the shape of i."""

    text: str
    shape: tuple[int, ...] = (2,)
    types: tuple[str, ...] = ("int32", "int64")
    """Element types that the op takes for its index."""

    @property
    def declared(self) -> str:
        return f"[{','.join(map(str, self.shape))}]" if self.shape else ""


ONE = "one=Constant<value_ints=[1]>() zero=Constant<value_ints=[0]>() "
MATRIX = ONE + "four=Constant<value_ints=[2,2]>() m=Reshape(x,four) "
IMAGE = "four=Constant<value_ints=[1,1,2,2]>() m=Reshape(x,four) "
WIDE = ("int64",)
OPS: dict[str, Attacked] = {
    "Gather": Attacked("y=Gather<axis=0>(x,i)"),
    "Gather of rows": Attacked(MATRIX + "y=Gather<axis=0>(m,i)"),
    "Gather of columns": Attacked(MATRIX + "y=Gather<axis=1>(m,i)"),
    "Gather of one": Attacked("y=Gather<axis=0>(x,i)", ()),
    "Gather of a result": Attacked("s=Sin(x) g=Gather<axis=0>(s,i) y=Cos(g)"),
    "Gather of a gather": Attacked("j=Gather<axis=0>(i,i) y=Gather<axis=0>(x,j)"),
    "GatherElements": Attacked("y=GatherElements<axis=0>(x,i)"),
    "GatherElements of rows": Attacked(MATRIX + "y=GatherElements<axis=1>(m,i)", (2, 2)),
    "GatherND": Attacked("y=GatherND(x,i)", (2, 1), WIDE),
    "GatherND of pairs": Attacked(MATRIX + "y=GatherND(m,i)", (1, 2), WIDE),
    "ScatterElements": Attacked("u=Constant<value_floats=[8.0,9.0]>() y=ScatterElements<axis=0>(x,i,u)"),
    "ScatterElements that adds": Attacked(
        'u=Constant<value_floats=[8.0,9.0]>() y=ScatterElements<axis=0,reduction="add">(x,i,u)'
    ),
    "ScatterND": Attacked("u=Constant<value_floats=[8.0,9.0]>() y=ScatterND(x,i,u)", (2, 1), WIDE),
    "ScatterND that multiplies": Attacked(
        'u=Constant<value_floats=[8.0,9.0]>() y=ScatterND<reduction="mul">(x,i,u)', (2, 1), WIDE
    ),
    "ScatterND of pairs": Attacked(MATRIX + "u=Constant<value_floats=[8.0]>() y=ScatterND(m,i,u)", (1, 2), WIDE),
    "TensorScatter": Attacked(
        "r=Constant<value_ints=[1,1,4,1]>() c=Reshape(x,r) q=Constant<value_ints=[1,1,1,1]>() u=Constant<value=float[1,1,1,1] {9}>() "
        "y=TensorScatter<axis=2>(c,u,i)",
        (1,),
        WIDE,
    ),
    "Slice from": Attacked(ONE + "t=Cast<to=7>(i) e=Add(t,one) y=Slice(x,t,e,zero)", (1,)),
    "Slice to": Attacked("z=Constant<value_ints=[0]>() t=Cast<to=7>(i) y=Slice(x,z,t)", (1,)),
    "Slice by": Attacked(ONE + "f=Constant<value_ints=[9]>() t=Cast<to=7>(i) y=Slice(x,zero,f,zero,t)", (1,)),
    "Slice back by": Attacked(ONE + "f=Constant<value_ints=[-9]>() t=Cast<to=7>(i) y=Slice(x,one,f,zero,t)", (1,)),
    "Slice along": Attacked(ONE + "y=Slice(x,zero,one,i)", (1,)),
    "Slice of both": Attacked(ONE + "y=Slice(x,i,i,zero)", (1,), WIDE),
    "OneHot": Attacked("d=Constant<value=int64 {4}>() v=Constant<value_floats=[0.0,1.0]>() y=OneHot(i,d,v)"),
    "OneHot of depth": Attacked(
        "j=Constant<value_ints=[0,9]>() v=Constant<value_floats=[0.0,1.0]>() y=OneHot(j,i,v)", ()
    ),
    "TopK": Attacked("y,p=TopK(x,i)", (1,), WIDE),
    "ReverseSequence": Attacked(MATRIX + "y=ReverseSequence(m,i)", (2,), WIDE),
    "MaxUnpool": Attacked(
        "s=Constant<value_ints=[1,1,2]>() t=Slice(x,a,b) m=Reshape(t,s) r=Reshape(i,s) y=MaxUnpool<kernel_shape=[2],strides=[2]>(m,r)".replace(
            "t=Slice", "a=Constant<value_ints=[0]>() b=Constant<value_ints=[2]>() t=Slice"
        ),
        (2,),
        WIDE,
    ),
    "MaxUnpool of a feed": Attacked(
        "s=Constant<value_ints=[1,1,4]>() m=Reshape(x,s) y=MaxUnpool<kernel_shape=[2],strides=[2]>(m,i)",
        (1, 1, 4),
        WIDE,
    ),
    "ArrayFeatureExtractor": Attacked("y=ai.onnx.ml.ArrayFeatureExtractor(x,i)", (2,), WIDE),
    "RoiAlign": Attacked(
        IMAGE + "r=Constant<value=float[1,4] {0,0,1,1}>() y=RoiAlign<output_height=2,output_width=2>(m,r,i)", (1,), WIDE
    ),
    "RoiAlign of places": Attacked(
        IMAGE
        + "z=Constant<value_ints=[0]>() f=Cast<to=1>(i) r=Reshape(f,q) y=RoiAlign<output_height=2,output_width=2>(m,r,z)".replace(
            "r=Reshape", "q=Constant<value_ints=[1,4]>() r=Reshape"
        ),
        (4,),
    ),
    "GridSample": Attacked(IMAGE + "f=Cast<to=1>(i) y=GridSample(m,f)", (1, 1, 1, 2)),
    "GridSample of nearest": Attacked(
        IMAGE + 'f=Cast<to=1>(i) y=GridSample<mode="nearest",padding_mode="border">(m,f)', (1, 1, 1, 2)
    ),
    "GridSample that reflects": Attacked(
        IMAGE + 'f=Cast<to=1>(i) y=GridSample<mode="cubic",padding_mode="reflection">(m,f)', (1, 1, 1, 2)
    ),
    "Resize by": Attacked(IMAGE + "f=Cast<to=1>(i) y=Resize(m,,f)", (4,)),
    "Resize to": Attacked(IMAGE + "y=Resize(m,,,i)", (4,), WIDE),
    "Pad": Attacked("y=Pad(x,i)", (2,), WIDE),
    "Pad by reflection": Attacked('y=Pad<mode="reflect">(x,i)', (2,), WIDE),
    "Pad by edges": Attacked('y=Pad<mode="edge">(x,i)', (2,), WIDE),
    "Pad along": Attacked("p=Constant<value_ints=[1,1]>() y=Pad(x,p,,i)", (1,)),
    "Tile": Attacked("y=Tile(x,i)", (1,), WIDE),
    "Expand": Attacked("y=Expand(x,i)", (2,), WIDE),
    "Reshape": Attacked("y=Reshape(x,i)", (2,), WIDE),
    "Unsqueeze": Attacked("y=Unsqueeze(x,i)", (1,), WIDE),
    "Squeeze": Attacked("y=Squeeze(x,i)", (1,), WIDE),
    "ReduceSum": Attacked("y=ReduceSum(x,i)", (1,), WIDE),
    "CumSum": Attacked("y=CumSum(x,i)", ()),
    "Split": Attacked("y,w=Split(x,i)", (2,), WIDE),
    "ConstantOfShape": Attacked("y=ConstantOfShape(i)", (1,), WIDE),
    "Range": Attacked("z=Sub(i,i) o=Div(i,i) r=Range(z,i,o) c=Cast<to=1>(r) y=ReduceSum<keepdims=0>(c)", ()),
    "Trilu": Attacked(MATRIX + "y=Trilu(m,i)", (), WIDE),
    "NonMaxSuppression": Attacked(
        "b=Constant<value=float[1,2,4] {0,0,1,1,0,0,2,2}>() s=Constant<value=float[1,1,2] {0.5,0.6}>() "
        "k=NonMaxSuppression(b,s,i) y=Cast<to=1>(k)",
        (),
        WIDE,
    ),
    "LSTM of lengths": Attacked(
        "q=Constant<value_ints=[2,2,1]>() m=Reshape(x,q) w=Constant<value=float[1,4,1] {1,2,3,4}>() y,h,c=LSTM<hidden_size=1>(m,w,w,,i)",
        (2,),
        ("int32",),
    ),
    "GRU of lengths": Attacked(
        "q=Constant<value_ints=[2,2,1]>() m=Reshape(x,q) w=Constant<value=float[1,3,1] {1,2,3}>() y,h=GRU<hidden_size=1>(m,w,w,,i)",
        (2,),
        ("int32",),
    ),
    "SequenceAt": Attacked("s=SplitToSequence<keepdims=0>(x) y=SequenceAt(s,i)", ()),
    "NegativeLogLikelihoodLoss": Attacked(MATRIX + "y=NegativeLogLikelihoodLoss(m,i)"),
    "SoftmaxCrossEntropyLoss": Attacked(MATRIX + "y=SoftmaxCrossEntropyLoss(m,i)"),
    "RotaryEmbedding": Attacked(
        "q=Constant<value_ints=[1,1,1,4]>() m=Reshape(x,q) c=Constant<value=float[2,2] {1,1,1,1}>() y=RotaryEmbedding(m,c,c,i)",
        (1, 1),
        WIDE,
    ),
    "Col2Im": Attacked(
        "q=Constant<value_ints=[1,4,1]>() m=Reshape(x,q) b=Constant<value_ints=[2,2]>() y=Col2Im(m,i,b)", (2,), WIDE
    ),
    "CenterCropPad": Attacked("y=CenterCropPad<axes=[0]>(x,i)", (1,)),
    "BitShift": Attacked('u=Cast<to=13>(i) s=BitShift<direction="LEFT">(u,u) y=Cast<to=1>(s)'),
    "Mod": Attacked("z=Sub(i,i) s=Mod(i,z) y=Cast<to=1>(s)"),
    "Mod by a feed": Attacked("n=Cast<to=7>(x) j=Cast<to=7>(i) s=Mod(n,j) y=Cast<to=1>(s)", ()),
    "Div": Attacked("o=Sub(i,i) n=Not(c) s=Div(i,o) y=Cast<to=1>(s)".replace("n=Not(c) ", "")),
    "Div by a feed": Attacked("s=Div(i,i) y=Cast<to=1>(s)"),
    "DFT": Attacked("q=Constant<value_ints=[1,4,1]>() m=Reshape(x,q) y=DFT(m,i)", (), WIDE),
    "DFT along": Attacked("q=Constant<value_ints=[1,4,1]>() m=Reshape(x,q) y=DFT(m,,i)", (), WIDE),
    "HannWindow": Attacked("y=HannWindow(i)", ()),
    "Window of blocks": Attacked(
        "q=Constant<value_ints=[1,4,1]>() m=Reshape(x,q) l=Constant<value=int64 {2}>() y=STFT(m,i,,l)", (), WIDE
    ),
}
SETTINGS = "main", "constant", "body", "branch"


def values(op: Attacked, type: str) -> Iterator[np.ndarray]:
    """The last index is the attack, then all are; inside ones come first, so that programs for them exist."""
    low, high = TYPES[type]
    for value in (0, 1, -1, N - 1, N, N + 1, -N, -N - 1, low, low + 1, high, high - 1, high // 4, 1 << 30):
        whole = np.full(op.shape, value, type)
        last = np.zeros(op.shape, type)
        last[(-1,) * last.ndim] = value
        yield last
        if last.size > 1:
            yield whole


def model_of(op: Attacked, type: str, setting: str, index: np.ndarray) -> ModelProto:
    passed = f"float[{N}] x, {type}{op.declared} i"
    elements = ",".join(map(str, index.reshape(-1).tolist()))
    match setting:
        case "constant":
            body = f"float[{N}] x) => (y) {{ i=Constant<value={type}{op.declared} {{{elements}}}>() {op.text} }}"
        case "body":
            body = (
                f"{passed}, int64 M) => (w, v) {{ w,v=Loop(M,,x)<body=b(int64 n,bool k,float[{N}] a)"
                f"=>(bool c,float[{N}] o,y){{c=Identity(k) {op.text} o=Neg(a)}}> }}"
            )
        case "branch":
            body = f"{passed}, bool t) => (v) {{ v=If(t)<then_branch=b()=>(y){{{op.text}}},else_branch=e()=>(z){{z=Neg(x)}}> }}"
        case _:
            body = f"{passed}) => (y) {{ {op.text} }}"
    return parser.parse_model(f'<ir_version: 10, opset_import: ["" : 23, "ai.onnx.ml" : 3]> g ({body}')


def feeds_of(setting: str, index: np.ndarray) -> dict[str, np.ndarray]:
    actual = {"x": np.arange(1, N + 1, dtype=np.float32), "i": index, "M": np.array(2), "t": np.array(True)}
    names = {"constant": "x", "body": "xiM", "branch": "xit"}.get(setting, "xi")
    return {name: actual[name] for name in names}


def report(session: whorl.InferenceSession, feeds: dict[str, np.ndarray]) -> list | str:
    """The outputs, or the kind of error."""
    try:
        return session.run(None, feeds)
    except whorl.WhorlError as error:
        return type(error).__name__


def limited(backend: str) -> whorl.SessionOptions:
    options = whorl.SessionOptions()
    options.backend, options.timeout, options.max_memory = backend, 5.0, 1 << 26
    return options


def are_equal(a: list | str, b: list | str) -> bool:
    """Whether both give the same, or fail. A limit may stop one of them only: what is fused takes no memory."""
    if (isinstance(a, str) and a in LIMITS) or (isinstance(b, str) and b in LIMITS):
        return True
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str)
    pairs = [(np.asarray(x), np.asarray(y)) for x, y in zip(a, b, strict=True)]
    return all(x.shape == y.shape and np.allclose(x, y, 1e-4, 1e-5, equal_nan=True) for x, y in pairs)


def attack(name: str, op: Attacked, type: str, setting: str) -> None:
    sessions: tuple[whorl.InferenceSession, ...] = ()
    for index in values(op, type):
        print(name, type, setting, index.tolist(), flush=True)
        if not sessions or setting == "constant":
            model = model_of(op, type, setting, index).SerializeToString()
            try:
                sessions = tuple(
                    whorl.InferenceSession(model, limited(backend)) for backend in ("native", "interpreter")
                )
            except whorl.WhorlError:
                continue
        native, oracle = (report(session, feeds_of(setting, index)) for session in sessions)
        if not are_equal(native, oracle):
            print(f"DIFFERENT {native} {oracle}"[:300].replace("\n", " "), flush=True)


def main(names: list[str]) -> None:
    for name in names or OPS:
        for type in OPS[name].types:
            for setting in SETTINGS:
                attack(name, OPS[name], type, setting)
    print("done", flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    os.environ.setdefault("WHORL_DEBUG", "guard")
    main(sys.argv[1:])
