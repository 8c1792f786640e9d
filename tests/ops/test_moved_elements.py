"""Ops that only move elements move those of every element type, and leave their inputs alone."""

import numpy as np
import pytest

from whorl.ir.dtypes import BY_NAME
from whorl.ir.graph import as_values
from whorl.ir.types import TensorType, fact_of
from whorl.ops.movement.axes import Concat, ReverseSequence, Slice, Split, Tile, Transpose
from whorl.ops.movement.blocks import DepthToSpace, SpaceToDepth
from whorl.ops.movement.indexing import Gather, GatherElements, GatherND
from whorl.ops.movement.padding import Pad
from whorl.ops.movement.scattering import ScatterElements, ScatterND, TensorScatter
from whorl.ops.movement.selection import Compress
from whorl.ops.movement.shapes import Expand, Flatten, Reshape, Squeeze, Unsqueeze


def ints(*numbers):
    return np.array(numbers, np.int64)


FLAT = ints(0, 2, 1, 1).reshape(2, 2)
CASES = {
    "Reshape": (Reshape(), (2, 3), [ints(3, -1)]),
    "Flatten": (Flatten(), (2, 3, 2), []),
    "Squeeze": (Squeeze(), (2, 1, 3), [ints(1)]),
    "Unsqueeze": (Unsqueeze(), (2, 3), [ints(0, 3)]),
    "Expand": (Expand(), (2, 1), [ints(2, 2, 3)]),
    "Transpose": (Transpose((1, 2, 0)), (2, 3, 2), []),
    "Split": (Split(axis=1, output_count=2), (2, 3), [ints(1, 2)]),
    "Slice": (Slice(), (4, 3), [ints(3, 0), ints(-9, 2), ints(0, 1), ints(-2, 1)]),
    "Tile": (Tile(), (2, 2), [ints(1, 2)]),
    "Pad edge": (Pad("edge"), (2, 3), [ints(1, 0, 0, 2)]),
    "Pad reflect": (Pad("reflect"), (2, 3), [ints(1, -1, 0, 2)]),
    "Pad wrap": (Pad("wrap"), (2, 3), [ints(1, 0, 0, 2)]),
    "DepthToSpace": (DepthToSpace(2), (1, 8, 1, 2), []),
    "SpaceToDepth": (SpaceToDepth(2), (1, 1, 4, 2), []),
    "ReverseSequence": (ReverseSequence(), (3, 2), [ints(3, 2)]),
    "Gather": (Gather(axis=1), (2, 3), [FLAT]),
    "GatherElements": (GatherElements(axis=1), (2, 3), [FLAT]),
    "GatherND": (GatherND(), (3, 3), [FLAT]),
    "Compress": (Compress(axis=0), (3, 2), [np.array([True, False, True])]),
}


def elements(name, shape):
    """Elements that are different wherever the type has room for it, and the codes that tell which is which."""
    dtype, codes = BY_NAME[name], np.arange(np.prod(shape)).reshape(shape)
    if name == "string":
        return np.array([f"text {k}" for k in codes.flat], dtype=object).reshape(shape), codes
    kinds = codes % {"bool": 2, "int2": 2, "float4e2m1": 4, "uint2": 4, "int4": 8}.get(name, 16)
    return (kinds + (name == "float8e8m0")).astype(dtype), codes


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("case", CASES)
def test_elements_of_every_type_go_where_their_locations_go(case, name):
    op, shape, others = CASES[case]
    x, codes = elements(name, shape)
    before = x.copy()
    actual = as_values(op.run(x, *others))
    for result, positions in zip(actual, as_values(op.run(codes, *others)), strict=True):
        assert result.dtype == x.dtype
        assert result.tolist() == x.reshape(-1)[positions].tolist()
    assert x.tolist() == before.tolist()
    types = op.infer(*map(fact_of, (x, *others)))
    for type, result in zip(types if isinstance(types, tuple) else (types,), actual, strict=True):
        assert type == TensorType(x.dtype, result.shape)


@pytest.mark.parametrize("name", BY_NAME)
def test_elements_of_every_type_are_combined_and_written(name):
    x, _ = elements(name, (3, 2))
    first, rest, before = x[:1], x[1:].tolist(), x.copy()
    combined = Concat(0).run(x, first)
    assert combined.dtype == x.dtype and combined.tolist() == [*x.tolist(), *first.tolist()]
    for written in (
        ScatterElements().run(x, ints(2, 2).reshape(1, 2), first),
        ScatterND().run(x, ints(-1).reshape(1, 1), first),
        TensorScatter(axis=1).run(x[None], first[None], ints(2))[0],
    ):
        assert written.dtype == x.dtype
        assert written.tolist() == [*first.tolist(), rest[0], *first.tolist()]
    assert x.tolist() == before.tolist()


@pytest.mark.parametrize("case", CASES)
def test_strided_inputs_give_the_same(case):
    op, shape, others = CASES[case]
    x, _ = elements("float32", shape)
    turned = np.ascontiguousarray(x.T).T
    for a, b in zip(as_values(op.run(x, *others)), as_values(op.run(turned, *others)), strict=True):
        np.testing.assert_array_equal(a, b)
