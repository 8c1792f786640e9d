"""Fixtures of the tests of MDF files."""

import pytest


@pytest.fixture
def mdf():
    """The module of modeci_mdf's objects."""
    return pytest.importorskip("modeci_mdf.mdf")
