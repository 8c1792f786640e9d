"""The benchmark of real exports: which models there are, that other results are refused, and what counts as a miss."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from onnx import TensorProto, helper

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def real_models(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return __import__("real_models")


def doubling() -> bytes:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()


def test_models_of_a_family_have_names_of_their_own(real_models: ModuleType) -> None:
    pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    names = [name for name, _ in real_models.FAMILIES["sklearn"]()]
    assert len(set(names)) == len(names) > 60


def test_export_in_a_folder_is_read_back(real_models: ModuleType, tmp_path: Path) -> None:
    export = real_models.Export(
        helper.make_model(helper.make_graph([], "g", [], [])),
        (1, 3),
        lambda n, rng: {"x": np.ones(n, np.float32)},
        lambda feeds: [],
    )
    model = real_models.stored_model("doubling", lambda: export, tmp_path)
    again = real_models.stored_model("doubling", lambda: pytest.fail("exported twice"), tmp_path)
    assert again.data == model.data
    assert [len(feeds["x"]) for feeds in again.feeds] == [1, 3]


def test_model_is_measured_on_both_engines(real_models: ModuleType) -> None:
    feeds = tuple({"x": np.ones(n, np.float32)} for n in (1, 3))
    answer = real_models.measure("doubling", real_models.Model(doubling(), feeds, 1.0))
    assert set(answer.steady) == set(answer.first) == {"whorl", "onnxruntime"}


def test_other_results_are_refused(real_models: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        def __init__(self, data: bytes) -> None:
            pass

        def run(self, names: None, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
            return [feeds["x"]]

    monkeypatch.setitem(real_models.SESSIONS, "whorl", Other)
    with pytest.raises(AssertionError, match="doubling, output 0"):
        real_models.measure("doubling", real_models.Model(doubling(), ({"x": np.ones(2, np.float32)},), 1.0))


def test_losses_are_printed_the_largest_first(real_models: ModuleType) -> None:
    def answer(name: str, ratio: float) -> object:
        return real_models.Answer(name, {"whorl": ratio, "onnxruntime": 1.0}, {"whorl": 2.0, "onnxruntime": 1.0})

    won = [answer(f"jax-{n}", 0.3) for n in range(99)]
    assert not real_models.misses([*won, answer("torch-a", 1.4)])
    assert real_models.misses([*won, answer("torch-a", 1.6)])
    assert real_models.misses([*won, *(answer(f"torch-{n}", 1.3) for n in range(3))])
    printed = "\n".join(real_models.table([*won, answer("torch-a", 1.4), answer("torch-b", 1.6)]))
    assert printed.index("lost: torch-b") < printed.index("lost: torch-a")
