# ruff: noqa: E501  (a model is a line)
"""Indices that another thread changes while native code runs: `python racing_feeds.py` prints `done` if nothing broke.

The thread writes numbers far outside between good ones. Whatever a run gives or raises is right, but for an access
outside, which ends the process.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time

import numpy as np
from onnx import parser

import whorl

COUNT = 1 << 14
SECONDS = 0.1
FAR = 1 << 44
"""Rows beyond anything that is mapped."""
OPS = {
    "Gather": "y=Gather<axis=0>(x,i)",
    "Gather of sines": "s=Sin(x) y=Gather<axis=0>(s,i)",
    "Gather twice": "a=Gather<axis=0>(x,i) b=Gather<axis=0>(x,i) y=Add(a,b)",
    "Gather of a gather": "j=Gather<axis=0>(i,i) y=Gather<axis=0>(x,j)",
    "GatherElements": "y=GatherElements<axis=0>(x,i)",
    "GatherND": "o=Constant<value_ints=[-1,1]>() j=Reshape(i,o) y=GatherND(x,j)",
    "ScatterElements": "y=ScatterElements<axis=0>(x,i,x)",
    "ScatterElements that adds": 'y=ScatterElements<axis=0,reduction="add">(x,i,x)',
    "ScatterND": "o=Constant<value_ints=[-1,1]>() j=Reshape(i,o) y=ScatterND(x,j,x)",
    "ScatterND of sums": 'o=Constant<value_ints=[-1,1]>() j=Reshape(i,o) y=ScatterND<reduction="add">(x,j,x)',
    "OneHot": "d=Constant<value=int64 {4}>() v=Constant<value_floats=[0.0,1.0]>() y=OneHot(i,d,v)",
    "MaxUnpool": "o=Constant<value_ints=[1,1,-1]>() m=Reshape(x,o) j=Reshape(i,o) y=MaxUnpool<kernel_shape=[2],strides=[2]>(m,j)",
    "Slice": "z=Constant<value_ints=[0]>() a=Constant<value_ints=[1]>() b=Constant<value_ints=[2]>() s=Slice(i,a,b) y=Slice(x,z,s)",
    "Slice of equal lengths": "a=Constant<value_ints=[1]>() b=Constant<value_ints=[2]>() s=Slice(i,a,b) e=Add(s,a) y=Slice(x,s,e)",
    "Tile": "a=Constant<value_ints=[1]>() b=Constant<value_ints=[2]>() s=Slice(i,a,b) y=Tile(x,s)",
    "Range": "z=Constant<value=int64 {0}>() o=Constant<value=int64 {1}>() s=Gather<axis=0>(i,o) r=Range(z,s,o) y=Cast<to=1>(r)",
    "ReverseSequence": "o=Constant<value_ints=[1,-1]>() m=Reshape(x,o) a=Constant<value_ints=[1]>() b=Constant<value_ints=[2]>() s=Slice(i,a,b) y=ReverseSequence<batch_axis=0,time_axis=1>(m,s)",
    "Loop": "M=Constant<value=int64 {4}>() y=Loop(M,,x)<body=b(int64 n,bool k,float[COUNT] a)=>(bool c,float[COUNT] o){c=Identity(k) o=Gather<axis=0>(a,i)}>",
    "Loop of scatters": "M=Constant<value=int64 {4}>() y=Loop(M,,x)<body=b(int64 n,bool k,float[COUNT] a)=>(bool c,float[COUNT] o){c=Identity(k) o=ScatterElements<axis=0>(a,i,x)}>",
}


def session_of(text: str) -> whorl.InferenceSession:
    body = text.replace("COUNT", str(COUNT))
    source = f'<ir_version: 10, opset_import: ["" : 21]> g (float[{COUNT}] x, int64[{COUNT}] i) => (y) {{ {body} }}'
    options = whorl.SessionOptions()
    options.backend, options.timeout, options.max_memory = "native", 5.0, 1 << 28
    return whorl.InferenceSession(parser.parse_model(source).SerializeToString(), options)


def race(text: str) -> None:
    session, over = session_of(text), threading.Event()
    x, index = np.ones(COUNT, np.float32), np.zeros(COUNT, np.int64)
    session.run(None, {"x": x, "i": index})

    def disturb() -> None:
        while not over.is_set():
            for position in (0, 1, COUNT // 2, COUNT - 1):
                for value in (FAR, -FAR, 0):
                    index[position] = value

    thread = threading.Thread(target=disturb)
    thread.start()
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            with contextlib.suppress(whorl.WhorlError):
                session.run(None, {"x": x, "i": index})
    finally:
        over.set()
        thread.join()


if __name__ == "__main__":
    for name in sys.argv[1:] or OPS:
        print(name, flush=True)
        race(OPS[name])
    print("done", flush=True)
