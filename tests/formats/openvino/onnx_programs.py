"""Random ONNX programs of Loop, Scan and If whose lengths and trip counts are inputs, for differential tests.

All numbers are small whole ones, so that results are exact in the 32-bit types that OpenVINO's CPU plugin computes in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

TRIPS = (0, 1, 2, 4)
SIZES = (0, 1, 2, 3)
INPUTS = "int64 n, bool go, float[N] v, float[N] w, float[T,N] rows, int64 k"
DECLARED = {"vector": "float[N]", "grown": "float[?]", "integer": "int64", "truth": "bool"}


@dataclass
class Program:
    """ONNX text, and inputs by name for runs one after the other."""

    text: str
    runs: list[dict[str, np.ndarray]]


@dataclass
class Writer:
    """Draws statements. Kinds of values: "vector" (one length N), "grown" (any length), "integer", "truth"."""

    draw: Any
    count: int = 0
    results: list[tuple[str, str]] = field(default_factory=list)

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def chosen(self, options: Any) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) < percent

    def pick(self, scope: dict[str, list[str]], kind: str) -> str:
        return self.chosen(scope[kind])

    def block(self, scope: dict[str, list[str]], depth: int, budget: int) -> list[str]:
        """Some statements; what they give is added to the scope."""
        lines: list[str] = []
        for _ in range(self.draw(st.integers(1, budget))):
            control = self.chosen((self.loop, self.scan, self.branch, None)) if depth < 3 else None
            lines += self.simple(scope) if control is None or self.chance(50) else control(scope, depth)
        return lines

    def simple(self, scope: dict[str, list[str]]) -> list[str]:
        kind = self.chosen(("vector", "vector", "integer", "truth", "grown"))
        name = self.fresh()
        a, b = self.pick(scope, kind), self.pick(scope, kind)
        match kind:
            case "vector" if self.chance(20):
                text = f"Where({self.pick(scope, 'truth')}, {a}, {b})"
            case "vector" | "integer":
                text = f"{self.chosen(('Add', 'Sub', 'Max', 'Min'))}({a}, {b})"
            case "truth" if self.chance(50):
                text = f"Less({self.pick(scope, 'integer')}, {self.pick(scope, 'integer')})"
            case "truth":
                text = f"{self.chosen(('And', 'Or', 'Xor'))}({a}, {b})"
            case _:
                text = f"Concat<axis=0>({a}, {self.pick(scope, 'vector')})"
        lines = [f"{name} = {text}"]
        if kind == "grown":
            lines = [f"{name}_long = {text}", *self.cut(f"{name}_long", name)]
        scope[kind].append(name)
        return lines

    def cut(self, long: str, name: str) -> list[str]:
        """Keep what grows short."""
        ends = [f"{name}_{k} = Constant<value_ints=[{value}]>()" for k, value in enumerate((0, 9))]
        return [*ends, f"{name} = Slice({long}, {name}_0, {name}_1)"]

    def constant(self, kind: str, value: int) -> tuple[str, str]:
        name = self.fresh()
        return name, f"{name} = Constant<value = {kind} {{{value}}}>()"

    # ---- control -----------------------------------------------------------------------------------------------

    def states(self, scope: dict[str, list[str]], most: int, kinds: tuple[str, ...]) -> list[tuple[str, str, str]]:
        """Kinds, initial values and arguments."""
        drawn = [self.chosen(kinds) for _ in range(self.draw(st.integers(0, most)))]
        return [(kind, self.pick(scope, kind), self.fresh()) for kind in drawn]

    def inside(self, scope: dict[str, list[str]], arguments: list[tuple[str, str]]) -> dict[str, list[str]]:
        inner = {kind: list(names) for kind, names in scope.items()}
        for kind, name in arguments:
            inner[kind] += [name, name]
        return inner

    def loop(self, scope: dict[str, list[str]], depth: int) -> list[str]:
        lines: list[str] = []
        trip = self.chosen(("n", "n", "", "k", "constant"))
        if trip == "constant":
            trip, line = self.constant("int64", self.chosen((0, 1, 2, 4)))
            lines.append(line)
        condition = self.pick(scope, "truth") if not trip or self.chance(40) else ""
        states = self.states(scope, 3, ("vector", "integer", "grown", "truth"))
        i, c = self.fresh(), self.fresh()
        inner = self.inside(scope, [("integer", i), ("truth", c), *((kind, name) for kind, _, name in states)])
        body = self.block(inner, depth + 1, 4)
        answer, line = self.fresh(), ""
        limit, constant = self.constant("int64", self.chosen((0, 1, 3)))
        if not trip or self.chance(50):
            line = f"{constant} {answer} = Less({i}, {limit})"
        else:
            line = f"{answer} = Identity({c if not condition else self.pick(inner, 'truth')})"
        body.append(line)
        passed = self.passed(body, [self.pick(inner, kind) for kind, _, _ in states])
        collected = [(kind, self.pick(inner, kind)) for kind in self.elements()]
        elements = self.passed(body, [value for _, value in collected])
        takes = [f"int64 {i}", f"bool {c}", *(f"{DECLARED[kind]} {name}" for kind, _, name in states)]
        gives = [
            f"bool {answer}",
            *(f"{DECLARED[kind]} {name}" for (kind, *_), name in zip(states, passed, strict=True)),
        ]
        gives += [f"{DECLARED[kind]} {name}" for (kind, _), name in zip(collected, elements, strict=True)]
        inputs = ", ".join([trip or '""', condition or '""', *(value for _, value, _ in states)])
        names = [self.fresh() for _ in (*states, *collected)]
        if not names:
            return lines
        lines.append(f"{', '.join(names)} = Loop({inputs})<{self.graph('body', takes, gives, body)}>")
        kinds = [kind for kind, _, _ in states]
        return lines + self.known(scope, names, kinds, [kind for kind, _ in collected])

    def scan(self, scope: dict[str, list[str]], depth: int) -> list[str]:
        states = self.states(scope, 2, ("vector", "integer"))
        row, sources = self.fresh(), ["rows"]
        inner = self.inside(scope, [*((kind, name) for kind, _, name in states), ("vector", row)])
        body = self.block(inner, depth + 1, 3)
        passed = self.passed(body, [self.pick(inner, kind) for kind, _, _ in states])
        collected = [(kind, self.pick(inner, kind)) for kind in self.elements() or ["vector"]]
        elements = self.passed(body, [value for _, value in collected])
        takes = [*(f"{DECLARED[kind]} {name}" for kind, _, name in states), f"float[N] {row}"]
        gives = [f"{DECLARED[kind]} {name}" for (kind, *_), name in zip(states, passed, strict=True)]
        gives += [f"{DECLARED[kind]} {name}" for (kind, _), name in zip(collected, elements, strict=True)]
        names = [self.fresh() for _ in (*states, *collected)]
        back = [self.draw(st.integers(0, 1)) for _ in collected]
        attributes = f"num_scan_inputs=1, scan_input_directions=[{self.draw(st.integers(0, 1))}]"
        attributes += f", scan_output_directions={back}, {self.graph('body', takes, gives, body)}"
        inputs = ", ".join([*(value for _, value, _ in states), *sources])
        lines = [f"{', '.join(names)} = Scan<{attributes}>({inputs})"]
        return lines + self.known(scope, names, [kind for kind, _, _ in states], [kind for kind, _ in collected])

    def branch(self, scope: dict[str, list[str]], depth: int) -> list[str]:
        kinds = [self.chosen(DECLARED) for _ in range(self.draw(st.integers(1, 2)))]
        graphs = []
        for key in ("then_branch", "else_branch"):
            inner = self.inside(scope, [])
            body = self.block(inner, depth + 1, 2)
            passed = self.passed(body, [self.pick(inner, kind) for kind in kinds])
            gives = [f"{DECLARED[kind]} {name}" for kind, name in zip(kinds, passed, strict=True)]
            graphs.append(self.graph(key, [], gives, body))
        names = [self.fresh() for _ in kinds]
        lines = [f"{', '.join(names)} = If({self.pick(scope, 'truth')})<{', '.join(graphs)}>"]
        return lines + self.known(scope, names, kinds, [])

    def elements(self) -> list[str]:
        return [self.chosen(("vector", "vector", "integer")) for _ in range(self.draw(st.integers(0, 2)))]

    def passed(self, body: list[str], values: list[str]) -> list[str]:
        """Results of a graph under names of their own."""
        names = [self.fresh() for _ in values]
        body += [f"{name} = Identity({value})" for name, value in zip(names, values, strict=True)]
        return names

    def graph(self, key: str, takes: list[str], gives: list[str], body: list[str]) -> str:
        inside = "\n".join(body)
        return f"{key} = {self.fresh()} ({', '.join(takes)}) => ({', '.join(gives)}) {{\n{inside}\n}}"

    def known(self, scope: dict[str, list[str]], names: list[str], kinds: list[str], collected: list[str]) -> list[str]:
        """Add what a statement gives to the scope; of what is collected the sum."""
        lines = []
        for kind, name in zip(kinds, names, strict=False):
            scope[kind].append(name)
        for kind, name in zip(collected, names[len(kinds) :], strict=True):
            total, axes = self.fresh(), self.fresh()
            lines += [
                f"{axes} = Constant<value_ints=[0]>()",
                f"{total} = ReduceSum<keepdims=0>({name}, {axes})",
            ]
            scope[kind].append(total)
            self.results.append((f"{'float[?,N]' if kind == 'vector' else 'int64[?]'}", name))
        return lines


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A program, and inputs for every trip count and length."""
    writer = Writer(draw)
    scope = {"vector": ["v", "w"], "grown": ["v"], "integer": ["n", "k"], "truth": ["go"]}
    lines = writer.block(scope, 0, 4)
    lines += writer.chosen((writer.loop, writer.scan))(scope, 0)
    main = "\n".join(lines)
    made = {line.split("=")[0].strip() for line in lines}
    top = {name.strip() for names in made for name in names.split(",")}
    results = [(type, name) for type, name in writer.results if name in top]
    results += [(DECLARED[kind], name) for kind, names in scope.items() for name in dict.fromkeys(names) if name in top]
    outputs = ", ".join(f"{type} {name}" for type, name in results[:6])
    text = f'<ir_version: 8, opset_import: ["" : 17]>\nmain ({INPUTS}) => ({outputs}) {{\n{main}\n}}'
    cases = draw(st.permutations(list(product(TRIPS, SIZES))))
    return Program(text, [feeds(trip, size, draw(st.booleans()), draw(st.integers(-1, 3))) for trip, size in cases])


def feeds(trip: int, size: int, go: bool, k: int) -> dict[str, np.ndarray]:
    """Inputs with vectors and rows of one length."""
    v = np.arange(size, dtype=np.float32)
    return {
        "n": np.array(trip, np.int64),
        "go": np.array(go),
        "v": v,
        "w": 2 - v,
        "rows": np.arange(trip * size, dtype=np.float32).reshape(trip, size) % 5,
        "k": np.array(k, np.int64),
    }
