"""Gates: activations of columns of a value."""

import pytest
from passes.programs import read

from whorl.passes.vectorize.gates import Gate, gate_of

TEXT = """main(%x: float32[m, 12]) {{
  %q: int64[3] = Constant() {{value = int64[3] <4 4 4>}}
  %k: int64[1] = Constant() {{value = int64[1] <4>}}
  %e: int64[1] = Constant() {{value = int64[1] <8>}}
  %o: int64[1] = Constant() {{value = int64[1] <1>}}
  %a: float32[m, 12] = Sigmoid(%x)
  {line}
  return r = %r
}}"""


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("%r: float32[m, 12] = Sigmoid(%x)", (0, 12)),
        (
            "%b: $, %r: $, %d: $ = Split(%a, %q) {axis = 1, output_count = 3}",
            (4, 8),
        ),
        ("%r: float32[m, 4] = Slice(%a, %k, %e, %o)", (4, 8)),
    ],
)
def test_columns_of_an_activation_are_a_gate(line, columns):
    module = read(TEXT.format(line=line.replace("$", "float32[m, 4]")))
    assert gate_of(module.main.results[0]) == Gate("Sigmoid", module.main.arguments[0], *columns)


@pytest.mark.parametrize(
    "line",
    [
        "%r: float32[m, 12] = Exp(%x)",
        "%r: float32[4, 12] = Slice(%a, %k, %e)",
        "%z: float32[m, 12] = Exp(%x)\n  %r: float32[m, 4] = Slice(%z, %k, %e, %o)",
    ],
)
def test_other_values_are_no_gates(line):
    assert gate_of(read(TEXT.format(line=line)).main.results[0]) is None
