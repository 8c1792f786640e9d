"""Damaged IR files: the reader refuses them with a code or reads them as a valid module, in bounded time and memory.

Bytes are flipped, cut and copied; elements are left out, doubled and moved, attributes say something else. The files
are those of the corpus where there is one, and a few of our own. `regressions/ir` keeps what was once not so.
"""

import os
import re
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from formats.openvino import ir_text
from formats.openvino.reading.test_states import PAIR, WEIGHTS, body_with_state, running_sum
from hypothesis import given
from hypothesis import strategies as st

import whorl
from fuzz.test_loader import SECONDS, fuzz, limit_memory
from whorl.ir.verify import verify

HERE = Path(__file__).parent
CORPUS = Path(os.environ.get("WHORL_CORPUS") or HERE.parents[2] / "shared" / "corpus") / "openvino"
OWN = [
    (ir_text.ADD, b""),
    (ir_text.counting(1), ir_text.COUNTING_WEIGHTS),
    (running_sum("20:0-1:0", PAIR), WEIGHTS),
    (body_with_state("0:0-1:0"), WEIGHTS),
]
FILES = [
    (path.read_bytes(), path.with_suffix(".bin").read_bytes())
    for path in sorted(CORPUS.glob("*/*.xml"))
    if path.stat().st_size < 1 << 16
]
MODELS = OWN + FILES[::2]
CODE = re.compile(r"\bOV\d{3}\b")
WORDS = """
-1 0 1 2 3 4 7 -2 99 2147483648 9223372036854775807 9223372036854775808 -999999999999999999 ? ... 1..3 3..1 2,3 1,-1,1
0,9223372036854775807 x 1.5 nan true TRUE f32 i64 i32 u4 boolean string u1 dynamic FP32 I64 opset1 opset5 opset99
Add Loop TensorIterator If Const Parameter Result ReadValue Assign Gather Concat Reshape Broadcast Range Split
current_iteration execution_condition extension é,\\,
"""
VALUES = ("", "9" * 5000, *WORDS.split())


def outcome(model: tuple[bytes, bytes]) -> str:
    """`read`, `refused`, or what else came out of the reader."""
    try:
        verify(whorl.load(model[0], weights=model[1]))
    except whorl.LoadError as error:
        return "refused" if CODE.search(str(error)) else f"an error without a code: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "read"


@pytest.fixture(scope="module")
def load():
    with ProcessPoolExecutor(1, initializer=limit_memory) as pool:
        yield lambda *model: pool.submit(outcome, model).result(timeout=SECONDS)


@st.composite
def damaged_bytes(draw: st.DrawFn) -> tuple[bytes, bytes]:
    xml, weights = draw(st.sampled_from(MODELS))
    data = bytearray(xml)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(1, max(1, len(data) - 1)))
        match draw(st.sampled_from(("flip", "cut", "copy", "drop"))):
            case "flip" if at < len(data):
                data[at] = draw(st.integers(0, 255))
            case "cut":
                del data[at:]
            case "copy":
                data[at:at] = data[: draw(st.integers(0, 64))]
            case "drop":
                del data[at : at + draw(st.integers(1, 16))]
    return bytes(data), weights[: draw(st.integers(0, len(weights)))] if draw(st.booleans()) else weights


@st.composite
def damaged_trees(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A net with other attributes, or elements left out, doubled, moved, or inside each other."""
    xml, weights = draw(st.sampled_from(MODELS))
    root = ElementTree.fromstring(xml)
    for _ in range(draw(st.integers(1, 3))):
        elements = list(root.iter())
        parent = draw(st.sampled_from([element for element in elements if len(element)] or [root]))
        children = list(parent)
        child = draw(st.sampled_from(children)) if children else parent
        match draw(st.integers(0, 5)):
            case 0 | 1 if child.attrib:
                child.set(draw(st.sampled_from(sorted(child.attrib))), draw(st.sampled_from(VALUES)))
            case 2 if children:
                parent.remove(child)
            case 3 if children and sum(1 for _ in child.iter()) < 400:
                parent.append(child)
            case 4:
                other = draw(st.sampled_from(elements))
                if len(elements) < 400 and not any(inner is parent for inner in other.iter()):
                    parent.append(other)
            case 5 if child.text is not None or child.tag == "dim":
                child.text = draw(st.sampled_from(VALUES))
    return ElementTree.tostring(root, "utf-8"), weights


@pytest.mark.slow
@fuzz
@given(model=damaged_bytes())
def test_damaged_bytes_are_read_or_refused_with_a_code(load, model):
    assert load(*model) in ("read", "refused")


@pytest.mark.slow
@fuzz
@given(model=damaged_trees())
def test_damaged_trees_are_read_or_refused_with_a_code(load, model):
    assert load(*model) in ("read", "refused")


REGRESSIONS = sorted((HERE / "regressions" / "ir").glob("*.xml"))


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_what_was_once_mishandled_is_read_or_refused(load, path):
    weights = path.with_suffix(".bin")
    assert load(path.read_bytes(), weights.read_bytes() if weights.exists() else b"") in ("read", "refused")
