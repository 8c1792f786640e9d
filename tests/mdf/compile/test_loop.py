"""Parts of programs: names, arguments of bodies, and iterations that may be one more."""

from whorl.ir.build import Builder
from whorl.ir.dtypes import FLOAT64, INT64
from whorl.ir.graph import Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.mdf.compile.loop import insert_argument, may_run_once_more, unique
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.movement.indexing import Gather


def test_names_that_come_again_get_a_number():
    assert unique(["a", "b", "a", "a"]) == ["a", "b", "a 2", "a 3"]


def test_argument_is_inserted_before_others_and_all_are_numbered():
    region = Region("body")
    for name in ("step", "x"):
        region.add_argument(name, TensorType(FLOAT64, ()))
    added = insert_argument(region, 1, "y", TensorType(FLOAT64, ()))
    assert [argument.name for argument in region.arguments] == ["step", "y", "x"]
    assert [argument.index for argument in region.arguments] == [0, 1, 2] and added.index == 1


def test_iteration_that_may_fail_must_not_run_once_more():
    region = Region("body")
    x, at = region.add_argument("x", TensorType(FLOAT64, (2,))), region.add_argument("i", TensorType(INT64, ()))
    build = Builder(region, Inference(set()))
    region.results = [build.add(Add(), x, x)]
    assert may_run_once_more(region)
    region.results = [build.add(Gather(), x, at)]
    assert not may_run_once_more(region)
