"""A model and a table made ready: how columns feed inputs and rows lie in runs, and a part computed from end to end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from whorl.api.models import Source as ModelSource
from whorl.api.models import load_module
from whorl.api.options import SessionOptions
from whorl.errors import RunError
from whorl.formats.options import LoadOptions
from whorl.ir.dtypes import FLOATS
from whorl.ir.graph import Module
from whorl.scoring.batches import LARGEST, choose_batch, choose_layout, fixed_batch
from whorl.scoring.columns import arrow_type
from whorl.scoring.digests import digest_module, digest_value
from whorl.scoring.layouts import Layout, candidates
from whorl.scoring.mapping import Columns, map_columns
from whorl.scoring.packages import arrow
from whorl.scoring.parts import Target
from whorl.scoring.rows import ERROR, OnError, Scorer
from whorl.scoring.sources import Part, Source

READ_ROWS = 1 << 16
"""Rows that are read at once."""
Item = TypeVar("Item")


class Settings(Struct, frozen=True):
    """What a caller chooses of scoring; `columns` map inputs to columns, `shared` are values for all rows."""

    columns: Mapping[str, Columns] | None = None
    shared: Mapping[str, Any] | None = None
    outputs: Sequence[str] | None = None
    keep: Sequence[str] = ()
    on_error: OnError = "raise"
    batch: int | None = None
    part_rows: int | None = None
    max_memory: int | None = None

    def facts(self) -> dict[str, Any]:
        """What results and parts depend on, as JSON has it."""
        shared = {name: digest_value(value)[:16] for name, value in (self.shared or {}).items()}
        columns = {name: c if isinstance(c, str) else list(c) for name, c in (self.columns or {}).items()}
        outputs = None if self.outputs is None else list(self.outputs)
        own = {"columns": columns, "shared": shared, "outputs": outputs, "keep": list(self.keep)}
        return own | {"on_error": self.on_error, "batch": self.batch, "part_rows": self.part_rows}


class Done(Struct, frozen=True):
    """A part that is computed: its rows, those that failed, and its results unless they were written."""

    index: int
    rows: int
    failed: int
    table: Any = None


class Job(Struct, frozen=True):
    """Computes parts of a table, here or on a worker."""

    source: Source
    scorer: Scorer
    target: Target | None

    def __call__(self, part: Part) -> Done:
        schema = self.scorer.output_schema(self.source.schema)
        if self.target is None:
            tables = list(self.tables(part))
            table = arrow().concat_tables(tables) if tables else schema.empty_table()
            return Done(part.index, table.num_rows, self._failures(table), table)
        rows = failed = 0
        with self.target.write(part, schema) as writer, ThreadPoolExecutor(1) as aside:
            written = aside.submit(lambda: None)
            for table in self.tables(part):
                written.result()
                written = aside.submit(writer.write_table, table)
                rows, failed = rows + table.num_rows, failed + self._failures(table)
            written.result()
        return Done(part.index, rows, failed)

    def tables(self, part: Part) -> Iterator[Any]:
        """The results of a part, some rows at a time, while the next rows are read."""
        size = max(1, READ_ROWS // self.scorer.batch) * self.scorer.batch
        first = part.first
        for table in _read_ahead(self.source.read(part, self.scorer.columns, size)):
            yield self.scorer.score(table, repr(part.source) if "." in part.source else part.source, first)
            first += table.num_rows

    def _failures(self, table: Any) -> int:
        if self.scorer.on_error == "raise":
            return 0
        errors = table.column(ERROR)
        return len(errors) - errors.null_count


def _read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, of which a thread makes the next one while one is used."""
    iterator = iter(items)
    with ThreadPoolExecutor(1) as aside:
        following = aside.submit(next, iterator, None)
        while (item := following.result()) is not None:
            following = aside.submit(next, iterator, None)
            yield item


def prepare_scorer(module: Module, schema: Any, sample: Any, settings: Settings, options: SessionOptions) -> Scorer:
    """How the rows of tables of a schema are computed, tried on some of them.

    Errors: RunError for columns, outputs and settings that do not fit the model; LimitError.
    """
    feeding = map_columns(module, schema, settings.columns, settings.shared)
    outputs = _outputs(module, settings.outputs)
    for name in settings.keep:
        if name not in schema.names:
            raise RunError(f"there is no column {name!r} to keep", fix=f"choose from {', '.join(schema.names)}")
    scorers = [
        Scorer(layout, _results(module, layout), LARGEST, tuple(settings.keep), settings.on_error, settings.max_memory)
        for layout in candidates(module, feeding, outputs, options)
    ]
    chosen = scorers[-1] if settings.batch == 1 else choose_layout(scorers, sample)
    if settings.batch is not None:
        return fixed_batch(chosen, settings.batch)
    return replace(chosen, batch=choose_batch(chosen, sample))


def _outputs(module: Module, names: Sequence[str] | None) -> tuple[str, ...]:
    known = module.visible_outputs
    for name in names or ():
        if name not in known:
            raise RunError(f"the model has no output {name!r}", fix=f"choose from {', '.join(known)}")
    return tuple(known if names is None else names)


def _results(module: Module, layout: Layout) -> Any:
    """The columns that a layout's outputs become."""
    types, pa = module.output_types(), arrow()
    axes = {name: int(layout.kind == "axis" or name in layout.squeezed) for name in layout.outputs}
    return pa.schema([(name, arrow_type(types[name], name, axes[name])) for name in layout.outputs])


def float_columns(scorer: Scorer, schema: Any) -> dict[str, Any]:
    """The columns of whole numbers that feed floats: in text, others of their rows may be floats."""
    types = arrow().types
    bound = [each for each in scorer.layout.feeding.bound if each.type.dtype in FLOATS]
    names = [name for each in bound for name in each.columns if types.is_integer(schema.field(name).type)]
    return dict.fromkeys(names, arrow().float64())


def read_model(model: ModelSource, load_options: LoadOptions | None) -> tuple[Module, str]:
    """A model as a module, and a text that changes when it does. Errors: LoadError."""
    module = load_module(model, load_options)
    return module, digest_module(module)
