"""The commands and their arguments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from .. import _progress
from .recipes import DATA, NETWORKS, ClassOrder, Recipe, recipe, training
from .records import SceneRecord, read_scenes

__all__ = ["main"]

_EPILOG = """examples:
  python -m farpoint.segmentation evaluate Stanford3dDataset_v1.2_Aligned_Version --data s3dis \\
      --network pointmetabase-l --checkpoint best.pth --samplers naive,random,grid,peak -o results
  python -m farpoint.segmentation evaluate dataset --data semantickitti --network pointvector-l \\
      --checkpoint best.pth --protocol test --predictions -o results
  python -m farpoint.segmentation train generated --recipe small --data s3dis \\
      --network pointmetabase-l --seeds 0,1,2 -o trained
  python -m farpoint.segmentation time generated --data semantickitti --network pointmetabase-l \\
      --random-weights -o times
  python -m farpoint.segmentation report results times trained -o page

DATASET-FOLDER is where a data set was unpacked, in its published layout, or the word "generated" for
scenes that farpoint makes itself, on which figures say nothing about the data sets.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0, or 2 if what it was given is wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], None] = given.run
    try:
        run(given)
    except (OSError, ValueError) as error:
        print(f"error: {_text(error)}", file=sys.stderr)
        return 2
    except ImportError as error:
        help = "" if "install" in str(error) else '; pip install "farpoint[segmentation]"'
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m farpoint.segmentation", description="Segmentation by PointMetaBase and PointVector.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_evaluate(commands)
    _add_train(commands)
    _add_time(commands)
    _add_report(commands)
    return parser


def _command(commands: Any, name: str, run: Callable[[argparse.Namespace], None], text: str) -> Any:
    added = commands.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    added.set_defaults(run=run)
    return added


def _add_evaluate(commands: Any) -> None:
    command = _command(commands, "evaluate", _evaluate, "segment scenes with each of several samplers")
    _add_data(command)
    _add_network(command)
    _add_samplers(command)
    _add_stride(command)
    command.add_argument(
        "--protocol", choices=("val", "test"), default="val",
        help="a scene's voxels once, or clouds of a point each until every point was in one",
    )
    command.add_argument("--split", choices=("train", "val", "test"), default="val")
    _add_graphs(command, "one CUDA graph for the clouds of a scene in the protocol test (unless --no-graphs)")
    command.add_argument("--predictions", action="store_true", help="write labeled PLY (and .label) files")
    command.add_argument("--per-class", action="store_true", help="print the IoU of each class too")


def _add_train(commands: Any) -> None:
    command = _command(commands, "train", _train, "train a network, going on where it was stopped")
    _add_data(command)
    _add_network(command, checkpoints=False)
    command.add_argument("--sampler", default="peak", help="what chooses the points of the levels (peak)")
    command.add_argument(
        "--recipe", choices=("authors", "small"), default="authors",
        help="the authors' training, or 3,000 steps on generated scenes",
    )
    command.add_argument("--seeds", type=_numbers, default=[0], help="a training for each (0)")
    command.add_argument("--steps", type=_positive, help="steps in all, in place of the recipe's")
    command.add_argument("--batch", type=_positive, help="clouds of a batch, in place of the recipe's")
    command.add_argument("--crop", type=_positive, help="points of a cloud, in place of the recipe's")
    command.add_argument("--cache", type=float, default=16.0, help="GiB of scenes kept on the device (16)")
    command.add_argument("--readers", type=_positive, help="threads that read scenes (as many as cores, at most 16)")
    _add_graphs(command, "CUDA graphs of steps (unless --no-graphs)")
    command.add_argument("--every", type=_positive, default=100, help="steps between checkpoints (100)")
    command.add_argument(
        "--validate", type=int,
        help="steps between scores on the scenes of val, of whose checkpoints the best is kept; an epoch unless set, "
        "of --recipe small 500, 0 for none",
    )
    command.add_argument(
        "--val-scenes", type=_positive, help="of val only so many, spread over all; of generated ones 4 unless set"
    )


def _add_time(commands: Any) -> None:
    command = _command(commands, "time", _time, "measure forward passes, samplers in turn")
    _add_data(command)
    _add_network(command)
    _add_samplers(command)
    _add_stride(command)
    command.add_argument("--split", choices=("train", "val", "test"), default="val")
    command.add_argument("--repeats", type=_positive, default=3, help="of which the median counts (3)")
    _add_graphs(command, "time passes also as one CUDA graph, where they can be (unless --no-graphs)")


def _add_report(commands: Any) -> None:
    command = _command(commands, "report", _report, "make tables and plots of results")
    command.add_argument("results", type=Path, nargs="+", help="folders that evaluate, time and train wrote")
    command.add_argument("-o", "--output", type=Path, required=True, help="the folder of the report")


def _add_data(command: Any) -> None:
    command.add_argument("folder", metavar="DATASET-FOLDER", help='the data set, or "generated"')
    command.add_argument("--data", choices=DATA, required=True)
    command.add_argument(
        "--class-order", choices=get_args(ClassOrder), default="chair-first",
        help="numbers of four classes of S3DIS: chair 7 table 8 bookcase 9 sofa 10 (OpenPoints), or table 7 "
        "chair 8 sofa 9 bookcase 10",
    )
    command.add_argument("--scenes", type=_positive, help="only so many; of generated ones 12 unless set")
    command.add_argument("--points", type=_positive, help="points of a generated scene")
    command.add_argument("-o", "--output", type=Path, required=True, help="the folder of results")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def _add_network(command: Any, checkpoints: bool = True) -> None:
    command.add_argument("--network", choices=NETWORKS, required=True)
    command.add_argument("--device", help="cuda or cpu; cuda where there is one unless set")
    command.add_argument("--bfloat16", action="store_true", help="layers in bfloat16 (autocast)")
    command.add_argument("--compile", action="store_true", help="layers through torch.compile")
    if checkpoints:
        command.add_argument("--checkpoint", type=Path, help="of the authors' code, or of train")
        command.add_argument(
            "--random-weights", action="store_true", help="no checkpoint: times count, scores do not"
        )
        command.add_argument("--seed", type=int, default=0, help="of random weights and orders (0)")


def _add_samplers(command: Any) -> None:
    command.add_argument(
        "--samplers", default="peak", type=lambda text: [one for one in _split(text) if one],
        help="what chooses the points of the levels, by commas: see farpoint.segmentation.samplers; paper stands "
        "for those of the paper's tables",
    )


def _add_graphs(command: Any, text: str) -> None:
    command.add_argument("--graphs", action=argparse.BooleanOptionalAction, default=True, help=text)


def _add_stride(command: Any) -> None:
    command.add_argument(
        "--stride", type=_positive, default=1, help="every so many-th scene, before --scenes counts (1)"
    )


def _split(text: str) -> list[str]:
    """Names of samplers: a comma before an option such as ``window=64`` does not end one."""
    names: list[str] = []
    for part in text.split(","):
        if names and "=" in part.partition(":")[0]:
            names[-1] += f",{part}"
        else:
            names.append(part.strip())
    return names


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _network(given: argparse.Namespace, seed: int) -> Any:
    """The network on its device, with random weights."""
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
    """The network with its checkpoint, and what records have of it."""
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
    if given.stride > 1:  # which points "val" takes of voxels depends on the scenes before
        options |= {"stride": given.stride}
    if given.checkpoint is not None:
        rest = load_checkpoint(module, given.checkpoint)
        state = rest.get("scheduler")
        # Of a checkpoint of another project what is called so is no description.
        state = state if isinstance(state, dict) and "recipe" in state else {}
        check_trained(given.checkpoint, state, given.network, recipe(given.data, given.class_order))
        options |= {"checkpoint": fingerprint(given.checkpoint)}
        # Of checkpoints that ``train`` wrote: by what results are put together.
        options |= {"recipe": state.get("recipe"), "trained_seed": state.get("seed")}
    return module, options


def _source(given: argparse.Namespace, numbers: Recipe, split: str, scenes: int | None) -> Any:
    from .data import open_data

    return open_data(given.folder, split, numbers, scenes=scenes, points=given.points)


def _sampler_names(given: argparse.Namespace) -> list[str]:
    """Each name once; "paper" stands for the samplers of its tables."""
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
    if given.folder == GENERATED and len(given.seeds) > 1:  # takes longer than to train on them
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
    """Scenes for validation; None if there are none, or none are wanted."""
    from .data import GENERATED, Chosen, Generated

    if given.validate == 0:
        return None
    if given.validate is not None and given.validate < 0:
        raise ValueError(f"--validate {given.validate}: it must be 1 or more, or 0 for no validation")
    if given.folder == GENERATED:
        # Others than those that "evaluate" takes, which are not seen before.
        return Generated(numbers, "val", given.val_scenes or 4, given.points, seed=1)
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
    with _progress.bar(not given.quiet, "timing", "scenes") as tell:
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
