"""Schemas of the onnx package, found by whorl's own table of versions."""

import pytest

from whorl.errors import UnsupportedError
from whorl.formats.onnx.schemas import schema_for


@pytest.mark.parametrize(("version", "since"), [(6, 6), (10, 6), (11, 11), (12, 12), (28, 13)])
def test_the_newest_version_up_to_the_import_applies(version, since):
    schema = schema_for("Clip", "", version)
    assert (schema.name, schema.since_version) == ("Clip", since)


def test_operator_that_the_version_lacks_is_refused():
    with pytest.raises(UnsupportedError, match="CumSum came with version 11"):
        schema_for("CumSum", "", 9)
