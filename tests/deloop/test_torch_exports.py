"""Models of torch, by dynamo and by scripting, lose their loops and branches and give what torch gives."""

import pytest
from exports.harness import require_all

require_all()

from exports import torch_loops  # noqa: E402
from exports.torch_export import export_of  # noqa: E402

import whorl  # noqa: E402
from deloop import torch_cells  # noqa: E402
from deloop.exported import check_without_loops  # noqa: E402

pytestmark = pytest.mark.slow
LOOPS = torch_loops.TABLE.cases | torch_cells.TABLE.cases
FREE = {
    ("cond", "dynamo"): (),
    ("while_loop", "dynamo"): (),
    ("scan", "dynamo"): ("CumSum",),
    ("list_of_columns", "script"): (),
    ("while_with_counter", "script"): ("CumSum",),
    ("if_on_sum", "script"): (),
    ("beam_search", "script"): ("TopK",),
    ("lstm_cell_in_a_loop", "script"): ("LSTM",),
    ("lstm_by_hand_in_a_loop", "script"): ("LSTM",),
    ("assign_rows_in_loop", "script"): (),
    ("assign_mask_in_loop", "script"): (),
    ("greedy_decode", "script"): (),
}
BRANCHES = (("cond", "dynamo"), ("if_on_sum", "script"))
"""What onnxruntime is faster with."""
STAY = {
    ("while_over_tensor", "script"): ("its body may end it: nothing else bounds it", "--bound Loop_9=64"),
    ("scan_reverse", "dynamo"): ("has no closed form", "--dim s14=8"),
    ("euler_steps", "script"): ("has no closed form", "--input x1=8"),
    ("split_in_loop", "script"): ("the tensors of the sequence may differ in shape", "--dim n=8"),
    ("beam_search_until_all_end", "script"): ("its body may end it: nothing else bounds it", "--bound Loop_40=64"),
    ("repeat_interleave", "script"): ("the tensors of the sequence may differ in shape", "--dim n=8"),
    ("if_by_shape", "script"): ("output 0 is float32[1, 4] or float32[2*n, 4]", "--dim n=5"),
}


@pytest.mark.parametrize(("name", "exporter"), FREE)
def test_loop_goes(name, exporter):
    target = "any" if (name, exporter) in BRANCHES else "default"
    check_without_loops(export_of(LOOPS[name], exporter), *FREE[name, exporter], target=target)


@pytest.mark.parametrize(("name", "exporter"), BRANCHES)
def test_branch_that_onnxruntime_is_faster_with_remains(name, exporter):
    with pytest.raises(whorl.DeloopError, match="the model would be slower in onnxruntime without it"):
        whorl.deloop(export_of(LOOPS[name], exporter).model)


def test_decay_goes_for_onnxruntime():
    check_without_loops(export_of(LOOPS["for_over_rows"], "script"), "LSTM", target="onnxruntime")


@pytest.mark.parametrize(("name", "exporter"), [("gru_in_a_loop", "script"), ("gru_in_a_scan", "dynamo")])
def test_cell_becomes_its_op(name, exporter):
    check_without_loops(export_of(torch_cells.TABLE.cases[name], exporter), "GRU")


@pytest.mark.parametrize(("name", "exporter"), STAY)
def test_loop_that_remains_says_why_and_what_lets_it_go(name, exporter):
    why, option = STAY[name, exporter]
    with pytest.raises(whorl.DeloopError) as caught:
        whorl.deloop(export_of(LOOPS[name], exporter).model)
    assert why in str(caught.value) and option in str(caught.value)
