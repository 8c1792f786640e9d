"""A tour of whorl in one file: a model with a loop is read, run by hand and by whorl, written back, and compiled.

Run it with `.venv/bin/python docs/tour.py`; the tests do, too. `docs/architecture.md` names the layers met on the way.
"""

from __future__ import annotations

import sys
import tempfile
import timeit
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import whorl
from whorl.codegen.emit import emit
from whorl.ir.graph import Module, Node, Region, as_values
from whorl.ir.text import print_module
from whorl.ir.types import fact_of
from whorl.ir.verify import verify
from whorl.lowering.graph_program import GraphProgram
from whorl.lowering.graphs import lower_graph
from whorl.ops.control.flow import Loop
from whorl.ops.control.iteration import Iteration
from whorl.runtime.compiled.compile_graph import compile_graph
from whorl.runtime.compiled.launch import BoundLaunch

# 1. A model. Newton's method improves a guess of square roots until no guess moves by more than a tolerance, 50 times
#    at most. `x` and `tolerance` are read by the body without being passed to it: ONNX lets a body look outside.

ROOTS = """
<ir_version: 10, opset_import: ["" : 21]>
roots (float[n] x, float tolerance) => (float[n] root, float[steps] changes) {
  limit = Constant <value = int64 {50}> ()
  yes = Constant <value = bool {1}> ()
  half = Constant <value_float = 0.5> ()
  root, changes = Loop (limit, yes, x) <
    body = newton (int64 i, bool go_on, float[n] guess) => (bool again, float[n] better, float change) {
      quotient = Div (x, guess)
      sum = Add (guess, quotient)
      better = Mul (sum, half)
      moved = Sub (better, guess)
      distance = Abs (moved)
      change = ReduceMax <keepdims = 0> (distance)
      again = Greater (change, tolerance)
    }
  >
}
"""
FEEDS = {"x": np.array([2, 9, 100], np.float32), "tolerance": np.array(1e-6, np.float32)}


def read(folder: Path) -> Module:
    """2. Reading. `whorl.load` makes a module: a region of nodes, each one op applied to values.

    An op is a frozen dataclass whose fields are the attributes, in the form of the newest ONNX version, whichever
    version the file has. Reading infers the types: `n` is the file's name for a length nobody knows, and `changes.0`
    the name whorl gives to the number of rounds.
    """
    path = folder / "roots.onnxtxt"
    path.write_text(ROOTS, encoding="utf-8")
    module = whorl.load(path)
    print(f"2. The module, as text:\n\n{print_module(module)}")
    return module


def inspect(module: Module) -> Node:
    """3. The loop. There is one kind: Scan is the same op with scanned inputs and no condition.

    Its region is closed. What the body looked up outside has become an operand of the loop and an argument of the
    region, so the region is a function with a signature, which passes can move, copy and run without scope rules.
    """
    (loop,) = [node for node in module.main.nodes if isinstance(node.op, Loop)]
    (body,) = loop.regions
    trip, condition, carried, _, captured = loop.op.split(loop.inputs)
    print("3. The loop:")
    print(f"  trip count  {trip}, known to be {trip.known}")
    print(f"  condition   {condition}")
    print(f"  carried     {carried}, in the body {body.arguments[2]}")
    print(f"  captured    {captured}")
    print(f"  collected   {loop.outputs[-1]}, one element an iteration: {body.results[-1]}\n")
    assert [value.name for value in captured] == [value.name for value in body.arguments[3:]]
    return loop


def evaluate(region: Region, arguments: Sequence[Any]) -> list[Any]:
    """4. Running. An op has a method `run` from arrays to arrays, so an interpreter is an environment and a `for`.

    A loop is a `while` around its region. `Iteration` keeps the books: it says what the next iteration sees, takes
    what the iteration gives, and joins what is collected. whorl's own interpreter adds freeing, limits and places.
    """
    environment: dict[Any, Any] = dict(zip(region.arguments, arguments, strict=True))
    for node in region.nodes:
        inputs = [None if value is None else environment[value] for value in node.inputs]
        results = run_loop(node, inputs) if isinstance(node.op, Loop) else as_values(node.op.run(*inputs))
        environment |= zip(node.outputs, results, strict=False)
    return [environment[value] for value in region.results]


def run_loop(node: Node, inputs: Sequence[Any]) -> list[Any]:
    assert isinstance(node.op, Loop)
    iteration = Iteration(node.op, inputs, ranks=(0, 0))
    while (arguments := iteration.next()) is not None:
        iteration.take(evaluate(node.regions[0], arguments))
    return [*iteration.state, *iteration.collected()]


def run(module: Module) -> None:
    """5. The same through the front door. Sessions have the calls of onnxruntime's."""
    by_hand = evaluate(module.main, [FEEDS[value.name] for value in module.main.arguments])
    root, changes = whorl.InferenceSession(module).run(None, FEEDS)
    print(f"5. The roots of {FEEDS['x']} after {len(changes)} rounds: {root}")
    for ours, theirs in zip(by_hand, (root, changes), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(root, np.sqrt(FEEDS["x"]), rtol=1e-6)


def fail(module: Module) -> None:
    """6. Errors name the node, the region, the iteration, and the way out; limits are for models nobody trusts."""
    options = whorl.SessionOptions()
    options.max_iterations = 3
    try:
        whorl.InferenceSession(module, options).run(None, FEEDS)
    except whorl.IterationLimitError as error:
        print(f"6. With a limit of 3 iterations: {error}")


def write(module: Module, folder: Path) -> None:
    """7. Writing. The verifier checks a module's rules; saving makes a valid ONNX file, by default of the opset it had.

    A newer or an older one can be asked for. What an opset cannot say is an error that names the op and the opset
    that can.
    """
    verify(module)
    expected = whorl.run(module, FEEDS)
    for opset in (None, 13, 25):
        path = folder / f"roots_{opset}.onnx"
        whorl.save(module, path, opset=opset)
        actual = whorl.run(path, FEEDS)
        assert all(np.array_equal(actual[name], expected[name]) for name in expected)
        print(f"7. Written at opset {opset or 'of the file'}, read again, run again: the same roots.")


def lower(module: Module) -> GraphProgram:
    """8. Lowering. Typed for the shapes of its inputs, the region becomes a kernel program: loop nests over buffers.

    Elementwise ops are fused into the nests that read them: Div, Add and Mul are one expression, and the subtraction
    and Abs are computed inside the maximum. The carried guess has two buffers, swapped after each iteration, and what
    is collected grows, since only the run knows the number of rounds.
    """
    graph = lower_graph(module.main, [fact_of(FEEDS[value.name]) for value in module.main.arguments])
    print(f"8. The kernel program:\n\n{graph.program}\n")
    return graph


def compile_program(graph: GraphProgram) -> BoundLaunch:
    """9. Machine code. A program becomes one LLVM function over a block of cells: lengths, and addresses of buffers."""
    lines = str(emit(graph.program)).splitlines()
    division = next(n for n, line in enumerate(lines) if "fdiv" in line)
    print(f"9. LLVM IR, {len(lines)} lines; a step of Newton's method for one element:\n")
    print("\n".join(lines[division - 6 : division + 4]), "\n")
    return compile_graph(graph).bind({})


def measure(module: Module, launch: BoundLaunch) -> None:
    """10. Speed. All ways give the same bits; the session adds checks of feeds and the copies that callers own."""
    arguments = [FEEDS[value.name] for value in module.main.arguments]
    ways = {
        "by hand": lambda: evaluate(module.main, arguments),
        "machine code": lambda: launch.run([arguments[n] for n in launch.graph.inputs]),
    }
    for backend in ("interpreter", "native"):
        options = whorl.SessionOptions()
        options.backend = backend
        session = whorl.InferenceSession(module, options)
        ways[f"session, {backend}"] = lambda session=session: session.run(None, FEEDS)
    expected = ways["by hand"]()
    print("10. Time of a run:")
    for name, way in ways.items():
        for ours, theirs in zip(way(), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        print(f"  {name:22}{min(timeit.repeat(way, number=50, repeat=3)) / 50 * 1e6:8.1f} microseconds")


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        module = read(folder)
        inspect(module)
        run(module)
        fail(module)
        write(module, folder)
        measure(module, compile_program(lower(module)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
