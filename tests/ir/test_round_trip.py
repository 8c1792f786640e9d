"""`parse_module(print_module(m))` is `m`: for every op and field, for drawn types, and for real models."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir.strategies import instances, names, tensors, value_types
from ir.structure import plain, structure
from onnx.backend.test.loader import load_model_tests

import whorl
import whorl.ops
from whorl.conformance.cases import load_cases
from whorl.ir import dims
from whorl.ir.constants import Constant
from whorl.ir.fields import _signature
from whorl.ir.graph import REGISTRY, Module, Node, Op, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.parse import parse_module
from whorl.ir.text import print_module
from whorl.ir.types import TensorType

assert whorl.ops
FLOAT = TensorType(np.dtype(np.float32))


def same_again(module: Module, check: bool = True) -> Module:
    """The module read back from its text, which must say the same, and print the same."""
    text = print_module(module)
    again = parse_module(text, check=check)
    assert structure(again) == structure(module)
    assert print_module(again) == text
    return again


def one_node(op: Op, inputs: int, regions: list[Region]) -> Module:
    main = Region("main")
    node = Node(op, [main.add_argument(f"x{index}", FLOAT) for index in range(inputs)], regions)
    node.outputs = [Value("y", FLOAT, node, 0)]
    main.nodes, main.results = [node], node.outputs
    return Module(main, ["y"])


@pytest.mark.parametrize("name", sorted(REGISTRY))
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_op_round_trips_with_every_field(name: str, data: st.DataObject) -> None:
    cls = REGISTRY[name]
    regions = [Region("body")] if cls.infer_regions is not Op.infer_regions else []
    strategy = tensors().map(Constant) if cls is Constant else instances(cls)
    same_again(one_node(data.draw(strategy), _signature(cls)[0], regions), check=False)


@pytest.mark.slow
@given(value_types, value_types, st.lists(names, min_size=4, max_size=4))
@settings(max_examples=300, deadline=None)
def test_types_and_names_round_trip(argument: Any, declared: Any, message: list[str]) -> None:
    main = Region(message[0])
    if isinstance(argument, TensorType) and argument.rank is not None:
        argument = argument.with_shape(tuple(1 if d is dims.UNKNOWN else d for d in argument.shape))
    main.add_argument(message[1], argument)
    node = Node(REGISTRY["Identity"](), main.arguments, name=message[2])
    node.outputs = [Value(message[1], argument, node, 0)]
    main.nodes, main.results = [node], [*node.outputs, *main.arguments]
    same_again(Module(main, message[2:], declared={message[2]: declared}), check=False)


@pytest.mark.slow
@given(st.lists(tensors(), min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_tensors_round_trip(arrays: list[np.ndarray]) -> None:
    main = Region("main")
    for array in arrays:
        node = Node(Constant(array), [])
        node.outputs = [Value("c", TensorType(array.dtype, array.shape), node, 0)]
        main.nodes.append(node)
    Inference().region(main)
    again = same_again(Module(main))
    assert [plain(node.op.run()) for node in again.main.nodes] == [plain(array) for array in arrays]


@pytest.mark.parametrize("case", [case for case in load_cases() if not case.error], ids=lambda case: case.name)
def test_conformance_case_round_trips(case: Any) -> None:
    try:
        module = whorl.load(case.data)
    except whorl.LoadError:
        assert case.may_refuse
        return
    same_again(module)


@pytest.mark.slow
def test_backend_suite_round_trips_and_a_sample_runs_equal() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    compared = 0
    for index, case in enumerate(cases):
        model = case.model if case.model is not None else Path(case.model_dir, "model.onnx")
        again = same_again(whorl.load(model))
        values = case.data_sets[0][0] if case.data_sets else [None]
        if index % 10 == 0 and all(isinstance(v, np.ndarray) for v in values) and all(n.op.pure for n in again.nodes()):
            feeds = dict(zip([v.name for v in again.main.arguments], values, strict=True))
            assert plain(whorl.run(again, feeds)) == plain(whorl.run(model, feeds)), case.name
            compared += 1
    assert len(cases) > 1500 and compared > 100
