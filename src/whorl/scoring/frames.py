"""Tables that are spread over workers: a DataFrame of Dask or a Dataset of Ray in, the same kind out.

Their own engines compute them, lazily as all else there; a worker gets the model once and keeps its session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from whorl.errors import RunError
from whorl.scoring.packages import arrow, package
from whorl.scoring.rows import Scorer

SAMPLE = 1 << 12
"""Rows on which layouts and batches are tried."""
Prepare = Callable[[Any], Scorer]
"""Makes a scorer of a sample of a table."""


class FrameTask(Struct, frozen=True):
    """Computes a partition of Dask: a DataFrame of pandas."""

    scorer: Scorer
    schema: Any

    def __call__(self, frame: Any) -> Any:
        columns = self.scorer.columns
        schema = arrow().schema([self.schema.field(name) for name in columns])
        table = arrow().Table.from_pandas(frame[columns], schema=schema, preserve_index=False)
        results = self.scorer.score(table, "a partition").to_pandas()
        results.index = frame.index
        return results


class BlockTask:
    """Computes blocks of Ray: an actor that has the session."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer

    def __call__(self, table: Any) -> Any:
        return self.scorer.score(table, "a block").combine_chunks()


def kind_of(data: Any) -> str:
    """The package whose table this is: "dask", "ray", or another."""
    return type(data).__module__.partition(".")[0]


def score_dask(frame: Any, prepare: Prepare) -> Any:
    """A DataFrame of the results, which Dask computes as it computes the frame."""
    sample = arrow().Table.from_pandas(frame.head(SAMPLE, npartitions=-1), preserve_index=False)
    scorer = prepare(sample)
    meta = scorer.output_schema(sample.schema).empty_table().to_pandas()
    return frame.map_partitions(FrameTask(scorer, sample.schema), meta=meta)


def score_ray(dataset: Any, prepare: Prepare, workers: int | None) -> Any:
    """A Dataset of the results, which Ray computes as it does that one. Errors: RunError where it has no rows."""
    data = package("ray.data")
    blocks = list(dataset.limit(SAMPLE).iter_batches(batch_size=SAMPLE, batch_format="pyarrow"))
    if not blocks:
        raise RunError("the dataset has no rows, so nothing says what its columns are")
    scorer = prepare(blocks[0])
    compute = data.ActorPoolStrategy(size=workers) if workers else data.ActorPoolStrategy(min_size=1)
    return dataset.map_batches(
        BlockTask,
        fn_constructor_args=(scorer,),
        batch_format="pyarrow",
        batch_size=max(1, 65536 // scorer.batch) * scorer.batch,
        compute=compute,
        num_cpus=1,
    )
