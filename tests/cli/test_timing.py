"""Short work measured in turns."""

from whorl.cli.timing import BATCH, in_turns


def test_longer_work_takes_longer_and_each_runs_as_often_as_it_needs():
    counts = dict.fromkeys(("short", "long"), 0)

    def work(name: str, size: int) -> None:
        counts[name] += 1
        sum(range(size))

    times = in_turns({"short": lambda: work("short", 100), "long": lambda: work("long", 100_000)}, 3)
    assert list(times) == ["short", "long"] and 0 < times["short"] < times["long"]
    assert counts["short"] > counts["long"] >= 4
    assert counts["long"] * times["long"] > BATCH
