"""What a profile says: the time that each node of a run took, as a tree and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

LEAST_SHARE = 0.005
"""Of the run: what takes less has no line of its own."""
HEADER = f"{'share':>7} {'ms':>10} {'times':>9} {'ns each':>11} {'bytes':>9}  {'how':<12}node"


class Spent(Struct):
    """What a node took, or what a region took besides its nodes: `seconds` in one run, in `times` executions.

    `share` is of the whole run. `bytes`: what one execution gives, where types tell. `advice`: why it is as slow as it
    is, and what would make it faster. `inside` are the nodes of its body or branches.
    """

    title: str
    how: str
    times: int
    seconds: float = 0.0
    share: float = 0.0
    bytes: int | None = None
    advice: str = ""
    inside: list[Spent] = field(default_factory=lambda: list[Spent]())

    @property
    def each(self) -> float:
        """Nanoseconds an execution."""
        return 1e9 * self.seconds / self.times if self.times else 0.0


class RunProfile(Struct):
    """The seconds that one run takes, those of the first one, which compiles, and what the nodes spent."""

    seconds: float
    first_seconds: float
    nodes: list[Spent]

    def lines(self) -> list[str]:
        """A table of the nodes in order, those inside others indented."""
        first = f"the first one, which compiles, {1e3 * self.first_seconds:.3f} ms"
        return [f"a run takes {1e3 * self.seconds:.3f} ms, {first}", HEADER, *_lines(self.nodes, "")]

    def __repr__(self) -> str:
        return "\n".join(["<whorl.RunProfile>", *self.lines()])


def _lines(nodes: Sequence[Spent], indent: str) -> Iterator[str]:
    short = [each for each in nodes if each.share < LEAST_SHARE]
    for each in nodes:
        if each in short and len(short) > 1:
            continue
        size = "" if each.bytes is None else str(each.bytes)
        yield (
            f"{100 * each.share:>6.1f}% {1e3 * each.seconds:>10.3f} {each.times:>9} {each.each:>11.1f} {size:>9}  "
            f"{each.how:<12}{indent}{each.title}"
        )
        if each.advice:
            yield f"{'':64}{indent}  {each.advice}"
        yield from _lines(each.inside, f"{indent}  ")
    if len(short) > 1:
        share, seconds = sum(each.share for each in short), sum(each.seconds for each in short)
        yield f"{100 * share:>6.1f}% {1e3 * seconds:>10.3f}{'':46}{indent}{len(short)} others"
