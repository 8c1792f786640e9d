"""What no result depends on goes: nodes, carried values, outputs of branches, captured operands."""

import pytest
from passes.bits import optimized
from passes.programs import Case, check, read, report_of

from whorl.passes.dce import remove_unused_nodes

DCE = {"only": ("dce",)}
CASES = {
    "what_is_carried_for_nobody_goes": Case(
        """main(%x: float32[2], %m: int64[], %y: float32[2]) {
  %z: int64[] = Constant() {value = int64[] <0>}
  %r: float32[2], %q: int64[], %p: float32[2], %o: float32[n, 2] = Loop(%m, _, %x, %z, %y)
    {carried = 3, collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: int64[], %v: float32[2]) {
    %j: int64[] = Add(%k, %i)
    %t: float32[2] = Add(%s, %v)
    %w: float32[2] = Exp(%v)
    %e: float32[2] = Sqrt(%t)
    return %g, %t, %j, %w, %e
  }
  return r = %r
}""",
        """main(%x: float32[2], %m: int64[], %y: float32[2]) {
  %r: float32[2], %p: float32[2] = Loop(%m, _, %x, %y) {carried = 2}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %v: float32[2]) {
    %t: float32[2] = Add(%s, %v)
    %w: float32[2] = Exp(%v)
    return %g, %t, %w
  }
  return r = %r
}""",
    ),
    "what_branches_give_for_nobody_goes": Case(
        """main(%c: bool[], %x: float32[2]) {
  %r: float32[2], %q: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %n: float32[2] = Neg(%a)
    %e: float32[2] = Exp(%a)
    return %n, %e
  }
  else_branch(%a: float32[2]) {
    %n: float32[2] = Sqrt(%a)
    return %a, %n
  }
  return r = %r
}""",
        """main(%c: bool[], %x: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  else_branch(%a: float32[2]) {
    return %a
  }
  return r = %r
}""",
    ),
    "chain_that_no_result_reads_goes_at_once": Case(
        """main(%x: float32[2]) {
  %a: float32[2] = Exp(%x)
  %b: float32[2] = Neg(%a)
  %c: float32[2] = Add(%b, %a)
  return x = %x
}""",
        """main(%x: float32[2]) {
  return x = %x
}""",
        DCE,
    ),
    "state_that_the_condition_needs_stays": Case(
        """main(%x: float32[2], %k: int64[]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %n: int64[], %r: float32[2] = Loop(_, %t, %k, %x) {carried = 2}
  body(%i: int64[], %g: bool[], %c: int64[], %s: float32[2]) {
    %one: int64[] = Constant() {value = int64[] <1>}
    %five: int64[] = Constant() {value = int64[] <5>}
    %d: int64[] = Add(%c, %one)
    %go: bool[] = Less(%d, %five)
    %e: float32[2] = Exp(%s)
    return %go, %d, %e
  }
  return n = %n
}""",
        """main(%x: float32[2], %k: int64[]) {
  %t: bool[] = Constant() {value = bool[] <True>}
  %n: int64[] = Loop(_, %t, %k) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %c: int64[]) {
    %one: int64[] = Constant() {value = int64[] <1>}
    %five: int64[] = Constant() {value = int64[] <5>}
    %d: int64[] = Add(%c, %one)
    %go: bool[] = Less(%d, %five)
    return %go, %d
  }
  return n = %n
}""",
        DCE,
    ),
    "states_that_only_read_each_other_go": Case(
        """main(%x: float32[2], %m: int64[]) {
  %a: float32[2], %b: float32[2], %c: float32[2] = Loop(%m, _, %x, %x, %x) {carried = 3}
  body(%i: int64[], %g: bool[], %s: float32[2], %t: float32[2], %u: float32[2]) {
    %p: float32[2] = Exp(%t)
    %q: float32[2] = Neg(%s)
    %v: float32[2] = Abs(%u)
    return %g, %p, %q, %v
  }
  return c = %c
}""",
        """main(%x: float32[2], %m: int64[]) {
  %c: float32[2] = Loop(%m, _, %x) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %u: float32[2]) {
    %v: float32[2] = Abs(%u)
    return %g, %v
  }
  return c = %c
}""",
        DCE,
    ),
    "middle_of_what_is_collected_goes": Case(
        """main(%x: float32[2], %m: int64[]) {
  %r: float32[2], %a: float32[n, 2], %b: float32[o, 2], %c: float32[2, p] = Loop(%m, _, %x)
    {carried = 1, collected = (Collected(), Collected(reverse = True), Collected(axis = 1))}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %p: float32[2] = Exp(%s)
    %q: float32[2] = Neg(%s)
    %v: float32[2] = Abs(%s)
    return %g, %s, %p, %q, %v
  }
  return a = %a, c = %c
}""",
        """main(%x: float32[2], %m: int64[]) {
  %r: float32[2], %a: float32[a.0, 2], %c: float32[2, c.1] = Loop(%m, _, %x) {carried = 1, collected = HOW}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %p: float32[2] = Exp(%s)
    %v: float32[2] = Abs(%s)
    return %g, %s, %p, %v
  }
  return a = %a, c = %c
}""".replace("HOW", "(Collected(), Collected(axis = 1))"),
        DCE,
    ),
    "last_value_without_reader_goes": Case(
        """main(%x: float32[2]) {
  %m: int64[] = Constant() {value = int64[] <3>}
  %r: float32[2], %l: float32[2], %k: float32[2] = Loop(%m, _, %x) {carried = 1, last = 2}
  body(%i: int64[], %g: bool[], %s: float32[2]) {
    %p: float32[2] = Neg(%s)
    %q: float32[2] = Abs(%s)
    return %g, %p, %q, %s
  }
  return k = %k
}""",
        """main(%x: float32[2]) {
  %m: int64[] = Constant() {value = int64[] <3>}
  %r: float32[2], %k: float32[2] = Loop(%m, _, %x) {carried = 1, last = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2]) {
    %p: float32[2] = Neg(%s)
    return %g, %p, %s
  }
  return k = %k
}""",
        DCE,
    ),
    "captured_value_that_one_branch_reads_stays": Case(
        """main(%c: bool[], %x: float32[2], %y: float32[2], %z: float32[2]) {
  %r: float32[2] = If(%c, %x, %y, %z)
  then_branch(%a: float32[2], %b: float32[2], %d: float32[2]) {
    return %b
  }
  else_branch(%a: float32[2], %b: float32[2], %d: float32[2]) {
    return %d
  }
  return r = %r
}""",
        """main(%c: bool[], %x: float32[2], %y: float32[2], %z: float32[2]) {
  %r: float32[2] = If(%c, %y, %z)
  then_branch(%b: float32[2], %d: float32[2]) {
    return %b
  }
  else_branch(%b: float32[2], %d: float32[2]) {
    return %d
  }
  return r = %r
}""",
        DCE,
    ),
    "captured_value_that_only_an_inner_region_captures_goes_with_it": Case(
        """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %r: float32[2] = If(%c, %c, %x, %y)
  then_branch(%g: bool[], %a: float32[2], %b: float32[2]) {
    %u: float32[2] = If(%g, %b)
    then_branch(%v: float32[2]) {
      %w: float32[2] = Neg(%v)
      return %w
    }
    else_branch(%v: float32[2]) {
      return %v
    }
    return %a
  }
  else_branch(%g: bool[], %a: float32[2], %b: float32[2]) {
    return %a
  }
  return r = %r
}""",
        """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    return %a
  }
  else_branch(%a: float32[2]) {
    return %a
  }
  return r = %r
}""",
        DCE,
    ),
    "output_in_the_middle_of_branches_goes": Case(
        """main(%c: bool[], %x: float32[2]) {
  %p: float32[2], %q: float32[2], %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %d: float32[2] = Neg(%a)
    %e: float32[2] = Exp(%a)
    %f: float32[2] = Abs(%a)
    return %d, %e, %f
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Exp(%a)
    return %a, %e, %a
  }
  return p = %p, r = %r
}""",
        """main(%c: bool[], %x: float32[2]) {
  %p: float32[2], %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %d: float32[2] = Neg(%a)
    %f: float32[2] = Abs(%a)
    return %d, %f
  }
  else_branch(%a: float32[2]) {
    return %a, %a
  }
  return p = %p, r = %r
}""",
        DCE,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)


def test_dead_nodes_and_captured_values_without_readers_are_removed():
    check(
        Case(
            """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %d: float32[2] = Exp(%y)
  %r: float32[2] = If(%c, %x, %d)
  then_branch(%a: float32[2], %b: float32[2]) {
    %n: float32[2] = Neg(%a)
    %u: float32[2] = Abs(%b)
    return %n
  }
  else_branch(%a: float32[2], %b: float32[2]) {
    return %a
  }
  return r = %r
}""",
            """main(%c: bool[], %x: float32[2], %y: float32[2]) {
  %r: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %n: float32[2] = Neg(%a)
    return %n
  }
  else_branch(%a: float32[2]) {
    return %a
  }
  return r = %r
}""",
            {"only": ("dce",)},
        )
    )


DRAWING = """main(%c: bool[], %x: float32[2]) {
  %p: float32[2], %q: float32[2] = If(%c, %x)
  then_branch(%a: float32[2]) {
    %d: float32[2] = RandomNormalLike(%a)
    return %d, %a
  }
  else_branch(%a: float32[2]) {
    %e: float32[2] = Exp(%a)
    return %a, %e
  }
  return x = %x
}"""


def test_branches_that_draw_stay_without_readers():
    (node,) = optimized(read(DRAWING), only=("dce",)).main.nodes
    assert len(node.outputs) == 2 and [len(region.nodes) for region in node.regions] == [1, 1]


def test_removal_is_reported_but_no_edit_that_a_limit_counts():
    report = report_of(
        """main(%x: float32[2]) {
  %a: float32[2] = Exp(%x)
  %b: float32[2] = Neg(%a)
  return x = %x
}""",
        only=("dce",),
        limit=0,
    )
    assert (report.edits["dce"], report.nodes_after) == (2, 0)


def test_only_nodes_that_may_be_removed_are():
    module = read("""main(%x: float32[2]) {
  %a: float32[2] = Exp(%x)
  %b: float32[2] = Neg(%a)
  %c: float32[2] = Abs(%x)
  %d: float32[2] = Neg(%x)
  return d = %d
}""")
    remove_unused_nodes(module.main, lambda node: node.op.name != "Neg")
    assert [node.outputs[0].name for node in module.main.nodes] == ["a", "b", "d"]
