"""Metrics of a segmentation: a confusion matrix, and the scores of both benchmarks.

Points without a class are ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .recipes import IGNORED

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Scores", "confusion", "iou", "scores", "summary"]


class Scores(NamedTuple):
    """Scores from 0 to 1.

    Attributes
    ----------
    iou : array of float64, (C,)
        Intersection over union of each class.
    miou : float
        Mean IoU.
    macc : float
        Mean class accuracy.
    oa : float
        Overall accuracy: the fraction of correctly predicted points. NaN without points.
    """

    iou: NDArray[np.float64]
    miou: float
    macc: float
    oa: float


def confusion(labels: Tensor, predictions: Tensor, classes: int) -> Tensor:
    """Compute the confusion matrix.

    Parameters
    ----------
    labels : tensor of int64, (N,)
        Class indices; points of -1 are ignored.
    predictions : tensor of int64, (N,)
        Predicted class of each point, on the same device.
    classes : int
        Number of classes.

    Returns
    -------
    tensor of int64, (classes, classes)
        Number of points by label (row) and prediction (column).

    Raises
    ------
    ValueError
        Different shapes, or numbers that are not classes.
    """
    if labels.shape != predictions.shape:
        raise ValueError(
            f"labels {tuple(labels.shape)} and predictions {tuple(predictions.shape)} must have one shape"
        )
    counted = labels != IGNORED
    labels, predictions = labels[counted], predictions[counted]
    for values, what in ((labels, "labels"), (predictions, "predictions")):
        if len(values) > 0 and not 0 <= int(values.min()) <= int(values.max()) < classes:
            raise ValueError(
                f"{what} from {int(values.min())} to {int(values.max())}; classes are 0 to {classes - 1}"
            )
    pairs = labels * classes + predictions
    return torch.bincount(pairs, minlength=classes * classes).reshape(classes, classes)


def iou(
    matrix: Any, kind: Literal["openpoints", "semantic-kitti"] = "openpoints"
) -> NDArray[np.float64]:
    """Compute the intersection over union of each class.

    Parameters
    ----------
    matrix : array, (C, C)
        Result of ``confusion``.
    kind : {"openpoints", "semantic-kitti"}, optional
        ``(tp + 1e-10) / (union + 1e-10)``, by which a class that neither occurs nor is predicted has 1; or
        ``tp / (union + 1e-15)`` of semantic-kitti-api, by which it has 0.

    Returns
    -------
    array of float64, (C,)
        IoU from 0 to 1.
    """
    counts = np.asarray(matrix, np.float64)
    right = np.diag(counts)
    union = counts.sum(axis=0) + counts.sum(axis=1) - right
    if kind == "openpoints":
        return np.asarray((right + 1e-10) / (union + 1e-10))
    if kind == "semantic-kitti":
        return np.asarray(right / (union + 1e-15))
    raise ValueError(f'kind is {kind!r}; it must be "openpoints" or "semantic-kitti"')


def scores(
    matrix: Any, kind: Literal["openpoints", "semantic-kitti"] = "openpoints"
) -> Scores:
    """Compute all scores of a confusion matrix; ``kind`` as for ``iou``, also applied to class accuracies."""
    counts = np.asarray(matrix, np.float64)
    right, points = np.diag(counts), counts.sum(axis=1)
    each = iou(matrix, kind)
    small = 1e-10 if kind == "openpoints" else 0.0
    with np.errstate(invalid="ignore"):
        accuracy = (right + small) / np.maximum(points + small, 1e-15)
        overall = float(right.sum() / np.float64(counts.sum()))
    return Scores(each, float(each.mean()), float(accuracy.mean()), overall)


def summary(matrix: Any) -> dict[str, float]:
    """Return the scores of records: "miou", "macc" and "oa" of OpenPoints, and "miou_semantic_kitti". Empty without
    points."""
    if int(np.asarray(matrix).sum()) == 0:
        return {}
    result = scores(matrix)
    other = float(iou(matrix, "semantic-kitti").mean())
    return {"miou": result.miou, "miou_semantic_kitti": other, "macc": result.macc, "oa": result.oa}
