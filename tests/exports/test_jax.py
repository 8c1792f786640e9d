"""Functions of jax, exported by jax2onnx, give what jax gives."""

import pytest

from exports.harness import check, require_all

require_all()

from exports import jax_functions, jax_loops  # noqa: E402
from exports.jax_export import export_of  # noqa: E402

pytestmark = pytest.mark.slow
CASES = jax_functions.TABLE.cases | jax_loops.TABLE.cases
REFUSED = {
    "set_at_mask": "unexpected keyword argument 'size'",
    "fori_loop_captures": "conversion method __array__",
    "scan_reverse": "Reverse scan is not supported",
    "switch": "too many values to unpack",
    "associative_scan": "interior padding > 0 is not supported",
    "vmap_of_fori_loop": "Batching rule for 'lax.fori_loop' not implemented",
    "grad_of_fori_loop": "Differentiation rule for 'lax.fori_loop' not implemented",
    "grad_of_scan": "Reverse scan is not supported",
}
"""What jax2onnx says of the functions that it cannot export."""


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_function(name):
    check(export_of(CASES[name]))


@pytest.mark.parametrize("name", REFUSED)
def test_function_is_refused_by_the_exporter(name):
    with pytest.raises(Exception, match=REFUSED[name]):
        export_of(CASES[name])
