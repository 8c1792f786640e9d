"""Products with constant matrices of mostly zeros: what they become, what stays, and that infinities meet all zeros."""

import numpy as np
import pytest
from onnx_text import model

import whorl
from whorl.ir.verify import verify
from whorl.ops.control.flow import If
from whorl.passes.context import Context, PassOptions
from whorl.passes.sparse_products import entries_of, sparse_products

SIDE = 72


def matrix(rows: int = SIDE, columns: int = SIDE, filled: int = 3, dtype: str = "float64") -> np.ndarray:
    """In each column so many entries that are not zero."""
    rng = np.random.default_rng(0)
    result = np.zeros((rows, columns), dtype)
    for column in range(columns):
        result[rng.choice(rows, filled, replace=False), column] = rng.integers(1, 9, filled)
    return result


def product(x: str, w: np.ndarray, formula: str, y: str):
    """A module of one product of an input x with a constant w."""
    kind = {"float64": "double", "float32": "float", "int64": "int64"}[w.dtype.name]
    elements = ", ".join(map(str, w.reshape(-1).tolist()))
    shape = ", ".join(map(str, w.shape))
    constant = f"Constant <value = {kind}[{shape}] {{{elements}}}> ()"
    text = f"main ({kind}{x} x) => ({kind}{y} y) {{ w = {constant} y = {formula} }}"
    return whorl.load(model(text))


def edits(module, **options) -> int:
    context = Context(module, PassOptions(**options))
    sparse_products(module, context)
    verify(module)
    return sum(isinstance(node.op, If) for node in module.nodes())


def run(module, x: np.ndarray) -> np.ndarray:
    return whorl.InferenceSession(module).run(None, {"x": x})[0]


CASES = {
    "matrix by vector": ("[72]", matrix().T, "MatMul(w, x)", "[72]", (72,)),
    "vector by matrix": ("[72]", matrix(72, 100), "MatMul(x, w)", "[100]", (72,)),
    "rows by matrix": ("[n, 72]", matrix(), "MatMul(x, w)", "[n, 72]", (3, 72)),
    "stacks by matrix": ("[2, n, 72]", matrix(), "MatMul(x, w)", "[2, n, 72]", (2, 3, 72)),
    "in float32": ("[72]", matrix(dtype="float32"), "MatMul(x, w)", "[72]", (72,)),
    "of zeros": ("[72]", np.zeros((72, 72)), "MatMul(x, w)", "[72]", (72,)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("special", [[], [np.inf], [-np.inf, np.nan]])
def test_product_by_entries_is_the_whole_one(name, special, each_backend):
    """Whole numbers, whose sums are exact in any order."""
    x, w, formula, y, shape = CASES[name]
    values = np.random.default_rng(1).integers(-9, 9, shape).astype(w.dtype)
    values.reshape(-1)[: len(special)] = special
    whole, changed = product(x, w, formula, y), product(x, w, formula, y)
    assert edits(changed) == 1
    np.testing.assert_array_equal(run(changed, values), run(whole, values))


@pytest.mark.parametrize(
    ("x", "w", "formula", "y"),
    [
        ("[72]", matrix(filled=10), "MatMul(x, w)", "[72]"),
        ("[n, 72]", matrix(filled=5), "MatMul(x, w)", "[n, 72]"),
        ("[72, n]", matrix(), "MatMul(w, x)", "[72, n]"),
        ("[60]", matrix(60), "MatMul(x, w)", "[72]"),
        ("[72]", matrix(dtype="int64"), "MatMul(x, w)", "[72]"),
        ("[72, 72]", matrix(), "Mul(x, w)", "[72, 72]"),
    ],
    ids=["filled", "filled for rows", "matrix by columns", "small", "whole numbers", "no product"],
)
def test_product_is_left_alone(x, w, formula, y):
    assert not edits(product(x, w, formula, y))


def test_disabled_pass_changes_nothing():
    assert not edits(product("[72]", matrix(), "MatMul(x, w)", "[72]"), disabled=frozenset({"sparse_products"}))


def test_entries_of_columns_end_with_zeros():
    w = np.array([[0.0, 5.0, 0.0], [7.0, 6.0, 0.0]])
    rows, entries = entries_of(w)
    assert rows.tolist() == [[1, 0, 0], [0, 1, 0]] and entries.tolist() == [[7, 5, 0], [0, 6, 0]]
