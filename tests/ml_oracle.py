"""One op run by whorl and by onnxruntime on the same attributes and inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
from fuzz.forms import Slack
from fuzz.likeness import difference
from one_program import OneProgram
from onnx import helper

from whorl.formats.onnx.tensors import proto_of, type_to
from whorl.ir.graph import REGISTRY, Op, as_types, as_values
from whorl.ir.types import Fact, Known, TensorType, Type, fact_of, type_of
from whorl.lowering.native_types import NATIVE

onnxruntime.set_default_logger_severity(4)
NEWEST = {"": 21, "ai.onnx.ml": 5}
ROUNDED = Slack(16, 20)
"""What functions and sums may differ by in native code, if an op has any: tens of terms of about 1, which may cancel,
are off by the rounding of what they add up to without their signs."""
EXACT = Slack()
SUMMING = ("LinearRegressor", "LinearClassifier", "Normalizer", "SVMRegressor", "SVMClassifier")
"""Ops with sums that may be taken in any order."""


def make_op(name: str, attributes: dict[str, Any]) -> Op:
    return REGISTRY[name](**{k: tuple(v) if isinstance(v, list) else v for k, v in attributes.items()})


def strings(*texts: str) -> np.ndarray:
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


def result(op: Op, *inputs: Any) -> Any:
    """What `run` gives, after a check that `infer` promises nothing else, with and without known shapes."""
    with np.errstate(all="ignore"):
        outputs = as_values(op.run(*inputs))
    for facts in ([fact_of(x) for x in inputs], [_unranked(x) for x in inputs]):
        for value, promised in zip(outputs, as_types(op.infer(*facts)), strict=False):
            check_type(value, promised)
    check_native(op, inputs, outputs)
    return outputs[0] if len(outputs) == 1 else outputs


def has_native_form(op: Op, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Whether native code is to compute an op: it has a form for any length, and all values are tensors with code."""
    is_typed = all(isinstance(x, np.ndarray) and x.dtype in NATIVE for x in (*inputs, *outputs))
    return is_typed and op.any_length and min(inputs[0].shape, default=0) > 1


def check_native(op: Op, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """One program gives what `run` gives, for these rows, fewer and more; for one row another program does."""
    if not has_native_form(op, inputs, outputs):
        return
    rows = len(inputs[0])
    is_rounded = op.name in SUMMING or getattr(op, "post_transform", "NONE") not in ("NONE", 0)
    slack = ROUNDED if is_rounded else EXACT
    program = OneProgram(op, inputs, len(outputs))
    if inputs[0].ndim != 2:
        return assert_native(program, op, inputs, slack)
    for count in (rows, 2, 9 * rows):
        assert_native(program, op, [with_rows(x, rows, count) for x in inputs], slack)
    one = [with_rows(x, rows, 1) for x in inputs]
    return assert_native(OneProgram(op, one, len(outputs)), op, one, slack)


def with_rows(x: np.ndarray, rows: int, count: int) -> np.ndarray:
    """A table of so many rows with another number of them; other tensors are as they are."""
    return np.concatenate([x] * 9)[:count] if x.ndim == 2 and len(x) == rows else x


def assert_native(program: OneProgram, op: Op, inputs: Sequence[Any], slack: Slack) -> None:
    with np.errstate(all="ignore"):
        expected = as_values(op.run(*inputs))
    actual = program.run(inputs)
    assert actual is not None, "the program failed"
    for mine, other in zip(expected, actual, strict=True):
        assert difference(mine, other, slack) == ""


def _unranked(x: Any) -> Fact:
    return Known(TensorType(x.dtype)) if isinstance(x, np.ndarray) else fact_of(x)


def check_type(value: Any, promised: Type) -> None:
    """Fail unless a value is of the type that was inferred for it."""
    if not isinstance(value, np.ndarray):
        return
    assert value.dtype == promised.dtype
    if promised.rank is not None:
        assert value.ndim == promised.rank
        for length, dim in zip(value.shape, promised.shape, strict=True):
            assert not isinstance(dim, int) or length == dim


def by_onnxruntime(name: str, attributes: dict[str, Any], *inputs: Any, **versions: int) -> Any:
    """The op as a model of one node, run by onnxruntime. `ml=3` chooses the version of ai.onnx.ml."""
    op = make_op(name, attributes)
    opsets = NEWEST | ({"ai.onnx.ml": versions["ml"]} if "ml" in versions else {})
    types = as_types(op.infer(*(Known(type_of(x)) for x in inputs)))
    passed = [helper.make_value_info(f"x{k}", _open(type_of(x))) for k, x in enumerate(inputs)]
    required = [helper.make_value_info(f"y{k}", _open(t)) for k, t in enumerate(types)]
    message = {k: proto_of(v) if isinstance(v, np.ndarray) else v for k, v in attributes.items()}
    names = [[v.name for v in values] for values in (passed, required)]
    node = helper.make_node(name, *names, domain=op.domain, **message)
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = helper.make_model(helper.make_graph([node], "case", passed, required), opset_imports=imports, ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, {f"x{k}": x for k, x in enumerate(inputs)})
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _open(passed: Type) -> Any:
    proto = type_to(passed)
    if proto.HasField("tensor_type"):
        proto.tensor_type.ClearField("shape")
    return proto


def assert_same(name: str, attributes: dict[str, Any], *inputs: Any, tolerance: float = 1e-5, **versions: int) -> Any:
    """Both give the same; returns whorl's outputs."""
    ours = result(make_op(name, attributes), *inputs)
    theirs = by_onnxruntime(name, attributes, *inputs, **versions)
    if isinstance(ours, tuple):
        for mine, other in zip(ours, theirs, strict=True):
            assert_equal(mine, other, tolerance)
    else:
        assert_equal(ours, theirs, tolerance)
    return ours


def assert_equal(ours: np.ndarray, theirs: np.ndarray, tolerance: float = 1e-5) -> None:
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if ours.dtype == object or ours.dtype.kind in "iub":
        assert ours.tolist() == theirs.tolist()
    else:
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
