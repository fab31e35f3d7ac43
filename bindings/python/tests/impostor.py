"""A GPU that is none: samples by the addresses, strides and counts given, in memory of the CPU."""

import ctypes

import numpy as np
from conftest import reference


def at(address, shape, kind=np.int64, strides=None):
    """The array at an address."""
    size = np.dtype(kind).itemsize
    strides = strides or tuple(np.empty(shape, np.bool_).strides)
    reach = 1 + sum((n - 1) * step for n, step in zip(shape, strides))
    memory = (ctypes.c_char * (reach * size)).from_address(address)
    return np.ndarray(shape, kind, memory, strides=[step * size for step in strides])


def impostor(source, out, count, spacing, algorithm):
    """What `DeviceBatch` of farpoint-cuda promises, in Python."""
    clouds, rows, dims = source.shape
    kind = np.float64 if source.wide else np.float32
    amount = rows if count is None else count
    for k in range(clouds):
        if source.offsets:
            first, end = at(source.offsets, (clouds + 1,))[k : k + 2]
            n = end - first
        else:
            first, n = k * rows, at(source.lengths, (clouds,))[k] if source.lengths else rows
        # Places past these are not the kernels' to fill.
        room = int(at(out.samples, (clouds,))[k]) if out.samples else amount
        assert room <= amount <= rows
        wanted = min(n, room)
        slot = at(out.slots, (clouds,))[k] if out.slots else k * amount
        each = out.starts[1]
        starts = at(out.starts[0], (clouds, each))[k] if out.starts[0] else [0]
        assert all(0 <= start < max(n, 1) for start in starts)
        row, axis = source.strides
        size = np.dtype(kind).itemsize
        points = at(source.points + int(first) * row * size, (n, dims), kind, (row, axis)) if n else None
        indices, distances = reference(points, wanted, starts) if wanted else ([], [])
        if spacing is not None:
            chosen = sum(1 for d in distances if d > spacing)
            at(out.chosen, (clouds,))[k] = chosen
            indices, distances = indices[:chosen], distances[:chosen]
        if room:
            target = at(out.indices + 8 * int(slot), (room,))
            target[:] = -1
            target[: len(indices)] = indices
        if out.values and room:
            target = at(out.values + size * int(slot), (room,), kind)
            target[:] = 0
            target[: len(indices)] = np.asarray(distances, kind) ** 2
        if out.covering:
            at(out.covering, (clouds,), kind)[k] = 4.0
