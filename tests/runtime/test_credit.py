"""What a run compiles is bounded; what is left is interpreted, and compiled in later runs."""

import numpy as np
import pytest
from onnx import TensorProto, helper, parser

import whorl
from whorl.codegen.target import compiled_bytes
from whorl.runtime import credit
from whorl.runtime.compiled import loop_slices

LARGEST_PROGRAM = 3 << 17


def chain(length: int) -> bytes:
    """Softmax of each product by another number: no two are the same code."""
    nodes = []
    for k in range(length):
        nodes.append(helper.make_node("Constant", [], [f"c{k}"], value_float=1 + k / 1024))
        nodes.append(helper.make_node("Mul", [f"x{k}", f"c{k}"], [f"m{k}"]))
        nodes.append(helper.make_node("Softmax", [f"m{k}"], [f"x{k + 1}"]))
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in ("x0", f"x{length}")]
    graph = helper.make_graph(nodes, "chain", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9)
    return model.SerializeToString()


@pytest.fixture(autouse=True)
def nothing_on_disk(monkeypatch):
    monkeypatch.setenv("WHORL_CACHE", "")


def native(model: bytes) -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.backend = "native"
    return whorl.InferenceSession(model, options)


def compiled_by_runs(session: whorl.InferenceSession, count: int) -> list[int]:
    actual, x = [], np.random.default_rng(0).normal(size=(3, 4)).astype("f")
    for _ in range(count):
        before = compiled_bytes()
        (y,) = session.run(None, {"x0": x})
        np.testing.assert_allclose(y, np.full((3, 4), 0.25), atol=1e-6)
        actual.append(compiled_bytes() - before)
    return actual


def test_run_compiles_no_more_than_its_credit(monkeypatch):
    monkeypatch.setattr(credit, "LEAST", 1 << 16)
    session = native(chain(150))
    compiled = compiled_by_runs(session, 12)
    assert max(compiled) < (1 << 16) + LARGEST_PROGRAM
    assert compiled[0] and compiled[1] and not compiled[-1]
    assert {verdict.how for verdict in session.explain()} == {"native"}


def test_explain_says_that_later_runs_go_on(monkeypatch):
    monkeypatch.setattr(credit, "LEAST", 1 << 14)
    session = native(chain(200))
    compiled_by_runs(session, 1)
    reasons = {verdict.reason for verdict in session.explain() if verdict.how == "interpreted"}
    assert reasons == {"runs have compiled as much as one may so far, the next one goes on"}


@pytest.mark.slow
@pytest.mark.parametrize("length", [250, 2000])
def test_first_run_compiles_in_proportion_to_the_nodes(length):
    (compiled,) = compiled_by_runs(native(chain(length)), 1)
    assert compiled < max(credit.LEAST, credit.OF_A_NODE * 3 * length) + LARGEST_PROGRAM


def test_loop_that_runs_for_long_is_compiled_without_credit(monkeypatch):
    monkeypatch.setattr(credit, "LEAST", 0)
    monkeypatch.setattr(credit, "OF_A_NODE", 0)
    model = """<ir_version: 9, opset_import: ["" : 21]> main (int64 M, float[2] x) => (float[2] y) {
      y = Loop(M, , x) <body = b (int64 i, bool k, float[2] a) => (bool k2, float[2] c) {
        k2 = Identity(k) c = Sin(a) }> }"""
    session = native(parser.parse_model(model).SerializeToString())
    before = compiled_bytes()
    session.run(None, {"M": np.array(loop_slices.LATE - 10), "x": np.ones(2, "f")})
    assert compiled_bytes() == before
    session.run(None, {"M": np.array(2 * loop_slices.LATE), "x": np.ones(2, "f")})
    assert compiled_bytes() > before


def test_chain_that_is_too_deep_for_one_program_is_cut():
    nodes = [helper.make_node("Sub", [f"x{k}", f"x{max(0, k - 1)}"], [f"x{k + 1}"]) for k in range(500)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in ("x0", "x500")]
    model = helper.make_model(
        helper.make_graph(nodes, "differences", infos[:1], infos[1:]),
        opset_imports=[helper.make_opsetid("", 21)],
        ir_version=9,
    )
    session = native(model.SerializeToString())
    x = np.array([3, 5], "f")
    (y,) = session.run(None, {"x0": x})
    session.run(None, {"x0": x})
    before, now = 1, 0
    for _ in range(499):
        before, now = now, now - before
    assert y.tolist() == [3 * now, 5 * now] and now
    assert {verdict.how for verdict in session.explain()} == {"native"}
