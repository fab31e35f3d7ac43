"""Voxels on a GPU: ``farpoint.voxel_downsample`` beside what PyTorch users write today.

``python lab/python/voxels.py`` prints medians of CUDA events in milliseconds of means with inverse and counts, one cloud at a
time; ``lab/segmentation`` must be installed, for its generated scenes. ``unique`` sorts packed cells by ``torch.unique``, as ``grid_cluster`` with ``scatter_mean`` and Pointcept's
``GridSample`` do; its means are sums in no fixed order. ``unique(dim=0)`` compares whole cells. All find the same voxels, which
is checked. (Cells are divided by a tensor: PyTorch multiplies by the reciprocal of a number on a GPU.)
"""

import statistics

import torch

import farpoint
from farpoint_segmentation.scenes import generate_labeled


#: Points of a generated town, cell in meters.
CLOUDS = ((120_000, 0.3), (1_000_000, 0.3), (10_000_000, 0.1))


def packed(points, size):
    """Means, inverse and counts by sorting one integer per point."""
    cells = (points / points.new_tensor(size)).floor().long()
    cells -= cells.amin(0)
    extent = cells.amax(0) + 1
    keys = (cells[:, 0] * extent[1] + cells[:, 1]) * extent[2] + cells[:, 2]
    return means(points, *torch.unique(keys, return_inverse=True, return_counts=True)[1:])


def rows(points, size):
    """Means, inverse and counts by sorting rows of cells."""
    cells = (points / points.new_tensor(size)).floor().int()
    return means(points, *torch.unique(cells, dim=0, return_inverse=True, return_counts=True)[1:])


def means(points, inverse, counts):
    sums = points.new_zeros(len(counts), points.shape[1]).index_add_(0, inverse, points)
    return sums / counts.unsqueeze(1), inverse, counts


def ours(points, size):
    found = farpoint.voxel_downsample(points, size)
    return found.points, found.inverse, found.counts


def median(call, points, size):
    times = []
    for _ in range(13):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call(points, size)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times[2:])


def main():
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, farpoint {farpoint.__version__}\n")
    print("| cloud | voxels | farpoint | unique | unique(dim=0) |\n|---|---:|---:|---:|---:|")
    for count, size in CLOUDS:
        points = torch.from_numpy(generate_labeled("town", count, seed=1).points.astype("f4")).cuda()
        counts = ours(points, size)[2]
        for call in (packed, rows):
            assert call(points, size)[2].sort()[0].equal(counts.sort()[0])
        times = " | ".join(f"{median(call, points, size):.3f}" for call in (ours, packed, rows))
        print(f"| {count:,} of a town, {size} m | {len(counts):,} | {times} |", flush=True)


if __name__ == "__main__":
    main()
