"""How much memory hoisted values may take."""

from onnx_text import model

import whorl
from whorl.passes.hoisted_memory import GROWTH, LIGHT, SMALL, affordable, is_light

ROWS = SMALL // 4 // 256


def chain(rows: int = ROWS):
    """A column and a row, their product, which is large, and its sum."""
    module = whorl.load(
        model(f"""
        main (float[{rows}, 1] column, float[1, 256] row) => (float[{rows}, 256] wide, float sum) {{
            a = Neg(column)
            b = Neg(row)
            wide = Mul(a, b)
            sum = ReduceSum <keepdims = 0> (wide)
        }}""")
    )
    return module.main, module.main.nodes


def names(nodes) -> list[str]:
    return [node.op.name for node in nodes]


def test_value_up_to_the_small_size_is_affordable():
    region, all_nodes = chain()
    assert names(affordable(region, all_nodes, 1 << 30)) == ["Neg", "Neg", "Mul", "ReduceSum"]


def test_value_that_is_spread_out_remains_with_what_follows_from_it():
    region, all_nodes = chain(ROWS + 1)
    assert GROWTH < 256
    assert names(affordable(region, all_nodes, 1 << 30)) == ["Neg", "Neg"]


def test_value_that_is_spread_out_and_summed_up_counts_by_its_sum():
    region, all_nodes = chain(ROWS + 1)
    region.results = region.results[1:]
    assert names(affordable(region, all_nodes, 1 << 30)) == ["Neg", "Neg", "Mul", "ReduceSum"]


def test_largest_value_remains_where_all_together_are_too_large():
    region, all_nodes = chain()
    assert names(affordable(region, all_nodes, 4 * 256 * ROWS)) == ["Neg", "Neg"]
    assert names(affordable(region, all_nodes, 4 * ROWS)) == ["Neg"]
    assert names(affordable(region, all_nodes, 0)) == []


def test_light_node_reads_and_gives_little():
    lengths = LIGHT // 8, LIGHT // 8 + 1
    light = [is_light(whorl.load(model(f"m (float[{n}] x) => (y) {{ y = Neg(x) }}")).main.nodes[0]) for n in lengths]
    assert light == [True, False]
    assert not is_light(whorl.load(model("m (float[N] x) => (y) { y = Neg(x) }")).main.nodes[0])
