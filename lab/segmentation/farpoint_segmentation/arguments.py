"""Arguments of the commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from .layouts import LAYOUTS
from .recipes import DATA, NETWORKS, ClassOrder

__all__ = ["Command", "parser"]

#: Function that runs a command.
Command = Callable[[argparse.Namespace], None]

_EPILOG = """examples:
  python -m farpoint_segmentation evaluate Stanford3dDataset_v1.2_Aligned_Version --data s3dis \\
      --network pointmetabase-l --checkpoint best.pth --samplers naive,random,grid,peak -o results
  python -m farpoint_segmentation evaluate dataset --data semantickitti --network pointvector-l \\
      --checkpoint best.pth --protocol test --predictions -o results
  python -m farpoint_segmentation train generated --recipe small --data s3dis \\
      --network pointmetabase-l --seeds 0,1,2 -o trained
  python -m farpoint_segmentation time generated --data semantickitti --network pointmetabase-l \\
      --random-weights -o times
  python -m farpoint_segmentation report results times trained -o page
  python -m farpoint_segmentation generate --layout s3dis --scenes 12 -o rooms

DATASET-FOLDER is where a data set was unpacked, in its published layout, or the word "generated" for
scenes that farpoint makes itself, on which figures say nothing about the data sets.
"""


def parser(runs: Mapping[str, Command]) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    Parameters
    ----------
    runs : mapping
        Functions for "evaluate", "train", "time", "report" and "generate", stored in the parsed arguments as
        ``run``.
    """
    made = argparse.ArgumentParser(
        prog="python -m farpoint_segmentation", description="Segmentation by PointMetaBase and PointVector.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    _add_evaluate(commands, runs["evaluate"])
    _add_train(commands, runs["train"])
    _add_time(commands, runs["time"])
    _add_report(commands, runs["report"])
    _add_generate(commands, runs["generate"])
    return made


def _command(commands: Any, name: str, run: Command, text: str) -> Any:
    added = commands.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}.", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    added.set_defaults(run=run)
    return added


def _add_evaluate(commands: Any, run: Command) -> None:
    command = _command(commands, "evaluate", run, "segment scenes with each of several samplers")
    _add_data(command)
    _add_network(command)
    _add_samplers(command)
    _add_stride(command)
    command.add_argument(
        "--protocol", choices=("val", "test"), default="val",
        help="a scene's voxels once, as for the paper's times, or clouds of a point each until every point was in one",
    )
    command.add_argument("--split", choices=("train", "val", "test"), default="val")
    _add_graphs(command, "one CUDA graph for the clouds of a scene in the protocol test (unless --no-graphs)")
    command.add_argument("--predictions", action="store_true", help="write labeled PLY (and .label) files")
    command.add_argument("--per-class", action="store_true", help="print the IoU of each class too")


def _add_train(commands: Any, run: Command) -> None:
    command = _command(commands, "train", run, "train a network, going on where it was stopped")
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


def _add_time(commands: Any, run: Command) -> None:
    command = _command(commands, "time", run, "measure forward passes, samplers in turn")
    _add_data(command)
    _add_network(command)
    _add_samplers(command)
    _add_stride(command)
    command.add_argument("--split", choices=("train", "val", "test"), default="val")
    command.add_argument("--repeats", type=_positive, default=3, help="of which the median counts (3)")
    _add_graphs(command, "time passes also as one CUDA graph, where they can be (unless --no-graphs)")


def _add_report(commands: Any, run: Command) -> None:
    command = _command(commands, "report", run, "make tables and plots of results")
    command.add_argument("results", type=Path, nargs="+", help="folders that evaluate, time and train wrote")
    command.add_argument("-o", "--output", type=Path, required=True, help="the folder of the report")


def _add_generate(commands: Any, run: Command) -> None:
    command = _command(commands, "generate", run, "write generated scenes as a data set is published")
    command.add_argument(
        "--layout", choices=LAYOUTS, required=True,
        help="S3DIS as text or as arrays, ScanNet, or SemanticKITTI",
    )
    command.add_argument("--scenes", type=_positive, default=6, help="how many, with seeds from --seed on (6)")
    command.add_argument("--points", type=_positive, help="points of a scene; as many as the data set's unless set")
    command.add_argument("--seed", type=int, default=0, help="of the first scene (0)")
    command.add_argument("-o", "--output", type=Path, required=True, help="an empty folder")
    command.add_argument("--quiet", action="store_true", help="no progress bar")


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
        help="what chooses the points of the levels, by commas: see farpoint_segmentation.samplers; paper stands "
        "for those of the paper's tables, on the first level as there",
    )


def _add_graphs(command: Any, text: str) -> None:
    command.add_argument("--graphs", action=argparse.BooleanOptionalAction, default=True, help=text)


def _add_stride(command: Any) -> None:
    command.add_argument(
        "--stride", type=_positive, default=1, help="every so many-th scene, before --scenes counts (1)"
    )


def _split(text: str) -> list[str]:
    """Splits names of samplers: a comma before an option such as ``window=64`` does not end a name."""
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
