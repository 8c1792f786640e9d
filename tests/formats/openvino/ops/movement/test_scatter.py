"""Writing elements at indices."""

import numpy as np
import pytest
from formats.openvino.ir_text import layer, net, parameter, result
from formats.openvino.net_text import program_of, refused_to_write, written
from formats.openvino.one_layer import check_layer, check_node, scalar

from whorl.errors import LoadError
from whorl.ops.movement.scattering import ScatterElements, ScatterND, TensorScatter

X = np.arange(12, dtype=np.float32).reshape(3, 4) + 1


def test_slices_replaced() -> None:
    check_layer("ScatterUpdate", 3, [X, np.array([0, 2]), -X[:2], scalar(0)])
    check_layer("ScatterUpdate", 3, [X, np.array([0, 2]), -X[:, :2], scalar(1)])
    check_layer("ScatterUpdate", 3, [X, np.array([[0, 2]]), -X[None, :2], scalar(0)])
    check_layer("ScatterUpdate", 3, [X, np.array([[0, 2], [1, 3]]), -X.reshape(3, 2, 2), scalar(-1)])


REDUCTIONS = ["none", "sum", "sub", "prod", "min", "max"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_elements_at_tuples_combined(reduction: str) -> None:
    positions, updates = np.array([[0, 1], [2, 1], [0, -1]]), np.array([3, 4, 5])
    for dtype in (np.float32, np.int32):
        check_layer(
            "ScatterNDUpdate", 15, [X.astype(dtype), positions, updates.astype(dtype)], {"reduction": reduction}
        )
    if reduction == "none":
        check_layer("ScatterNDUpdate", 4, [X, positions[:, :1], -X])


def test_single_elements_replaced() -> None:
    check_layer("ScatterElementsUpdate", 3, [X, np.array([[0, 1, 2, 0]]), -X[:1], scalar(0)])
    check_layer("ScatterElementsUpdate", 3, [X, np.array([[0, -1], [1, 1], [2, 3]]), -X[:, :2], scalar(1)])


@pytest.mark.parametrize("reduction", ["none", "sum", "prod", "min", "max", "mean"])
@pytest.mark.parametrize("initial", [True, False])
def test_single_elements_combined(reduction: str, initial: bool) -> None:
    positions, updates = np.array([[0, 1], [1, 1], [2, -1]]), np.array([[4, 5], [7, -8], [-3, -2]])
    attributes = {"reduction": reduction, "use_init_val": initial}
    for dtype in (np.float32, np.int32):
        inputs = [X.astype(dtype), positions, updates.astype(dtype), scalar(1)]
        check_layer("ScatterElementsUpdate", 12, inputs, attributes)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
def test_replaced_elements_written(reduction: str) -> None:
    for dtype in (np.float32, np.int64):
        x = X.astype(dtype)
        check_node(ScatterElements(1, reduction), [x, np.array([[0, 1], [1, 2], [2, -1]]), -x[:, :2]])
        check_node(ScatterND(reduction), [x, np.array([[0, 1], [2, 1], [0, -1]]), np.array([3, 4, 5], dtype)])


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_cache_written(mode: str) -> None:
    cache, update = np.zeros((2, 3, 4, 5), np.float32), np.arange(60, dtype=np.float32).reshape(2, 3, 2, 5)
    first = np.array([2, 1 if mode == "linear" else 3])
    check_node(TensorScatter(mode=mode), [cache, update, first])
    check_node(TensorScatter(mode=mode), [cache, update])


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_slices_replaced_along_any_axis(axis: int) -> None:
    deep = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    shape = [2 if k == axis % 3 else n for k, n in enumerate(deep.shape)]
    check_layer("ScatterUpdate", 3, [deep, np.array([1, 0], np.int32), np.full(shape, -5, np.float32), scalar(axis)])


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.bool_, np.uint8])
@pytest.mark.parametrize("reduction", ["sum", "prod", "min", "max"])
def test_updates_alone_start_from_what_changes_nothing(reduction: str, dtype: type) -> None:
    data, indices = np.array([[1, 0, 5]]).astype(dtype), np.array([[0, 0, 2]])
    inputs = [data, indices, np.array([[1, 0, 7]]).astype(dtype), scalar(1)]
    attributes = {"reduction": reduction, "use_init_val": False}
    check_layer("ScatterElementsUpdate", 12, inputs, attributes, dynamic=[False])


def test_means_of_negative_integers() -> None:
    inputs = [np.array([[-1, 0, 5]]), np.array([[0, 0, 2]]), np.array([[-3, -1, -8]]), scalar(1)]
    check_layer("ScatterElementsUpdate", 12, inputs, {"reduction": "mean"}, dynamic=[False])


def test_reduction_that_is_none_of_the_known_is_refused() -> None:
    layers = [parameter(0, "3"), parameter(1, "1,1", "i64"), parameter(2, "1")]
    layers += [layer(3, "ScatterNDUpdate", 3, version="opset15", name="s", reduction="median"), result(4)]
    with pytest.raises(LoadError) as caught:
        program_of(net(layers, "0:0-3:0 1:0-3:1 2:0-3:2 3:3-4:0"))
    assert str(caught.value) == (
        "ScatterNDUpdate 's' (line 7): OV501: reduction is 'median'\n  fix: choose from none, sum, sub, prod, min, max"
    )


@pytest.mark.parametrize(("reduction", "layer"), [("none", "3(0, 1, 2, 3)"), ("mul", "12(0, 1, 2, 3) reduction=prod")])
def test_elements_are_written_in_the_oldest_layer_that_has_the_reduction(reduction: str, layer: str) -> None:
    text = f"""
        main(%x: float32[3], %i: int64[2], %u: float32[2]) {{
            %y: float32[3] = ScatterElements(%x, %i, %u) {{reduction = "{reduction}"}}
            return y = %y
        }}"""
    assert written(text)[4].startswith(f"ScatterElementsUpdate-{layer}")


def test_cache_of_any_rank_is_refused() -> None:
    text = """
        main(%cache: float32[*], %rows: float32[1, 2]) {
            %y: float32[*] = TensorScatter "t" (%cache, %rows)
            return y = %y
        }"""
    assert refused_to_write(text) == "TensorScatter 't': the rank of the cache is not known\n  fix: declare its shape"


def test_cache_along_a_negative_axis_written() -> None:
    rows = np.arange(60, dtype=np.float32).reshape(2, 2, 3, 5)
    check_node(TensorScatter(axis=-3), [np.zeros((2, 4, 3, 5), np.float32), rows])
