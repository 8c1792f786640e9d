"""OpenVINO in a process of its own, for all tests here."""

import pytest
from formats.openvino.engine import Engine


@pytest.fixture(scope="module")
def engine():
    pytest.importorskip("openvino", reason="openvino has no wheel for this platform")
    actual = Engine()
    yield actual
    actual.close()
