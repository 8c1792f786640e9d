"""Writes docs/openvino-ops.md, which takes minutes and OpenVINO, and the codes in docs/openvino.md."""

import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from whorl.formats.openvino.codes import CODES

DOCS = Path(__file__).parent
PAGE, MODELS = DOCS / "openvino.md", DOCS / "openvino-ops.md"
sys.path.insert(0, str(DOCS.parent / "tests"))

from formats.openvino.backend_models import DIRECT, Outcome, measure, models  # noqa: E402

BEGIN, END = "<!-- codes: written by make_openvino.py -->", "<!-- end of codes -->"
PLUGIN = "OpenVINO's CPU plugin "
DIFFERENCES = {
    "Attention": PLUGIN + "rounds bfloat16 at other places",
    "Cast": PLUGIN + "computes float64 in float32",
    "CastLike": PLUGIN + "computes float64 in float32",
    "Add": PLUGIN + "computes float64 in float32",
    "several ops": PLUGIN + "computes float64 in float32",
    "Mod": PLUGIN + "gives other infinities and NaN",
    "DynamicQuantizeLinear": PLUGIN + "rounds a quotient to the other side",
    "NonMaxSuppression": PLUGIN + "decides an overlap that equals the threshold otherwise",
    "DFT": PLUGIN + "has an error of 1e-4 where the transform is 0",
}
"""Why values differ, by op."""
INTRODUCTION = """# ONNX models as OpenVINO IR

Every model of `onnx.backend.test` (node, simple, PyTorch) is read by whorl, written as IR, compiled and run by
OpenVINO's CPU plugin, and compared with the outputs that the suite expects: element types, shapes, and elements within
the suite's tolerances. `python docs/make_openvino.py --models` renews this page.

"""


def codes() -> str:
    """The table of codes."""
    rows = [f"| `{code}` | {meaning} |" for code, meaning in CODES.items()]
    return "\n".join([BEGIN, "", "| code | meaning |", "|---|---|", *rows, "", END])


def with_codes(text: str) -> str:
    """The page with its table of codes renewed."""
    before, _, rest = text.partition(BEGIN)
    return before + codes() + rest.partition(END)[2]


def op_of(outcome: Outcome, by_name: dict[str, Outcome]) -> str:
    """The op that a model is about; of a function written out, the one that it defines."""
    origin = by_name.get(outcome.name.partition("_expanded")[0], outcome)
    return origin.ops[0] if len(origin.ops) == 1 else "several ops"


def reason(outcome: Outcome, op: str) -> str:
    """Why a model does not agree, without names of its values."""
    if outcome.status == "differs":
        return DIFFERENCES.get(op) or outcome.reason
    text = outcome.reason.split("\n")[0] if outcome.status == "unwritten" else outcome.reason.strip().split("\n")[-1]
    text = re.sub(r"^\w+Error: ", "", text)
    text = re.sub(r"^\w+ '[^']*'( in [^:]*)?: ", "", text)
    text = re.sub(r"the input '[^']*'", "an input", text)
    text = re.sub(r"%\S+: ", "a value of type ", text)
    return text if outcome.status == "unwritten" else f"OpenVINO refuses it: {text}"


def is_converted(outcome: Outcome) -> bool:
    """Whether OpenVINO's own reader of ONNX took a model, whatever came of running it."""
    return outcome.status != "refused" or not re.search(r"src/frontends|FrontEnd", outcome.reason)


def models_page(outcomes: Sequence[Outcome], direct: Sequence[Outcome]) -> str:
    """The page of models, from what became of them, here and by way of OpenVINO's own reader."""
    by_name = {outcome.name: outcome for outcome in outcomes}
    by_op: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_op[op_of(outcome, by_name)].append(outcome)
    agreeing = sum(outcome.status == "agrees" for outcome in outcomes)
    converted = {outcome.name for outcome in direct if is_converted(outcome)}
    both = sum(outcome.status == "agrees" and outcome.name in converted for outcome in outcomes)
    alone = sum(outcome.status == "agrees" for outcome in direct)
    lines = [
        f"{agreeing} of {len(outcomes)} models agree. OpenVINO's own reader of ONNX takes {len(converted)} of them;",
        f"of these {both} agree here, and {alone} by way of that reader. Those that do not agree here, by op:",
        "",
    ]
    lines += ["| op | models | agree | the others |", "|---|---|---|---|"]
    whole = []
    for op, group in sorted(by_op.items()):
        others = [outcome for outcome in group if outcome.status != "agrees"]
        if not others:
            whole.append(f"{op} ({len(group)})")
            continue
        lines.append(f"| {op} | {len(group)} | {len(group) - len(others)} | {explained(others, op)} |")
    lines += ["", f"All models of these ops agree: {', '.join(whole)}."]
    return INTRODUCTION + "\n".join(lines) + "\n"


def explained(outcomes: Sequence[Outcome], op: str) -> str:
    """Models by the reason that they share."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for outcome in outcomes:
        by_reason[reason(outcome, op).replace("|", "\\|")].append(f"`{outcome.name}`")
    return "; ".join(f"{why}: {', '.join(names)}" for why, names in by_reason.items())


if __name__ == "__main__":
    if "--models" in sys.argv[1:]:
        cases = models()
        MODELS.write_text(models_page(measure(cases), measure(cases, DIRECT)), encoding="utf-8")
    PAGE.write_text(with_codes(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
