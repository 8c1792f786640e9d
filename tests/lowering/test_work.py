"""The work of programs: innermost statements, for lengths that a run has or that are taken for it."""

from whorl.ir.dtypes import BOOL, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Load, Var, index_const
from whorl.kernel.polls import insert_polls
from whorl.kernel.program import Assign, For, Program, Spread, Store, While
from whorl.lowering import work
from whorl.lowering.work import LANES, Ceiling, StepCounter, skeleton, steps_of, work_of

N, I, J = (Var(INT64, name, False) for name in "nij")
X = Buffer("x", FLOAT32, (None,))


def nest(extent, parallel: bool = False) -> For:
    return For(I, extent, [Store(X, (I,), Load(FLOAT32, X, (I,)))], parallel)


def program(*body) -> Program:
    return Program([N], [X], [], list(body))


def test_loop_over_a_number_counts_that_often():
    assert work_of(program(nest(index_const(100)))) == 100
    assert work_of(program(nest(index_const(100), parallel=True))) == -(-100 // LANES)


def test_loop_over_a_length_counts_as_the_run_has_it():
    assert work_of(program(nest(N)), 1000) == 1000
    assert work_of(program(nest(N)), 1000, {N: 7}) == 7
    twice = Apply(INT64, "mul", (N, index_const(2)))
    assert work_of(program(nest(twice)), 1000, {N: 7}) == 14


def test_bound_that_is_assigned_before_is_followed():
    count = Var(INT64, "count")
    bound = Assign(count, Apply(INT64, "min", (N, index_const(50))))
    loop = While([], Apply(BOOL, "lt", (J, count)), [nest(index_const(10))])
    assert work_of(program(bound, loop), 1000, {N: 70}) == 1 + 50 * (1 + 10)
    assert work_of(program(bound, loop), 1000, {N: 3}) == 1 + 3 * (1 + 10)


def test_length_that_only_the_run_knows_makes_no_other_less():
    assert work_of(program(nest(Apply(INT64, "sub", (N, J)))), 1000) == 1000
    assert work_of(program(nest(Apply(INT64, "sub", (N, J)))), 1000, {N: 70}) == 70
    assert work_of(program(nest(Apply(INT64, "div", (N, J)))), 1000) == 1000


def test_range_of_a_spread_starts_at_the_first():
    first, count, begin = (Var(INT64, name) for name in ("first", "count", "begin"))
    part = Apply(INT64, "div", (Apply(INT64, "mul", (N, Apply(INT64, "add", (first, index_const(1))))), index_const(8)))
    start = Apply(INT64, "div", (Apply(INT64, "mul", (N, first)), index_const(8)))
    body = [Assign(begin, start), nest(Apply(INT64, "sub", (part, begin)))]
    spread = Spread(first, count, index_const(8), index_const(1), body)
    assert work_of(program(spread), 1000, {N: 400}) == 1 + 400 // 8
    assert work_of(program(*skeleton([spread])), 1000, {N: 400}) >= 1 + 400 // 8


def test_steps_are_taken_one_after_the_other_and_weighed():
    assert steps_of([nest(N, parallel=True)], {N: 100}) == 100
    assert steps_of(skeleton([nest(N, parallel=True)], lambda _: 15), {N: 100}) == 1500


def test_steps_are_counted_once_for_lengths_that_matter(monkeypatch):
    counts = []
    monkeypatch.setattr(work, "steps_of", lambda body, lengths: counts.append(lengths[N]) or steps_of(body, lengths))
    counter = StepCounter([nest(N, parallel=True)])
    assert [counter.steps({N: n, J: j}) for n, j in ((100, 1), (100, 2), (7, 2), (7, 9), (100, 9))] == [
        100,
        100,
        7,
        7,
        100,
    ]
    assert counts == [7]


def test_walk_ends_where_there_is_enough():
    loops = [nest(index_const(10)), nest(N), nest(index_const(1000))]
    assert work_of(program(*loops), 1000, {N: 50}, enough=60) == 1060
    assert work_of(program(*loops), 1000, {N: 50}, enough=59) == 60
    inside = For(J, N, [*loops])
    assert work_of(program(inside), 1000, {N: 0}, enough=59) == 0
    assert work_of(program(inside), 1000, {N: 2}, enough=5) > 5


def test_loop_without_a_bound_has_as_many_trips_as_are_taken_for_it():
    loop = While([], Const(BOOL, True), [nest(index_const(10))])
    assert work_of(program(loop), 1000) == 1000 * (1 + 10)


def test_loop_in_blocks_counts_as_the_loop_does():
    body = program(nest(N))
    assert insert_polls(body)
    assert any(isinstance(statement, Assign) for statement in body.body)
    for most in (1000, 1 << 20):
        assert most <= work_of(body, most) < 2.1 * most


def test_constant_that_is_no_length_tells_nothing():
    assert work_of(program(Assign(Var(FLOAT32, "x"), Const(FLOAT32, float("nan"))), nest(N)), 1000) == 1 + 1000


def test_ceiling_is_measured_again_only_for_lengths_beyond_the_next_power_of_two():
    questions = []

    def measure(lengths, is_bound):
        questions.append((lengths[N], is_bound))
        return work_of(program(nest(N)), 1000, lengths, is_bound)

    ceiling = Ceiling(100, measure)
    assert [ceiling.covers({N: n}) for n in (33, 50, 64, 2, 90, 101, 33)] == [True, True, True, True, True, False, True]
    assert questions == [(64, True), (128, True), (90, False), (128, True), (101, False)]


def test_ceiling_is_not_measured_again_for_lengths_beyond_ones_that_exceed_it():
    questions = []

    def measure(lengths, is_bound):
        questions.append((lengths[N], lengths[J], is_bound))
        return lengths[N] * lengths[J]

    ceiling = Ceiling(100, measure)
    pairs = [(8, 16), (9, 16), (8, 90), (7, 16), (16, 7), (16, 8), (8, 8), (200, 1), (201, 1), (201, 0)]
    answers = [ceiling.covers({N: n, J: j}) for n, j in pairs]
    assert answers == [n * j <= 100 for n, j in pairs]
    exact = [(n, j) for n, j, is_bound in questions if not is_bound]
    assert exact == [(8, 16), (7, 16), (16, 7), (8, 8), (200, 1), (201, 0)]


def test_ceiling_takes_differences_that_are_negative_by_what_they_are_apart():
    questions = []

    def measure(lengths, is_bound):
        questions.append(lengths[N])
        return lengths[N]

    ceiling = Ceiling(100, measure)
    assert [ceiling.covers({N: n, J: -n}) for n in (200, 300, 60, 70, 101)] == [False, False, True, True, False]
    assert questions == [256, 200, 64, 128, 70, 128, 101]


def test_bound_of_a_difference_covers_smaller_lengths():
    rest = Apply(INT64, "sub", (N, J))
    assert work_of(program(nest(rest)), 1000, {N: 8, J: 7}) == 1
    assert work_of(program(nest(rest)), 1000, {N: 8, J: 7}, is_bound=True) == 8
    part = Apply(INT64, "div", (N, index_const(4)))
    assert work_of(program(nest(part)), 1000, {N: 8}, is_bound=True) == 2
