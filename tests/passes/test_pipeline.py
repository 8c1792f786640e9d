"""The driver of the passes: the order, the options, the report."""

import inspect
import re
import sys

import numpy as np
import pytest
from passes.bits import copied
from passes.programs import read, report_of

import whorl
from whorl.ir.constants import Constant
from whorl.ir.elements.base import Elements
from whorl.ir.text import print_module
from whorl.passes import simplify_control_flow
from whorl.passes.context import Context, PassOptions
from whorl.passes.pipeline import PASSES, check_disabled, optimize
from whorl.passes.simplify_control_flow import EDITS

SUMS = """main(%x: float32[2]) {
  %a: float32[2] = Constant() {value = float32[2] <1 2>}
  %b: float32[2] = Neg(%a)
  %c: float32[2] = Exp(%b)
  %d: float32[2] = Sub(%x, %c)
  return r = %d
}"""


@pytest.mark.parametrize(("limit", "left"), [(0, 3), (1, 2), (2, 1), (None, 1)])
def test_limit_stops_after_so_many_edits(limit, left):
    assert report_of(SUMS, limit=limit).nodes_after == left


def test_only_and_disabled_choose_passes_and_ops():
    assert [run.name for run in report_of(SUMS, only=("dce",)).runs] == ["dce"]
    assert "fold_constants" not in {run.name for run in report_of(SUMS, disabled=frozenset(["fold_constants"])).runs}
    report = report_of(SUMS, disabled=frozenset(["Exp"]), only=("fold_constants",))
    assert report.nodes_after == 2 and report.skipped["Exp", "disabled"]


def test_pass_that_does_not_exist_is_refused():
    with pytest.raises(whorl.WhorlError) as caught:
        report_of(SUMS, only=("fold",))
    names = ", ".join(each.__name__ for each in PASSES)
    assert str(caught.value) == f"there is no pass 'fold'\n  fix: choose from {names}"


@pytest.mark.parametrize("name", ["fold_constants", "unswitch", "AddOfSubConst", "Sqrt"])
def test_names_of_passes_edits_rules_and_ops_may_be_disabled(name):
    check_disabled(["dce", name])


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("Sqr", "did you mean 'Sqrt'?"),
        ("unswich", "did you mean 'unswitch'?"),
        ("?", f"choose from {', '.join([*(each.__name__ for each in PASSES), *EDITS])}, or name a rule or an op"),
    ],
)
def test_name_to_disable_that_nothing_has_is_refused(name, fix):
    with pytest.raises(whorl.WhorlError) as caught:
        check_disabled(["dce", name])
    what = f"no pass, rule or op is called {name!r}, which --disable, in Python disabled, names"
    assert str(caught.value) == f"{what}\n  fix: {fix}"


def test_edits_of_control_flow_are_what_its_modules_ask_for():
    modules = {sys.modules[each.__module__] for each in vars(simplify_control_flow).values() if callable(each)}
    source = "".join(inspect.getsource(each) for each in modules if each.__name__.startswith("whorl.passes."))
    assert sorted(set(re.findall(r'may_edit\("(\w+)"\)', source))) == sorted(EDITS)


def test_context_begun_while_reading_is_gone_on_with():
    module, context = copied(read(SUMS)), Context(None, PassOptions(limit=1))
    context.may_edit("fold_constants")
    assert optimize(module, context=context) is context.report
    assert context.edits == 1 and "Neg" in print_module(module)


def test_elements_are_pickled_as_arrays():
    module = read(SUMS)
    node = next(node for node in module.main.nodes if isinstance(node.op, Constant))
    assert not isinstance(node.op.value, Elements)  # type: ignore[union-attr]
    assert np.array_equal(copied(module).main.nodes[0].op.run(), [1, 2])
