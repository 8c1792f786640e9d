"""The operators of ONNX among the functions of MDF."""

import onnx

from whorl.mdf.functions.named import find_special


def test_every_operator_of_the_reference_is_there():
    schemas = {s.name for s in onnx.defs.get_all_schemas_with_history() if s.domain == "" and s.since_version <= 15}
    assert len(schemas) >= 169
    assert [name for name in schemas if find_special(f"onnx::{name}") is None] == []
