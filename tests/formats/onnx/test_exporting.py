"""Which function writes an op at an opset."""

from collections.abc import Iterator

import pytest

from whorl.formats.onnx.exporting import EXPORTERS, exporter, find_exporter


@pytest.fixture
def name() -> Iterator[str]:
    yield "OpOfThisTest"
    EXPORTERS.pop("OpOfThisTest", None)


def test_lowest_sufficient_version_is_taken_in_whatever_order_they_register(name):
    @exporter(name)
    def newest(node, write): ...

    @exporter(name, until=6)
    def oldest(node, write): ...

    @exporter(name, until=12)
    def middle(node, write): ...

    settings_by_opset = {opset: find_exporter(name, opset) for opset in (1, 6, 7, 12, 13, 28)}
    assert settings_by_opset == {1: oldest, 6: oldest, 7: middle, 12: middle, 13: newest, 28: newest}


def test_one_function_may_write_several_ops(name):
    @exporter(name, until=6)
    @exporter(f"{name}Too", until=8)
    def both(node, write): ...

    assert find_exporter(name, 6) is find_exporter(f"{name}Too", 8) is both
    assert EXPORTERS.pop(f"{name}Too")


def test_op_beyond_its_last_registered_version_is_written_by_its_fields(name):
    exporter(name, until=6)(lambda node, write: None)
    assert find_exporter(name, 7) is None
    assert find_exporter("NoSuchOp", 7) is None


def test_family_of_an_op_is_loaded_when_it_is_first_written():
    assert find_exporter("Squeeze", 12) is not None
    assert find_exporter("Squeeze", 12) is not find_exporter("Squeeze", 13)
