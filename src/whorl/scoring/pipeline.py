"""What a part's results go to while the next ones are computed: a file, which a thread writes, or a table in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from typing import Any, TypeVar

from msgspec import Struct

from whorl.scoring.packages import arrow
from whorl.scoring.parts import Target
from whorl.scoring.sources import Part

Item = TypeVar("Item")


class Done(Struct, frozen=True):
    """A part that is computed: its rows, those that failed, and its results unless they were written."""

    index: int
    rows: int
    failed: int
    table: Any = None


class Output:
    """The results of a part, in memory."""

    def __init__(self, part: Part, schema: Any) -> None:
        self.part, self.schema = part, schema
        self.rows, self.failed = 0, 0
        self._tables = list[Any]()

    def add(self, table: Any, failed: int) -> None:
        """Take the next results, of which so many are failures."""
        self.rows, self.failed = self.rows + table.num_rows, self.failed + failed
        self._take(table)

    def close(self) -> Future[Done]:
        """What there was, once it is all there."""
        table = arrow().concat_tables(self._tables) if self._tables else self.schema.empty_table()
        done = Future[Done]()
        done.set_result(Done(self.part.index, self.rows, self.failed, table))
        return done

    def abandon(self, error: BaseException) -> None:
        """Keep nothing, for this error."""

    def _take(self, table: Any) -> None:
        self._tables.append(table.combine_chunks())


class WrittenOutput(Output):
    """The results of a part, in a file that a thread writes; a table waits until the one before it is written."""

    def __init__(self, part: Part, schema: Any, target: Target, thread: Executor) -> None:
        super().__init__(part, schema)
        self._thread, self._open = thread, ExitStack()
        self._writer = self._last = thread.submit(self._open.enter_context, target.write(part, schema))

    def close(self) -> Future[Done]:
        """What there was, once the file has its name. Errors: SaveError."""
        self._last.result()
        return self._thread.submit(self._close)

    def _close(self) -> Done:
        self._open.close()
        return Done(self.part.index, self.rows, self.failed)

    def abandon(self, error: BaseException) -> None:
        """Leave no file, for this error. Errors: SaveError where it is one of writing."""
        self._thread.submit(self._open.__exit__, type(error), error, error.__traceback__).result()

    def _take(self, table: Any) -> None:
        self._last.result()
        self._last = self._thread.submit(self._writer.result().write_table, table)


def read_ahead(items: Iterable[Item], thread: Executor) -> Iterator[Item]:
    """The same items, of which a thread makes the next one while one is used."""
    iterator = iter(items)
    following = thread.submit(next, iterator, None)
    while (item := following.result()) is not None:
        following = thread.submit(next, iterator, None)
        yield item
