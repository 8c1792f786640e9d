"""Values of many rows: their ranks and axes, and what makes them fit each other."""

import pytest

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.parse import parse_module
from whorl.passes.context import Context
from whorl.passes.vectorize.batched import Batched, CannotVectorize, align, give_all_rows, move_axis, row_count


def values(**types):
    """Arguments of these types, and what adds nodes on them."""
    text = ", ".join(f"%{name}: {type}" for name, type in types.items())
    module: Module = parse_module(f"main({text}) {{\n return r = %{next(iter(types))}\n}}")
    region = Region()
    return {v.name: v for v in module.main.arguments}, Builder(region, Context(module).inference)


def test_first_axis_of_what_is_mapped_is_no_axis_of_a_row():
    args, _ = values(x="float32[n, 2, 3]")
    assert (Batched(args["x"]).rank, Batched(args["x"], is_mapped=False).rank) == (2, 3)
    assert (Batched(args["x"]).axis(-1), Batched(args["x"], is_mapped=False).axis(-1)) == (2, 2)


def test_rows_get_as_many_axes_as_they_lack():
    args, build = values(x="float32[n, 3]", y="float32[3]")
    assert str(align(Batched(args["x"]), 3, build).type) == "float32[n, 1, 1, 3]"
    assert align(Batched(args["y"], is_mapped=False), 3, build) is args["y"]


def test_what_all_rows_share_is_repeated():
    args, build = values(x="float32[n, 3]", y="float32[2]", z="float32[]")
    rows = row_count([Batched(args["y"], is_mapped=False), Batched(args["x"])], build)
    assert str(give_all_rows(Batched(args["y"], is_mapped=False), rows, build).type) == "float32[n, 2]"
    assert str(give_all_rows(Batched(args["z"], is_mapped=False), rows, build).type) == "float32[n]"
    assert give_all_rows(Batched(args["x"]), rows, build) is args["x"]


@pytest.mark.parametrize(("source", "target", "shape"), [(0, 2, "2, 3, n"), (2, 0, "3, n, 2"), (1, 1, "n, 2, 3")])
def test_axis_moves_and_the_others_keep_their_order(source, target, shape):
    args, build = values(x="float32[n, 2, 3]")
    assert str(move_axis(args["x"], source, target, build).type) == f"float32[{shape}]"


def test_unknown_rank_is_a_reason():
    args, _ = values(x="float32[*]")
    with pytest.raises(CannotVectorize, match="the rank of 'x' is known only when it runs"):
        Batched(args["x"]).axis(0)
