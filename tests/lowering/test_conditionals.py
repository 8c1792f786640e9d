"""What an If in a loop gives of a carried value: in its memory where a branch only adds to it or changes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import ALONE, F32, session

import whorl
from whorl.ir.types import Known, TensorType
from whorl.kernel.program import For, Program, Store
from whorl.kernel.walk import all_statements, blocks
from whorl.lowering.graphs import lower_graph

EVEN = """
    two = Constant <value_int = 2> ()
    none = Constant <value_int = 0> ()
    rest = Mod (i, two)
    even = Equal (rest, none)"""


def growing(then: str, other: str, more: str = "", outputs: str = "", declared: str = "") -> Any:
    """A loop that carries a matrix which a branch of an If makes; `more` nodes and `outputs` besides."""
    return model(f"""main (int64 n, float[k, 3] x, float[1, 3] row) => (float[m, 3] y{declared}) {{
      y{declared and ", seen"} = Loop (n, "", x) <body = b (int64 i, bool go, float[a, 3] h)
          => (bool on, float[c, 3] next{outputs}) {{
        on = Identity (go){EVEN}
        f = Cast <to = 1> (i)
        e = Mul (row, f)
        next = If (even) <
          then_branch = t () => (float[d, 3] r) {{ {then} }},
          else_branch = o () => (float[d, 3] r) {{ {other} }}
        >
        {more}
      }}>
    }}""")


APPEND, SAME = "r = Concat <axis = 0> (h, e)", "r = Identity (h)"
SUM = "zero = Constant <value_ints = [0]> () seen_ = ReduceSum <keepdims = 0> ({}, zero)"
SEEN = ", float[3] seen_", ", seen"
PROGRAMS = {
    "one branch": (growing(APPEND, SAME), True),
    "the other branch": (growing(SAME, APPEND), True),
    "both branches": (growing(APPEND, "r = Concat <axis = 0> (h, e, e)"), True),
    "a branch inside": (
        growing("s = Constant <value_int = 3> () big = Less (i, s) r = If (big) < then_branch = u () => (float[d, 3] q)"
                " { q = Concat <axis = 0> (h, e, e) }, else_branch = v () => (float[d, 3] q) { q = Identity (h) } >",
                APPEND), True),
    "another value": (growing(APPEND, "r = Neg (h)"), False),
    "rows that it has": (growing("r = Concat <axis = 0> (h, h)", SAME), False),
    "the front": (growing("r = Concat <axis = 0> (e, h)", SAME), False),
    "the old one is read": (growing(APPEND, SAME, SUM.format("h"), *SEEN), False),
    "the new one is read": (growing(APPEND, SAME, SUM.format("next"), *SEEN), False),
}  # fmt: skip


def copies(program: Program) -> int:
    """Nests inside of loops that store a tensor of which only the run knows how large it is."""
    loops = [s for s in all_statements(program.body) if not isinstance(s, For) and any(blocks(s))]
    inner = [s for loop in loops for block in blocks(loop) for s in all_statements(block)]
    open_nests = [s for s in inner if isinstance(s, For) and not is_number(s)]
    return sum(any(isinstance(each, Store) for each in all_statements(nest.body)) for nest in open_nests)


def is_number(nest: For) -> bool:
    return type(nest.extent).__name__ == "Const"


def feeds(n: int, rows: int = 2) -> dict[str, Any]:
    x = np.linspace(-1, 1, rows * 3, dtype=F32).reshape(rows, 3)
    return {"n": np.array(n), "x": x, "row": np.array([[1, 2, 3]], F32)}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("limits", [{}, {"max_iterations": 100_000}, ALONE], ids=["inside", "counted", "alone"])
def test_each_way_to_grow_gives_what_the_interpreter_gives(name: str, limits: dict[str, Any]) -> None:
    proto, _ = PROGRAMS[name]
    made, oracle = session(proto, **limits), session(proto, "interpreter")
    for n, rows in ((5, 2), (0, 2), (1, 1), (9, 0), (6, 3)):
        expected, actual = oracle.run(None, feeds(n, rows)), made.run(None, feeds(n, rows))
        for a, b in zip(actual, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    assert [verdict.how for verdict in made.explain()] == ["native"]


@pytest.mark.parametrize("name", [name for name, (_, copies_nothing) in PROGRAMS.items() if copies_nothing])
def test_iteration_that_appends_in_a_branch_copies_nothing(name: str) -> None:
    main = whorl.load(PROGRAMS[name][0]).main
    facts = [Known(value.type) for value in main.arguments]
    assert copies(lower_graph(main, facts, takes_lengths=True).program) == 0


def test_copies_are_counted_where_a_branch_gives_another_value() -> None:
    main = whorl.load(PROGRAMS["another value"][0]).main
    assert copies(lower_graph(main, [Known(value.type) for value in main.arguments], takes_lengths=True).program) > 0


def updating(then: str, other: str, more: str = "", outputs: str = "", declared: str = "") -> Any:
    """The same with a matrix of fixed shape, of which a branch changes a row."""
    return model(f"""main (int64 n, float[5, 3] x, float[1, 3] row) => (float[5, 3] y{declared}) {{
      y{declared and ", seen"} = Loop (n, "", x) <body = b (int64 i, bool go, float[5, 3] h)
          => (bool on, float[5, 3] next{outputs}) {{
        on = Identity (go){EVEN}
        f = Cast <to = 1> (i)
        e = Mul (row, f)
        five = Constant <value_int = 5> ()
        shape = Constant <value_ints = [1, 1]> ()
        number = Mod (i, five)
        j = Reshape (number, shape)
        next = If (even) <
          then_branch = t () => (float[5, 3] r) {{ {then} }},
          else_branch = o () => (float[5, 3] r) {{ {other} }}
        >
        {more}
      }}>
    }}""")


UPDATE = "r = ScatterND (h, j, e)"
INNER = (
    "s = Constant <value_int = 3> () big = Less (i, s) r = If (big) < then_branch = u () => (float[5, 3] q)"
    " { q = ScatterND (h, j, e) }, else_branch = v () => (float[5, 3] q) { q = Identity (h) } >"
)
UPDATES = {
    "one branch": (updating(UPDATE, SAME), True),
    "both branches": (updating(UPDATE, UPDATE.replace("e)", "e) ")), True),
    "twice": (updating("m = ScatterND (h, j, e) r = ScatterND <reduction = \"add\"> (m, j, e)", SAME), True),
    "a branch inside": (updating(INNER, UPDATE), True),
    "another value": (updating(UPDATE, "r = Neg (h)"), False),
    "the old one is read": (updating(UPDATE, SAME, SUM.format("h"), *SEEN), False),
    "the new one is read": (updating(UPDATE, SAME, SUM.format("next"), *SEEN), True),
    "the old one in the branch": (updating("m = ScatterND (h, j, e) r = Add (m, h)", SAME), False),
}  # fmt: skip


def stores_of_all(program: Program) -> int:
    """Nests inside of loops over all five rows, or all their elements."""
    loops = [s for s in all_statements(program.body) if not isinstance(s, For) and any(blocks(s))]
    inner = [s for loop in loops for block in blocks(loop) for s in all_statements(block)]
    nests = [s for s in inner if isinstance(s, For) and getattr(s.extent, "value", 0) in (5, 15)]
    return sum(any(isinstance(each, Store) for each in all_statements(nest.body)) for nest in nests)


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("limits", [{}, {"max_iterations": 100_000}, ALONE], ids=["inside", "counted", "alone"])
def test_each_way_to_change_a_row_gives_what_the_interpreter_gives(name: str, limits: dict[str, Any]) -> None:
    proto, _ = UPDATES[name]
    made, oracle = session(proto, **limits), session(proto, "interpreter")
    for n in (0, 1, 2, 7, 12):
        expected, actual = oracle.run(None, feeds(n, 5)), made.run(None, feeds(n, 5))
        for a, b in zip(actual, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    assert [verdict.how for verdict in made.explain()] == ["native"]


@pytest.mark.parametrize("name", UPDATES)
def test_iteration_that_changes_a_row_in_a_branch_copies_no_other(name: str) -> None:
    proto, copies_nothing = UPDATES[name]
    main = whorl.load(proto).main
    facts = [Known(TensorType(np.dtype(v.type.dtype), v.type.shape)) for v in main.arguments]
    assert (stores_of_all(lower_graph(main, facts, takes_lengths=True).program) == 0) == copies_nothing


CROSSED = model(f"""main (int64 n, float[k, 3] x, float[j, 3] z, float[1, 3] row) => (float[m, 3] y, float[o, 3] w) {{
  y, w = Loop (n, "", x, z) <body = b (int64 i, bool go, float[a, 3] h, float[d, 3] g)
      => (bool on, float[c, 3] hn, float[f, 3] gn) {{
    on = Identity (go){EVEN}
    hn, gn = If (even) <
      then_branch = t () => (float[p, 3] r, float[q, 3] s) {{ r = Concat <axis = 0> (g, row) s = Identity (h) }},
      else_branch = o () => (float[p, 3] r, float[q, 3] s) {{ r = Identity (h) s = Concat <axis = 0> (g, row) }}
    >
  }}>
}}""")
SEQUENCE = model(f"""main (int64 n, float[3] x) => (float[m] y) {{
  one = SequenceConstruct (x)
  grown = Loop (n, "", one) <body = b (int64 i, bool go, seq(float) s) => (bool on, seq(float) t) {{
    on = Identity (go){EVEN}
    f = Cast <to = 1> (i)
    e = Add (x, f)
    t = If (even) <
      then_branch = u () => (seq(float) r) {{ r = SequenceInsert (s, e) }},
      else_branch = v () => (seq(float) r) {{ r = Identity (s) }}
    >
  }}>
  y = ConcatFromSequence <axis = 0> (grown)
}}""")


@pytest.mark.parametrize("limits", [{}, {"max_iterations": 100_000}, ALONE], ids=["inside", "counted", "alone"])
def test_two_values_that_are_exchanged_and_a_sequence(limits: dict[str, Any]) -> None:
    for proto, extra in ((CROSSED, {"z": np.ones((1, 3), F32)}), (SEQUENCE, {})):
        made, oracle = session(proto, **limits), session(proto, "interpreter")
        for n in (0, 1, 2, 5, 8):
            each = feeds(n) | extra if extra else {"n": np.array(n), "x": np.ones(3, F32)}
            for a, b in zip(made.run(None, each), oracle.run(None, each), strict=True):
                np.testing.assert_array_equal(a, b)
