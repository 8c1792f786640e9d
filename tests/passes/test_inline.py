"""Copies of the nodes of a region in the place of the node that holds it."""

from passes.programs import read

from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.text import print_module
from whorl.passes.inline import inline

SOURCE = """main(%x: float32[N, 2], %c: bool[]) {
  %k: float32[] = Constant() {value = float32[] <2.0>}
  %m: float32[N, 2] = Mul(%x, %k)
  %r: float32[N, 2] = If(%c, %m)
  then_branch(%a: float32[N, 2]) {
    %n: float32[N, 2] = Neg(%a)
    return %n
  }
  else_branch(%a: float32[N, 2]) {
    return %a
  }
  return r = %r, x = %x, m = %m
}"""


def target(shape: str) -> tuple[Module, Builder]:
    module = read(f"main(%y: float32[{shape}], %d: bool[]) {{\n  return y = %y\n}}")
    return module, Builder(module.main, Inference())


def test_region_is_copied_with_its_inner_regions_and_the_source_remains():
    source, (module, build) = read(SOURCE), target("N, 2")
    before = print_module(source)
    module.main.results = inline(source.main, module.main.arguments, build)
    module.output_names = ["r", "y", "m"]
    assert print_module(source) == before
    copied = print_module(module).replace("%y", "%x").replace("%d", "%c").replace("y = ", "x = ")
    assert copied == before


def test_copies_are_typed_for_the_values_they_get():
    source, (module, build) = read(SOURCE), target("5, 2")
    r, x, m = inline(source.main, module.main.arguments, build)
    assert [str(value.type) for value in (r, x, m)] == ["float32[5, 2]"] * 3
    (branch,) = (node for node in module.main.nodes if node.regions)
    assert [str(region.results[0].type) for region in branch.regions] == ["float32[5, 2]"] * 2


def test_region_without_nodes_gives_its_arguments():
    region = Region("r")
    source = read("main(%x: float32[], %c: bool[]) {\n  return c = %c, x = %x\n}")
    module, build = target("")
    y, d = module.main.arguments
    assert inline(source.main, [y, d], build) == [d, y] and not module.main.nodes and not region.nodes


def test_two_copies_share_no_node():
    source, (module, build) = read(SOURCE), target("N, 2")
    first = inline(source.main, module.main.arguments, build)
    second = inline(source.main, module.main.arguments, build)
    assert first[0] is not second[0] and len(set(module.main.nodes)) == 2 * len(source.main.nodes)
    assert first[1] is second[1]
