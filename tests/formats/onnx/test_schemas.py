"""What is said of operators and versions that the model's imports do not have."""

import pytest

from whorl.errors import UnsupportedError
from whorl.formats.onnx.schemas import schema_for


@pytest.mark.parametrize(
    ("name", "domain", "version", "message"),
    [
        ("CumSum", "", 9, "CumSum came with version 11; the model imports ai.onnx 9"),
        ("Clip", "", 0, "Clip came with version 1; the model imports ai.onnx 0"),
        ("TreeEnsemble", "ai.onnx.ml", 4, "TreeEnsemble came with version 5; the model imports ai.onnx.ml 4"),
        ("Mystery", "", 21, "Mystery is not an operator of ai.onnx 21"),
        ("CumSum", "ai.onnx.ml", 3, "CumSum is not an operator of ai.onnx.ml 3"),
    ],
)
def test_operator_that_the_version_lacks_is_named_with_its_first_version(name, domain, version, message):
    with pytest.raises(UnsupportedError) as caught:
        schema_for(name, domain, version)
    assert str(caught.value) == message


@pytest.mark.parametrize(("version", "since"), [(6, 6), (10, 6), (11, 11), (12, 12), (28, 13)])
def test_the_newest_version_up_to_the_import_applies(version, since):
    assert schema_for("Clip", "", version).since_version == since
