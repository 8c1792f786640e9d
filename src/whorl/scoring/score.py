"""`score`: a model computed for every row of a table, here or on a cluster, restarted where it was."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.api.models import Source as ModelSource
from whorl.api.options import SessionOptions
from whorl.errors import RunError
from whorl.formats.options import LoadOptions
from whorl.ir.graph import Module
from whorl.scoring.arrays import open_arrays
from whorl.scoring.batches import LARGEST
from whorl.scoring.columns import array_column
from whorl.scoring.engines import run_parts
from whorl.scoring.files import FileSource, find_files, open_files
from whorl.scoring.frames import Prepare, kind_of, score_dask, score_ray
from whorl.scoring.jobs import Job
from whorl.scoring.layouts import SENTENCES
from whorl.scoring.mapping import Columns
from whorl.scoring.packages import arrow
from whorl.scoring.parts import Manifest, Target, check_manifest, check_target
from whorl.scoring.pipeline import Done
from whorl.scoring.preparing import (
    Settings,
    fit_rows,
    float_columns,
    needed_columns,
    prepare_scorer,
    read_model,
    rows_at_once,
)
from whorl.scoring.rows import OnError, Scorer
from whorl.scoring.sources import PART_ROWS, Part, Source, TableSource
from whorl.scoring.storage import Storage

FEW = 1 << 10
"""Rows that are read to see how large rows are."""
Progress = Callable[[int, int], None]
"""Called with the parts that are done, and all of them."""


class Engine(Struct, frozen=True):
    """What computes parts, and who is told of those that are done."""

    on: str
    workers: int | None
    address: str | None
    progress: Progress | None

    @property
    def is_here(self) -> bool:
        """Whether this process computes all parts."""
        return self.on == "local" and self.workers in (None, 1) and self.address is None


class Scored(Struct, frozen=True):
    """What a run that wrote results did: rows and failures of this run, parts, and those that were there before."""

    output: str
    rows: int
    failed: int
    parts: int
    skipped: int
    batch: int
    layout: str


def score(
    model: ModelSource,
    data: Any,
    output: str | os.PathLike[str] | None = None,
    *,
    on: Literal["local", "dask", "ray"] = "local",
    columns: Mapping[str, Columns] | None = None,
    shared: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    on_error: OnError = "raise",
    batch: int | None = None,
    part_rows: int | None = None,
    max_memory: int | None = None,
    workers: int | None = None,
    address: str | None = None,
    options: LoadOptions | None = None,
    session_options: SessionOptions | None = None,
    progress: Progress | None = None,
) -> Any:
    """Compute a model for every row of a table: each output becomes a column, in the order of the rows.

    `data`: Parquet, Arrow, CSV, `.npz` or Zarr by paths (fsspec opens them), arrays by name, a table of Arrow, a
    DataFrame of pandas or Dask, a Dataset of Ray. Columns feed the inputs of their names; `columns` maps inputs to
    others, or to several side by side; `shared` are values for all rows. `output`: a folder that gets a file a part,
    and goes on with it where an earlier run ended; it gives a `Scored`. Without it the results come back as the kind
    of table that `data` is, or as Arrow's.
    `keep`: columns to copy. `on_error` "null" gives a row that fails no results but an error. `batch`: rows a run, else
    measured, within `max_memory` bytes. Errors: LoadError; RunError names the row; SaveError.
    """
    settings = Settings(columns, shared, outputs, keep, on_error, batch, part_rows, max_memory)
    _check(settings)
    module, fingerprint = read_model(model, options)
    if kind_of(data) in ("dask", "ray"):
        return _score_spread(data, output, on, workers, partial(_prepare, module, settings, session_options))
    engine = Engine(on, workers, address, progress)
    source = open_data(data)
    parts = source.cut(part_rows or PART_ROWS)
    target = None if output is None else Target(Storage(os.fspath(output)))
    begun = None if target is None else target.read_manifest()
    job = _prepare_job(module, source, parts, settings, target, begun, _session_options(session_options, on))
    if target is None:
        done = compute_parts(job, parts, parts, engine)
        return _as_kind([each.table for each in sorted(done, key=lambda each: each.index)], job, data)
    scorer = job.scorer
    manifest = Manifest(fingerprint, job.source.fingerprint, settings.facts(), scorer.batch, scorer.layout.kind, parts)
    return write_parts(job, manifest, begun, target, engine)


def _session_options(options: SessionOptions | None, on: str) -> SessionOptions:
    """A session of a worker has a core, unless the caller says otherwise."""
    chosen = options or SessionOptions()
    if on != "local" and not chosen.intra_op_num_threads:
        chosen.intra_op_num_threads = 1
    return chosen


def _prepare_job(
    module: Module,
    source: Source,
    parts: Sequence[Part],
    settings: Settings,
    target: Target | None,
    begun: Manifest | None,
    options: SessionOptions,
) -> Job:
    """What computes parts; a run that was begun goes on with its batches."""
    if begun is not None and settings.batch is None:
        settings = replace(settings, batch=begun.batch)
    sample = _sample(source, parts, needed_columns(module, source.schema, settings))
    scorer = prepare_scorer(module, source.schema, sample, settings, options)
    if isinstance(source, FileSource):
        source = source.with_types(float_columns(scorer, source.schema))
    return Job(source, scorer, target, rows_at_once(scorer, sample))


def _prepare(module: Module, settings: Settings, options: SessionOptions | None, sample: Any) -> Scorer:
    """A scorer for workers, each of which has a core."""
    return prepare_scorer(module, sample.schema, sample, settings, _session_options(options, "worker"))


def _score_spread(data: Any, output: object, on: str, workers: int | None, prepare: Prepare) -> Any:
    """The results of a table that an engine has; how they are computed is its own affair."""
    kind = kind_of(data)
    for name, is_set in (("output", output is not None), ("on", on not in ("local", kind))):
        if is_set:
            fix = "write what comes back, or score the files that it is read from"
            raise RunError(f"a table of {kind} comes back as one, and {name} is none of its options", fix=fix)
    return score_dask(data, prepare) if kind == "dask" else score_ray(data, prepare, workers)


def _check(settings: Settings) -> None:
    if settings.on_error not in ("raise", "null"):
        raise RunError(f"on_error is {settings.on_error!r}", fix='choose "raise" or "null"')
    for name in ("batch", "part_rows"):
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise RunError(f"{name} is {value!r}, expected a number of rows")


def write_parts(
    job: Job,
    manifest: Manifest,
    begun: Manifest | None,
    target: Target,
    engine: Engine,
) -> Scored:
    """Write the parts that are not there."""
    check_target(target, job.scorer.output_schema(job.source.schema))
    if begun is None:
        target.begin(manifest)
    else:
        check_manifest(begun, manifest, target.folder.url)
    there = target.done(manifest.parts)
    left = [part for part in manifest.parts if part.index not in there]
    done = compute_parts(job, left, manifest.parts, engine)
    target.folder.remove_temporary()
    rows, failed = sum(each.rows for each in done), sum(each.failed for each in done)
    layout = SENTENCES[job.scorer.layout.kind]
    return Scored(target.folder.url, rows, failed, len(manifest.parts), len(there), job.scorer.batch, layout)


def compute_parts(job: Job, left: Sequence[Part], parts: Sequence[Part], engine: Engine) -> list[Done]:
    """What the parts that are left gave, in any order."""
    done = list[Done]()
    run = job.run(left) if engine.is_here else run_parts(job, left, engine.on, engine.workers, engine.address)
    for each in run if left else ():
        done.append(each)
        if engine.progress is not None:
            engine.progress(len(parts) - len(left) + len(done), len(parts))
    return done


def open_data(data: Any) -> Source:
    """The table that `score` takes. Errors: RunError for what is none."""
    if isinstance(data, Mapping):
        return TableSource(arrow().table({name: array_column(np.asarray(rows), name) for name, rows in data.items()}))
    kind = kind_of(data)
    if kind == "pandas":
        return TableSource(arrow().Table.from_pandas(data, preserve_index=False))
    if kind == "pyarrow":
        return TableSource(data if hasattr(data, "to_batches") else arrow().Table.from_batches([data]))
    if not isinstance(data, str | os.PathLike | list | tuple):
        raise RunError(f"{type(data).__name__} is no table", fix="give a path, a table of Arrow or a DataFrame")
    files = find_files(data)
    if len(files) == 1 and Storage(files[0]).suffix in (".npz", ".zarr"):
        return open_arrays(files[0])
    return open_files(files)


def _sample(source: Source, parts: Sequence[Part], columns: list[str]) -> Any:
    """Some rows, on which layouts and batches are tried: as many as batches may have, unless they are large."""
    few = _first_rows(source, parts, columns, FEW)
    rows = fit_rows(few.nbytes // max(1, few.num_rows))
    return few if few.num_rows < FEW or rows <= FEW else _first_rows(source, parts, columns, min(rows, LARGEST))


def _first_rows(source: Source, parts: Sequence[Part], columns: list[str], rows: int) -> Any:
    """The first rows of the first part that has any, at most so many."""
    for part in parts:
        tables = list(itertools.islice(source.read(part, columns, rows), 1))
        if tables:
            return tables[0]
    return source.schema.empty_table()


def _as_kind(tables: list[Any], job: Job, data: Any) -> Any:
    """Results as the kind of table that came."""
    pa = arrow()
    table = pa.concat_tables(tables) if tables else job.scorer.output_schema(job.source.schema).empty_table()
    if kind_of(data) != "pandas":
        return table
    frame = table.to_pandas()
    frame.index = data.index
    return frame
