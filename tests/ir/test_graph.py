"""Values, nodes, regions and modules: titles, pickles of any length, and the types of outputs."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from ir.programs import PROGRAMS
from ir.structure import structure

import whorl.ops
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import REGISTRY, Module, Node, Region, Value, walk
from whorl.ir.infer import Inference
from whorl.ir.parse import parse_module
from whorl.ir.types import SequenceType, TensorType
from whorl.ir.verify import verify

assert whorl.ops
FLOAT32 = np.dtype(np.float32)


def chain(length: int) -> Module:
    region = Region("main")
    build = Builder(region, Inference())
    value = region.add_argument("x", TensorType(FLOAT32, (dims.name("N"),)))
    op = REGISTRY["Neg"]()
    for _ in range(length):
        value = build.add(op, value)
    region.results = [value]
    return Module(region, ["y"])


@pytest.mark.slow
def test_chain_of_20000_nodes_is_pickled() -> None:
    module = chain(20_000)
    again = pickle.loads(pickle.dumps(module))
    assert structure(again) == structure(module)
    verify(again)


@pytest.mark.slow
def test_chain_of_5000_nodes_is_copied() -> None:
    module = chain(5_000)
    again = copy.deepcopy(module)
    assert structure(again) == structure(module)
    assert {id(node) for node in walk(again.main)}.isdisjoint(id(node) for node in walk(module.main))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_pickled_with_everything_it_says(name: str) -> None:
    module = parse_module(PROGRAMS[name], check=False)
    again = pickle.loads(pickle.dumps(module))
    assert structure(again) == structure(module)
    values = [*again.main.arguments, *(value for node in again.nodes() for value in node.outputs)]
    assert all(value.owner is not None for value in values)
    assert all(value.owner is again.main for value in again.main.arguments)


def test_title_is_the_name_or_that_of_the_first_output() -> None:
    node = Node(REGISTRY["Neg"](), [])
    assert node.title == "Neg"
    node.outputs = [Value("y", TensorType(FLOAT32, (2,)), node, 0)]
    assert (node.title, repr(node), repr(node.outputs[0])) == ("Neg 'y'", "<Neg 'y'>", "%y: float32[2]")
    node.name = "minus"
    assert node.title == "Neg 'minus'"


def test_output_types_fill_in_what_only_the_file_says() -> None:
    n = dims.name("N")
    region = Region("main")
    region.results = [
        region.add_argument("a", TensorType(FLOAT32, (n, 2))),
        region.add_argument("b", TensorType(FLOAT32, (n,))),
        region.add_argument("c", TensorType(FLOAT32)),
    ]
    declared = {
        "a": TensorType(FLOAT32, (5, dims.name("M"))),
        "b": SequenceType(TensorType(FLOAT32)),
    }
    assert Module(region, ["a", "b", "c"], declared=declared).output_types() == {
        "a": TensorType(FLOAT32, (5, 2)),
        "b": SequenceType(TensorType(FLOAT32)),
        "c": TensorType(FLOAT32),
    }
