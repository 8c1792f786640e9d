"""What an optimisation did: what it folded, what it did not fold and why, and what it cost."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from whorl.errors import WhorlError
from whorl.ir.graph import Op
from whorl.ops.core.base import Elementwise
from whorl.ops.reduce.reductions import Reduction

ELEMENTWISE = {1: "ElementwiseUnary", 2: "ElementwiseBinary"}


@functools.cache
def helper_name(kind: type[Op], inputs: int) -> str:
    """The kind of computation that a fold is counted under: a family where the op has one, else the op itself."""
    if issubclass(kind, Elementwise):
        return ELEMENTWISE.get(inputs, "VariadicElementwiseBinary")
    return "Reduce" if issubclass(kind, Reduction) else kind.__name__


class Tally(Struct):
    """Invocations of one kind of computation, and the elements it read."""

    invocations: int = 0
    elements: int = 0


class PassRun(Struct, frozen=True):
    """One run of one pass."""

    name: str
    edits: int
    nodes: int
    seconds: float


class Report(Struct):
    """Counters that passes add to, and figures that the driver fills in."""

    folded: dict[str, Tally] = field(default_factory=dict[str, Tally])
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    edits: Counter[str] = field(default_factory=Counter[str])
    runs: list[PassRun] = field(default_factory=list[PassRun])
    nodes_before: int = 0
    nodes_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    seconds: float = 0.0
    peak_bytes: int = 0
    spilled_bytes: int = 0

    def fold(self, op: Op, operands: int, elements: int) -> None:
        """Count a folded node with the number of its operands and the elements they have together."""
        name = helper_name(type(op), operands)
        tally = self.folded.get(name)
        if tally is None:
            tally = self.folded[name] = Tally()
        tally.invocations += 1
        tally.elements += elements

    def fails(self, op: Op, error: Exception) -> None:
        """Count a node that failed when it was to be folded."""
        self.skip(op, f"fails: {error.message if isinstance(error, WhorlError) else error}")

    def skip(self, op: Op | str, reason: str) -> None:
        """Count a node that could have been folded but was not."""
        self.skipped[op if isinstance(op, str) else op.name, reason] += 1

    def constprop_lines(self) -> list[str]:
        """The counters of constant propagation as text."""
        invocations = sum(tally.invocations for tally in self.folded.values())
        elements = sum(tally.elements for tally in self.folded.values())
        lines = [f"constprop report (cumulative), entries, {invocations} total invocations, {elements} input elements"]
        for name, tally in sorted(self.folded.items()):
            lines.append(f"  {name}: {tally.invocations} invocations, {tally.elements} input elements")
        return lines

    def _repr_html_(self) -> str:
        """The nodes before and after, and what each pass did, as a table for notebooks."""
        import html

        head = "<tr><th>pass</th><th>edits</th><th>nodes</th><th>seconds</th></tr>"
        cells = ((run.name, run.edits, run.nodes, f"{run.seconds:.4f}") for run in self.runs)
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in cells)
        return f"<p>{self.nodes_before} nodes before, {self.nodes_after} after</p><table>{head}{rows}</table>"

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "nodes": {"before": self.nodes_before, "after": self.nodes_after},
            "constant_bytes": {"before": self.bytes_before, "after": self.bytes_after},
            "seconds": round(self.seconds, 4),
            "peak_bytes": self.peak_bytes,
            "spilled_bytes": self.spilled_bytes,
            "folded": {name: asdict(tally) for name, tally in sorted(self.folded.items())},
            "edits": dict(sorted(self.edits.items())),
            "skipped": [
                {"op": op, "reason": reason, "count": count} for (op, reason), count in sorted(self.skipped.items())
            ],
            "passes": [asdict(run) for run in self.runs],
        }
