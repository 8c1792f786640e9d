"""Einsum as products of pairs: the nodes that it becomes, and their result."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import session
from written_out import interpreted, region_of

from whorl.ir.graph import Region
from whorl.lowering.decomposition import decompose
from whorl.ops.linear.einsum import Einsum

RNG = np.random.default_rng(0)


def whole(*shape: int) -> np.ndarray:
    return RNG.integers(-3, 4, shape).astype(np.float32)


def kinds(equation: str, *shapes: tuple[int, ...]) -> list[str]:
    region: Region = region_of(Einsum(equation), [whole(*shape) for shape in shapes], 1)
    decompose(region)
    return [node.op.name for node in region.nodes if node.op.name != "Constant"]


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("bij,bkj->bki", [(5, 2, 3), (5, 4, 3)]),
        ("i,j->ji", [(2,), (3,)]),
        ("ij,ij->", [(2, 3), (2, 3)]),
        ("ab,bc,cd,a->d", [(2, 3), (3, 4), (4, 5), (2,)]),
        ("i,i->i", [(1,), (4,)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
    ],
)
def test_pairs_of_operands_give_the_sum_over_labels(equation: str, shapes: list[tuple[int, ...]]) -> None:
    inputs = [whole(*shape) for shape in shapes]
    (result,) = interpreted(Einsum(equation), inputs)
    np.testing.assert_array_equal(result, np.einsum(equation, *inputs))


def test_matrix_product_becomes_one_product() -> None:
    assert kinds("ij,jk->ik", (2, 3), (3, 4)).count("MatMul") == 1
    assert "ReduceSum" not in kinds("ij,jk->ik", (2, 3), (3, 4))


def test_label_of_one_operand_is_summed_before_the_product() -> None:
    names = kinds("ijx,jk->ik", (2, 3, 9), (3, 4))
    assert names.index("ReduceSum") < names.index("MatMul")


def test_diagonal_is_not_decomposed() -> None:
    assert kinds("ii->i", (3, 3)) == ["Einsum"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32"])
@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ni,ij->jn", [("n", 3), (3, 4)]),
        ("ij,nj->in", [(2, 3), ("n", 3)]),
        ("ni,ij,nj->n", [("n", 3), (3, 2), ("n", 2)]),
        ("nij,njk->nik", [("n", 2, 3), ("n", 3, 2)]),
        ("in,nj->ij", [(2, "n"), ("n", 3)]),
        ("n,n->", [("n",), ("n",)]),
        ("ij,n->nji", [(2, 3), ("n",)]),
        ("...i,ij->...j", [("n", 1, 3), (3, 2)]),
        ("ni->", [("n", 2)]),
        ("nij,nkj->nik", [("n", "m", 3), ("n", "p", 3)]),
        ("nhqd,nhkd->nhqk", [("n", 2, "m", 3), ("n", 2, "p", 3)]),
        ("nqhd,nkhd->nhqk", [("n", "m", 2, 3), ("n", "p", 2, 3)]),
        ("nhqk,nkhd->nqhd", [("n", 2, "m", "p"), ("n", "p", 2, 3)]),
        ("nmd,de->nme", [("n", "m", 3), (3, 2)]),
        ("nmd,dhe->nmhe", [("n", "m", 3), (3, 2, 4)]),
        ("nm,nm->", [("n", "m"), ("n", "m")]),
        ("n,m->nm", [("n",), ("m",)]),
        ("nmp,mpd->nd", [("n", "m", "p"), ("m", "p", 2)]),
        ("...nm,mp->...np", [(2, "n", "m"), ("m", "p")]),
        ("...bnts,...bsnh->...btnh", [("n", 1, 2, 3, 3), (1, "n", 3, 2, 4)]),
    ],
)
def test_operands_over_names_are_contracted_natively(equation, shapes, dtype) -> None:
    text = {"float32": "float", "float64": "double"}.get(dtype, dtype)
    inputs = ", ".join(f"{text}[{', '.join(map(str, shape))}] x{k}" for k, shape in enumerate(shapes))
    names = ", ".join(f"x{k}" for k in range(len(shapes)))
    proto = model(f'main ({inputs}) => ({text} y) {{ y = Einsum <equation = "{equation}"> ({names}) }}')
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    made, oracle = session(proto), session(proto, "interpreter")
    for n, m, p in ((3, 2, 4), (8, 3, 3), (1, 2, 2), (0, 2, 3), (5, 1, 4), (2, 0, 3), (3, 3, 1)):
        rng, lengths = np.random.default_rng(n), {"n": n, "m": m, "p": p}
        arrays = [rng.integers(-3, 4, [lengths.get(d, d) for d in shape]).astype(dtype) for shape in shapes]
        feeds = {f"x{k}": array for k, array in enumerate(arrays)}
        (expected,), (result,) = oracle.run(None, feeds), made.run(None, feeds)
        np.testing.assert_array_equal(result, expected, strict=True)
    assert [verdict.how for verdict in made.explain()] == ["native"]


def test_named_length_beside_1_is_contracted_natively() -> None:
    made = session(
        model("""main (float[n, 2, 3] x, float[1, 3, 4] w) => (float[n, 2, 4] y) {
        y = Einsum <equation = "bij,bjk->bik"> (x, w)
    }""")
    )
    x, w = np.arange(18, dtype=np.float32).reshape(3, 2, 3), np.ones((1, 3, 4), np.float32)
    np.testing.assert_array_equal(made.run(None, {"x": x, "w": w})[0], x @ w)
    assert [verdict.how for verdict in made.explain()] == ["native"]
