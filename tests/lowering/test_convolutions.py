"""What follows a convolution by fixed filters at once becomes part of it, with the same result."""

from __future__ import annotations

import numpy as np
import pytest

from lowering.convolved import FEATURES, Model, calls, nests, run, statements_of
from whorl.ir.graph import Value
from whorl.ir.types import TensorType
from whorl.kernel.program import Call
from whorl.lowering.block_convolution import BlockConvolution, ChannelTerms
from whorl.lowering.convolutions import lay_out_convolutions
from whorl.lowering.graph_program import GraphProgram
from whorl.ops.elementwise.arithmetic import Add, Clip, Mul, Sum
from whorl.ops.elementwise.nonlinear import Relu, Sigmoid
from whorl.ops.reduce.normalization import BatchNormalization
from whorl.ops.windows.convolution import Conv


def test_normalization_scale_sum_and_relu_are_done_with_the_convolution() -> None:
    m = Model()
    y = m.build.add(Mul(), m.normalized(m.convolved()), m.draw(FEATURES, 1, 1))
    y = m.build.add(Add(), m.draw(1, FEATURES, 1, 1), y)
    graph = run(m, m.build.add(Relu(), m.build.add(Sum(), y, m.r)))
    assert calls(graph) == ["split_phases", "convolution_sum"]
    assert not nests(graph.program.body)


@pytest.mark.parametrize(("low", "high"), [(0.0, 6.0), (None, 3.0), (-1.0, None)])
def test_known_bounds_are_retained_by_the_convolution(low: float | None, high: float | None) -> None:
    m = Model()
    bounds = [None if b is None else m.build.constant(np.array(b, np.float32)) for b in (low, high)]
    graph = run(m, m.build.add(Clip(), m.convolved(), *bounds))
    assert calls(graph) == ["split_phases", "convolution"]
    assert not nests(graph.program.body)


def test_a_convolution_that_is_read_twice_keeps_its_own_result() -> None:
    m = Model()
    y = m.convolved()
    graph = run(m, m.build.add(Relu(), y), y)
    assert calls(graph) == ["split_phases", "convolution"]


def test_a_convolution_plus_itself_is_not_taken_in() -> None:
    m = Model()
    y = m.convolved()
    run(m, m.build.add(Add(), y, y))


def test_a_sum_of_two_convolutions_is_done_with_one_of_them() -> None:
    m = Model()
    graph = run(m, m.build.add(Relu(), m.build.add(Add(), m.convolved(), m.convolved())))
    assert calls(graph).count("convolution_sum") == 1
    assert not nests(graph.program.body)


def written_over(graph: GraphProgram) -> list[bool]:
    """Of each sum, whether it is written over the tensor that it adds."""
    calls = [s for s in graph.program.body if isinstance(s, Call) and s.kernel.endswith("convolution_sum")]
    return [s.addresses[0][0] is s.addresses[-1][0] for s in calls]


def test_a_sum_is_written_over_a_result_that_is_not_read_later() -> None:
    m = Model()
    y = m.build.add(Relu(), m.build.add(Add(), m.convolved(), m.convolved()))
    inner = m.build.add(Relu(), m.build.add(Conv(), y, m.square))
    z = m.build.add(Relu(), m.build.add(Add(), m.build.add(Conv(), inner, m.square), y))
    assert written_over(run(m, z)) == [True, True]


def test_a_sum_leaves_what_is_read_later_or_is_not_its_own() -> None:
    m = Model()
    y = m.convolved()
    z = m.build.add(Add(), m.build.add(Conv(), y, m.square), y)
    assert written_over(run(m, z, y)) == [False]
    m = Model()
    y = m.convolved()
    z = m.build.add(Add(), m.build.add(Conv(), y, m.square), y)
    late = m.build.add(Mul(), y, m.draw(1))
    assert written_over(run(m, z, late)) == [False]
    m = Model()
    assert written_over(run(m, m.build.add(Add(), m.convolved(), m.r))) == [False]


def test_what_was_to_be_computed_from_an_overwritten_result_is_computed_before() -> None:
    m = Model()
    y = m.convolved()
    negative = m.build.add(Mul(), y, m.draw(1))
    z = m.build.add(Add(), m.build.add(Conv(), m.build.add(Sigmoid(), y), m.square), y)
    assert written_over(run(m, m.build.add(Mul(), z, negative))) == [True]


def test_other_functions_follow_as_a_nest_of_their_own() -> None:
    m = Model()
    graph = run(m, m.build.add(Sigmoid(), m.convolved()))
    assert nests(graph.program.body) == 1


def test_a_number_for_each_column_is_no_step_on_features() -> None:
    m = Model()
    graph = run(m, m.build.add(Mul(), m.convolved(), m.draw(7)))
    assert nests(graph.program.body) == 1


@pytest.mark.parametrize("image", [(14, 14), (35, 61)])
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("group", [1, 2])
def test_convolutions_around_all_elements_are_winograds(image: tuple[int, int], batch: int, group: int) -> None:
    """With what follows them: the steps on features, the sum, the limits. Sums of 144 products are about 200 here."""
    m = Model((batch, 16 * group, *image), 24 * group)
    convolved = m.build.add(Conv(pads=(1, 1, 1, 1), group=group), m.x, m.draw(24 * group, 16, 3, 3), m.draw(24 * group))
    graph = run(m, m.build.add(Relu(), m.build.add(Add(), m.normalized(convolved), m.r)), tolerance=1e-4)
    calls = {statement.kernel for statement in statements_of(graph.program.body) if isinstance(statement, Call)}
    assert calls == {"winograd_convolution_sum"}


@pytest.mark.parametrize(
    ("image", "channels", "conv"),
    [
        ((7, 7), 32, Conv(pads=(1, 1, 1, 1))),
        ((20, 20), 8, Conv(pads=(1, 1, 1, 1))),
        ((20, 20), 32, Conv(pads=(1, 1, 1, 1), strides=(2, 2))),
        ((20, 20), 32, Conv(pads=(2, 2, 2, 2), dilations=(2, 2))),
        ((20, 20), 32, Conv(pads=(2, 2, 0, 0))),
    ],
    ids=["few patches", "few channels", "strides", "dilations", "windows before elements"],
)
def test_other_convolutions_are_sums_over_taps(image: tuple[int, int], channels: int, conv: Conv) -> None:
    m = Model((1, channels, *image), 32)
    graph = run(m, m.build.add(conv, m.x, m.draw(32, channels, 3, 3)))
    calls = [statement.kernel for statement in statements_of(graph.program.body) if isinstance(statement, Call)]
    assert calls and not any("winograd" in kernel for kernel in calls)


@pytest.mark.parametrize("batch", [1, 3])
def test_channels_are_normalized_while_windows_of_one_tap_are_gathered(batch: int) -> None:
    m = Model((batch, 12, 6, 7), 24)
    scaled = m.build.add(Mul(), normal(m, m.x), m.draw(12, 1, 1))
    x = m.build.add(Relu(), m.build.add(Add(), m.draw(1, 12, 1, 1), scaled))
    y = m.normalized(m.build.add(Conv(), x, m.draw(24, 12, 1, 1), m.draw(24)))
    graph = run(m, m.build.add(Relu(), m.build.add(Add(), y, m.r)), tolerance=1e-3)
    assert kernels(graph) == ["normalized_convolution_sum"] and nests(graph.program.body) == 0


def normal(m: Model, value: Value) -> Value:
    """A normalization; where it is a nest, its factors are one, too."""
    return m.build.add(BatchNormalization(), value, *(m.draw(12) for _ in range(4)))


def kernels(graph: GraphProgram) -> list[str]:
    return [s.kernel for s in statements_of(graph.program.body) if isinstance(s, Call)]


def test_channels_that_are_not_rectified_are_changed_alone() -> None:
    m = Model((1, 12, 6, 7), 24)
    graph = run(m, m.build.add(Conv(), m.build.add(Add(), m.x, m.draw(12, 1, 1)), m.draw(24, 12, 1, 1)), tolerance=1e-4)
    assert kernels(graph) == ["normalized_convolution"] and nests(graph.program.body) == 0


@pytest.mark.parametrize(
    ("image", "features", "conv", "taps"),
    [
        ((6, 7), 24, Conv(pads=(1, 1, 1, 1)), 3),
        ((6, 7), 24, Conv(pads=(1, 1, 1, 1)), 1),
        ((14, 14), 24, Conv(strides=(2, 2)), 1),
        ((6, 7), 24, Conv(group=2), 1),
        ((6, 7), 22, Conv(), 1),
        ((5, 6), 24, Conv(), 1),
    ],
    ids=["several taps", "padding", "strides", "groups", "few features", "few windows"],
)
def test_channels_are_normalized_before_other_windows_are_read(
    image: tuple[int, int], features: int, conv: Conv, taps: int
) -> None:
    m = Model((1, 12, *image), features)
    filters = m.draw(features, 12 // conv.group, taps, taps)
    graph = run(m, m.build.add(conv, m.build.add(Relu(), normal(m, m.x)), filters), tolerance=1e-3)
    assert nests(graph.program.body) == 2 and not any("normalized" in name for name in kernels(graph))


def test_channels_that_others_read_are_normalized_for_all() -> None:
    m = Model((1, 12, 6, 7), 24)
    x = m.build.add(Relu(), normal(m, m.x))
    left, right = (m.build.add(Conv(), x, m.draw(24, 12, 1, 1)) for _ in range(2))
    assert nests(run(m, left, right, tolerance=1e-3).program.body) == 2
    m = Model((1, 12, 6, 7), 24)
    x = m.build.add(Relu(), normal(m, m.x))
    assert nests(run(m, m.build.add(Conv(), x, m.draw(24, 12, 1, 1)), x, tolerance=1e-3).program.body) == 2


def test_a_normalization_between_two_convolutions_belongs_to_the_first() -> None:
    m = Model((1, 12, 6, 7), 24)
    y = m.build.add(Conv(), m.x, m.draw(12, 12, 1, 1))
    graph = run(m, m.build.add(Conv(), m.build.add(Relu(), normal(m, y)), m.draw(24, 12, 1, 1)), tolerance=1e-2)
    assert not any("normalized" in name for name in kernels(graph)) and nests(graph.program.body) == 0


@pytest.mark.parametrize("shape", [(1, 24, 1, 1), (24, 1, 1)])
def test_a_scale_of_more_features_than_there_are_is_no_step(shape: tuple[int, ...]) -> None:
    m = Model((1, 3, 6, 7), 24)
    y = m.build.add(Conv(), m.x, m.draw(1, 3, 1, 1))
    assert nests(run(m, m.build.add(Mul(), y, m.draw(*shape))).program.body) == 1
    m = Model((1, 1, 6, 7), 24)
    x = m.build.add(Mul(), m.x, m.draw(*shape))
    assert nests(run(m, m.build.add(Conv(), x, m.draw(24, 24, 1, 1)), tolerance=1e-3).program.body) == 1


def test_numbers_that_only_the_run_knows_are_no_terms() -> None:
    m = Model((1, 12, 6, 7), 24)
    factors = Value("factors", TensorType(np.dtype(np.float32), (12, 1, 1)), m.region, 2)
    y = m.build.add(Conv(), m.build.add(Mul(), m.x, factors), m.draw(24, 12, 1, 1))
    m.region.results = [y]
    lay_out_convolutions(m.region, [factors])
    assert [type(n.op) for n in m.region.nodes if isinstance(n.op, Mul | ChannelTerms | BlockConvolution)] == [
        Mul,
        BlockConvolution,
    ]
