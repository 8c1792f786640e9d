"""`python -m whorl.conformance`."""

import pytest

from whorl.conformance.__main__ import main


def test_unknown_backend_ends_with_2(capsys):
    assert main(["--backend", "nonesuch:load"]) == 2
    assert "'nonesuch:load' cannot be loaded" in capsys.readouterr().err


@pytest.mark.slow
def test_chosen_cases_end_with_0(capsys):
    assert main(["--only", "while_limit_1"]) == 0
    assert capsys.readouterr().out.startswith("pass         1\n")
