"""DataFrames of Dask and Datasets of Ray come back as what they were."""

import os

import numpy as np
import pandas as pd
import pytest
from scoring.models import PERCEPTRON, numbers

import whorl
from whorl.errors import RunError
from whorl.scoring.frames import kind_of

FRAME = pd.DataFrame(numbers(1000), columns=list("abcd"))
COLUMNS = {"x": list("abcd")}
Z = numbers(1000).sum(axis=1)


def test_dask_frame_comes_back():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(FRAME, npartitions=3)
    actual = whorl.score(PERCEPTRON, frame, columns=COLUMNS, keep=["a"])
    assert kind_of(actual) == "dask" and list(actual.columns) == ["a", "y", "z"]
    computed = actual.compute(scheduler="synchronous")
    np.testing.assert_allclose(computed["z"], Z, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(computed["a"], FRAME["a"])


@pytest.mark.slow
def test_ray_dataset_comes_back(monkeypatch):
    ray = pytest.importorskip("ray")
    environment = {"env_vars": {"PYTHONPATH": os.path.dirname(os.path.dirname(whorl.__file__))}}
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    try:
        dataset = ray.data.from_pandas(FRAME)
        actual = whorl.score(PERCEPTRON, dataset, columns=COLUMNS, keep=["a"], workers=1)
        assert kind_of(actual) == "ray"
        computed = actual.to_pandas()
    finally:
        ray.shutdown()
    expected = dict(zip(FRAME["a"], Z, strict=True))
    np.testing.assert_allclose(computed["z"], [expected[key] for key in computed["a"]], rtol=1e-4, atol=1e-5)


def test_spread_table_and_output_are_refused(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    with pytest.raises(RunError) as error:
        whorl.score(PERCEPTRON, dask.from_pandas(FRAME, npartitions=1), tmp_path / "out", columns=COLUMNS)
    assert str(error.value) == (
        "a table of dask comes back as one, and output is none of its options\n"
        "  fix: write what comes back, or score the files that it is read from"
    )
