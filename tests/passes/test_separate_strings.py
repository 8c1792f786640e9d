"""Classifiers whose labels are text: numbers are computed apart, and the same outputs come of it."""

import ml_oracle
import numpy as np
import pytest

from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Op, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ir.verify import verify
from whorl.passes.context import Context, PassOptions
from whorl.passes.separate_strings import separate_strings
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.session import Session

ROWS = np.array([[0.0, 1.0], [2.0, -1.0], [0.5, np.nan]], np.float32)
TREES = {
    "class_ids": [0, 1, 2],
    "class_nodeids": [1, 3, 4],
    "class_treeids": [0, 0, 0],
    "class_weights": [1.0, 2.0, 3.0],
    "nodes_falsenodeids": [2, 0, 4, 0, 0],
    "nodes_featureids": [0, 0, 1, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_nodeids": [0, 1, 2, 3, 4],
    "nodes_treeids": [0] * 5,
    "nodes_truenodeids": [1, 0, 3, 0, 0],
    "nodes_values": [0.25, 0.0, 0.0, 0.0, 0.0],
}
NAMES = {"classlabels_strings": ["a", "b", "c"]}
LINEAR = {"coefficients": [1.0, 2.0, -1.0, 0.5, 0.25, -3.0], "intercepts": [0.5, 0.0, 0.25]}
VECTORS = {
    "coefficients": [0.5, -1.0, 0.25, 1.0, -0.5, 0.75],
    "support_vectors": [1.0, 0.0, 0.0, 1.0, 1.0, 1.0],
    "vectors_per_class": [1, 1, 1],
    "rho": [0.0, 0.125, -0.25],
}
OPS = {
    "trees": ml_oracle.make_op("TreeEnsembleClassifier", TREES | NAMES),
    "linear": ml_oracle.make_op("LinearClassifier", LINEAR | NAMES),
    "vectors": ml_oracle.make_op("SVMClassifier", VECTORS | NAMES),
}


def module_of(op: Op) -> Module:
    region = Region("main")
    x = region.add_argument("x", TensorType(np.dtype(np.float32), (dims.name("n"), 2)))
    region.results = Builder(region, Inference()).add_many(op, [x], ["label", "scores"], name="forest")
    return Module(region, ["label", "scores"])


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_labels_are_gathered_from_numbers(op):
    module = module_of(op)
    separate_strings(module, Context(module, PassOptions()))
    verify(module)
    classifier, labels, gather = module.main.nodes
    assert (classifier.op.name, gather.op.name) == (op.name, "Gather")
    assert {node.name for node in (classifier, gather)} == {"forest"}
    assert classifier.outputs[0].type.dtype == np.int64
    assert labels.op.value.tolist() == ["a", "b", "c"]
    assert [value.name for value in module.main.results] == ["label", "scores"]


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_outputs_are_the_same(op):
    module, expected = module_of(op), op.run(ROWS)
    separate_strings(module, Context(module, PassOptions()))
    actual = Session(module).execute(None, {"x": ROWS})
    for mine, other in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_numbers_as_labels_stay():
    module = module_of(ml_oracle.make_op("TreeEnsembleClassifier", TREES | {"classlabels_int64s": [5, 6, 7]}))
    separate_strings(module, Context(module, PassOptions()))
    assert [node.op.name for node in module.main.nodes] == ["TreeEnsembleClassifier"]


def test_an_edit_that_may_not_be_made_is_not():
    module = module_of(OPS["trees"])
    separate_strings(module, Context(module, PassOptions(limit=0)))
    assert [node.op.name for node in module.main.nodes] == ["TreeEnsembleClassifier"]


def test_the_classifier_and_its_labels_are_one_program():
    module = module_of(OPS["trees"])
    separate_strings(module, Context(module, PassOptions()))
    session = Session(module, backend="native")
    session.execute(None, {"x": ROWS})
    (native,) = session.plan.parts
    assert [isinstance(program, Launch) for program in native.cache.programs.values()] == [True]


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"], ["a"]])
def test_a_sign_has_names_of_its_own_but_for_two_classes(names):
    op = ml_oracle.make_op(
        "LinearClassifier", {"coefficients": [1.0, 2.0], "intercepts": [0.5], "classlabels_strings": names}
    )
    module, expected = module_of(op), op.run(ROWS)
    separate_strings(module, Context(module, PassOptions()))
    assert len(module.main.nodes) == 3
    labels, _ = Session(module).execute(None, {"x": ROWS})
    assert labels.tolist() == expected[0].tolist()
