# mypy: ignore-errors
"""Kernel of ``all_pairs``. Imported only for tensors on a GPU: Triton comes with PyTorch's GPU builds."""

import triton
import triton.language as tl


@triton.jit
def scan(centers, points, found, rows, count, limit, K: tl.constexpr, CENTERS: tl.constexpr):
    """Scans all points, one center per thread, until all balls of a block are full."""
    row = tl.program_id(0) * CENTERS + tl.arange(0, CENTERS)
    cloud = tl.program_id(1)
    there = row < rows
    own = centers + (cloud * rows + row) * 3
    x = tl.load(own, mask=there, other=0.0)
    y = tl.load(own + 1, mask=there, other=0.0)
    z = tl.load(own + 2, mask=there, other=0.0)
    to = found + (cloud * rows + row) * K
    number = tl.where(there, 0, K)
    other = points + cloud * count * 3
    place = 0
    while place < count:
        dx = x - tl.load(other)
        dy = y - tl.load(other + 1)
        dz = z - tl.load(other + 2)
        inside = (dx * dx + dy * dy + dz * dz < limit) & (number < K)
        tl.store(to + number, place, mask=inside)
        number += inside.to(tl.int32)
        other += 3
        place += 1
        if place % 512 == 0:
            if tl.min(number) == K:
                place = count
