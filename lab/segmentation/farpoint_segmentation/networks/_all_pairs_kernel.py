# mypy: ignore-errors
"""Kernel of ``all_pairs``. Imported only for tensors on a GPU: Triton comes with PyTorch's GPU builds."""

import triton
import triton.language as tl


@triton.jit
def scan(centers, points, indices, rows, count, limit, K: tl.constexpr, CENTERS: tl.constexpr):
    """Scans all points, one center per thread, until all balls of a block are full."""
    row = tl.program_id(0) * CENTERS + tl.arange(0, CENTERS)
    cloud = tl.program_id(1)
    is_row = row < rows
    center = centers + (cloud * rows + row) * 3
    x = tl.load(center, mask=is_row, other=0.0)
    y = tl.load(center + 1, mask=is_row, other=0.0)
    z = tl.load(center + 2, mask=is_row, other=0.0)
    output = indices + (cloud * rows + row) * K
    number = tl.where(is_row, 0, K)
    other = points + cloud * count * 3
    place = 0
    while place < count:
        dx = x - tl.load(other)
        dy = y - tl.load(other + 1)
        dz = z - tl.load(other + 2)
        inside = (dx * dx + dy * dy + dz * dz < limit) & (number < K)
        tl.store(output + number, place, mask=inside)
        number += inside.to(tl.int32)
        other += 3
        place += 1
        if place % 512 == 0:
            if tl.min(number) == K:
                place = count
