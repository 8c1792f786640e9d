"""The codes of problems: each is raised or noted somewhere, and none is used that has no meaning."""

import re
from pathlib import Path

import pytest

from whorl.errors import LoadError, UnsupportedError
from whorl.formats.openvino import codes

READER = Path(codes.__file__).parent


def test_codes_in_use_are_the_ones_with_a_meaning():
    texts = [path.read_text(encoding="utf-8") for path in READER.rglob("*.py") if path.name != "codes.py"]
    used = {code for text in texts for code in re.findall(r'"(OV\d{3})"', text)}
    assert used == codes.CODES.keys()


def test_problem_says_its_code_first():
    assert str(codes.problem("OV201", "twice", "Add 'a'", "once")) == "Add 'a': OV201: twice\n  fix: once"
    with pytest.raises(UnsupportedError):
        raise codes.unsupported("OV505", "bodies")
    assert isinstance(codes.problem("OV201", "twice"), LoadError)


def test_message_gets_one_code():
    assert codes.coded("OV501", "wrong") == "OV501: wrong"
    assert codes.coded("OV501", "OV404: no type") == "OV404: no type"


def test_warning_is_stated_with_its_location():
    assert str(codes.Warning("OV208", "other", "Add 'a'")) == "Add 'a': OV208: other"
    assert str(codes.Warning("OV208", "other")) == "OV208: other"
