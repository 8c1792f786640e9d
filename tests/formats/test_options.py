"""`LoadOptions`: what its fields refuse, and that the keywords of `load` are its fields."""

import pytest

from whorl.errors import LoadError
from whorl.formats.options import LoadKeywords, LoadOptions


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("condition_when_omitted", "stop", "condition_when_omitted is 'stop'\n  fix: use 'specification' or 'honour'"),
        ("max_depth", 0, "max_depth is 0, expected a whole number of 1 or more"),
        ("max_depth", 1.5, "max_depth is 1.5, expected a whole number of 1 or more"),
        ("compat", "ov_cpu", "there is no compat 'ov_cpu'\n  fix: use 'openvino-cpu', or leave it out"),
        ("precision", "float16", "precision is 'float16'\n  fix: use 'float64' or 'float32'"),
        (
            "integrator",
            "midpoint",
            "there is no integrator 'midpoint'\n  fix: use 'euler', 'rk4', 'exponential' or 'adaptive'",
        ),
    ],
)
def test_value_that_an_option_does_not_have_is_refused(field, value, text):
    with pytest.raises(LoadError) as caught:
        LoadOptions(**{field: value})
    assert str(caught.value) == text


def test_keywords_are_the_fields_with_their_types():
    fields = {name: LoadOptions.__annotations__[name] for name in LoadOptions.__struct_fields__}
    assert {name: hint.__forward_arg__ for name, hint in LoadKeywords.__annotations__.items()} == fields
