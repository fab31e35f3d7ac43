"""One cloud over the machines of a cluster."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _arguments, _native, _progress
from .._arrays import whole_numbers
from ..many_files import positive
from . import _workers
from ._actor import TileSettings
from ._log import DRIVER, check_driver
from ._sources import FileSource, Source, Start, array_source, dataset_source
from ._storage import KEPT, Keeper, Storage, open_storage
from .result import CloudSample

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from ray.data import Dataset

    from .._typing import Integers, OnBad, Path, Rows
    from ..files import Cloud

__all__ = ["sample"]


def sample(
    source: Rows | Cloud | Path | Iterable[Path] | Dataset,
    count: int | None = None,
    *,
    ratio: float | None = None,
    spacing: float | None = None,
    start: Integers = 0,
    seed: int | None = None,
    on_bad: OnBad = "error",
    tiles: int | None = None,
    num_cpus: float = 1,
    log: Path | None = None,
    time_limit: float = 600.0,
    format: str | None = None,
    columns: int | None = None,
    xyz: Sequence[str | int] | None = None,
    progress: bool = False,
) -> CloudSample:
    """Choose points of one cloud by farthest point sampling on a cluster of Ray.

    The cloud is cut into tiles, each held by an actor. The result is that of ``farpoint.sample``, index for
    index, whatever the tiles, and whatever actors end on the way. Joins the cluster that ``ray.init`` has
    joined, or starts Ray on this machine.

    Parameters
    ----------
    source : array (N, D), farpoint.Cloud, ray.data.Dataset, or paths
        Points with up to three coordinates, float32 or float64. An array or a data set is cut by space; rows of a
        data set are those of its blocks one after another, and its columns x, y and z (``xyz`` names others), or
        its only column, hold the coordinates. Or a file or several, which are one cloud, one after another: they
        are read by the actors, from storage that all machines have under the same path; several that follow each
        other are a tile, which is fast if those are close to each other.
    count, ratio, spacing : int, float, float
        How many points: so many, a share of the rows without NaN, or until every point is within this
        distance of a chosen one. One of the three.
    start : int or array of int, optional
        The row to start from, or several.
    seed : int, optional
        Start from a random row instead.
    on_bad : {"error", "skip"}, optional
        What to do with rows that have NaN or infinity: refuse them, or leave them out.
    tiles : int, optional
        How many actors; as many as the cluster has room for unless set. There are no more than files.
    num_cpus : float, optional
        Cores of an actor; the cluster must have room for all of them at a time.
    log : str or os.PathLike, optional
        A folder that all machines have under the same path, or a URL that fsspec knows ("s3://bucket/run").
        What actors have decided is kept there, and after each band where the run is: the same call goes on
        where an earlier one was stopped. Unless set, it is kept in memory while this call lasts.
    time_limit : float, optional
        Seconds to wait for an actor: for one answer, and for its restart; and for the next task that cuts
        points. A data set is computed before, without a limit.
    format, columns, xyz : optional
        As in ``farpoint.read``; ``xyz`` also names columns of a data set.
    progress : bool, optional
        Show a progress bar (tqdm's, if installed).

    Returns
    -------
    CloudSample
        Rows in order of choice (of a list of files, those of one after another), selection distances and
        covering radius, as of ``farpoint.sample(..., return_distances=True)``. The rows of files are written with
        all their attributes by its ``write("thin.laz")``.

    Raises
    ------
    ImportError
        Ray is not installed; or ``log`` is a URL and fsspec is not.
    ValueError, TypeError
        As ``farpoint.sample``; the log is that of another run.
    TimeoutError
        An actor has not answered or has not come back in time, and the text has its name; or tasks have not.
    RuntimeError
        An actor has failed, or ends whenever it is asked; another driver has taken over the log.

    Notes
    -----
    An actor holds its tile in memory, about 24 bytes a point (float64: 40), and twice the points' bytes while it
    reads them. One driver at a time has a log; a second one takes it over, and the first one stops with an error.
    The method and its proof are in docs/scale.md.
    """
    import ray

    if (count is None) + (ratio is None) + (spacing is None) != 2:
        raise ValueError(f"give one of count, ratio and spacing (got {count=}, {ratio=}, {spacing=})")
    if on_bad not in ("error", "skip"):
        raise ValueError(f'on_bad is {on_bad!r}; it must be "error" or "skip"')
    amount = (
        _arguments.count(count),
        None if ratio is None else _arguments.number(ratio, "ratio"),
        None if spacing is None else _arguments.number(spacing, "spacing"),
    )
    if not num_cpus >= 0:
        raise ValueError(f"num_cpus is {num_cpus}; it must not be below 0")
    limit = positive(time_limit, "time_limit")
    if limit is None:
        raise ValueError("time_limit is None; every wait has a limit")
    rows = _start_rows(start, seed)
    if not ray.is_initialized():
        ray.init()
    if tiles is None:
        tiles = max(1, int(ray.cluster_resources().get("CPU", 0) / num_cpus)) if num_cpus else 1
    tiles = _arguments.integer(tiles, "tiles", 1, 2**20)
    options = {"format": format, "columns": columns, "xyz": xyz}
    cloud = _source(source, tiles, options)
    asked = [*amount, rows, _arguments.seed(seed), on_bad, len(cloud.files)]
    with _Run(ray, cloud, log, num_cpus, limit) as run:
        run.open(asked, on_bad == "skip")
        starts = cloud.starts(run.actors, rows, seed)
        with _progress.bar(progress, "sampling", "points") as tell:
            return run.sample(amount, starts, tell)


def _start_rows(start: Any, seed: int | None) -> list[int] | None:
    """Rows to start from; None for the first that can be used."""
    first = isinstance(start, int) and start == 0
    if seed is not None and not first:
        raise ValueError(f"give start or seed, not both (got {start=}, {seed=})")
    if first:
        return None
    rows = whole_numbers.integers(start, "start")
    if rows.ndim > 1:
        raise ValueError(f"start has shape {rows.shape}; give one row or a list of them")
    return [int(row) for row in np.atleast_1d(rows)]


def _source(source: Any, tiles: int, options: dict[str, Any]) -> Source:
    if hasattr(source, "iter_internal_ref_bundles"):
        return dataset_source(source, options["xyz"], tiles)
    several = [source] if isinstance(source, (str, os.PathLike)) else source
    if not isinstance(several, Iterable) or hasattr(several, "__array__"):
        return array_source(source, tiles)
    several = list(several)
    if several and all(isinstance(path, (str, os.PathLike)) for path in several):
        return FileSource([os.fspath(path) for path in several], tiles, options)
    return array_source(several, tiles)


class _Run:
    """A run: its storage, its actors, its conductor."""

    def __init__(self, ray: Any, source: Source, log: Path | None, num_cpus: float, limit: float) -> None:
        self._ray = ray
        self._source = source
        self._token = uuid.uuid4().hex.encode()
        self._keeper = None
        if log is None:
            place = f"{KEPT}farpoint-{self._token.decode()[:8]}-log"
            self._keeper = _keeper(ray, place.removeprefix(KEPT))
        else:
            place = _absolute(os.fspath(log))
        self._place = place
        self._storage: Storage = open_storage(place, limit)
        #: Manifests written so far, by all drivers.
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

    def open(self, asked: list[Any], skip_bad: bool) -> None:
        """Looks at the points, and takes over the log."""
        self._source.open(self.actors, skip_bad)
        job = json.dumps({"cloud": self._source.identity, "asked": asked}, indent=1).encode()
        there = self._storage.get("job")
        if there is not None and there != job:
            raise ValueError(
                f"{self._place} has the log of another run: cloud, options or number of tiles "
                "differ; give another folder, or remove this one"
            )
        self._storage.put(DRIVER, self._token)
        if there is None:
            self._storage.put("job", job)
        for k in range(2):
            found = self._storage.get(f"manifest-{k}")
            number = int.from_bytes((found or bytes(8))[:8], "little")
            if found is not None and number > self._saved:
                self._saved, self._manifest = number, found[8:]

    def sample(
        self, amount: tuple[int | None, float | None, float | None], starts: list[Start], tell: Any
    ) -> CloudSample:
        """Samples to the end, with a manifest after each band."""
        self.actors.prepare(self._source.told)
        conductor = _native.Conductor(
            self._source.double, *amount, starts, len(self._source.files), self.actors.transport,
            _workers.TRIES, self._manifest,
        )
        while (band := conductor.advance()) is not None:
            self._save(conductor.manifest())
            if tell is not None:
                tell(min(band), band[1])
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
        # By turns: one that was not written to its end leaves the one before it.
        content = self._saved.to_bytes(8, "little") + manifest
        self._storage.put(f"manifest-{self._saved % 2}", content)

    def _ended(self, statistics: list[tuple[str, int]]) -> None:
        """What was counted, for those who look into the log."""
        self._storage.put("statistics", json.dumps(dict(statistics)).encode())


def _absolute(place: str) -> str:
    """Workers have other working folders."""
    return place if "://" in place else os.path.abspath(place)


def _keeper(ray: Any, name: str) -> Any:
    """On this machine: it must not end before the driver does."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(Keeper).options(name=name, num_cpus=0, scheduling_strategy=here).remote()
