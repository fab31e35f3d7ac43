"""Sampling of one cloud on a cluster."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _arguments, _native, _progress
from .._arrays import integer_arrays
from .._sample_arguments import seed_without_start
from ..many_files import positive
from . import _workers
from ._actor import TileSettings
from ._log import DRIVER, check_driver
from ._sources import FileSource, Source, Start, array_source, dataset_source
from ._storage import KEEPER_PREFIX, Keeper, Storage, loaded_ray, open_storage
from .result import CloudSample

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from ray.data import Dataset

    from .._typing import Integers, NonFinite, Path, Rows
    from ..files import Cloud

__all__ = ["sample"]


def sample(
    source: Rows | Cloud | Path | Iterable[Path] | Dataset,
    count: int | None = None,
    *,
    ratio: float | None = None,
    spacing: float | None = None,
    start: Integers | None = None,
    seed: int | None = None,
    non_finite: NonFinite = "error",
    tiles: int | None = None,
    num_cpus: float = 1,
    log: Path | None = None,
    time_limit: float = 600.0,
    format: str | None = None,
    columns: int | None = None,
    xyz: Sequence[str | int] | None = None,
    progress: bool = False,
) -> CloudSample:
    """Choose points of one cloud by farthest point sampling on a Ray cluster.

    The cloud is split into tiles, each held by an actor. The result is that of ``farpoint.sample``, index for
    index, regardless of tiles and actor failures. Uses the cluster of ``ray.init``,
    or starts Ray on this machine.

    Parameters
    ----------
    source : array (N, D), farpoint.Cloud, ray.data.Dataset, or paths
        Points with up to three coordinates, float32 or float64. An array or a dataset is partitioned spatially; rows of
        a dataset are those of its blocks in order, and its columns x, y and z (``xyz`` names others), or
        its only column, hold the coordinates. Or one or more files, concatenated to one cloud: they
        are read by the actors, from storage that all machines have under the same path; consecutive files
        form a tile, which is fast if they are close to each other in space.
    count, ratio, spacing : int, float, float
        Number of samples, their share of the rows without NaN, or the largest distance of a point to its
        nearest sample. Give one of the three.
    start : int or array of int, optional
        Row to start from, the first usable one unless set; or several.
    seed : int, optional
        Seed of a random start row.
    non_finite : {"error", "skip"}, optional
        Handling of non-finite rows: raise an error, or leave them out.
    tiles : int, optional
        Number of actors, at most one per file; as many as fit on the cluster unless set.
    num_cpus : float, optional
        Number of cores per actor; all actors must fit on the cluster at once.
    log : str or os.PathLike, optional
        A folder that all machines have under the same path, or a URL supported by fsspec ("s3://bucket/run").
        It stores the decisions of the actors, and the state of the run after each band: repeating the call resumes
        an interrupted run. Unless set, the log is kept in memory during this call.
    time_limit : float, optional
        Timeout in seconds for one answer of an actor, for its restart, and for the next partitioning
        task. A dataset is computed before, without a limit.
    format, columns, xyz : optional
        As in ``farpoint.read``; ``xyz`` also names columns of a data set.
    progress : bool, optional
        Show a progress bar (tqdm's, if installed).

    Returns
    -------
    CloudSample
        Rows in order of choice (of concatenated files for a list of files), selection distances and
        covering radius, as by ``farpoint.sample(..., return_distances=True)``. Its method ``write("thin.laz")``
        writes the rows of files with all their attributes.

    Raises
    ------
    ImportError
        Ray is not installed; or ``log`` is a URL and fsspec is not installed.
    ValueError, TypeError
        As for ``farpoint.sample``; or the log belongs to another run.
    TimeoutError
        An actor has not answered or restarted in time, with its name in the message; or tasks have not finished.
    RuntimeError
        An actor has failed, or dies on every call; or another driver has taken over the log.

    Notes
    -----
    An actor holds its tile in memory, about 24 bytes per point (float64: 40), and twice the size of the points
    while reading. A log has one driver at a time; a second one takes it over, and the first stops with an error.
    docs/development/tiles.md has the method, docs/development/proofs.md its proof.
    """
    ray = loaded_ray()
    if (count is None) + (ratio is None) + (spacing is None) != 2:
        raise ValueError(f"pass one of count, ratio and spacing (got {count=}, {ratio=}, {spacing=})")
    if non_finite not in ("error", "skip"):
        raise ValueError(f'non_finite is {non_finite!r}; it must be "error" or "skip"')
    amount = (
        _arguments.count(count),
        None if ratio is None else _arguments.number(ratio, "ratio"),
        None if spacing is None else _arguments.number(spacing, "spacing"),
    )
    if not num_cpus >= 0:
        raise ValueError(f"num_cpus is {num_cpus}; it must not be below 0")
    limit = positive(time_limit, "time_limit")
    if limit is None:
        raise ValueError("time_limit must be a number, not None")
    rows = None if start is None else _start_rows(start)
    seed = seed_without_start(seed, start)
    if not ray.is_initialized():
        ray.init()
    if tiles is None:
        tiles = max(1, int(ray.cluster_resources().get("CPU", 0) / num_cpus)) if num_cpus else 1
    tiles = _arguments.integer(tiles, "tiles", 1, 2**20)
    options = {"format": format, "columns": columns, "xyz": xyz}
    cloud = _source(source, tiles, options)
    options_of_run = [*amount, rows, seed, non_finite, len(cloud.files)]
    with _Run(ray, cloud, log, num_cpus, limit) as run:
        run.open(options_of_run, non_finite == "skip")
        starts = cloud.starts(run.actors, rows, seed)
        with _progress.bar(progress, "sampling", "points") as report:
            return run.sample(amount, starts, report)


def _start_rows(start: Any) -> list[int]:
    """Returns the rows to start from."""
    rows = integer_arrays.integers(start, "start")
    if rows.ndim > 1:
        raise ValueError(f"start has shape {rows.shape}; pass one row or a list of them")
    return [int(row) for row in np.atleast_1d(rows)]


def _source(source: Any, tiles: int, options: dict[str, Any]) -> Source:
    if hasattr(source, "iter_internal_ref_bundles"):
        return dataset_source(source, options["xyz"], tiles)
    paths = [source] if isinstance(source, (str, os.PathLike)) else source
    if not isinstance(paths, Iterable) or hasattr(paths, "__array__"):
        return array_source(source, tiles)
    paths = list(paths)
    if paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        return FileSource([os.fspath(path) for path in paths], tiles, options)
    return array_source(paths, tiles)


class _Run:
    """Run: its storage, actors and conductor."""

    def __init__(self, ray: Any, source: Source, log: Path | None, num_cpus: float, limit: float) -> None:
        self._ray = ray
        self._source = source
        self._token = uuid.uuid4().hex.encode()
        self._keeper = None
        if log is None:
            place = f"{KEEPER_PREFIX}farpoint-{self._token.decode()[:8]}-log"
            self._keeper = _keeper(ray, place.removeprefix(KEEPER_PREFIX))
        else:
            place = _absolute(os.fspath(log))
        self._place = place
        self._storage: Storage = open_storage(place, limit)
        #: Number of manifests written so far, by all drivers.
        self._saved = 0
        self._manifest: bytes | None = None
        threads = max(1, int(num_cpus))
        settings = [
            TileSettings(tile, files, place, self._token, limit, threads)
            for tile, files in enumerate(source.files)
        ]
        self.actors = _workers.Actors(ray, settings, num_cpus)

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.actors.close()
        if self._keeper is not None:
            self._ray.kill(self._keeper)

    def open(self, arguments: list[Any], skip_non_finite: bool) -> None:
        """Opens the source, and takes over the log."""
        self._source.open(self.actors, skip_non_finite)
        job = json.dumps({"cloud": self._source.identity, "asked": arguments}, indent=1).encode()
        stored = self._storage.get("job")
        if stored is not None and stored != job:
            raise ValueError(
                f"{self._place} has the log of another run: cloud, options or number of tiles "
                "differ; pass another folder, or remove this one"
            )
        self._storage.put(DRIVER, self._token)
        if stored is None:
            self._storage.put("job", job)
        for k in range(2):
            content = self._storage.get(f"manifest-{k}")
            number = int.from_bytes((content or bytes(8))[:8], "little")
            if content is not None and number > self._saved:
                self._saved, self._manifest = number, content[8:]

    def sample(
        self, amount: tuple[int | None, float | None, float | None], starts: list[Start], report: Any
    ) -> CloudSample:
        """Samples to the end, writing a manifest after each band."""
        self.actors.prepare(self._source.tile_data)
        conductor = _native.Conductor(
            self._source.double, *amount, starts, len(self._source.files), self.actors.transport,
            _workers.TRIES, self._manifest,
        )
        while (band := conductor.advance()) is not None:
            self._save(conductor.manifest())
            if report is not None:
                report(min(band), band[1])
        rows, distances = conductor.chosen()
        self._ended(conductor.statistics())
        outcome = conductor.outcome()
        assert outcome is not None
        precision = np.float64 if self._source.double else np.float32
        sample = CloudSample(rows, distances.astype(precision), outcome[1])
        sample.files = self._source.read_again
        return sample

    def _save(self, manifest: bytes) -> None:
        check_driver(self._storage, self._token)
        self._saved += 1
        # Alternating names: a truncated manifest leaves the previous one intact.
        content = self._saved.to_bytes(8, "little") + manifest
        self._storage.put(f"manifest-{self._saved % 2}", content)

    def _ended(self, statistics: list[tuple[str, int]]) -> None:
        """Writes statistics to the log."""
        self._storage.put("statistics", json.dumps(dict(statistics)).encode())


def _absolute(place: str) -> str:
    """Returns an absolute path: workers have other working directories."""
    return place if "://" in place else os.path.abspath(place)


def _keeper(ray: Any, name: str) -> Any:
    """Creates the keeper on this machine, so that it lives as long as the driver."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    this_node = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(Keeper).options(name=name, num_cpus=0, scheduling_strategy=this_node).remote()
