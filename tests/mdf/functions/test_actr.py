"""The functions of ACT-R on chunks and productions, and the same of modeci_mdf beside them."""

import copy
import random

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.formats.mdf.files import read_mdf
from whorl.mdf.engine.engine import Engine
from whorl.mdf.functions.actr import ACTR

TYPES = {"count-order": ["first", "second"], "add": ["arg1", "arg2", "count"]}
MEMORY = [
    {"name": "b", "ISA": "count-order", "first": "1", "second": "2"},
    {"name": "c", "ISA": "count-order", "first": "2", "second": "3"},
    {"name": "d", "ISA": "count-order", "first": "2", "second": "4"},
]
GOAL = {"ISA": "add", "arg1": "5", "arg2": "2", "count": "0"}
RETRIEVED = {"ISA": "count-order", "first": "5", "second": "6"}
INCREMENT = {
    "name": "increment",
    "lhs": [
        {"buffer": "goal", "ISA": "add", "arg1": "=sum", "arg2": "=num", "count": "-=num"},
        {"buffer": "retrieval", "ISA": "count-order", "first": "=sum", "second": "=next"},
    ],
    "rhs": [
        {"buffer": "goal", "arg1": "=next"},
        {"buffer": "retrieval", "ISA": "count-order", "first": "=next"},
    ],
}
STOP = {
    "name": "stop",
    "lhs": [{"buffer": "goal", "ISA": "add", "arg1": "?", "arg2": "=num", "count": "=num"}],
    "rhs": [],
}
CHOSEN = {**INCREMENT, "bindings": {"sum": "5", "num": "2", "next": "6"}}

CASES = {
    "text of a chunk": ("chunk_to_string", [MEMORY[0]], "count-order 1 2"),
    "text of a pattern": ("pattern_to_string", [INCREMENT["lhs"][0]], "add ?sum ?num !?num"),
    "goal with slots": ("change_goal", [{"buffer": "goal", "arg1": "6"}, GOAL], {**GOAL, "arg1": "6"}),
    "goal unchanged": ("change_goal", [{}, GOAL], GOAL),
    "first match": ("retrieve_chunk", [{"buffer": "retrieval", "ISA": "count-order", "first": "2"}, MEMORY, TYPES],
                    {"ISA": "count-order", "first": "2", "second": "3"}),
    "no match": ("retrieve_chunk", [{"buffer": "retrieval", "ISA": "count-order", "first": "9"}, MEMORY, TYPES], {}),
    "no pattern": ("retrieve_chunk", [{}, MEMORY, TYPES], {}),
    "matching productions": ("pattern_matching_function", [[INCREMENT, STOP], GOAL, RETRIEVED], [CHOSEN]),
    "nothing retrieved": ("pattern_matching_function", [[INCREMENT], GOAL, {}], []),
    "unequal slots": ("pattern_matching_function", [[STOP], {**GOAL, "count": "2"}, {}],
                      [{**STOP, "bindings": {"num": "2"}}]),
    "one production": ("conflict_resolution_function", [[CHOSEN]], CHOSEN),
    "none to choose": ("conflict_resolution_function", [[]], {}),
    "goal update": ("update_goal", [CHOSEN], {"buffer": "goal", "arg1": "6"}),
    "retrieval update": ("update_retrieval", [CHOSEN], {"buffer": "retrieval", "ISA": "count-order", "first": "6"}),
    "buffer update": ("update_buffer", [CHOSEN, "imaginal"], {}),
    "no production": ("update_goal", [{}], {}),
    "ended": ("check_termination", [{}], True),
    "going on": ("check_termination", [CHOSEN], False),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_functions_of_actr(case):
    name, arguments, expected = CASES[case]
    assert ACTR[name](*copy.deepcopy(arguments)) == expected


@pytest.mark.parametrize("case", CASES)
def test_functions_are_the_ones_of_the_peer(case):
    peer = pytest.importorskip("modeci_mdf.functions.actr", reason="modeci_mdf is not installed")
    name, arguments, expected = CASES[case]
    assert getattr(peer, name)(*copy.deepcopy(arguments)) == expected


def test_conflicts_are_resolved_by_the_generator_of_python():
    random.seed(3)
    expected = [random.choice("ab") for _ in range(10)]
    random.seed(3)
    actual = [ACTR["conflict_resolution_function"]([{"name": "a"}, {"name": "b"}])["name"] for _ in range(10)]
    assert actual == expected


COUNTING = """
(chunk-type count-order first second)
(chunk-type count-from start end count)
(add-dm
 (b ISA count-order first one second two)
 (c ISA count-order first two second three)
 (first-goal ISA count-from start one end three))

(P start
 =goal>
  ISA count-from
  start =num1
  count nil
==>
 =goal>
  count =num1
 +retrieval>
  ISA count-order
  first =num1
)
(P increment
 =goal>
  ISA count-from
  count =num1
  - end =num1
 =retrieval>
  ISA count-order
  first =num1
  second =num2
==>
 =goal>
  count =num2
 +retrieval>
  ISA count-order
  first =num2
)
(goal-focus first-goal)
"""


def values(nodes, kinds, inside):
    return {
        (node, id): copy.deepcopy(getattr(part, inside))
        for node, each in nodes.items()
        for kind in kinds
        for id, part in getattr(each, kind).items()
    }


def test_counting_model_is_that_of_the_peer(tmp_path, capsys):
    importer = pytest.importorskip("modeci_mdf.interfaces.actr.importer", reason="modeci_mdf is not installed")
    peer, peer_files = map(pytest.importorskip, ("modeci_mdf.execution_engine", "modeci_mdf.utils"))
    (tmp_path / "count.lisp").write_text(COUNTING)
    importer.actr_to_mdf(str(tmp_path / "count.lisp"))
    theirs = peer.EvaluableGraph(peer_files.load_mdf(str(tmp_path / "count.json")).graphs[0])
    ours = Engine(next(iter(read_mdf(tmp_path / "count.json").graphs.values())))
    goal, retrieval = {}, {}
    counts = []
    for number in range(5):
        theirs.evaluate(initializer={"goal_input": dict(goal), "dm_input": dict(retrieval)})
        ours.evaluate(None, {"goal_input": dict(goal), "dm_input": dict(retrieval)})
        expected = values(theirs.enodes, ("evaluable_parameters", "evaluable_outputs"), "curr_value")
        actual = values(ours.nodes, ("parameters", "outputs"), "value")
        for position, value in expected.items():
            np.testing.assert_array_equal(actual[position], value, err_msg=str(position))
        goal = {} if number == 2 else actual["fire_production", "fire_prod_output_to_goal"]
        retrieval = actual["fire_production", "fire_prod_output_to_retrieval"]
        counts.append(actual["goal_buffer", "goal_output"]["count"])
    assert counts == ["nil", "one", "two", "two", "two"]


def test_matching_puts_the_bindings_into_the_production():
    production = copy.deepcopy(INCREMENT)
    chunks = {"goal": {0: "add", 1: "5", 2: "2", 3: "0"}, "retrieval": {0: "count-order", 1: "5", 2: "6"}}
    assert ACTR["match_production"](production, chunks)
    assert production["bindings"] == {"sum": "5", "num": "2", "next": "6"}
    assert not ACTR["match_production"](production, {**chunks, "retrieval": None})


def test_a_goal_is_changed_where_it_is_stored():
    goal = dict(GOAL)
    assert ACTR["change_goal"]({"buffer": "goal", "arg1": "6"}, goal) is goal
    assert goal["arg1"] == "6"


def test_a_chunk_of_an_unknown_type_is_refused():
    with pytest.raises(RunError, match="chunk type 'count-order' does not name 2 slots"):
        ACTR["retrieve_chunk"]({"buffer": "retrieval", "ISA": "count-order", "first": "1"}, MEMORY, {})


def test_ports_without_a_value_count_as_empty():
    assert ACTR["change_goal"]({}, 0) == {}
    assert ACTR["pattern_matching_function"]([STOP], 0, 0) == []
