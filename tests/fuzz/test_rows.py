"""Ops of many rows at once beside the same ops row after row.

`python -m fuzz.rows 50000 SEED`, with tests on PYTHONPATH, runs more programs.
"""

import os

import pytest

from fuzz.rows import WITHOUT_FORMS, campaign, forms_of_rows
from whorl.ir.graph import REGISTRY
from whorl.passes.vectorize.rules import rule_of

EXAMPLES, SEED, TIMES = int(os.environ.get("WHORL_FUZZ_EXAMPLES", "0")), 28, 8


def test_every_op_with_a_rule_has_a_form():
    ruled = {name for name, kind in REGISTRY.items() if rule_of(kind)}
    reached = {form.op for form in forms_of_rows()}
    assert reached == ruled - WITHOUT_FORMS.keys() and len(reached) >= 150


@pytest.mark.slow
def test_rows_give_what_they_give_alone():
    forms = forms_of_rows()
    result = campaign(max(EXAMPLES, TIMES * len(forms)), SEED)
    assert not result.faults, "\n".join(result.faults)
    assert set(result.done) == {form.op for form in forms}
