"""A part of a table computed from end to end: what a worker gets, and what it needs to load for that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from msgspec import Struct

from whorl.scoring.parts import Target
from whorl.scoring.pipeline import Done, Output, WrittenOutput, read_ahead
from whorl.scoring.rows import ERROR, Scorer
from whorl.scoring.sources import Part, Source

READ_ROWS, READ_BYTES = 1 << 17, 1 << 26
"""Rows that are read at once, and about how many bytes they and their results may have."""


class Job(Struct, frozen=True):
    """Computes parts of a table, here or on a worker."""

    source: Source
    scorer: Scorer
    target: Target | None
    rows: int = READ_ROWS
    """About how many rows are read at once."""

    def __call__(self, part: Part) -> Done:
        (done,) = self.run([part])
        return done

    def run(self, parts: Sequence[Part]) -> Iterator[Done]:
        """What parts give, in order; threads read the rows that follow and write the results before, of parts as well.

        Errors: RunError names a row, SaveError.
        """
        output: Output | None = None
        before: Future[Done] | None = None
        with ThreadPoolExecutor(1) as reading, ThreadPoolExecutor(1) as writing:
            try:
                for part, table in read_ahead(self._tables(parts), reading):
                    output = output or self._output(part, writing)
                    if table is not None:
                        output.add(*self._score(part, table, output.rows))
                        continue
                    done, output = output.close(), None
                    if before is not None:
                        yield before.result()
                    before = done
                if before is not None:
                    yield before.result()
            except BaseException as error:
                if output is not None:
                    output.abandon(error)
                raise

    def _tables(self, parts: Sequence[Part]) -> Iterator[tuple[Part, Any]]:
        """The rows of parts, some at a time, and nothing at the end of each."""
        size = max(1, self.rows // self.scorer.batch) * self.scorer.batch
        for part in parts:
            for table in self.source.read(part, self.scorer.columns, size):
                yield part, table
            yield part, None

    def _output(self, part: Part, writing: Executor) -> Output:
        schema = self.scorer.output_schema(self.source.schema)
        return Output(part, schema) if self.target is None else WrittenOutput(part, schema, self.target, writing)

    def _score(self, part: Part, table: Any, before: int) -> tuple[Any, int]:
        """The results of some rows of a part after those before, and how many of them failed."""
        source = repr(part.source) if "." in part.source else part.source
        results = self.scorer.score(table, source, part.first + before)
        if self.scorer.on_error == "raise":
            return results, 0
        errors = results.column(ERROR)
        return results, len(errors) - errors.null_count
