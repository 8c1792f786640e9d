"""Models written in ONNX text."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

import whorl


def model(graph: str, opset: int = 21, domains: str = "") -> onnx.ModelProto:
    """The model of a graph in ONNX text: `main (float[n] x) => (float[n] y) { y = Neg(x) }`."""
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}{domains}]> {graph}')


def refusal(source: Any, **options: Any) -> str:
    """The whole message with which a model is refused."""
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(source, **options)
    return str(caught.value)


def run(source: Any, **feeds: Any) -> list[Any]:
    """The outputs of a model."""
    return whorl.InferenceSession(source).run(None, feeds)


ROLLOUT = model("""
    main (int64 count, float[12] table) => (float total) {
        keep_going = Constant<value = bool {1}> ()
        zero = Constant<value = float {0}> ()
        [rollout] total = Loop (count, keep_going, zero) <body = step (int64 i, bool go_on, float sum)
            => (bool go_on_out, float sum_out) {
            go_on_out = Identity(go_on)
            [read_row] row = Gather(table, i)
            [add_row] sum_out = Add(sum, row)
        }>
    }""")
"""Adds up the first `count` rows of a table; fails where there are fewer."""

FOREVER = model("""
    main (float start) => (float last) {
        keep_going = Constant<value = bool {1}> ()
        [forever] last = Loop ("", keep_going, start) <body = step (int64 i, bool go_on, float x)
            => (bool go_on_out, float x_out) {
            go_on_out = Identity(go_on)
            x_out = Neg(x)
        }>
    }""")
"""Never ends."""
