"""The public names of `whorl.conformance`, loaded when they are used."""

import subprocess
import sys

import pytest

import whorl.conformance


@pytest.mark.parametrize("name", whorl.conformance.__all__)
def test_public_name_is_there(name):
    assert callable(getattr(whorl.conformance, name))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonesuch'"):
        _ = whorl.conformance.nonesuch


def test_package_alone_loads_no_case():
    program = "import sys, whorl.conformance; print('whorl.conformance.cases' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"
