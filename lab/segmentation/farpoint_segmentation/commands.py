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
    args = parser(runs).parse_args(arguments)
    run: Command = args.run
    try:
        run(args)
    except (OSError, ValueError) as error:
        print(f"error: {_text(error)}", file=sys.stderr)
        return 2
    except ImportError as error:
        help = "" if "install" in str(error) else "; pip install ./lab/segmentation"
        print(f"error: {error}{help}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; repeat the command to resume", file=sys.stderr)
        return 130
    return 0


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _network(args: argparse.Namespace, seed: int) -> Any:
    """Returns the network on its device, with random weights."""
    import torch

    from .networks import build

    module = build(args.network, args.data, seed=seed)
    name = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if name.partition(":")[0] == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"--device {name}: PyTorch {torch.__version__} finds no GPU")
    try:
        module = module.to(torch.device(name))
    except RuntimeError as error:
        raise ValueError(f"--device {name}: {str(error).splitlines()[0]}") from None
    if args.compile:
        module.compile_layers()
    return module


def _loaded(args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Returns the network with its checkpoint, and the options for its records."""
    from .data import GENERATED
    from .evaluate import fingerprint
    from .networks import load_checkpoint
    from .run import check_trained

    if (args.checkpoint is None) != args.random_weights:
        raise ValueError("give either --checkpoint FILE, or --random-weights to measure times only")
    options = {
        "checkpoint": "random weights", "class_order": args.class_order, "bfloat16": args.bfloat16,
        "compile": args.compile, "folder": Path(args.folder).name, "split": args.split,
    }
    module = _network(args, args.seed)
    if args.folder == GENERATED:
        options |= {"scene_points": args.points}
    if args.stride > 1:  # the points that "val" takes of voxels depend on the scenes before
        options |= {"stride": args.stride}
    if args.checkpoint is not None:
        rest = load_checkpoint(module, args.checkpoint)
        state = rest.get("scheduler")
        # In checkpoints of other projects an entry of this name is no description.
        state = state if isinstance(state, dict) and "recipe" in state else {}
        check_trained(args.checkpoint, state, args.network, recipe(args.data, args.class_order))
        options |= {"checkpoint": fingerprint(args.checkpoint)}
        # For checkpoints of ``train``: keys by which results are grouped.
        options |= {"recipe": state.get("recipe"), "trained_seed": state.get("seed")}
    return module, options


def _source(args: argparse.Namespace, numbers: Recipe, split: str, scenes: int | None) -> Any:
    from .data import open_data

    return open_data(args.folder, split, numbers, scenes=scenes, points=args.points)


def _sampler_names(args: argparse.Namespace) -> list[str]:
    """Returns each name once; "paper" stands for the samplers of its tables."""
    from .samplers import TABLE_2, TABLE_5

    groups = [[name] if name != "paper" else [*TABLE_2, *TABLE_5] for name in args.samplers]
    return list(dict.fromkeys(name for names in groups for name in names))


def _evaluate(args: argparse.Namespace) -> None:
    from .evaluate import Evaluation, evaluate
    from .samplers import parse
    from .table import table

    numbers = recipe(args.data, args.class_order)
    samplers = [parse(name, args.data) for name in _sampler_names(args)]
    source = _source(args, numbers, args.split, args.scenes)
    module, options = _loaded(args)
    task = Evaluation(
        recipe=numbers, source=source, network=args.network, module=module, output=args.output,
        protocol=args.protocol, seed=args.seed, options=options,
        bfloat16=args.bfloat16, graphs=args.graphs and not args.compile, predictions=args.predictions,
        progress=not args.quiet,
    )
    names = list(source.names)[:: args.stride][: args.scenes]
    print(table(evaluate(task, samplers, names), numbers, per_class=args.per_class))


def _train(args: argparse.Namespace) -> None:
    from .data import GENERATED, Kept
    from .run import READERS
    from .samplers import parse
    from .train import Run, train

    small = args.recipe == "small"
    if small and args.folder != GENERATED:
        raise ValueError('--recipe small trains on generated scenes: write "generated" for the folder')
    numbers = recipe(args.data, args.class_order)
    scenes = args.scenes
    if scenes is None and args.folder == GENERATED:
        scenes = 200 if args.data == "semantickitti" else 60
    plan = training(args.data, args.network, small=small)
    plan = replace(plan, batch=args.batch or plan.batch, steps=args.steps or plan.steps)
    source = _source(args, numbers, "train", scenes)
    validation = _validation(args, numbers)
    if args.folder == GENERATED and len(args.seeds) > 1:  # generating takes longer than training
        source = Kept(source)
    for seed in args.seeds:
        run = Run(
            recipe=numbers, source=source, network=args.network, module=_network(args, seed),
            sampler=parse(args.sampler, args.data), training=plan, output=args.output, seed=seed,
            name=args.recipe, crop=args.crop, cache=int(args.cache * (1 << 30)),
            readers=args.readers or READERS, every=args.every, bfloat16=args.bfloat16, validation=validation,
            folder=Path(args.folder).name, scene_points=args.points,
            graphs=args.graphs and not args.compile, progress=not args.quiet,
        )
        run = replace(run, validate=args.validate or (500 if small else run.epoch_steps))
        print(train(run))


def _validation(args: argparse.Namespace, numbers: Recipe) -> Any:
    """Returns the scenes for validation; None if there are none, or validation is off."""
    from .data import GENERATED, Chosen, Generated, Kept

    if args.validate == 0:
        return None
    if args.validate is not None and args.validate < 0:
        raise ValueError(f"--validate {args.validate}: it must be 1 or more, or 0 for no validation")
    if args.folder == GENERATED:
        # Different from the scenes of "evaluate", which must be unseen.
        return Kept(Generated(numbers, "val", args.val_scenes or 4, args.points, seed=1))
    try:
        source = _source(args, numbers, "val", None)
    except FileNotFoundError as error:
        if args.validate is not None or args.val_scenes is not None:
            raise
        print(f"no validation: {_text(error)}", file=sys.stderr)
        return None
    return source if args.val_scenes is None else Chosen(source, args.val_scenes)


def _time(args: argparse.Namespace) -> None:
    from .evaluate import clouds
    from .samplers import parse
    from .table import table
    from .timing import ALL_PAIRS, run

    numbers = recipe(args.data, args.class_order)
    samplers = _sampler_names(args)
    for name in samplers:
        parse(name.removesuffix(ALL_PAIRS), args.data)
    source = _source(args, numbers, args.split, args.scenes)
    module, options = _loaded(args)
    module.eval()
    names = list(source.names)[:: args.stride][: args.scenes]
    results: list[SceneRecord] = []
    with progress.bar(not args.quiet, "timing", "scenes") as report:
        for number, scene in enumerate(clouds(source, names, numbers, args.network, module)):
            results += run(
                module, [scene], samplers, args.output, data=args.data, name=args.network, seed=args.seed,
                options=options, rounds=args.repeats, bfloat16=args.bfloat16,
                graphs=args.graphs and not args.compile,
                existing={one.key: one for one in read_scenes(args.output)},
            )
            if report is not None:
                report(number + 1, len(names))
    print(table(results, numbers))


def _report(args: argparse.Namespace) -> None:
    from . import report

    print(report.run(args.results, args.output))


def _generate(args: argparse.Namespace) -> None:
    from .data.generated import POINTS
    from .layouts import write_scenes

    points = args.points or POINTS[args.layout.partition("-")[0]]
    with progress.bar(not args.quiet, "generating", "scenes") as report:
        write_scenes(args.output, args.layout, args.scenes, points, args.seed, report)
