"""The cases as they are loaded: complete, with names of their own, and right by the checker of onnx."""

import re

import onnx
import pytest

from whorl.conformance import load_cases
from whorl.conformance.cases import THEMES
from whorl.conformance.files import FOLDER, read_json
from whorl.conformance.rules import RULES

CASES = {case.name: case for case in load_cases()}
VERSIONS = {"Loop": {1, 11, 13, 16, 19, 21, 23, 24, 25}, "If": {1, 11, 13, 16, 19, 21, 23, 24, 25}}
VERSIONS |= {"Scan": {8, 9, 11, 16, 19, 21, 23, 24, 25}, "SequenceMap": {17}}


def test_names_are_unique_and_plain():
    names = [case.name for case in load_cases()]
    assert len(names) == len(set(names)) == 510
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)


def test_every_rule_has_cases():
    assert set(RULES) >= set(range(1, 16))
    assert {rule for case in CASES.values() for rule in case.rules} == set(RULES)


def test_every_version_of_every_op_has_cases():
    ops = {op for case in CASES.values() for op in case.control_ops}
    assert ops == {f"{name}-{version}" for name, versions in VERSIONS.items() for version in versions}


def test_every_file_of_cases_is_a_theme():
    assert {file.stem for file in FOLDER.glob("*.json")} - {"suite"} == set(THEMES)
    assert {file.name for file in FOLDER.iterdir() if file.is_dir()} == set(THEMES)


@pytest.mark.parametrize("theme", THEMES)
def test_every_model_of_a_theme_has_cases(theme):
    used = {row["model"] for row in read_json(theme)["cases"]}
    assert used == {file.name for file in (FOLDER / theme).iterdir()}


@pytest.mark.parametrize("name", [case.name for case in CASES.values() if not case.ambiguous and not case.error])
def test_model_that_is_not_open_satisfies_the_checker(name):
    onnx.checker.check_model(CASES[name].proto, full_check=True)
