"""Checkpoints in the format of the authors' code: a ``torch.save`` of a dictionary with the parameters."""

from __future__ import annotations

import os
import re
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["load_checkpoint", "save_checkpoint"]

#: Possible keys of the parameters in the dictionary.
_NAMES = ("model", "net", "network", "state_dict", "base_model")

#: FastPoint's distance estimators, stored in the stem of its checkpoints; farpoint has its own.
_ESTIMATOR = re.compile(r"(^|\.)model_(s3dis|scannet|semantickitti)\.fc")

#: Number of names listed in an error.
_LISTED = 5


def load_checkpoint(module: nn.Module, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Load all parameters of a network from a checkpoint.

    Parameters
    ----------
    module : Module
        Network, which stays on its device.
    path : path
        Checkpoint of ``save_checkpoint``, OpenPoints, PointMetaBase, PointVector or FastPoint. No
        code in it is run (``weights_only``).

    Returns
    -------
    dict
        Other entries of the file, such as "epoch" and "best_val".

    Raises
    ------
    ValueError
        Not a checkpoint, or of another network; the message has the names and shapes that differ.
    OSError
        The file can't be read.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # various types, for files not written by PyTorch
        raise ValueError(f"{os.fspath(path)}: not a checkpoint that can be read without running code: {error}") from error
    parameters, rest = _parts(content, path)
    _check(module, parameters, path)
    module.load_state_dict(parameters, strict=True)
    return rest


def save_checkpoint(
    module: nn.Module, path: str | os.PathLike[str], *, optimizer: Any = None, scheduler: Any = None,
    epoch: int = 0, best_val: float = 0.0,
) -> None:
    """Save a network in the format of the authors' code, which can load it.

    Parameters
    ----------
    module : Module
        The network.
    path : path
        Output file. An existing file is replaced atomically.
    optimizer, scheduler : optional
        Anything with a ``state_dict``.
    epoch, best_val : optional
        Stored unchanged.
    """
    content = {
        "model": module.state_dict(),
        "optimizer": None if optimizer is None else optimizer.state_dict(),
        "scheduler": None if scheduler is None else scheduler.state_dict(),
        "epoch": epoch, "best_val": best_val,
    }
    part = f"{os.fspath(path)}.part"
    torch.save(content, part)
    os.replace(part, path)


def _parts(content: Any, path: str | os.PathLike[str]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Returns the parameters by farpoint's names, and the other entries."""
    if not isinstance(content, dict):
        raise ValueError(f"{os.fspath(path)}: holds a {type(content).__name__}, not a dictionary with parameters")
    name = next((name for name in _NAMES if isinstance(content.get(name), dict)), None)
    entries = content if name is None else content[name]
    rest = {} if name is None else {key: value for key, value in content.items() if key != name}
    short = {str(key).removeprefix("module."): value for key, value in entries.items()}
    parameters = {key: value for key, value in short.items() if not _ESTIMATOR.search(key)}
    if not parameters or not all(isinstance(value, Tensor) for value in parameters.values()):
        raise ValueError(
            f"{os.fspath(path)}: no parameters under any of {', '.join(_NAMES)}; it holds {_few(content)}"
        )
    return parameters, rest


def _check(module: nn.Module, parameters: dict[str, Tensor], path: str | os.PathLike[str]) -> None:
    state = module.state_dict()
    missing, others = sorted(state.keys() - parameters.keys()), sorted(parameters.keys() - state.keys())
    shaped = [
        f"{key} {tuple(parameters[key].shape)}, not {tuple(state[key].shape)}" for key in state
        if key in parameters and parameters[key].shape != state[key].shape
    ]
    problems = [
        f"{len(names)} {what}: {_few(names)}" for names, what in
        ((missing, "missing"), (others, "of another network"), (shaped, "of another shape")) if names
    ]
    if problems:
        raise ValueError(
            f"{os.fspath(path)}: parameters do not fit {type(module).__name__}: {'; '.join(problems)}"
        )


def _few(names: Any) -> str:
    listed = [str(name) for name in names]
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return ", ".join(listed[:_LISTED]) + more
