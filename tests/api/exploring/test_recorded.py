"""Traces as data of a page."""

import numpy as np
import pytest
from api.exploring.test_packing import unpack

from whorl.api.exploring.packing import Packer
from whorl.api.exploring.recorded import BUDGETS, choose_detail, pack_traces
from whorl.api.tracing.value_trace import ValueTrace
from whorl.passes.expose.reading import Records


def trace_of(values, iterations=None, summaries=frozenset()):
    count = len(values)
    table = np.arange(count).reshape(count, 1) if iterations is None else np.array(iterations).reshape(count, 1)
    counts = Records("loop", (), np.zeros((1, 0), np.int64), np.array([9]))
    return ValueTrace({"loop/x": Records("loop/x", ("loop",), table, values)}, {"loop": counts}, {}, summaries)


def packed(*traces, budget=BUDGETS[-1]):
    packer = Packer()
    document, read = unpack(
        packer.seal(pack_traces(traces, ["a", "b"][: len(traces)], packer, choose_detail(traces, budget)))
    )
    return [each["values"]["loop/x"] | {"axis": each["axes"][0]} for each in document], read


def test_small_values_are_there_element_by_element() -> None:
    rows = np.arange(12, dtype=np.float64).reshape(4, 3) / 7
    (value,), read = packed(trace_of(rows))
    assert (value["dtype"], value["shapes"], value["columns"], value["records"]) == ("float64", ["[3]"], 3, 4)
    np.testing.assert_allclose(read(value["cells"]).reshape(3, 4).T, rows, rtol=1e-6)
    low, high, mean = read(value["stats"]).reshape(3, 4)
    np.testing.assert_allclose([low, high, mean], [rows.min(1), rows.max(1), rows.mean(1)], rtol=1e-6)


def test_numbers_that_float32_lacks_stay_what_they_are() -> None:
    for number in (2**30 + 1, 1e300, 1e-300):
        (value,), read = packed(trace_of(np.array([number, 0])))
        assert read(value["cells"]).tolist() == [number, 0]


def test_nan_and_infinity_are_counted_and_left_out_of_the_rest() -> None:
    rows = np.array([[1, np.nan, 3], [np.inf, -np.inf, np.nan], [1, 2, 3]], np.float32)
    (value,), read = packed(trace_of(rows))
    assert [read(each).tolist() for each in value["nan"]] == [[0, 1], [1, 1]]
    assert [read(each).tolist() for each in value["inf"]] == [[1], [2]]
    low, high, mean = read(value["stats"]).reshape(3, 3)
    assert (low[0], high[0], mean[0]) == (1, 3, 2)
    assert np.isnan([low[1], high[1], mean[1]]).all()


def test_shapes_that_change_are_listed_once_with_their_sizes() -> None:
    (value,), read = packed(trace_of([np.ones(2, np.float32), np.ones((2, 2), np.float32), np.ones(2, np.float32)]))
    assert value["shapes"] == ["[2]", "[2, 2]"]
    assert (read(value["shape"]).tolist(), read(value["sizes"]).tolist()) == ([0, 1, 0], [2, 4, 2])
    cells = read(value["cells"]).reshape(4, 3)
    assert np.isnan(cells[2:, [0, 2]]).all() and (cells[:, 1] == 1).all()


def test_lists_say_how_many_items_they_have() -> None:
    (value,), _ = packed(trace_of([[], [np.ones(2)], [np.ones(2), np.ones(3)]]))
    assert value["shapes"] == ["no items", "1 item: [2]", "2 items: [2], [3]"]


def test_texts_are_cut_short() -> None:
    (value,), _ = packed(trace_of(np.array([["a", "b" * 99]], object)))
    assert value["texts"] == [f"a, {'b' * 24}"]


def test_records_of_a_branch_say_their_ticks() -> None:
    full, part = trace_of(np.arange(4)), trace_of(np.arange(2), iterations=[1, 3])
    (first, second), read = packed(full, part)
    assert "ticks" not in first
    assert read(second["ticks"]).tolist() == [1, 3]


def test_complex_numbers_are_shown_by_their_size() -> None:
    (value,), read = packed(trace_of(np.array([3 + 4j])))
    assert read(value["cells"]).tolist() == [5]


@pytest.mark.parametrize(
    ("shape", "budget"), [((100_000,), BUDGETS[-1]), ((1000, 64), BUDGETS[-1]), ((1000, 64), 20_000)]
)
def test_detail_keeps_within_the_budget_and_hides_no_extreme(shape, budget) -> None:
    rows = np.random.default_rng(0).normal(size=shape)
    rows[shape[0] // 2 + 1] = 99
    trace = trace_of(rows)
    detail = choose_detail([trace], budget)
    (value,), read = packed(trace, budget=budget)
    cells, stats = read(value["cells"]), read(value.get("stats", value["cells"]))
    assert cells.nbytes + stats.nbytes <= budget
    assert stats.max() == 99
    assert value["columns"] == min(detail.columns, rows[0].size)


def test_summary_has_its_least_greatest_and_mean() -> None:
    table = np.array([[1, 5, 2, 9, 3, 0], [0, 1, 0.5, 1, 0, 0]])
    (value,), read = packed(trace_of(table, summaries=frozenset(["loop/x"])))
    assert (value["shapes"], value["columns"]) == (["summary"], 0)
    assert read(value["stats"]).reshape(3, 2).T.tolist() == [[1, 5, 2], [0, 1, 0.5]]
    assert read(value["nan"][1]).tolist() == [3]
