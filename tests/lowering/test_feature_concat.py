"""Convolutions write where their results are joined, and what is joined with more and more is never copied."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lowering.convolved import FEATURES, Model, calls, nests, run
from whorl.ir.graph import Value
from whorl.lowering.feature_concat import merge_feature_concats
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.elementwise.nonlinear import Relu
from whorl.ops.movement.axes import Concat
from whorl.ops.windows.convolution import Conv


def convolved(m: Model, x: Value, channels: int, features: int = FEATURES) -> Value:
    return m.build.add(Conv(pads=(1, 1, 1, 1)), x, m.draw(features, channels, 3, 3))


def concat(m: Model, *values: Value) -> Value:
    return m.build.add(Concat(1), *values)


def test_convolutions_write_into_the_concatenation() -> None:
    m = Model()
    graph = run(m, concat(m, convolved(m, m.x, 3), m.r, convolved(m, m.r, FEATURES, 2)))
    assert calls(graph) == ["split_phases", "convolution"] * 2
    assert nests(graph.program.body) == 1  # r is copied


def one_more_each_time(m: Model) -> list[Value]:
    made = [m.x]
    for n in range(3):
        made.append(concat(m, made[-1], convolved(m, made[-1], 3 + n * FEATURES)))
    return made


def lists_of_all(m: Model) -> list[Value]:
    parts, made = [m.x], [m.x]
    for n in range(3):
        parts.append(convolved(m, made[-1], 3 + n * FEATURES))
        made.append(concat(m, *parts))
    return made


@pytest.mark.parametrize("net", [one_more_each_time, lists_of_all])
def test_growing_features_are_copied_once(net: Callable[[Model], list[Value]]) -> None:
    m = Model()
    graph = run(m, net(m)[-1], tolerance=1e-3)
    assert nests(graph.program.body) == 1  # x is copied, once
    assert calls(graph) == ["split_phases", "convolution"] * 3


@pytest.mark.parametrize("net", [one_more_each_time, lists_of_all])
def test_images_of_a_batch_are_copied(net: Callable[[Model], list[Value]]) -> None:
    m = Model((2, 3, 6, 7))
    run(m, net(m)[-1], tolerance=1e-3)


@pytest.mark.parametrize("net", [one_more_each_time, lists_of_all])
def test_features_that_are_results_on_the_way_have_memory_alone(net: Callable[[Model], list[Value]]) -> None:
    m = Model()
    made = net(m)
    run(m, made[2], made[3], made[1], tolerance=1e-3)


def test_features_that_two_go_on_from_are_both() -> None:
    m = Model()
    first = concat(m, m.x, convolved(m, m.x, 3))
    left, right = (concat(m, first, convolved(m, first, 8)) for _ in range(2))
    again = convolved(m, first, 8, 13)
    run(m, m.build.add(Add(), m.build.add(Relu(), left), again), right, tolerance=1e-3)


def test_features_are_added_to_what_lies_behind_them() -> None:
    m = Model()
    first = concat(m, m.x, convolved(m, m.x, 3))
    added = m.build.add(Add(), convolved(m, first, 8, 8), first)
    graph = run(m, m.build.add(Relu(), concat(m, first, added)), tolerance=1e-3)
    assert calls(graph)[-1] == "convolution_sum" and nests(graph.program.body) == 2


def test_features_concatenated_with_themselves() -> None:
    m = Model()
    first = concat(m, m.x, convolved(m, m.x, 3))
    second = concat(m, first, first, convolved(m, first, 8))
    run(m, concat(m, second, convolved(m, m.x, 3), second), tolerance=1e-3)


def test_lists_without_convolutions_are_as_they_were() -> None:
    m = Model()
    first = concat(m, m.x, m.r)
    m.region.results = [first, concat(m, m.x, m.r, m.x)]
    merge_feature_concats(m.region)
    assert [len(node.inputs) for node in m.region.nodes] == [2, 3]
