"""One launch for lists of any sizes: what it serves, and what has launches of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from onnx_text import model
from runtime.native_sessions import F32, session

import whorl
from whorl.runtime.compiled.list_launch import ListLaunch
from whorl.runtime.compiled.program_cache import ProgramCache

DOUBLED = model("""main (seq(float[k]) s) => (seq(float[m]) r) {
    r = SequenceMap (s) <body = b (float[k] v) => (float[k] w) { w = Add(v, v) }>
}""")
TWO = model("""main (seq(float[k]) s, seq(int64[m]) t, float[n] x) => (seq(int64[m]) q, float total, seq(float[k]) r) {
    r = SequenceMap (s, x) <body = b (float[k] v, float[n] y) => (float[k] w)
        { z = ReduceSum<keepdims = 0>(y) w = Mul(v, z) }>
    q = SequenceMap (t) <body = c (int64[m] u) => (int64[m] p) { p = Neg(u) }>
    n = SequenceLength(s) f = Cast<to = 1>(n) g = ConcatFromSequence<axis = 0>(s)
    h = ReduceSum<keepdims = 0>(g) total = Add(f, h)
}""")
CONCATENATED = model("""main (seq(float[k]) s) => (float[m] y) {
    x = ConcatFromSequence<axis = 0>(s) y = Add(x, x)
}""")


def arrays(*lengths: int, dtype: Any = F32) -> list[np.ndarray]:
    return [np.arange(n).astype(dtype) + n for n in lengths]


@pytest.fixture
def forbid_others(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when it is called, programs are not looked for."""

    def forbid() -> None:
        for name in ("find", "find_compiled"):
            monkeypatch.setattr(ProgramCache, name, lambda *_: pytest.fail("another launch was made"))

    return forbid


def launches(made: Any) -> list[ListLaunch]:
    return [e.launch for e in made._fast_path.launches.values() if isinstance(e.launch, ListLaunch)]


def test_lists_of_any_sizes_have_one_launch(forbid_others) -> None:
    made = session(DOUBLED)
    for _ in range(2):
        made.run(None, {"s": arrays(1, 3)})
    (launch,) = launches(made)
    assert launch.makes_lists_alone
    forbid_others()
    for lengths in ((4, 2), (0, 7, 2), (1000, 1), tuple(range(300)), (2, 1)):
        (r,) = made.run(None, {"s": arrays(*lengths)})
        assert [a.tolist() for a in r] == [(2 * a).tolist() for a in arrays(*lengths)]
        assert all(a.flags.owndata for a in r)
    assert launches(made) == [launch]


@pytest.mark.parametrize("lengths", [((1, 3), (2, 5, 1)), ((4, 4), (0, 2)), ((7, 2, 2), (3, 3)), ((0, 1), (1, 0))])
def test_several_lists_and_other_outputs(lengths: Any) -> None:
    made, oracle = session(TWO), session(TWO, "interpreter")
    for k in range(4):
        feeds = {
            "s": arrays(*lengths[0]),
            "t": arrays(*lengths[1], *[2] * k, dtype=np.int64),
            "x": np.ones(2 + k % 2, F32),
        }
        for ours, expected in zip(made.run(None, feeds), oracle.run(None, feeds), strict=True):
            if isinstance(expected, list):
                assert [a.tolist() for a in ours] == [a.tolist() for a in expected]
            else:
                assert ours == expected


def test_tensor_as_long_as_all_elements_has_a_launch_for_each_size() -> None:
    made = session(CONCATENATED)
    for lengths in ((1, 3), (1, 3), (2, 1), (0, 5), (6, 2, 2)):
        (y,) = made.run(None, {"s": arrays(*lengths)})
        assert y.tolist() == (2 * np.concatenate(arrays(*lengths))).tolist()
    assert all(not launch.makes_lists_alone for launch in launches(made))


def test_results_stay_as_they_are_in_later_runs() -> None:
    made = session(DOUBLED)
    known = [(arrays(*lengths), made.run(None, {"s": arrays(*lengths)})[0]) for lengths in ((1, 3), (4, 2), (3, 1))]
    for s, r in known:
        assert [a.tolist() for a in r] == [(2 * a).tolist() for a in s]


def test_threads_share_a_launch() -> None:
    made = session(DOUBLED)
    made.run(None, {"s": arrays(1, 3)})

    def check(k: int) -> bool:
        s = arrays(k % 7, 1 + k % 11, 500 * (k % 2))
        return all(
            [a.tolist() for a in made.run(None, {"s": s})[0]] == [(2 * a).tolist() for a in s] for _ in range(20)
        )

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(check, range(60)))


def test_run_can_be_cancelled_by_a_limit_after_direct_ones() -> None:
    made = session(DOUBLED)
    for _ in range(3):
        made.run(None, {"s": arrays(1, 3)})
    options = whorl.RunOptions()
    options.max_iterations = 1
    with pytest.raises(whorl.LimitError):
        made.run(None, {"s": arrays(1, 3)}, options)
    assert made.run(None, {"s": arrays(1, 3)})[0][0].tolist() == [2]


def test_small_lists_of_one_shape_have_the_launch_of_all_lists(forbid_others) -> None:
    made = session(DOUBLED)
    for _ in range(2):
        made.run(None, {"s": arrays(3, 3)})
    (launch,) = launches(made)
    forbid_others()
    for lengths in ((4, 4), (5, 5, 5), (1, 3), (0, 0, 7), (2, 2)):
        (r,) = made.run(None, {"s": arrays(*lengths)})
        assert [a.tolist() for a in r] == [(2 * a).tolist() for a in arrays(*lengths)]
    assert launches(made) == [launch]


def test_one_array_has_a_launch_for_all_lengths(forbid_others) -> None:
    made = session(DOUBLED)
    for _ in range(2):
        made.run(None, {"s": arrays(3)})
    (launch,) = launches(made)
    forbid_others()
    for length in (4, 2, 700):
        (r,) = made.run(None, {"s": arrays(length)})
        assert [a.tolist() for a in r] == [(2 * a).tolist() for a in arrays(length)]
    assert launches(made) == [launch]


def test_large_lists_of_one_shape_are_rows() -> None:
    made = session(DOUBLED)
    for lengths in ((4000, 4000), (3,) * 9, (4000, 4000)):
        for _ in range(2):
            (r,) = made.run(None, {"s": arrays(*lengths)})
            assert [a.tolist() for a in r] == [(2 * a).tolist() for a in arrays(*lengths)]
    assert launches(made) == [] and len(made._fast_path.launches) == 2


def test_small_lists_are_rows_where_only_these_have_native_code() -> None:
    proto = model("""main (seq(float[2, 3]) s, float[2, 6] x, bool c, int64 i) => (float[2, 3] y) {
        t = If(c) <
            then_branch = a () => (seq(float[2, 3]) p) { p = Identity(s) },
            else_branch = b () => (seq(float[2, 3]) q) {
                n = Constant<value = int64 {3}>()
                q = SplitToSequence<axis = 1>(x, n)
            }
        >
        y = SequenceAt(t, i)
    }""")
    made, x = session(proto), np.arange(12, dtype=F32).reshape(2, 6)
    for count in (2, 3, 2):
        s = [np.full((2, 3), n, F32) for n in range(count)]
        for is_fed in (True, False):
            (y,) = made.run(None, {"s": s, "x": x, "c": np.array(is_fed), "i": np.array(1)})
            assert y.tolist() == (s[1] if is_fed else x[:, 3:]).tolist()
    assert launches(made) == [] and [verdict.how for verdict in made.explain()] == ["native"]
    path = made._fast_path
    assert path is not None and [key[0] for key in path.launches] == [(2, 2, 3), (3, 2, 3)]


def test_trip_count_beside_lists_is_read_in_each_run() -> None:
    totals = model("""main (seq(float[]) s, int64 n) => (float[] totals) {
        totals = Loop (n, "") <body = b (int64 i, bool c) => (bool d, float t)
            { d = Identity(c) v = SequenceAt(s, i) t = ReduceSum<keepdims = 0>(v) }>
    }""")
    made = session(totals)
    with pytest.raises(whorl.RunError, match="position 1 is outside"):
        made.run(None, {"s": arrays(0), "n": np.int64(2)})
    for lengths, trips in (((1, 0, 3), 1), ((2,), 0), ((1, 3, 1, 2), 1), ((1, 0, 1, 3), 0), ((3, 1, 1, 3), 2), ((), 0)):
        (result,) = made.run(None, {"s": arrays(*lengths), "n": np.array(trips)})
        assert result.tolist() == [x.sum() for x in arrays(*lengths)[:trips]]


@pytest.mark.parametrize("inputs", ["seq(float[]) s, int64 n", "int64 n, seq(float[]) s"])
def test_trip_counts_are_part_of_the_key_of_lists(inputs: str, forbid_others) -> None:
    made = session(
        model(f"""main ({inputs}) => (float[] totals) {{
        totals = Loop (n, "") <body = b (int64 i, bool c) => (bool d, float t)
            {{ d = Identity(c) v = SequenceAt(s, i) t = ReduceSum<keepdims = 0>(v) }}>
    }}""")
    )
    feeds = [(arrays(*lengths), trips) for lengths in ((1, 2, 3), (4, 7, 2, 5), (3, 3, 3)) for trips in (2, 3)]

    def check(rounds: int) -> None:
        for s, trips in feeds * rounds:
            (result,) = made.run(None, {"s": s, "n": np.array(trips)})
            assert result.tolist() == [x.sum() for x in s[:trips]]

    check(2)
    forbid_others()
    check(150)
    s = arrays(9, 4, 6)
    assert made.run(None, {"s": s, "n": np.array(2)})[0].tolist() == [x.sum() for x in s[:2]]
