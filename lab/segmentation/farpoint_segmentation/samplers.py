"""Samplers of a network's levels, by name.

========================= ====================================================================================
``peak``, ``naive``,      an exact algorithm of ``farpoint.sample``, on the device of the points: all choose the
``radius``, ..            same points. On a GPU ``naive`` is the paper's "FPS (GPU)", ``radius`` its RadiusFPS-G
``random``, ``grid``      an approximate sampler, ``farpoint.sample_random`` .., on the CPU
``quick``, ``morton``,    a baseline of ``lab/baselines``; ``morton`` is the paper's EdgePC. ``quick``, which is exact, and
``npdu``, ``fastpoint``   ``fastpoint`` run on the device of the points, the others on the CPU
``fastpoint+radius``, ..  FastPoint, whose exact sample comes from that algorithm: the paper's "FastPoint + X"
``cpu:naive``, ..         an exact sampler or FastPoint on the CPU, including copies from and to the device:
                          ``cpu:naive`` is the paper's "FPS (CPU)", ``cpu:radius`` its RadiusFPS
========================= ====================================================================================

Options follow a colon: ``radius:nvox=24``, ``npdu:order=morton,window=64``, ``grid:keep=first``,
``fastpoint:estimator=fit``, ``morton:bits=21``, ``random:seed=7``. They may be followed by

* ``@first``: use the sampler on the first level only, and textbook sampling (``naive``) on each of the others, as
  section 5.1 of the paper says of its tables;
* ``@every``: run an exact sampler on every level;
* ``@released``: as ``@first``, with what differs in FastPoint's released code. ``random`` draws with replacement, on
  all levels; ``grid`` has cells of 0.08, 0.04 or 0.30 m (S3DIS, ScanNet, SemanticKITTI) and returns as many points as
  there are cells.

By default an approximate sampler runs on all levels, with a quarter of the points each, without replacement. An exact
sampler runs once: its samples come in order of selection, so that the coarser levels are prefixes of the first
(`proof`_), with the same points.

.. _proof: https://github.com/farpoint/farpoint/blob/main/docs/development/proofs.md#levels-are-prefixes
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor

import farpoint

from . import baselines

__all__ = ["TABLE_2", "TABLE_5", "Sampler", "parse"]

#: Samplers of the paper's tables 2 and 3, and of table 5, in its order, with its names. Random replaces all levels in
#: the code that the paper builds on.
TABLE_2 = {
    "cpu:naive@first": "FPS (CPU)", "npdu@first": "FPS + NPDU", "naive@first": "FPS (GPU)", "quick@first": "QuickFPS",
    "cpu:radius@first": "RadiusFPS", "radius@first": "RadiusFPS-G", "fastpoint+naive@first": "FastPoint + FPS",
    "fastpoint+quick@first": "FastPoint + QuickFPS", "cpu:fastpoint+radius@first": "FastPoint + RadiusFPS",
    "fastpoint+radius@first": "FastPoint + RadiusFPS-G",
}
TABLE_5 = {
    "naive@first": "FPS (GPU)", "random": "Random", "grid@first": "Grid", "morton@first": "EdgePC",
    "npdu@first": "FPS + NPDU", "fastpoint@first": "FastPoint", "cpu:radius@first": "RadiusFPS",
    "radius@first": "RadiusFPS-G",
}

_EXACT = ("auto", "reference", "naive", "radius", "tree", "peak", "quick", "persistent")
_BASELINES = ("quick", "morton", "npdu", "fastpoint")
#: Exact algorithms only available on the CPU.
_ON_CPU = ("reference", "tree")
_APPROXIMATE = ("random", "grid", "morton", "npdu", "fastpoint")

#: Options of approximate samplers, with their names in farpoint.
_OPTIONS: dict[str, dict[str, tuple[str, type]]] = {
    "random": {"seed": ("seed", int)},
    "grid": {"keep": ("keep", str), "cell": ("cell", float)},
    "morton": {"bits": ("bits", int)},
    "npdu": {"order": ("order", str), "window": ("window", int)},
    "fastpoint": {"estimator": ("estimator", str), "first": ("first", str)},
}

#: Cell sizes of the released grid, in meters.
_RELEASED_CELLS = {"s3dis": 0.08, "scannet": 0.04, "semantickitti": 0.30}


@dataclass(frozen=True)
class Sampler:
    """Sampler of a network's levels, created by ``parse``.

    Attributes
    ----------
    name : str
        Name passed to ``parse``.
    exact : bool
        True for the farthest point sample on all levels.
    device : {"cpu", "input"}
        Device of the sampler: always the CPU, or the device of the points.
    """

    name: str
    exact: bool
    device: Literal["cpu", "input"]
    method: str
    options: dict[str, Any] = field(default_factory=dict)
    #: Sampler of the levels after the first, if different.
    rest: Sampler | None = None
    with_replacement: bool = False
    #: Run an exact sampler on every level instead of once.
    every: bool = False

    def takes_prefix(self, level: int) -> bool:
        """Return True if the samples of a level are the first rows of the finer one.

        They are if an exact sampler runs once: a farthest point sample in order of selection is its own farthest point
        order.
        """
        return level > 1 and self.exact and not self._at(level).every

    def sample(self, points: Tensor, count: int, level: int) -> Tensor:
        """Choose the points of a level.

        Parameters
        ----------
        points : tensor, (B, N, 3)
            Points of the finer level.
        count : int
            Number of samples per cloud; a grid of fixed cells returns one per cell.
        level : int
            Level, 1 for the first that is sampled.

        Returns
        -------
        tensor of int64, (B, count)
            Row indices, on the device of the points.

        Raises
        ------
        ValueError, TypeError, farpoint.CudaUnavailable
            As for ``farpoint.sample`` and ``baselines.sample``.
        """
        if self.takes_prefix(level):
            return torch.arange(count, device=points.device).expand(points.shape[0], count)
        here = self._at(level)
        if here.device == "cpu" and not points.is_cpu:
            return here._chosen(points.cpu(), count, level).to(points.device)
        return here._chosen(points, count, level)

    def _at(self, level: int) -> Sampler:
        """Returns the sampler of a level."""
        return self if level <= 1 or self.rest is None else self.rest

    def _chosen(self, points: Tensor, count: int, level: int) -> Tensor:
        if self.method.partition(":")[0] in _BASELINES:
            text = ",".join(f"{name}={value}" for name, value in self.options.items())
            return baselines.sample(points, count, f"{self.method}:{text}" if text else self.method)
        if self.method not in _APPROXIMATE:
            return farpoint.sample(points, count, algorithm=self.method)
        options = dict(self.options)
        if self.method == "random":
            options["seed"] = options.get("seed", 0) + level
        if self.with_replacement:
            generator = torch.Generator(points.device).manual_seed(options["seed"])
            shape = (points.shape[0], count)
            return torch.randint(points.shape[1], shape, generator=generator, device=points.device)
        if "cell" not in options:
            options["count"] = count
        elif points.shape[0] > 1:
            raise ValueError(
                f"{self.name} gives a different number of points for each of {points.shape[0]} clouds; sample them "
                "one by one"
            )
        sample = getattr(farpoint, f"sample_{self.method}")
        result: Tensor = sample(points, **options)
        return result


def parse(text: str, data: str | None = None) -> Sampler:
    """Return the sampler of this name.

    Parameters
    ----------
    text : str
        Name, see the module.
    data : {"s3dis", "scannet", "semantickitti"}, optional
        Name of the dataset, for ``grid@released``.

    Raises
    ------
    ValueError
        Unknown sampler or option; the message lists the known ones.

    Examples
    --------
    >>> parse("cpu:radius").device, parse("npdu").exact, parse("fastpoint+peak").options
    ('cpu', False, {'first': 'peak'})
    """
    body, at, levels = text.partition("@")
    if at and levels not in ("every", "first", "released"):
        raise ValueError(f'sampler {text!r} ends with "@{levels}"; it must be "@every", "@first" or "@released"')
    plain = body.removeprefix("cpu:")
    sampler = _one(text, plain)
    if plain != body:
        if sampler.device == "cpu":
            raise ValueError(f'sampler {text!r}: {plain} runs on the CPU anyway; leave out "cpu:"')
        sampler = replace(sampler, device="cpu")
    return _levels(sampler, levels, data)


def _one(text: str, body: str) -> Sampler:
    """Returns the sampler of a name without a device and levels; ``text`` is the whole name."""
    head, _, option_text = body.partition(":")
    if head in _EXACT:
        return Sampler(text, True, "input", body)
    method, plus, first_stage = head.partition("+")
    if method not in _APPROXIMATE or (plus and method != "fastpoint"):
        raise ValueError(
            f"sampler {text!r} is unknown; there are {', '.join(_EXACT)}, {', '.join(_APPROXIMATE)}, fastpoint+ with "
            "one of the first, and cpu: before an exact one or fastpoint"
        )
    options = _options(text, method, option_text)
    if plus:
        if first_stage not in _EXACT:
            raise ValueError(f"sampler {text!r}: {first_stage!r} is none of {', '.join(_EXACT)}")
        options["first"] = first_stage
    runs_on_input_device = method == "fastpoint" and first_stage not in _ON_CPU
    return Sampler(text, False, "input" if runs_on_input_device else "cpu", method, options)


def _options(text: str, method: str, option_text: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for part in option_text.split(",") if option_text else []:
        name, _, value = part.partition("=")
        if name not in _OPTIONS[method]:
            raise ValueError(
                f"sampler {text!r}: {method} has no option {name!r}, but {', '.join(_OPTIONS[method])}"
            )
        key, kind = _OPTIONS[method][name]
        try:
            options[key] = kind(value)
        except ValueError:
            raise ValueError(f"sampler {text!r}: {name} is {value!r}; it must be a number") from None
    return options


def _levels(sampler: Sampler, levels: str, data: str | None) -> Sampler:
    """Returns the sampler with the levels given by the suffix of its name."""
    if not levels:
        return sampler
    if levels == "every":
        if not sampler.exact:
            raise ValueError(
                f'sampler {sampler.name!r}: "@every" is for exact samplers, which otherwise run once; {sampler.method} '
                "runs on every level anyway"
            )
        return replace(sampler, every=True)
    if levels == "released" and sampler.method == "random":
        return replace(sampler, device="input", with_replacement=True)
    if levels == "released" and sampler.method == "grid" and "cell" not in sampler.options:
        if data not in _RELEASED_CELLS:
            raise ValueError(
                f"sampler {sampler.name!r}: its cells depend on the data set, which is {data!r}; it must be one of "
                f"{', '.join(_RELEASED_CELLS)}, or the name says grid:cell=0.08@released"
            )
        sampler = replace(sampler, options={**sampler.options, "cell": _RELEASED_CELLS[data]})
    return replace(sampler, rest=parse("naive@every"))
