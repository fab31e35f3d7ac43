"""Commands; their arguments are in ``arguments``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import progress
from .arguments import Command, parser
from .recipes import Recipe, recipe, training
from .records import SceneRecord, read_scenes

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, or 2 for wrong arguments or inputs."""
    runs = {"evaluate": _evaluate, "train": _train, "time": _time, "report": _report, "generate": _generate}
    given = parser(runs).parse_args(arguments)
    run: Command = given.run
    try:
        run(given)
    except (OSError, ValueError) as error:
        print(f"error: {_text(error)}", file=sys.stderr)
        return 2
    except ImportError as error:
        help = "" if "install" in str(error) else "; pip install ./lab/segmentation"
        print(f"error: {error}{help}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _network(given: argparse.Namespace, seed: int) -> Any:
    """Returns the network on its device, with random weights."""
    import torch

    from .networks import build

    module = build(given.network, given.data, seed=seed)
    name = given.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if name.partition(":")[0] == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"--device {name}: PyTorch {torch.__version__} finds no GPU")
    try:
        module = module.to(torch.device(name))
    except RuntimeError as error:
        raise ValueError(f"--device {name}: {str(error).splitlines()[0]}") from None
    if given.compile:
        module.compile_layers()
    return module


def _loaded(given: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Returns the network with its checkpoint, and the options for its records."""
    from .data import GENERATED
    from .evaluate import fingerprint
    from .networks import load_checkpoint
    from .run import check_trained

    if (given.checkpoint is None) != given.random_weights:
        raise ValueError("give either --checkpoint FILE or --random-weights, by which only times count")
    options = {
        "checkpoint": "random weights", "class_order": given.class_order, "bfloat16": given.bfloat16,
        "compile": given.compile, "folder": Path(given.folder).name, "split": given.split,
    }
    module = _network(given, given.seed)
    if given.folder == GENERATED:
        options |= {"scene_points": given.points}
    if given.stride > 1:  # the points that "val" takes of voxels depend on the scenes before
        options |= {"stride": given.stride}
    if given.checkpoint is not None:
        rest = load_checkpoint(module, given.checkpoint)
        state = rest.get("scheduler")
        # In checkpoints of other projects an entry of this name is no description.
        state = state if isinstance(state, dict) and "recipe" in state else {}
        check_trained(given.checkpoint, state, given.network, recipe(given.data, given.class_order))
        options |= {"checkpoint": fingerprint(given.checkpoint)}
        # For checkpoints of ``train``: keys by which results are grouped.
        options |= {"recipe": state.get("recipe"), "trained_seed": state.get("seed")}
    return module, options


def _source(given: argparse.Namespace, numbers: Recipe, split: str, scenes: int | None) -> Any:
    from .data import open_data

    return open_data(given.folder, split, numbers, scenes=scenes, points=given.points)


def _sampler_names(given: argparse.Namespace) -> list[str]:
    """Returns each name once; "paper" stands for the samplers of its tables."""
    from .samplers import TABLE_2, TABLE_5

    every = [[name] if name != "paper" else [*TABLE_2, *TABLE_5] for name in given.samplers]
    return list(dict.fromkeys(name for names in every for name in names))


def _evaluate(given: argparse.Namespace) -> None:
    from .evaluate import Evaluation, evaluate
    from .samplers import parse
    from .table import table

    numbers = recipe(given.data, given.class_order)
    samplers = [parse(name, given.data) for name in _sampler_names(given)]
    source = _source(given, numbers, given.split, given.scenes)
    module, options = _loaded(given)
    task = Evaluation(
        recipe=numbers, source=source, network=given.network, module=module, output=given.output,
        protocol=given.protocol, seed=given.seed, options=options,
        bfloat16=given.bfloat16, graphs=given.graphs and not given.compile, predictions=given.predictions,
        progress=not given.quiet,
    )
    names = list(source.names)[:: given.stride][: given.scenes]
    print(table(evaluate(task, samplers, names), numbers, per_class=given.per_class))


def _train(given: argparse.Namespace) -> None:
    from .data import GENERATED, Kept
    from .run import READERS
    from .samplers import parse
    from .train import Run, train

    small = given.recipe == "small"
    if small and given.folder != GENERATED:
        raise ValueError('--recipe small trains on generated scenes: write "generated" for the folder')
    numbers = recipe(given.data, given.class_order)
    scenes = given.scenes
    if scenes is None and given.folder == GENERATED:
        scenes = 200 if given.data == "semantickitti" else 60
    plan = training(given.data, given.network, small=small)
    plan = replace(plan, batch=given.batch or plan.batch, steps=given.steps or plan.steps)
    source = _source(given, numbers, "train", scenes)
    validation = _validation(given, numbers)
    if given.folder == GENERATED and len(given.seeds) > 1:  # generating takes longer than training
        source = Kept(source)
    for seed in given.seeds:
        run = Run(
            recipe=numbers, source=source, network=given.network, module=_network(given, seed),
            sampler=parse(given.sampler, given.data), training=plan, output=given.output, seed=seed,
            name=given.recipe, crop=given.crop, cache=int(given.cache * (1 << 30)),
            readers=given.readers or READERS, every=given.every, bfloat16=given.bfloat16, validation=validation,
            folder=Path(given.folder).name, scene_points=given.points,
            graphs=given.graphs and not given.compile, progress=not given.quiet,
        )
        run = replace(run, validate=given.validate or (500 if small else run.epoch_steps))
        print(train(run))


def _validation(given: argparse.Namespace, numbers: Recipe) -> Any:
    """Returns the scenes for validation; None if there are none, or validation is off."""
    from .data import GENERATED, Chosen, Generated, Kept

    if given.validate == 0:
        return None
    if given.validate is not None and given.validate < 0:
        raise ValueError(f"--validate {given.validate}: it must be 1 or more, or 0 for no validation")
    if given.folder == GENERATED:
        # Different from the scenes of "evaluate", which must be unseen.
        return Kept(Generated(numbers, "val", given.val_scenes or 4, given.points, seed=1))
    try:
        found = _source(given, numbers, "val", None)
    except FileNotFoundError as error:
        if given.validate is not None or given.val_scenes is not None:
            raise
        print(f"no validation: {_text(error)}", file=sys.stderr)
        return None
    return found if given.val_scenes is None else Chosen(found, given.val_scenes)


def _time(given: argparse.Namespace) -> None:
    from .evaluate import clouds
    from .samplers import parse
    from .table import table
    from .timing import ALL_PAIRS, run

    numbers = recipe(given.data, given.class_order)
    samplers = _sampler_names(given)
    for name in samplers:
        parse(name.removesuffix(ALL_PAIRS), given.data)
    source = _source(given, numbers, given.split, given.scenes)
    module, options = _loaded(given)
    module.eval()
    names = list(source.names)[:: given.stride][: given.scenes]
    found: list[SceneRecord] = []
    with progress.bar(not given.quiet, "timing", "scenes") as tell:
        for number, scene in enumerate(clouds(source, names, numbers, given.network, module)):
            found += run(
                module, [scene], samplers, given.output, data=given.data, name=given.network, seed=given.seed,
                options=options, rounds=given.repeats, bfloat16=given.bfloat16,
                graphs=given.graphs and not given.compile,
                there={one.key: one for one in read_scenes(given.output)},
            )
            if tell is not None:
                tell(number + 1, len(names))
    print(table(found, numbers))


def _report(given: argparse.Namespace) -> None:
    from . import report

    print(report.run(given.results, given.output))


def _generate(given: argparse.Namespace) -> None:
    from .data.generated import POINTS
    from .layouts import write_scenes

    points = given.points or POINTS[given.layout.partition("-")[0]]
    with progress.bar(not given.quiet, "generating", "scenes") as tell:
        write_scenes(given.output, given.layout, given.scenes, points, given.seed, tell)
