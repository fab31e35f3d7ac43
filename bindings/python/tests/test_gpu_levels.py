"""Levels of tensors on a GPU, and an index of each: those of the CPU, without synchronizing."""

import numpy as np
import pytest
from conftest import in_ball, needs_gpu, same
from test_levels import BATCH, CLOUDS, COMPILED, LENGTHS, LENGTHS_COMPILED

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = needs_gpu


def same_levels(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        if other is None or isinstance(other[0], list):
            assert one == other
            continue
        for part, expected_part in zip(one, other, strict=True):
            assert part.is_cuda and part.dtype == expected_part.dtype
            same(part, expected_part)


@pytest.mark.parametrize("name", CLOUDS)
def test_levels_are_those_of_the_cpu(cuda, filled, name):
    points = torch.from_numpy(CLOUDS[name])
    for options in (
        dict(counts=[200, 200, 51, 1], return_covering_radius=True), dict(ratios=[0.3, 0.3, 1.0]),
        dict(counts=[9, 4], seed=3), dict(counts=[60, [5, 20]], offsets=[0, 100, len(points)]),
        dict(ratios=[0.4, 0.2], offsets=[0, 1, len(points)]),
        dict(counts=[20, 5], mask=points[:, 0] >= points[:, 0].median()),
    ):
        same_levels(farpoint.sample_levels(points.cuda(), **options), farpoint.sample_levels(points, **options))


@pytest.mark.parametrize("name", [*COMPILED, *LENGTHS_COMPILED])
def test_batches_are_those_of_the_cpu_and_compiled(cuda, filled, name):
    arguments = [torch.from_numpy(BATCH), *[torch.tensor(LENGTHS)] * (name in LENGTHS_COMPILED)]
    on_gpu, call = [part.cuda() for part in arguments], (COMPILED | LENGTHS_COMPILED)[name]
    expected = call(*arguments)
    same_levels(call(*on_gpu), expected)
    torch.compiler.reset()
    same_levels(torch.compile(call, fullgraph=True, backend="aot_eager")(*on_gpu), expected)


@pytest.mark.parametrize("name", [*COMPILED, *LENGTHS_COMPILED])
def test_nothing_waits(cuda, name):
    on_gpu = [torch.from_numpy(BATCH).cuda(), *[torch.tensor(LENGTHS).cuda()] * (name in LENGTHS_COMPILED)]
    call = (COMPILED | LENGTHS_COMPILED)[name]
    call(*on_gpu)
    cuda.cuda.set_sync_debug_mode("error")
    try:
        call(*on_gpu)
    finally:
        cuda.cuda.set_sync_debug_mode("default")


def test_levels_are_captured_into_a_graph(cuda):
    points = torch.from_numpy(BATCH).cuda()
    call = COMPILED["radii"]
    call(points)
    graph = cuda.cuda.CUDAGraph()
    with cuda.cuda.graph(graph):
        levels = call(points)
    points.copy_(points.flip(1).clone())
    graph.replay()
    same_levels(levels, call(points.cpu()))


@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_an_index_of_a_level_serves_all_searches(cuda, filled, lengths):
    points = torch.from_numpy(np.tile(BATCH, (1, 8, 1))).cuda()  # trees are built from 1,025 rows on
    points[:, ::3] += torch.rand(points[:, ::3].shape, generator=torch.Generator().manual_seed(1)).cuda()
    lengths = None if lengths is None else torch.tensor(lengths).cuda() * 8
    levels = farpoint.sample_levels(points, [1200, 300], lengths=lengths)
    level = farpoint.gather(points, levels.indices[0])
    of_level, of_next = ({}, {}) if lengths is None else [(rows >= 0).sum(-1) for rows in levels.indices]
    sides = [{}, {}, {}] if lengths is None else [lengths, of_level, of_next]
    finer, within, groups = [{} if lengths is None else {"x_lengths": side} for side in sides]
    y = {} if lengths is None else {"y_lengths": of_level}
    index = farpoint.Index(level, **y)
    for k in (16, None):
        for x, radius, options in ((level, 0.2, within), (level[:, :300], 0.3, groups)):
            # A prefix of a batch leaves gaps between its clouds.
            expected = in_ball(x, level, radius, k, **options, **y)
            for actual, part in zip(in_ball(x, index, radius, k, **options), expected, strict=True):
                same(actual, part.cpu())
    for actual, expected in zip(index.knn(points, 3, **finer), farpoint.knn(points, level, 3, **finer, **y)):
        same(actual, expected.cpu())
