"""A GPU that is none: samples by the addresses, strides and counts given, in memory of the CPU."""

import ctypes

import numpy as np
from conftest import reference

from farpoint import _native
from farpoint._device_records import Gradients, Input, MatchOutput, Output
from farpoint._records import Reduction


def placed(*arguments):
    """Addresses of tensors, which plans are given in place of them; 0 for None."""
    return [0 if part is None else part if isinstance(part, int) else part.data_ptr() for part in arguments]


def at(address, shape, kind=np.int64, strides=None):
    """The array at an address."""
    size = np.dtype(kind).itemsize
    strides = strides or tuple(np.empty(shape, np.bool_).strides)
    reach = 1 + sum((n - 1) * step for n, step in zip(shape, strides))
    memory = (ctypes.c_char * (reach * size)).from_address(address)
    return np.ndarray(shape, kind, memory, strides=[step * size for step in strides])


def fake_sample(source, out, count, spacing, algorithm):
    """What `DeviceBatch` of farpoint-cuda promises, in Python."""
    clouds, rows, dims = source.shape
    kind = np.float64 if source.wide else np.float32
    amount = rows if count is None else count
    for k in range(clouds):
        if source.offsets:
            first, end = at(source.offsets, (clouds + 1,))[k : k + 2]
            n = end - first
        else:
            first, n = k * rows, _lengths(source)[k] if source.lengths else rows
        # Places past these are not the kernels' to fill.
        room = int(at(out.samples, (clouds,))[k]) if out.samples else amount
        assert room <= amount <= rows
        sample_count = min(n, room)
        slot = at(out.slots, (clouds,))[k] if out.slots else k * amount
        each = out.starts[1]
        starts = at(out.starts[0], (clouds, each))[k] if out.starts[0] else [0]
        assert all(0 <= start < max(n, 1) for start in starts)
        row, axis = source.strides
        size = np.dtype(kind).itemsize
        points = at(source.points + int(first) * row * size, (n, dims), kind, (row, axis)) if n else None
        indices, distances = reference(points, sample_count, starts) if sample_count else ([], [])
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
    if out.radii[0]:
        values = at(out.values, (out.radii[1],), kind)
        values[:] = np.sqrt(values)
        at(out.radii[0], (clouds,), np.float64)[:] = np.sqrt(at(out.covering, (clouds,), kind))


def _lengths(source):
    """Held within the rows of a cloud, as kernels do."""
    return at(source.lengths, source.shape[:1]).clip(0, source.shape[1])


def _clouds(source):
    """A batch as it lies there, and its lengths."""
    clouds, rows, dims = source.shape
    row, axis = source.strides
    kind = np.float64 if source.wide else np.float32
    points = at(source.points, (clouds, rows, dims), kind, (rows * row, row, axis))
    return points, _lengths(source).tolist() if source.lengths else None


def fake_match(x, y, output, norm):
    """What `DevicePairs` promises, by the CPU."""
    if x.shape[0] == 0:
        return
    (a, a_lengths), (b, b_lengths) = _clouds(x), _clouds(y)
    both = bool(output.distances[1])
    answer = _native.match_clouds((a, b, a_lengths, b_lengths), norm, "auto", None, both)
    for k, cloud in enumerate((a, b) if both else (a,)):
        at(output.distances[k], cloud.shape[:2], cloud.dtype)[:] = answer[2 * k]
        if output.indices[k]:
            at(output.indices[k], cloud.shape[:2])[:] = answer[2 * k + 1]


def fake_match_backward(x, y, record, norm):
    """What `DeviceGradients` promises, by the CPU."""
    if x.shape[0] == 0:
        return
    clouds = _clouds(x)[0], _clouds(y)[0]
    indices, grads = [], []
    for k, cloud in enumerate(clouds):
        has_gradient, shape = bool(record.grads[k]), cloud.shape[:2]
        assert has_gradient == bool(record.indices[k])
        indices.append(at(record.indices[k], shape) if has_gradient else np.full(shape, -1))
        grads.append(at(record.grads[k], shape, cloud.dtype) if has_gradient else np.zeros(shape, cloud.dtype))
    for k, gradients in enumerate(_native.match_backward((*clouds, None, None), *indices, *grads, norm)):
        at(record.gradients[k], clouds[k].shape, clouds[k].dtype)[:] = gradients


class FakeChamfer:
    """What `CudaChamfer` promises, by the CPU."""

    scratch = (64, 128)

    def __init__(self, device, wide, shape, strides, norm, plain, reduction, both):
        self.kind = np.float64 if wide else np.float32
        self.pairs, *self.rows, self.dims = shape
        self.strides = strides
        self.requested = Reduction(norm, plain, reduction, both, None)
        self.places = self.pairs * (self.rows[0] + (self.rows[1] if both else 0))
        self.kept = self.places + (4 * self.pairs if reduction == "max" else 0)

    def _clouds(self, *addresses):
        for address, n, (row, axis) in zip(addresses, self.rows, self.strides):
            yield at(address, (self.pairs, n, self.dims), self.kind, (n * row, row, axis))

    def _lengths(self, *addresses):
        sides = zip(addresses, self.rows)
        return [at(address, (self.pairs,)).clip(0, rows).tolist() if address else None for address, rows in sides]

    def forward(self, stream, *arguments):
        x, y, x_lengths, y_lengths, values, distances, indices, scratch = placed(*arguments)
        assert scratch % 64 == 0 and scratch
        if self.pairs == 0:
            return
        result = _native.chamfer_clouds(
            (*self._clouds(x, y), *self._lengths(x_lengths, y_lengths)), self.requested, True
        )
        at(values, (self.pairs,), self.kind)[:] = result[0]
        at(distances, (self.kept,), self.kind)[:] = result[2]
        if indices:
            at(indices, (self.places,))[:] = result[1]

    def backward(
        self, stream, x, y, x_lengths, y_lengths, distances, indices, grad, stride, of_x, of_y, scratch
    ):
        assert scratch
        if self.pairs == 0:
            return
        clouds = list(self._clouds(x, y))
        reads = self.requested.plain or self.requested.reduction == "max"
        assert bool(distances) == reads
        sent = _native.chamfer_backward(
            (*clouds, *self._lengths(x_lengths, y_lengths)), at(indices, (self.places,)),
            at(distances, (self.kept,), self.kind) if reads else np.empty(0, self.kind),
            np.array(at(grad, (self.pairs,), self.kind, (stride,))), self.requested,
        )
        for address, cloud, gradients in zip((of_x, of_y), clouds, sent):
            if address:
                at(address, cloud.shape, self.kind)[:] = gradients


class FakeSample:
    """What `CudaSample` promises, in Python."""

    def __init__(self, device, wide, shape, strides, count, algorithm):
        assert algorithm == "auto" and 0 < count <= shape[1]
        self.settings, self.count = (device, 0, wide), count
        self.shape, self.strides = shape, strides
        self.scratch = 256, 256 + 8 * shape[0]

    def sample(self, stream, *arguments):
        points, lengths, indices, values, radii, scratch = placed(*arguments)
        assert scratch and bool(values) == bool(radii)
        source = Input(*self.settings, points, self.strides, self.shape, lengths=lengths)
        places = self.shape[0] * self.count
        out = Output(indices, values=values, covering=scratch + 256 if radii else 0, radii=(radii, places))
        fake_sample(source, out, self.count, None, "auto")


class FakeNearest:
    """What `CudaNearest` promises, by the CPU."""

    scratch = (64, 128)

    def __init__(self, device, wide, shape, strides, norm, both):
        pairs, n, m, dims = shape
        self.norm, self.both = norm, both
        self.sides = [(device, 0, wide, axes, (pairs, rows, dims)) for axes, rows in zip(strides, (n, m))]

    def _sources(self, *addresses, lengths=(0, 0)):
        return [Input(*side[:3], address, *side[3:], 0, of)
                for side, address, of in zip(self.sides, addresses, lengths)]

    def search(self, stream, *arguments):
        x, y, x_lengths, y_lengths, dx, ix, dy, iy, scratch = placed(*arguments)
        assert scratch and bool(dy) == bool(iy) == self.both
        sources = self._sources(x, y, lengths=(x_lengths, y_lengths))
        fake_match(*sources, MatchOutput((dx, dy), (ix, iy)), self.norm)

    def backward(self, stream, x, y, ix, iy, gx, gy, of_x, of_y, scratch):
        assert scratch
        clouds = self._sources(x, y)
        spare = [np.empty(side[4]) for side in self.sides]  # for gradients that nobody wants
        kept = [address or room.ctypes.data for address, room in zip((of_x, of_y), spare)]
        fake_match_backward(*clouds, Gradients((ix, iy), (gx, gy), tuple(kept)), self.norm)
