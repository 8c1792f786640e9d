"""Normalizations and softmax kinds."""

import numpy as np
import pytest
from formats.openvino.ir_text import constant, layer, net, parameter, result
from formats.openvino.net_text import program_of
from formats.openvino.one_layer import Fixed, check_layer, check_node, fixed

from whorl.errors import LoadError
from whorl.ir.graph import Op
from whorl.ops.reduce.local_response import LRN
from whorl.ops.reduce.normalization import (
    BatchNormalization,
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    LpNormalization,
    MeanVarianceNormalization,
    RMSNormalization,
)
from whorl.ops.reduce.softmax import Hardmax, LogSoftmax, Softmax

NUMBERS = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


X = normal(2, 4, 5, 6)
SCALE, SHIFT, MEAN, VARIANCE = normal(4), normal(4), normal(4), np.abs(normal(4))


def test_batch_normalization_of_both_orders_of_inputs() -> None:
    scale, shift, mean, variance = map(Fixed, (SCALE, SHIFT, MEAN, VARIANCE))
    check_layer("BatchNormInference", 1, [scale, shift, X, mean, variance], {"epsilon": 1e-2})
    check_layer("BatchNormInference", 5, [X, scale, shift, mean, variance], {"epsilon": 1e-2})
    check_layer("BatchNormInference", 5, [normal(3, 4), scale, shift, mean, variance], {"epsilon": 1e-2})


@pytest.mark.parametrize("divides", [True, False])
def test_mean_and_variance(divides: bool) -> None:
    for across in (True, False):
        attributes = {"eps": 0.1, "across_channels": across, "normalize_variance": divides}
        check_layer("MVN", 2, [X], attributes, rtol=1e-4, atol=1e-5)
    for mode in ("inside_sqrt", "outside_sqrt"):
        attributes = {"eps": 0.1, "eps_mode": mode, "normalize_variance": divides}
        check_layer("MVN", 6, [X, fixed(0, -1)], attributes, rtol=1e-4, atol=1e-5)


def test_groups() -> None:
    check_layer("GroupNormalization", 12, [X, SCALE, SHIFT], {"num_groups": 2, "epsilon": 0.01}, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["add", "max"])
@pytest.mark.parametrize("axes", [(1,), (2, 3), (-1,)], ids=str)
def test_euclidean_lengths(axes: tuple[int, ...], mode: str) -> None:
    check_layer("NormalizeL2", 1, [X, fixed(*axes)], {"eps": 0.1, "eps_mode": mode}, rtol=1e-4)


@pytest.mark.parametrize("size", [1, 3, 4])
@pytest.mark.parametrize("axes", [(1,), (2, 3)], ids=str)
def test_local_responses(axes: tuple[int, ...], size: int) -> None:
    attributes = {"alpha": 0.7, "beta": 0.6, "bias": 2.0, "size": size}
    check_layer("LRN", 1, [X, fixed(*axes)], attributes, rtol=1e-4)


def test_softmax_kinds() -> None:
    check_layer("Softmax", 1, [X], {"axis": 1})
    check_layer("Softmax", 8, [X], {"axis": -2})
    check_layer("LogSoftmax", 5, [X], {"axis": 2})


@pytest.mark.parametrize(
    "op",
    [
        Softmax(1),
        LogSoftmax(-1),
        Hardmax(1),
        LRN(3, alpha=0.5),
        LRN(4, alpha=0.5, bias=1.5),
        MeanVarianceNormalization(),
        LpNormalization(p=1, axis=1),
        LpNormalization(p=2),
    ],
    ids=repr,
)
def test_written(op: Op) -> None:
    check_node(op, [X], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 4, 5, 6), (3, 4)], ids=str)
@pytest.mark.parametrize("training", [0, 1])
def test_batch_normalization_written(training: int, shape: tuple[int, ...]) -> None:
    op = BatchNormalization(training_mode=training, epsilon=1e-2)
    inputs = [normal(*shape), SCALE, SHIFT, MEAN, VARIANCE]
    check_node(op, inputs, (1, 2, 3, 4), outputs=3, rtol=1e-4, atol=1e-5)


def test_normalizations_with_scales_written() -> None:
    tolerance = {"rtol": 1e-4, "atol": 1e-5}
    check_node(InstanceNormalization(), [X, SCALE, SHIFT], **tolerance)
    check_node(GroupNormalization(num_groups=2), [X, SCALE, SHIFT], **tolerance)
    check_node(LayerNormalization(axis=2), [X, normal(5, 6), normal(5, 6)], outputs=3, **tolerance)
    check_node(LayerNormalization(), [X, normal(6)], outputs=1, **tolerance)
    check_node(RMSNormalization(axis=-2), [X, normal(5, 6)], **tolerance)


@pytest.mark.parametrize("size", [0, -2])
def test_local_responses_of_no_neighbours_are_refused(size: int) -> None:
    layers = [parameter(0, "1,2,3"), constant(1, 0, 8, "1", "i64")]
    data = {"size": size, "alpha": 1, "beta": 1, "bias": 1}
    layers += [layer(2, "LRN", 2, name="n", **data), result(3)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-2:0 1:0-2:1 2:2-3:0"), bytes(8))
    assert str(caught.value) == (f"LRN 'n' (line 6): OV501: size is {size}\n  fix: a window has one element or more")
