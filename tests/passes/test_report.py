"""The report of an optimisation: tallies of folds, reasons, and the report as plain data."""

import json

import pytest
from passes.programs import report_of

from whorl.errors import RunError
from whorl.ops.elementwise.arithmetic import Add, Sum
from whorl.ops.elementwise.functions import Exp
from whorl.ops.movement.shapes import Reshape
from whorl.ops.reduce.reductions import ReduceSum
from whorl.passes.report import PassRun, Report, helper_name

SUMS = """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <1 2>}
  %b: float32[2] = Neg(%a)
  %c: float32[2] = Exp(%b)
  %d: float32[2] = Sub(%x, %c)
  return r = %d
}"""


@pytest.mark.parametrize(
    ("op", "inputs", "name"),
    [
        (Exp, 1, "ElementwiseUnary"),
        (Add, 2, "ElementwiseBinary"),
        (Sum, 3, "VariadicElementwiseBinary"),
        (Sum, 1, "ElementwiseUnary"),
        (ReduceSum, 2, "Reduce"),
        (Reshape, 2, "Reshape"),
    ],
)
def test_fold_is_counted_by_its_family(op, inputs, name):
    assert helper_name(op, inputs) == name


def test_report_counts_invocations_and_elements_by_helper():
    report = report_of(SUMS)
    assert (report.nodes_before, report.nodes_after) == (3, 1)
    assert report.constprop_lines() == [
        "constprop report (cumulative), entries, 2 total invocations, 4 input elements",
        "  ElementwiseUnary: 2 invocations, 4 input elements",
    ]
    assert report.as_dict()["folded"] == {"ElementwiseUnary": {"invocations": 2, "elements": 4}}


def test_failure_is_counted_by_op_and_message_without_its_fix():
    report = Report()
    report.fails(Exp(), RunError("no such thing", "Exp 'e'", fix="do better"))
    report.fails(Exp(), ValueError("no such thing"))
    report.skip("Exp", "disabled")
    assert dict(report.skipped) == {("Exp", "fails: no such thing"): 2, ("Exp", "disabled"): 1}


def test_report_of_a_program_is_plain_data():
    data = report_of(SUMS).as_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["nodes"] == {"before": 3, "after": 1}
    assert data["constant_bytes"] == {"before": 8, "after": 8}
    assert data["edits"]["fold_constants"] == 2 and data["skipped"] == []
    assert [each["name"] for each in data["passes"]][:2] == ["fold_constants", "simplify"]


def test_empty_report_has_a_line_and_no_more():
    assert Report().constprop_lines() == [
        "constprop report (cumulative), entries, 0 total invocations, 0 input elements"
    ]


def test_tallies_add_up_over_folds():
    report = Report()
    for elements in (3, 4):
        report.fold(Exp(), 1, elements)
    assert report.as_dict()["folded"] == {"ElementwiseUnary": {"invocations": 2, "elements": 7}}


def test_notebook_shows_a_table_of_passes():
    report = Report(nodes_before=4, nodes_after=2, runs=[PassRun("<fold>", 2, 2, 0.5)])
    assert report._repr_html_() == (
        "<p>4 nodes before, 2 after</p><table><tr><th>pass</th><th>edits</th><th>nodes</th><th>seconds</th></tr>"
        "<tr><td>&lt;fold&gt;</td><td>2</td><td>2</td><td>0.5000</td></tr></table>"
    )
