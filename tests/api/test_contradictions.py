"""What contradicts itself in one node, and what may agree and is no problem."""

import pytest
from onnx_text import model

import whorl


def scan(inputs, operands, arguments, state="Add (a, e)"):
    """A Scan with one state; `arguments` are those of its body."""
    count = operands.count(",")
    return model(f"""main ({inputs}) => (float[m] y, float[k, n] ys) {{
        [l] y, ys = Scan ({operands}) <num_scan_inputs = {count}, body = b ({arguments}) => (t, u) {{
            t = {state}
            u = Identity(e)
        }}>
    }}""")


@pytest.mark.parametrize("divisor", ["int64", "float"])
def test_remainder_that_its_opset_has_is_no_problem(divisor):
    fmod = "<fmod = 1>" if divisor == "float" else ""
    assert whorl.check(model(f"main ({divisor}[2] x) => ({divisor}[2] z) {{ z = Mod {fmod} (x, x) }}", opset=18)) == []
    assert whorl.check(model("main (float[2] x) => (float[2] z) { z = Mod (x, x) }", opset=28)) == []


def test_lengths_and_shapes_that_may_agree_are_no_problem():
    named = scan("float[n] s, float[p, n] x, float[q, n] z", "s, x, z", "float[k] a, float[n] e, float[2] f")
    assert whorl.check(named) == []
    assert whorl.check(scan("float[2] s, float[5, 2] x", "s, x", "float[2] a, float[2] e")) == []
