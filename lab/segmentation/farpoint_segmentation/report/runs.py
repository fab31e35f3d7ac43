"""Records grouped as runs: results of one network on the scenes of one dataset, by sampler."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import metrics
from ..recipes import DATA, NETWORKS, recipe
from ..records import SceneRecord
from ..samplers import TABLE_2, TABLE_5, parse
from .published import BASELINE, name_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RANDOM", "Run", "Score", "Sums", "Taken", "disagreeing", "is_exact", "recipe_title", "runs_of"]

#: Checkpoint name of untrained parameters: times count, scores do not.
RANDOM = "random weights"


class Score(NamedTuple):
    """Scores in percent over all scenes: the mean over trainings, the minimum and the maximum."""

    oa: float
    miou: float
    lowest: float
    highest: float
    trainings: int


class Sums(NamedTuple):
    """Sums of seconds over scenes, and the peak memory in bytes."""

    scenes: int
    all: float
    sampling: float | None
    memory: int | None


@dataclass
class Taken:
    """Results of one sampler: records of times, and of scores by training."""

    times: dict[str, SceneRecord] = field(default_factory=dict)
    scores: dict[tuple[int, str], list[SceneRecord]] = field(default_factory=dict)

    def sums(self, scenes: Iterable[str] | None = None) -> Sums | None:
        """Return sums over these scenes, which must have been timed; over all unless set."""
        timed = [self.times[name] for name in (self.times if scenes is None else scenes)]
        if not timed:
            return None
        totals = [one.seconds.all for one in timed if one.seconds.all is not None]
        parts = [one.seconds.sampling for one in timed if one.seconds.sampling is not None]
        memory = [one.peak_memory for one in timed if one.peak_memory is not None]
        return Sums(
            len(timed),
            sum(totals),
            sum(parts) if len(parts) == len(timed) else None,
            max(memory, default=None),
        )

    def confused(self) -> set[str]:
        """Return the scenes with scores."""
        return {one.scene for group in self.scores.values() for one in group}

    def confusions(self) -> list[NDArray[np.int64]]:
        """Return the confusion matrix of each training, over all of its scenes."""
        return [_total(group) for _, group in sorted(self.scores.items(), key=lambda item: item[0])]


def _total(group: Iterable[SceneRecord]) -> NDArray[np.int64]:
    """Returns the confusion matrix over all of these scenes."""
    total: NDArray[np.int64] = np.sum([np.asarray(one.confusion, np.int64) for one in group], axis=0)
    return total


@dataclass
class Run:
    """Results of one network on one dataset and one device."""

    data: str
    network: str
    device: str
    #: True for generated scenes in place of the dataset.
    generated: bool
    #: Mode of the layers between samplers: "", or "bfloat16", "compiled", "CUDA graphs".
    layers: str
    protocol: str
    samplers: dict[str, Taken] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Return the title for headings."""
        parts = [recipe_title(self.data), self.network, self.device]
        parts += ["generated scenes"] * self.generated + [self.layers] * bool(self.layers)
        return ", ".join([*parts, *["protocol test"] * (self.protocol == "test")])

    @property
    def slug(self) -> str:
        """Return the slug for file names."""
        words = [self.data, self.network, self.device]
        words += ["generated"] * self.generated + [self.layers] * bool(self.layers)
        words += ["test"] * (self.protocol == "test")
        text = "".join(c if c.isalnum() else "-" for c in "-".join(words).lower())
        return "-".join(part for part in text.split("-") if part)

    def name(self, sampler: str) -> str:
        """Return the paper's name of a sampler, or its own name."""
        return name_of(sampler, self.device) or sampler

    def all_of(self, name: str) -> list[str]:
        """Return the samplers with this name in the paper that ran: first that of ``paper``, then by number of
        options."""
        matching = [sampler for sampler in self.samplers if self.name(sampler) == name]
        return sorted(matching, key=lambda one: (one not in TABLE_2 and one not in TABLE_5, len(one)))

    def of(self, name: str) -> str | None:
        """Return the first of these samplers."""
        return next(iter(self.all_of(name)), None)

    def score(self, sampler: str) -> Score | None:
        """Return the score by the dataset's own mean IoU."""
        kind = recipe(self.data).metric
        scores = [metrics.scores(matrix, kind) for matrix in self.samplers[sampler].confusions()]
        if not scores:
            return None
        mious = [100 * one.miou for one in scores]
        return Score(
            float(np.mean([100 * one.oa for one in scores])),
            float(np.mean(mious)),
            min(mious),
            max(mious),
            len(scores),
        )

    def to_exact(self, sampler: str) -> float | None:
        """Return the difference of mean IoU in percent to the exact sample, over the trainings of both: to the paper's
        FPS (GPU) or (CPU), or to another exact sampler if that has more trainings."""
        named = [self.of(BASELINE), self.of("FPS (CPU)"), *filter(is_exact, self.samplers)]
        exact = [name for name in named if name is not None and self.samplers[name].scores]
        if not exact:
            return None
        base = self.samplers[max(exact, key=lambda name: len(self.samplers[name].scores))].scores
        scores, kind = self.samplers[sampler].scores, recipe(self.data).metric
        common = sorted(scores.keys() & base.keys())
        if not common:
            return None
        differences = [
            metrics.scores(_total(scores[key]), kind).miou - metrics.scores(_total(base[key]), kind).miou
            for key in common
        ]
        return float(100 * np.mean(differences))

    def speed_up(self, sampler: str, part: str = "all", base: str = BASELINE) -> float | None:
        """Return the speed-up over the sampler called ``base`` in the paper, over the scenes timed with both."""
        against = self.of(base)
        if against is None:
            return None
        times = self.samplers[sampler].times
        common = [name for name in self.samplers[against].times if name in times]
        slow, fast = (self.samplers[one].sums(common) for one in (against, sampler))
        if slow is None or fast is None:
            return None
        values = [getattr(one, part) for one in (slow, fast)]
        return values[0] / values[1] if None not in values and values[1] > 0 else None


def recipe_title(data: str) -> str:
    return recipe(data).title


def runs_of(records: Iterable[SceneRecord]) -> list[Run]:
    """Group records of evaluations and timings.

    The last of records with the same key is used. Times are those of ``time`` if there are any, else of
    ``evaluate``; scores are only those of trained networks.

    Raises
    ------
    ValueError
        A record of an unknown dataset or network.
    """
    latest = {record.key: record for record in records}
    groups: dict[tuple[object, ...], Run] = {}
    # Records of ``time`` last: they replace the times of ``evaluate``.
    for record in sorted(latest.values(), key=lambda one: one.task == "time"):
        if record.data not in DATA or record.network not in NETWORKS:
            raise ValueError(f"a record of the unknown network {record.network!r} or data set {record.data!r}")
        generated = record.options.get("folder") == "generated"
        layers = _layers(record)
        protocol = "test" if record.protocol == "test" else "val"
        key = (record.data, record.network, record.device, generated, layers, protocol)
        run = groups.setdefault(key, Run(*key))
        _take(run.samplers.setdefault(record.sampler, Taken()), record)
    order: dict[str, int] = {name: number for number, name in enumerate((*DATA, *NETWORKS))}
    return sorted(groups.values(), key=lambda run: (order[run.data], order[run.network], run.slug))


def _layers(record: SceneRecord) -> str:
    options = (("bfloat16", "bfloat16"), ("compile", "compiled"), ("graph", "CUDA graphs"))
    # Scores are the same with and without graphs, so that this is ignored for "evaluate".
    options_of_run = {**record.options, "graph": record.task == "time" and record.options.get("graph")}
    return ", ".join(word for name, word in options if options_of_run.get(name))


def _take(results: Taken, record: SceneRecord) -> None:
    if record.seconds.all is not None:
        # Generated scenes with different numbers of points are different scenes.
        results.times[f"{record.scene} {record.options.get('scene_points') or ''}"] = record
    checkpoint = str(record.options.get("checkpoint"))
    if record.confusion is not None and checkpoint != RANDOM:
        results.scores.setdefault((record.seed, checkpoint), []).append(record)


def is_exact(sampler: str) -> bool:
    """Return whether a sampler gives the farthest point sample on all levels."""
    try:
        return parse(sampler).exact
    except ValueError:  # of another release, or with all-pairs
        return False


def disagreeing(run: Run) -> tuple[list[str], list[str]]:
    """Return exact samplers with scores, and those of them whose confusions differ from the first's."""
    names = [name for name in run.samplers if is_exact(name) and run.samplers[name].scores]
    differ = []
    for name in names[1:]:
        first, other = run.samplers[names[0]].scores, run.samplers[name].scores
        for training in first.keys() & other.keys():
            expected = {one.scene: one.confusion for one in first[training]}
            if any(expected.get(one.scene, one.confusion) != one.confusion for one in other[training]):
                differ.append(name)
                break
    return names, differ
