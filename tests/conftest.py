"""Fixtures that the whole suite shares."""

import os
from collections.abc import Iterator
from pathlib import Path

import dependencies
import pytest
from hypothesis import HealthCheck, settings

dependencies.forbid_skips()

# How long examples take to draw depends on what else the machine does. The suite draws the same examples every time;
# `make fuzz` sets the variable and draws others, and a failure prints what repeats it.
settings.register_profile(
    "suite",
    deadline=None,
    derandomize="WHORL_FUZZ_EXAMPLES" not in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

CORPUS_VARIABLE = "WHORL_CORPUS"
os.environ.setdefault("WHORL_DEBUG", "strict,poison")
BESIDE_THE_CHECKOUT = Path(__file__).parents[1].parent / "shared" / "corpus"


def corpus_folder() -> Path | None:
    """The folder of third-party models: `WHORL_CORPUS`, else `../shared/corpus` beside the checkout, else None."""
    named = os.environ.get(CORPUS_VARIABLE)
    if named and not Path(named).is_dir():
        raise pytest.UsageError(f"{CORPUS_VARIABLE}={named} is not a folder")
    folder = Path(named) if named else BESIDE_THE_CHECKOUT
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session", autouse=True)
def code_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Machine code that the tests compile is kept in a folder that goes with them; those of workers have one."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHORL_CACHE", str(folder / "code"))
        yield


@pytest.fixture(scope="session", autouse=True)
def calls_are_soon_direct() -> Iterator[None]:
    """The third run of a shape is a direct call, in machine code from the feeds on, as it is for users much later."""
    from whorl.runtime.compiled import fast_path

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_path, "OFTEN", 1)
        yield


@pytest.fixture(params=["interpreter", "native"])
def each_backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Sessions that name no backend run on each in turn."""
    monkeypatch.setenv("WHORL_BACKEND", request.param)
    return request.param


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`corpus_model` runs a test once for each ONNX file of the corpus, or skips it where there is no corpus."""
    if "corpus_model" not in metafunc.fixturenames:
        return
    folder = corpus_folder()
    if folder is None:
        metafunc.parametrize("corpus_model", [pytest.param(None, marks=no_corpus())])
        return
    models = sorted((folder / "onnx").glob("*.onnx"))
    metafunc.parametrize("corpus_model", models, ids=[model.stem for model in models])


def no_corpus() -> pytest.MarkDecorator:
    return pytest.mark.skip(reason=f"no corpus of third-party models here; {CORPUS_VARIABLE} names its folder")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The corpus folder; skips where there is none."""
    folder = corpus_folder()
    if folder is None:
        pytest.skip(no_corpus().kwargs["reason"])
    return folder
