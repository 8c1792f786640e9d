"""`sweep_points`: a model at every point of a design, restarted where it was, as a dataset, Zarr or Parquet."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from whorl.api.models import Source as ModelSource
from whorl.api.models import load
from whorl.api.options import SessionOptions
from whorl.errors import RunError, SaveError
from whorl.formats.mdf.model import MdfModel
from whorl.formats.options import LoadOptions
from whorl.ir.dtypes import INTEGERS
from whorl.ir.types import TensorType
from whorl.scoring.batches import choose_batch
from whorl.scoring.designs import Design, coordinates
from whorl.scoring.digests import digest_simulated, digest_value
from whorl.scoring.files import find_files, open_files
from whorl.scoring.jobs import Job
from whorl.scoring.packages import arrow, package
from whorl.scoring.parts import Manifest, Target
from whorl.scoring.preparing import Settings, prepare_scorer, read_model
from whorl.scoring.rows import ERROR, Scorer
from whorl.scoring.score import Engine, Progress, Scored, compute_parts, write_parts
from whorl.scoring.simulations import simulation_scorer
from whorl.scoring.sources import Part, TableSource
from whorl.scoring.storage import Storage

PARTS, SMALLEST = 16, 64
"""The parts of a sweep, where they have at least so many points."""
ZARR = ".zarr"
SAMPLE = 1 << 16
"""Points on which layouts and batches are tried."""


def sweep_points(
    model: ModelSource,
    design: Design,
    output: str | os.PathLike[str] | None = None,
    *,
    steps: int | None = None,
    dt: float | None = None,
    record: Sequence[str] | None = None,
    last: bool = False,
    shared: Mapping[str, Any] | None = None,
    seed: int = 0,
    on: Literal["local", "dask", "ray"] = "local",
    batch: int | None = None,
    workers: int | None = None,
    address: str | None = None,
    options: LoadOptions | None = None,
    progress: Progress | None = None,
) -> Any:
    """Run a model at every point of a design: the results as an xarray.Dataset, or written, which gives a `Scored`.

    Names of points are inputs, and of an MDF model, which is simulated for `steps` of `dt`, parameters, initial values
    and input ports; `shared` are values for all points. `record`: outputs, or what is recorded; `last`: only the last
    values of a simulation. Points lie side by side in a run wherever that can be, `batch` says how many, else it is
    measured. `output`: Zarr, or a folder of parts as `score` has it; a second start goes on. A point that fails has no
    results but an error. Errors: LoadError; RunError for names that are not there; SaveError.
    """
    run = _Run(steps, dt, None if record is None else tuple(record), last, dict(shared or {}), seed, batch)
    job, fingerprint, table = _job(model, design, run, options)
    target = None if output is None else Storage(os.fspath(output))
    engine = Engine(on, workers, address, progress)
    if target is not None:
        return _write_sweep(job, fingerprint, table, run, target, design, engine)
    job, parts = _cut(job, table, batch or _measured(job.scorer, table), None)
    done = compute_parts(job, parts, parts, engine)
    return _dataset(arrow().concat_tables([each.table for each in sorted(done, key=lambda each: each.index)]), design)


def _write_sweep(
    job: Job, fingerprint: str, table: Any, run: _Run, target: Storage, design: Design, engine: Engine
) -> Scored:
    """Write what is not there of a sweep, and join it where the output is Zarr."""
    folder = _folder(target)
    begun = folder.read_manifest()
    size = run.batch or (_measured(job.scorer, table) if begun is None else begun.batch)
    job, parts = _cut(job, table, size, folder)
    manifest = Manifest(fingerprint, job.source.fingerprint, run.facts(), size, job.scorer.layout.kind, parts)
    scored = write_parts(job, manifest, begun, folder, engine)
    if folder.folder != target:
        _write_zarr(folder, target, design)
    return replace(scored, output=target.url)


def _cut(job: Job, table: Any, size: int, folder: Target | None) -> tuple[Job, list[Part]]:
    """A job that runs so many points together, and its parts."""
    parts = job.source.cut(max(SMALLEST, -(-table.num_rows // PARTS)))
    return replace(job, scorer=replace(job.scorer, batch=size), target=folder), parts


class _Run(Struct, frozen=True):
    """How points are run."""

    steps: int | None
    dt: float | None
    record: tuple[str, ...] | None
    last: bool
    shared: dict[str, Any]
    seed: int
    batch: int | None

    def facts(self) -> dict[str, Any]:
        """What results depend on, as JSON has it."""
        shared = digest_value(dict(sorted(self.shared.items())))
        record = None if self.record is None else list(self.record)
        return asdict(self) | {"shared": shared, "record": record}


def _folder(target: Storage) -> Target:
    """Where parts are written: the output, or beside it until all can be joined in Zarr. Errors: SaveError."""
    if target.suffix != ZARR:
        return Target(target)
    if target.exists():
        raise SaveError(f"{target.url!r} is there already", fix="choose another name, or remove it")
    return Target(Storage(target.url + ".parts.arrow"))


def _job(model: ModelSource, design: Design, run: _Run, options: LoadOptions | None) -> tuple[Job, str, Any]:
    """What computes the points, the fingerprint of the model, and the points as a table."""
    source = load(model, options)
    if isinstance(source, MdfModel):
        if run.steps is None:
            raise RunError("an MDF model is simulated, and a sweep of it needs steps", fix="give steps, and dt")
        table = design.table()
        scorer = simulation_scorer(
            source, table, run.steps, run.dt, run.record, run.shared, seed=run.seed, last=run.last
        )
        return Job(TableSource(table), scorer, None), digest_simulated(source), table
    for name in ("steps", "dt", "last", "seed"):
        if getattr(run, name):
            raise RunError(f"{name} is an option of MDF models, which are simulated", fix="leave it out")
    module, fingerprint = read_model(model, options)
    types = {value.name: value.type for value in module.main.arguments}
    for name in design.names:
        if name not in types:
            raise RunError(f"the model has no input {name!r}", fix=f"choose from {', '.join(types)}")
    whole = {name for name, type in types.items() if isinstance(type, TensorType) and type.dtype in INTEGERS}
    table = design.table(frozenset(whole))
    settings = Settings(None, run.shared, run.record, design.names, "null", run.batch)
    scorer = prepare_scorer(module, table.schema, table.slice(0, SAMPLE), settings, SessionOptions())
    return Job(TableSource(table), scorer, None), fingerprint, table


def _measured(scorer: Scorer, table: Any) -> int:
    """The points of a run; a layout of a session was measured when it was chosen."""
    return choose_batch(scorer, table) if scorer.layout.kind == "batch" else scorer.batch


# ---- datasets ----------------------------------------------------------------------------------------------------


def _dataset(table: Any, design: Design) -> Any:
    """Results as a dataset: with the axes of a grid, or along "point"."""
    xarray = package("xarray")
    axes = coordinates(design, table)
    leading = tuple(axes) if axes else ("point",)
    shape = tuple(len(values) for values in axes.values()) if axes else (table.num_rows,)
    variables = {}
    for name in table.column_names:
        if name not in axes:
            rows = _array(table.column(name))
            own = tuple(f"{name}.{axis}" for axis in range(rows.ndim - 1))
            variables[name] = ((*leading, *own), rows.reshape(*shape, *rows.shape[1:]))
    coords = dict(axes) if axes else {name: variables.pop(name) for name in design.names}
    return xarray.Dataset(variables, coords=coords)


def _array(column: Any) -> np.ndarray:
    """A column as an array with the rows on its first axis; where a row has no value NaN, or an empty text."""
    types, column = arrow().types, column.combine_chunks()
    if types.is_string(column.type):
        return np.array([value or "" for value in column.to_pylist()], object)
    if not types.is_nested(column.type):
        return column.to_numpy(zero_copy_only=False)
    rows = column.to_pylist()
    full = next((np.asarray(row) for row in rows if row is not None), np.zeros(0))
    empty = np.full(full.shape, np.nan)
    try:
        return np.array([empty if row is None else row for row in rows], np.result_type(full, empty))
    except ValueError:
        raise SaveError("points have results of several shapes, which no dataset has", fix="write Parquet") from None


def _write_zarr(folder: Target, target: Storage, design: Design) -> None:
    """Join the parts in a group of Zarr, and remove them."""
    source = open_files(find_files(folder.folder.url))
    names = source.schema.names
    tables = [rows for part in source.cut(1 << 30) for rows in source.read(part, names, 1 << 16)]
    dataset = _dataset(arrow().concat_tables(tables), design)
    dataset[ERROR] = dataset[ERROR].astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # texts are no part of the third version of Zarr yet
        dataset.to_zarr(target.url, mode="w", consolidated=False)
    folder.folder.system.rm(folder.folder.path, recursive=True)
