"""The verbs of the command line: one a file, in the order of the help."""

from pathlib import Path

import whorl.cli.verbs
from whorl.cli.verbs import FIRST, VERBS

FOLDER = Path(whorl.cli.verbs.__file__).parent


def test_every_file_is_a_verb() -> None:
    assert set(VERBS) == {path.stem.replace("_", "-") for path in FOLDER.glob("[a-z]*.py")}


def test_first_verbs_come_first_and_others_by_name() -> None:
    names = list(VERBS)
    assert tuple(names[: len(FIRST)]) == FIRST
    assert names[len(FIRST) :] == sorted(names[len(FIRST) :])


def test_every_verb_has_a_line_of_help_and_what_runs_it() -> None:
    for name, verb in VERBS.items():
        first, *_ = (verb.__doc__ or "").splitlines()
        assert first.endswith("."), name
        assert callable(verb.add_arguments)
        assert callable(verb.execute)
