"""The engines by name, and how one of them says that it lacks something."""

import numpy as np
import pytest
from conformance import broken_engines

from whorl.conformance import load_cases
from whorl.conformance.backends import BACKENDS, Backend, backend_version, load_backend

BRANCHES = next(case for case in load_cases() if case.name == "if_several_outputs_true")


@pytest.mark.parametrize("name", ["whorl", "reference"])
def test_backend_runs_a_model(name):
    outputs = load_backend(name).load(BRANCHES.data)(BRANCHES.inputs)
    assert [np.asarray(output).tolist() for output in outputs] == [-3, 1, "yes"]


def test_function_of_a_module_is_a_backend():
    assert load_backend("conformance.broken_engines:lies").load is broken_engines.lies


def test_unknown_name_is_refused_with_what_there_is():
    with pytest.raises(ValueError, match="no backend 'abacus'; there are whorl, onnxruntime, "):
        load_backend("abacus")


def test_phrases_of_an_engine_say_what_it_lacks():
    backend = Backend(broken_engines.lies, missing=("not implemented here",))
    assert backend.lacks(RuntimeError("Scan is not implemented here"))
    assert backend.lacks(NotImplementedError())
    assert not backend.lacks(RuntimeError("wrong"))


def test_version_is_that_of_the_package():
    assert backend_version("reference")
    assert backend_version("nonesuch.engine:load") == ""
    assert set(BACKENDS) == {"whorl", "onnxruntime", "openvino", "reference"}
