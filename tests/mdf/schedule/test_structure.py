"""Structural conditions: dependencies before and after."""

import pytest

from whorl.errors import LoadError
from whorl.mdf.model import Condition, ConditionSet, Graph, Node
from whorl.mdf.schedule.scheduler import Schedule
from whorl.mdf.schedule.structure import Dependencies, apply_structure


def senders(text: str) -> Dependencies:
    """`A B:A C:AB` as nodes with the nodes that they wait for."""
    return {entry[0]: set(entry[2:]) for entry in text.split()}


@pytest.mark.parametrize(
    ("before", "owner", "type", "kwargs", "after"),
    [
        ("A B:A C:B", "C", "BeforeNode", {"node": "A"}, "A:C B:A C"),
        ("A B C", "C", "BeforeNodes", {"nodes": ["A", "B"]}, "A:C B:C C"),
        ("A B:A C:B", "A", "AfterNode", {"dependency": "B"}, "A:B B C:AB"),
        ("A B C D:C", "D", "AfterNodes", {"nodes": ["A", "B"]}, "A:C B:C C D:ABC"),
        ("A B:A C", "C", "WithNode", {"node": "B"}, "A B:A C:A"),
        ("A B", "A", "AddEdgeTo", {"node": "B"}, "A B:A"),
        ("A B:A", "B", "RemoveEdgeFrom", {"node": "A"}, "A B"),
        ("A B:A", "A", "BeforeNode", {"node": "B"}, "A B:A"),
    ],
)
def test_structural_condition_changes_dependencies(before, owner, type, kwargs, after):
    assert apply_structure(senders(before), owner, [Condition(type, kwargs)], []) == senders(after)


def test_condition_without_effect_is_noted():
    notes: list[str] = []
    apply_structure(senders("A B"), "B", [Condition("RemoveEdgeFrom", {"node": "A"})], notes)
    apply_structure(senders("A B:A"), "A", [Condition("BeforeNode", {"node": "B"})], notes)
    assert notes == [
        "RemoveEdgeFrom of node 'B' has no effect: there is no edge from 'A'",
        "BeforeNode of node 'A': already so for 'B'",
    ]


def test_operations_that_contradict_each_other_are_refused():
    condition = Condition("BeforeNodes", {"nodes": ["B", "C"]})
    with pytest.raises(LoadError, match="one operation makes an edge from 'B' to 'A', another removes it"):
        apply_structure(senders("A B C:B"), "A", [condition], [])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"node": "A"}, "cannot place node 'A' by 'A'"),
        ({}, "cannot place node 'A' by no node"),
        ({"nodes": ["B", "C"]}, "cannot place node 'A' by 'B', 'C'"),
        ({"node": "B", "owner_senders": "GUESS"}, "'GUESS' is not an operation on edges"),
    ],
)
def test_structural_condition_that_cannot_be_read_is_refused(kwargs, message):
    with pytest.raises(LoadError, match=message):
        apply_structure(senders("A B C"), "A", [Condition("BeforeNode", kwargs)], [])


def test_structural_condition_stands_beside_one_of_counts():
    both = [Condition("AddEdgeTo", {"node": "A"}), Condition("EveryNPasses", {"n": 2})]
    conditions = ConditionSet({"B": Condition("All", {"dependencies": both})})
    graph = Graph("g", {id: Node(id) for id in "AB"}, conditions=conditions)
    schedule = Schedule(graph)
    assert schedule.sets == (("B",), ("A",))
    assert list(schedule.call()) == [("B",), ("A",)]


def test_cycle_of_many_nodes_is_cut():
    ids = [f"n{at}" for at in range(1500)]
    chain = {id: {ids[at - 1]} if at else set() for at, id in enumerate(ids)}
    after = apply_structure(chain, ids[-1], [Condition("BeforeNode", {"node": ids[0]})], [])
    assert after[ids[0]] == {ids[-1]} and after[ids[-1]] == set()


def test_order_with_too_many_cycles_is_refused():
    ids = [f"n{at}" for at in range(40)]
    dense = {id: set(ids[:at]) for at, id in enumerate(ids)}
    with pytest.raises(LoadError, match="too many cycles"):
        apply_structure(dense, ids[-1], [Condition("BeforeNode", {"node": ids[1]})], [])
