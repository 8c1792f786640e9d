"""A model and a table made ready: how columns feed inputs, how rows lie in runs, and how many are read at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
from whorl.scoring.candidates import candidates
from whorl.scoring.columns import arrow_type
from whorl.scoring.digests import digest_module, digest_value
from whorl.scoring.jobs import READ_BYTES, READ_ROWS
from whorl.scoring.layouts import Layout
from whorl.scoring.mapping import Columns, map_columns
from whorl.scoring.packages import arrow
from whorl.scoring.rows import OnError, Scorer

TRIED = 8
"""Rows that are computed to see how large results are."""


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


def needed_columns(module: Module, schema: Any, settings: Settings) -> list[str]:
    """The columns of a table that scoring reads. Errors: RunError for some that are not there."""
    for name in settings.keep:
        if name not in schema.names:
            raise RunError(f"there is no column {name!r} to keep", fix=f"choose from {', '.join(schema.names)}")
    feeding = map_columns(module, schema, settings.columns, settings.shared)
    return list(dict.fromkeys([*feeding.columns, *settings.keep]))


def rows_at_once(scorer: Scorer, sample: Any) -> int:
    """How many rows of tables like a sample may be read at once, so that they and their results are not too large."""
    rows = sample.select(scorer.columns).slice(0, TRIED)
    if not rows.num_rows:
        return READ_ROWS
    results = replace(scorer, on_error="null").score(rows)
    return fit_rows((rows.nbytes + results.nbytes) // rows.num_rows)


def fit_rows(size: int) -> int:
    """How many rows of so many bytes may be in memory at once, as often as they are."""
    return min(READ_ROWS, max(1, READ_BYTES // max(1, size)))


def prepare_scorer(module: Module, schema: Any, sample: Any, settings: Settings, options: SessionOptions) -> Scorer:
    """How the rows of tables of a schema are computed, tried on some of them.

    Errors: RunError for columns, outputs and settings that do not fit the model; LimitError.
    """
    needed_columns(module, schema, settings)
    feeding = map_columns(module, schema, settings.columns, settings.shared)
    outputs = _outputs(module, settings.outputs)
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
