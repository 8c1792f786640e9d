"""Lists whose tensors differ in shape are two inputs of a program: elements and the table of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import F32, session, subgraph

import whorl
from whorl.ir.dtypes import FLOAT32, INT64, STRING
from whorl.ir.graph import Region, Value
from whorl.ir.types import SequenceType, TensorType
from whorl.runtime.compiled.memory import ANY_RANK
from whorl.runtime.compiled.program_cache import ProgramCache
from whorl.runtime.compiled.ragged_inputs import MOST_RANKS, RaggedInputs

MAPPED = model("""main (seq(float[k]) s, float[n] x) => (seq(float[k]) r) {
    r = SequenceMap (s, x) <body = b (float[k] v, float[n] y) => (float[k] w)
        { t = ReduceSum<keepdims = 0>(y) w = Mul(v, t) }>
}""")
TOTALS = model("""main (seq(float[a, b]) s, int64 n) => (float[n] totals) {
    totals = Loop (n, "") <body = b (int64 i, bool c) => (bool d, float t)
        { d = Identity(c) v = SequenceAt(s, i) t = ReduceSum<keepdims = 0>(v) }>
}""")
PAIRS = model("""main (seq(float[a]) s, seq(int64[b]) t) => (float[c] x, int64[d] y, int64 n) {
    x = ConcatFromSequence<axis = 0>(s) y = ConcatFromSequence<axis = 0>(t) n = SequenceLength(t)
}""")
ERASED = model("""main (seq(float[a]) s) => (seq(float[a]) r) { r = SequenceErase(s) }""")


def arrays(*shapes: Any, dtype: Any = F32) -> list[np.ndarray]:
    return [np.arange(np.prod(shape), dtype=dtype).reshape(shape) + n for n, shape in enumerate(shapes)]


def check(proto: Any, feeds: dict[str, Any]) -> None:
    """A native session gives, three times, what the interpreter gives, or its error."""
    made, oracle = session(proto), session(proto, "interpreter")
    try:
        expected = oracle.run(None, feeds)
    except whorl.RunError as error:
        with pytest.raises(whorl.RunError) as caught:
            made.run(None, feeds)
        assert str(caught.value) == str(error)
        return
    for _ in range(3):
        for e, f in zip(expected, made.run(None, feeds), strict=True):
            if isinstance(e, list):
                assert [(a.tolist(), a.dtype, a.shape) for a in f] == [(a.tolist(), a.dtype, a.shape) for a in e]
            else:
                assert (f.tolist(), f.dtype, f.shape) == (e.tolist(), e.dtype, e.shape)


@pytest.mark.parametrize("lengths", [(1, 2), (3, 1, 4), (0, 2), (2, 0), (5, 5), (7,), ()])
def test_mapped_tensors_keep_their_own_lengths(lengths: tuple[int, ...]) -> None:
    check(MAPPED, {"s": arrays(*lengths), "x": np.ones(2, F32)})


def test_lists_of_several_shapes_run_natively_and_go_straight_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    made, x = session(MAPPED), np.ones(2, F32)
    for lengths in ((1, 3), (2, 4, 1), (3, 3)):
        made.run(None, {"s": arrays(*lengths), "x": x})
    assert {verdict.how for verdict in made.explain()} == {"native"}
    monkeypatch.setattr(ProgramCache, "find", lambda *_: pytest.fail("the long way was taken"))
    for lengths in ((1, 3), (3, 1), (2, 4, 1), (3, 3)):
        (r,) = made.run(None, {"s": arrays(*lengths), "x": x})
        assert [a.tolist() for a in r] == [(2 * a).tolist() for a in arrays(*lengths)]


def test_empty_lists_run_natively_and_go_straight_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    made, x = session(MAPPED), np.ones(2, F32)
    for lengths in ((), (1, 3), (2,)):
        made.run(None, {"s": arrays(*lengths), "x": x})
    assert {verdict.how for verdict in made.explain()} == {"native"}
    monkeypatch.setattr(ProgramCache, "find", lambda *_: pytest.fail("the long way was taken"))
    for lengths in ((), (1, 3), (), (2,), (2, 4, 1), ()):
        (r,) = made.run(None, {"s": arrays(*lengths), "x": x})
        assert [a.tolist() for a in r] == [(2 * a).tolist() for a in arrays(*lengths)]


BODY = "<body = b (int64 i, bool c) => (bool d, {0} v) {{ d = Identity(c) v = SequenceAt(s, i) }}>"
WITHOUT_ARRAYS = {
    "taken": "main (seq({0}) s, int64 i) => ({0} r) {{ r = SequenceAt(s, i) }}",
    "erased": "main (seq({0}) s, int64 i) => (seq({0}) r) {{ r = SequenceErase(s, i) }}",
    "joined": "main (seq({0}) s, int64 i) => ({0} r) {{ r = ConcatFromSequence<axis = 0>(s) }}",
    "counted": "main (seq({0}) s, int64 i) => (int64 r) {{ n = SequenceLength(s) r = Add(n, i) }}",
    "inserted": "main (seq({0}) s, {0} x, int64 i) => (seq({0}) r) {{ r = SequenceInsert(s, x, i) }}",
    "collected": 'main (seq({0}) s, int64 i) => ({1}[] r) {{ r = Loop(i, "") ' + BODY + " }}",
    "mapped": """main (seq({0}) s, seq({0}) t) => (seq({0}) r, seq({0}) q, int64 n) {{
        n = SequenceLength(t) q = Identity(t)
        r = SequenceMap(s) <body = b ({0} v) => ({0} w) {{ w = Concat<axis = 0>(v, v) }}>
    }}""",
}


@pytest.mark.parametrize("element", ["float[k]", "float[]", "float[3]", "int64[a, 3]", "string[k]", "bool[]"])
@pytest.mark.parametrize("text", WITHOUT_ARRAYS.values(), ids=WITHOUT_ARRAYS)
def test_empty_lists_have_the_results_and_errors_of_the_interpreter(text: str, element: str) -> None:
    proto = model(text.format(element, element.partition("[")[0]))
    dtype = {"f": F32, "i": np.int64, "s": object, "b": np.bool_}[element[0]]
    full = np.full((2, 3) if "," in element else 3, "a" if dtype is object else 1, dtype)
    for s, t, i in (([], [full], 0), ([], [], 1), ([full], [], 0), ([full], [full, full], -1)):
        feeds = {"s": s, "t": t, "i": np.int64(i), "x": full}
        check(proto, {value.name: feeds[value.name] for value in proto.graph.input})


def test_errors_of_empty_lists_leave_the_programs_of_small_lists() -> None:
    made = session(model("main (seq(float[k]) s, int64 i) => (float[k] r) { r = SequenceAt(s, i) }"))
    i = np.int64(0)
    for _ in range(3):
        with pytest.raises(whorl.RunError, match="SequenceAt 'r': position 0 is outside"):
            made.run(None, {"s": [], "i": i})
        assert made.run(None, {"s": arrays(2), "i": i})[0].tolist() == [0, 1]
    assert subgraph(made).programs.prefers_tables


@pytest.mark.parametrize("shapes", [((1, 2), (3, 2)), ((0, 2), (2, 0)), ((4, 1), (1, 4), (2, 2))])
@pytest.mark.parametrize("trips", [0, 1, 2])
def test_loops_read_matrices_of_several_shapes(shapes: tuple[Any, ...], trips: int) -> None:
    check(TOTALS, {"s": [a.T for a in arrays(*shapes)], "n": np.int64(trips)})


def test_reading_behind_the_last_tensor_is_the_interpreters_error() -> None:
    made, feeds = session(TOTALS), {"s": arrays((1, 2), (3, 2)), "n": np.int64(3)}
    for _ in range(3):
        with pytest.raises(whorl.RunError, match="position 2 is outside"):
            made.run(None, feeds)


def test_tensors_of_other_lengths_than_declared_are_refused_after_a_direct_run() -> None:
    rows = model(
        """main (seq(float[n, 4]) s) => (seq(float[m]) r) {
        r = SequenceMap (s) <body = b (float[n, 4] v) => (float[n] w)
            { last = Constant<value_ints = [1]>() w = ReduceSum<keepdims = 0>(v, last) }>
    }"""
    )
    made = session(rows)
    for _ in range(3):
        made.run(None, {"s": arrays((3, 4), (2, 4))})
    for shapes in (((4, 3), (4, 2)), ((2, 4), (4, 3))):
        with pytest.raises(whorl.RunError, match=r"input 's'\[\d\] has shape"):
            made.run(None, {"s": arrays(*shapes)})


@pytest.mark.parametrize(("first", "second"), [((1, 3), (2, 2)), ((2, 2), (1, 3)), ((1, 3), (3, 1, 2)), ((2,), (2,))])
def test_several_lists_of_which_some_are_alike(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    check(PAIRS, {"s": arrays(*first), "t": arrays(*second, dtype=np.int64)})


def test_tensors_of_several_ranks_and_ops_without_tables_are_interpreted() -> None:
    check(model("main (seq(float[]) s) => (int64 n) { n = SequenceLength(s) }"), {"s": arrays((2, 1), (3,))})
    check(ERASED, {"s": arrays(2, 3)})
    check(ERASED, {"s": arrays(3, 3)})


def test_limited_runs_have_programs_of_their_own() -> None:
    made = session(TOTALS, max_iterations=1)
    for _ in range(2):
        assert made.run(None, {"s": arrays((1, 2), (3, 2)), "n": np.int64(1)})[0].tolist() == [1]
        with pytest.raises(whorl.LimitError):
            made.run(None, {"s": arrays((1, 2), (3, 2)), "n": np.int64(2)})


def test_ranks_of_lists_have_caches_of_their_own() -> None:
    made: list[list[Value]] = []

    def make(nodes: Any, inputs: Any) -> ProgramCache:
        made.append(inputs)
        return ProgramCache(nodes, inputs, nodes[0].outputs, [])

    region = Region("inputs")
    s = region.add_argument("s", SequenceType(TensorType(FLOAT32)))
    x = region.add_argument("x", TensorType(INT64, ()))
    ragged, n = RaggedInputs([x, s], make), np.array(1)
    for rank in (1, 2, 1, 2):
        known = ragged.find([n, arrays((1,) * rank, (2,) * rank)])
        assert known is not None and [a.shape for a in known[1]] == [(), (1 + 2**rank,), (2, 1 + rank)]
    assert [[v.name for v in inputs] for inputs in made] == [["x", "s", "s"]] * 2
    assert ragged.find([n, arrays((1,), (1, 1))]) is None
    known = ragged.find([n, []])
    assert (
        known is not None and known[0] is ragged.caches[ANY_RANK,] and [a.shape for a in known[1]][1:] == [(0,), (0, 2)]
    )
    for rank in range(1, 2 + MOST_RANKS):
        ragged.find([n, arrays((1,) * rank)])
    assert len(ragged.caches) == MOST_RANKS
    texts = region.add_argument("s", SequenceType(TensorType(STRING)))
    known = RaggedInputs([texts], make).find([[np.array(["a"], object), np.array([], object)]])
    assert known is not None and [a.tolist() for a in known[1]] == [["a"], [[0, 1], [1, 0]]]
