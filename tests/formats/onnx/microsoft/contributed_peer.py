"""Models of one operator that onnxruntime adds, run by onnxruntime and by whorl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import whorl

onnxruntime.set_default_logger_severity(4)
Array = np.ndarray
CONFIGURATIONS = 20


def configurations(count: int = CONFIGURATIONS) -> Iterator[np.random.Generator]:
    """Generators of the random numbers of so many configurations."""
    return (np.random.default_rng(seed) for seed in range(count))


def floats(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape, np.float32)


def lengths(rng: np.random.Generator, count: int, most: int = 5) -> list[int]:
    return rng.integers(1, most + 1, count).tolist()


def chance(rng: np.random.Generator) -> bool:
    return bool(rng.integers(2))


def model_of(
    op: str,
    inputs: Sequence[Array | None],
    outputs: Sequence[bool] = (True,),
    domain: str = "com.microsoft",
    constants: Sequence[int] = (),
    opset: int = 21,
    more: Mapping[str, Any] = MappingProxyType({}),
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one node; inputs at the positions `constants` are its weights, outputs may be blank.

    `more` are attributes whose names are those of parameters.
    """
    names = ["" if x is None else f"x{k}" for k, x in enumerate(inputs)]
    results = [f"y{k}" if is_there else "" for k, is_there in enumerate(outputs)]
    node = helper.make_node(op, names, results, "node", domain=domain, **attributes, **more)
    weights = [numpy_helper.from_array(x, f"x{k}") for k, x in enumerate(inputs) if k in constants and x is not None]
    passed = [
        helper.make_tensor_value_info(f"x{k}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for k, x in enumerate(inputs)
        if x is not None and k not in constants
    ]
    required = [helper.make_empty_tensor_value_info(name) for name in results if name]
    graph = helper.make_graph([node], "case", passed, required, weights)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def feeds_of(inputs: Sequence[Array | None], constants: Sequence[int] = ()) -> dict[str, Array]:
    return {f"x{k}": x for k, x in enumerate(inputs) if x is not None and k not in constants}


def plain_options() -> Any:
    """Options of an onnxruntime session that changes nothing of the model."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return options


def compare(
    op: str,
    inputs: Sequence[Array | None],
    outputs: Sequence[bool] = (True,),
    tolerance: float = 2e-5,
    steps: int = 0,
    constants: Sequence[int] = (),
    domain: str = "com.microsoft",
    backend: str = "interpreter",
    opset: int = 21,
    more: Mapping[str, Any] = MappingProxyType({}),
    **attributes: Any,
) -> list[Array]:
    """Fail unless both give the same: floats within a tolerance, integers within so many steps. Returns them."""
    model = model_of(op, inputs, outputs, domain, constants, opset, more, **attributes)
    feeds = feeds_of(inputs, constants)
    theirs = onnxruntime.InferenceSession(model.SerializeToString(), plain_options()).run(None, feeds)
    options = whorl.SessionOptions()
    options.backend = backend
    ours = whorl.InferenceSession(model, options).run(None, feeds)
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        if mine.dtype.kind in "iu" and steps:
            assert np.abs(mine.astype(np.int64) - other.astype(np.int64)).max(initial=0) <= steps
        elif mine.dtype.kind in "biuO":
            assert mine.tolist() == other.tolist()
        else:
            np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance)
    return ours
