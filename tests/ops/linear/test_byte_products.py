"""Products with constant matrices of bytes by dot products: exact, for both kinds of bytes and all zero points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from runtime.native_sessions import both, session

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BY_NAME
from whorl.ir.graph import Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ops.linear.byte_products import ByteColumnSums, ByteProduct, ByteWords, has_byte_product

U8, I8 = np.uint8, np.int8


def draw(dtype: Any, *shape: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    values = np.random.default_rng(sum(shape)).integers(limits.min, limits.max + 1, shape).astype(dtype)
    values.reshape(-1)[::3] = limits.max
    return values


def matmul_integer(a: np.ndarray, matrix: np.ndarray, *zeros: np.ndarray | None) -> ModelProto:
    """MatMulInteger of an input of any number of rows; zero points are inputs too."""
    kinds = {U8: TensorProto.UINT8, I8: TensorProto.INT8}
    names = ["a", "b", *("" if zero is None else f"z{n}" for n, zero in enumerate(zeros))]
    points = [(f"z{n}", zero.dtype.type, list(zero.shape)) for n, zero in enumerate(zeros) if zero is not None]
    shapes = [("a", a.dtype.type, [*(f"r{n}" for n in range(a.ndim - 1)), a.shape[-1]]), *points]
    inputs = [helper.make_tensor_value_info(name, kinds[kind], shape) for name, kind, shape in shapes]
    y = helper.make_tensor_value_info("y", TensorProto.INT32, None)
    nodes = [helper.make_node("MatMulInteger", names, ["y"])]
    graph = helper.make_graph(nodes, "g", inputs, [y], [numpy_helper.from_array(matrix, "b")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def expected(a: np.ndarray, b: np.ndarray, x: Any = 0, y: Any = 0) -> np.ndarray:
    return ((a.astype(np.int64) - x) @ (b.astype(np.int64) - y)).astype(np.int32)


@pytest.mark.parametrize("left", [U8, I8])
@pytest.mark.parametrize("right", [U8, I8])
@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 64, 33), (2, 65, 16), (40, 66, 70), (7, 67, 64)])
def test_products_are_exact_for_every_pair_of_types(left: Any, right: Any, rows: int, inner: int, columns: int) -> None:
    a, b = draw(left, rows, inner), draw(right, inner, columns)
    for x, y in ((None, None), (np.array(left(100)), None), (np.array(left(3)), np.array(right(101)))):
        feeds = {f"z{n}": zero for n, zero in enumerate((x, y)) if zero is not None}
        made = both(matmul_integer(a, b, x, y), {"a": a, **feeds})
        zeros = [np.int64(0) if zero is None else zero.astype(np.int64) for zero in (x, y)]
        for count in (rows, 1, rows + 5):
            other = np.resize(a, (count, inner))
            assert (made.run(None, {"a": other, **feeds})[0] == expected(other, b, *zeros)).all()


@pytest.mark.parametrize(("left", "right"), [(U8, I8), (I8, U8)])
def test_zero_points_by_rows_and_by_columns(left: Any, right: Any) -> None:
    a, b, x, y = draw(left, 5, 64), draw(right, 64, 20), draw(left, 5), draw(right, 20)
    made = both(matmul_integer(a, b, x, y), {"a": a, "z0": x, "z1": y})
    wide = expected(a, b, x.astype(np.int64)[:, None], y.astype(np.int64))
    assert (made.run(None, {"a": a, "z0": x, "z1": y})[0] == wide).all()


@pytest.mark.parametrize("shape", [(64,), (2, 3, 64), (0, 64), (2, 0, 64)])
def test_operands_of_other_ranks_and_without_rows(shape: tuple[int, ...]) -> None:
    a, b = draw(U8, *shape), draw(I8, 64, 20)
    both(matmul_integer(a, b), {"a": a})


def test_products_run_natively_and_in_loops_too() -> None:
    a, b = draw(U8, 3, 64), draw(I8, 64, 20)
    made = session(matmul_integer(a, b))
    made.run(None, {"a": a})
    assert [(verdict.how, verdict.calls) for verdict in made.explain()] == [("native", [])]


@pytest.mark.parametrize("dtype", [U8, I8])
def test_words_and_sums_are_of_bytes_with_sign(dtype: Any) -> None:
    a, b = draw(dtype, 3, 66), draw(dtype, 66, 20)
    signed = b.astype(np.int64) - (128 if dtype == U8 else 0)
    unsigned = a.astype(np.int64) + (0 if dtype == U8 else 128)
    assert ByteColumnSums().run(b).tolist() == signed.sum(0).tolist()
    assert (ByteProduct(20).run(a, ByteWords(32).run(b)) == unsigned @ signed).all()


def test_matrices_that_are_small_or_no_constants_are_multiplied_otherwise() -> None:
    region = Region("r")
    build = Builder(region, Inference())
    a = region.add_argument("a", TensorType(BY_NAME["uint8"], (UNKNOWN, 64)))

    def constant(*shape: int) -> Value:
        return build.add(Constant(draw(I8, *shape)))

    assert has_byte_product(a, constant(64, 16))
    others = [constant(64, 15), constant(63, 16), constant(2, 64, 16), region.add_argument("b", constant(64, 16).type)]
    assert not any(has_byte_product(a, b) for b in others)
