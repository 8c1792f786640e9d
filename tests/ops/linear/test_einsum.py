"""Einsum: every form of equation against a plain loop over all labels."""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, shaped, types, unranked

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.linear.einsum import Einsum

N, M = dims.name("N"), dims.name("M")


def integers(*shape):
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(np.float32)


def summed(terms, result, *inputs):
    """The sum over all labels of the product of the inputs; every label has one length here."""
    lengths = {label: n for term, x in zip(terms, inputs, strict=True) for label, n in zip(term, x.shape, strict=True)}
    total = np.zeros([lengths[label] for label in result], np.float32)
    for position in itertools.product(*map(range, lengths.values())):
        at = dict(zip(lengths, position, strict=True))
        product = math.prod(x[tuple(at[label] for label in term)] for term, x in zip(terms, inputs, strict=True))
        total[tuple(at[label] for label in result)] += product
    return total


@pytest.mark.parametrize(
    ("equation", "terms", "result", "shapes"),
    [
        ("ij,jk->ik", ("ij", "jk"), "ik", [(2, 3), (3, 4)]),
        ("ij,jk", ("ij", "jk"), "ik", [(2, 3), (3, 4)]),
        ("ba", ("ba",), "ab", [(2, 3)]),
        ("bA", ("bA",), "Ab", [(2, 3)]),
        ("aA->aA", ("aA",), "aA", [(2, 3)]),
        ("ii", ("ii",), "", [(3, 3)]),
        ("ii->i", ("ii",), "i", [(3, 3)]),
        ("iij->ji", ("iij",), "ji", [(3, 3, 2)]),
        ("ij->", ("ij",), "", [(2, 3)]),
        ("i,i", ("i", "i"), "", [(3,), (3,)]),
        ("i,j,k->kji", ("i", "j", "k"), "kji", [(2,), (3,), (4,)]),
        (" i j , j -> i ", ("ij", "j"), "i", [(2, 3), (3,)]),
        (",i->i", ("", "i"), "i", [(), (3,)]),
        ("->", ("",), "", [()]),
        ("...ij,...jk->...ik", ("zij", "zjk"), "zik", [(5, 2, 3), (5, 3, 4)]),
        ("...a,...b", ("yza", "yzb"), "yzab", [(2, 3, 4), (2, 3, 5)]),
        ("a...->...a", ("ayz",), "yza", [(2, 3, 4)]),
        ("...i->i", ("yzi",), "i", [(2, 3, 4)]),
        ("...ii->...", ("zii",), "z", [(2, 3, 3)]),
        ("i...,i...->...", ("i", "i"), "", [(3,), (3,)]),
        ("...->...", ("yz",), "yz", [(2, 3)]),
        ("bhqd,bhkd->bhqk", ("bhqd", "bhkd"), "bhqk", [(2, 1, 3, 2), (2, 1, 4, 2)]),
        ("ij,jk,kl,lm->im", ("ij", "jk", "kl", "lm"), "im", [(2, 3), (3, 2), (2, 4), (4, 2)]),
        ("ij,ij,ij->j", ("ij", "ij", "ij"), "j", [(2, 3)] * 3),
    ],
)
def test_equation_means_the_sum_over_labels(equation, terms, result, shapes):
    inputs = [integers(*shape) for shape in shapes]
    expected = summed(terms, result, *inputs)
    np.testing.assert_array_equal(evaluate(Einsum(equation), *inputs), expected)
    assert types(Einsum(equation), *(shaped(*shape) for shape in shapes)) == f"float32{list(expected.shape)}"


def test_lengths_of_1_and_shorter_ellipses_broadcast():
    a, b = integers(4, 1, 3), integers(2, 3)
    np.testing.assert_array_equal(evaluate(Einsum("...i,...i->...i"), a, b), a * b)
    np.testing.assert_array_equal(
        evaluate(Einsum("ij,jk->ik"), integers(2, 1), integers(3, 4)), integers(2, 1) * integers(3, 4).sum(0)
    )


def test_forty_operands_are_multiplied():
    letters = [chr(97 + k % 26) + chr(97 + (k + 1) % 26) for k in range(40)]
    operands = [np.eye(2, dtype=np.float32)] * 40
    assert evaluate(Einsum(",".join(letters) + "->"), *operands) == 2


def test_sum_over_nothing_is_0():
    empty = np.zeros((2, 0), np.float32)
    assert evaluate(Einsum("ij,kj->ik"), empty, empty).tolist() == [[0, 0], [0, 0]]
    assert evaluate(Einsum("ij->"), empty) == 0
    assert evaluate(Einsum("ij,jk->ik"), np.zeros((0, 2), np.float32), np.zeros((2, 3), np.float32)).shape == (0, 3)


def test_integers_wrap_and_narrow_floats_are_summed_in_float32():
    half = np.array([2**16], np.int32)
    result = evaluate(Einsum("i,i->"), half, half)
    assert result == 0 and result.dtype == np.int32
    for dtype in (np.float16, ml_dtypes.bfloat16):
        total = evaluate(Einsum("i->"), np.ones(3072, dtype))
        assert total.dtype == dtype and total.astype(np.float32) == 3072


@pytest.mark.parametrize(
    ("equation", "facts", "expected"),
    [
        ("bij,bjk->bik", (shaped(N, 2, M), shaped(N, M, 4)), "float32[N, 2, 4]"),
        ("bij,bjk->bik", (shaped(3, 2, M), shaped(N, M, 4)), "float32[3, 2, 4]"),
        ("i,i->i", (shaped(N), shaped(M)), "float32[?]"),
        ("ii->i", (shaped(N, 3),), "float32[3]"),
        ("ij,jk->ik", (unranked(), shaped(3, 4)), "float32[?, 4]"),
        ("...ij->...", (unranked(),), "float32[*]"),
        ("...ij->ij", (unranked(),), "float32[?, ?]"),
        ("...i,i->...", (shaped(N, M, 3), shaped(3)), "float32[N, M]"),
    ],
)
def test_shape_is_as_exact_as_the_operands_are_known(equation, facts, expected):
    assert types(Einsum(equation), *facts) == expected


@pytest.mark.parametrize(
    ("equation", "facts", "message"),
    [
        ("i1->i", (shaped(2, 2),), "equation 'i1->i' has a term 'i1' that is not letters and one ellipsis"),
        ("...i...", (shaped(2),), "equation '...i...' has a term '...i...' that is not letters and one ellipsis"),
        ("i->j", (shaped(2),), "equation 'i->j' has 'j' in its result but in no operand"),
        ("i->ii", (shaped(2),), "equation 'i->ii' repeats a label in its result"),
        ("i,j", (shaped(2),), "equation 'i,j' has 2 operands, the node 1"),
        ("ij", (shaped(2),), "operand 0 has rank 1, equation 'ij' gives it 2 labels"),
        ("i", (shaped(2, 3),), "operand 0 has rank 2, equation 'i' gives it 1 labels"),
        ("ii", (shaped(2, 3),), "equation 'ii' takes the diagonal of lengths 2 and 3"),
        (
            "i,i",
            (shaped(2), shaped(3)),
            "label 'i' of equation 'i,i': lengths 2 and 3 do not broadcast\n  fix: make them equal or one of them 1",
        ),
    ],
)
def test_wrong_equation_is_refused(equation, facts, message):
    with pytest.raises(TypeRuleError) as caught:
        types(Einsum(equation), *facts)
    assert str(caught.value) == message


def test_wrong_lengths_at_run_time_are_named():
    with pytest.raises(RunError) as caught:
        evaluate(Einsum("ij,jk->ik"), integers(2, 3), integers(2, 3))
    assert str(caught.value) == (
        "label 'j' of equation 'ij,jk->ik': lengths 3 and 2 do not broadcast\n  fix: make them equal or one of them 1"
    )


def test_more_labels_than_there_are_letters_are_refused():
    with pytest.raises(RunError) as caught:
        evaluate(Einsum("...->..."), np.zeros((1,) * 53, np.float32))
    assert str(caught.value) == "equation '...->...' has 53 labels, at most 52 are possible"
