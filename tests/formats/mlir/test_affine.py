"""Affine maps of MLIR."""

from __future__ import annotations

import pytest

from whorl.formats.mlir.affine import read_affine_map


def test_affine_expressions() -> None:
    (settings,) = read_affine_map("affine_map<(d0) -> (-d0 * 2 + 7 ceildiv 2 - (d0 mod 3) floordiv 2)>", [5])
    assert settings.tolist() == [-d * 2 + 4 - (d % 3) // 2 for d in range(5)]


@pytest.mark.parametrize(
    ("expression", "results"),
    [
        ("d0 mod 2, d0 floordiv 2", [[0, 1, 0, 1, 0], [0, 0, 1, 1, 2]]),
        ("-(d0 - 4)", [[4, 3, 2, 1, 0]]),
        ("7 - d0 * 2 + 1", [[8, 6, 4, 2, 0]]),
        ("d0 ceildiv 2", [[0, 1, 1, 2, 2]]),
        ("d0,", [[0, 1, 2, 3, 4]]),
        ("", []),
    ],
)
def test_each_index_has_the_results_of_the_expressions(expression: str, results: list) -> None:
    assert [result.tolist() for result in read_affine_map(f"affine_map<(d0) -> ({expression})>", [5])] == results


@pytest.mark.parametrize("nested", ["-" * 500 + "d0", "(" * 400 + "d0" + ")" * 400])
def test_expression_nested_too_deep_is_refused(nested: str) -> None:
    with pytest.raises(ValueError) as refused:
        read_affine_map(f"affine_map<(d0) -> ({nested})>", [2])
    assert str(refused.value) == "it is nested deeper than 100"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("affine_map<(a, a) -> (a)>", "it has the dims (a, a) for 2 axes"),
        ("affine_map<(a, b) -> ((a>", "expected affine_map<(dims) -> (expressions)>, without symbols"),
        ("affine_map<(a, b) -> ((a)>", "')' is expected behind '( a'"),
        ("affine_map<(a, b) -> (a floordiv 0)>", "floordiv needs a positive divisor"),
        ("affine_map<(a, b) -> (10000000000)>", "'10000000000' is no dim and no number"),
        (f"affine_map<(a, b) -> ({'a + ' * 600}a)>", "it has more than 1000 parts"),
    ],
)
def test_map_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError) as refused:
        read_affine_map(text, [2, 3])
    assert str(refused.value) == message
