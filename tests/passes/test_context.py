"""What passes are allowed: names that are disabled, and the number of edits."""

import pytest
from passes.programs import read

from whorl.passes.context import Context, PassOptions

TEXT = """main(%x: float32[N]) {
  %a: float32[N] = NonZero(%x)
  return a = %a
}""".replace("float32[N] = NonZero", "int64[1, k] = NonZero")


def test_edits_are_counted_by_name_up_to_the_limit():
    context = Context(options=PassOptions(limit=2))
    assert [context.may_edit(name) for name in ("a", "b", "a")] == [True, True, False]
    assert context.edits == 2 and dict(context.report.edits) == {"a": 1, "b": 1}


def test_disabled_rule_is_refused_and_costs_no_edit():
    context = Context(options=PassOptions(disabled=frozenset({"a"}), limit=1))
    assert not context.is_enabled("a") and context.is_enabled("b")
    assert not context.may_edit("a") and context.edits == 0 and not context.report.edits
    assert context.may_edit("b") and not context.may_edit("b")


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_of_nothing_refuses_the_first_edit(limit):
    assert not Context(options=PassOptions(limit=limit)).may_edit("a")


def test_contexts_share_nothing():
    first, second = Context(), Context()
    assert first.may_edit("a")
    assert second.edits == 0 and not second.report.edits and first.refused is not second.refused


def test_inference_goes_on_with_the_names_of_the_module():
    module = read(TEXT)
    inference = Context(module).inference
    assert "N" in inference.used and any(name.startswith("a.1") for name in inference.used)


def test_pool_has_the_budgets_of_the_options():
    context = Context(options=PassOptions(memory_budget=1 << 20))
    assert context.pool is context.pool and context.pool.budget == 1 << 20
