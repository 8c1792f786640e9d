"""Every model of the onnx package's backend suite, through MLIR text and back: `python -m formats.mlir.round_trip`.

Run from `tests`. A model counts where what was read back, and written as ONNX again, gives equal results.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from ir.structure import plain
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

import whorl
from whorl.formats.mlir.parser import parse_program
from whorl.formats.mlir.reader import read_function
from whorl.formats.mlir.saving import print_mlir
from whorl.formats.onnx.saving import to_proto
from whorl.formats.onnx.tensors import array_of
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Module

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")


def models() -> Iterator[tuple[str, Any, Any]]:
    """The name, the model and the inputs of every case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for kind in KINDS for case in load_model_tests(kind=kind)]
    for case in cases:
        if case.model is not None:
            yield case.name, case.model, case
        else:
            yield case.name, onnx.load(_path(case)), case


def _path(case: Any) -> Path:
    """The file of a model; those without weights lie in the package itself."""
    return Path(case.model_dir, "model.onnx") if case.model_dir else Path(onnx.__file__).parent.parent / case.url


def through_text(module: Module) -> Module:
    """The module after it was written as MLIR text, read, written as ONNX and read."""
    program = parse_program(print_mlir(module), "model.mlir")
    again = read_function(program, program.functions[0], LoadOptions()).module
    again.metadata = {}
    return whorl.load(to_proto(again))


def inputs_of(case: Any, module: Module) -> dict[str, Any]:
    """The inputs that a case comes with, or ones."""
    if case.data_sets:
        values = [array_of(x, "input") if isinstance(x, onnx.TensorProto) else x for x in case.data_sets[0][0]]
    elif not case.model_dir:
        values = [np.ones(value.type.shape, value.type.dtype) for value in module.main.arguments]
    else:
        folder = Path(case.model_dir, "test_data_set_0")
        files = [folder / f"input_{k}.pb" for k in range(len(module.main.arguments))]
        values = [numpy_helper.to_array(onnx.load_tensor(str(file))) for file in files if file.exists()]
    return {argument.name: value for argument, value in zip(module.main.arguments, values, strict=False)}


def same_results(model: Any, case: Any) -> bool:
    """Whether a model gives the same after the way through text; random ops need only be there still."""
    module = whorl.load(model)
    again = through_text(module)
    if any(not node.op.pure for node in module.nodes()):
        return [node.op for node in again.nodes() if not node.op.pure] == [
            n.op for n in module.nodes() if not n.op.pure
        ]
    feeds = inputs_of(case, module)
    before, after = whorl.run(module, feeds), whorl.run(again, feeds)
    return list(before) == list(after) and plain(list(before.values())) == plain(list(after.values()))


def main() -> int:
    equal, total, began = 0, 0, time.process_time()
    for name, model, case in models():
        total += 1
        try:
            ok = same_results(model, case)
            equal += ok
            if not ok:
                print(f"{name}: results differ")
        except (whorl.WhorlError, np.exceptions.DTypePromotionError) as error:
            print(f"{name}: {str(error).splitlines()[0]}")
    print(f"{equal} of {total} models give equal results after .onnx -> .mlir -> .onnx")
    print(f"{time.process_time() - began:.0f} s of CPU", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
