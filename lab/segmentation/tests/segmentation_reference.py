"""PointMetaBase and PointVector a second time: plain PyTorch, channels first, parameters by their names in a
checkpoint, all distances, masks and indexing. Written from the description of the networks, not from the package.

And clouds whose balls are full, so that a wrong radius or number of neighbors is seen.
"""

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
import torch

#: Real clouds, where they are; they are not part of the repository.
SHARED = next(
    (above / "shared" / "data" for above in Path(__file__).resolve().parents if (above / "shared" / "data").exists()),
    Path("shared", "data"),
)


@pytest.fixture(autouse=True)
def one_thread():
    """For modules that import it: networks as small as these are slower on several, by far where others compute, too."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@dataclass
class Numbers:
    """What a network depends on, besides its parameters."""

    kind: str
    radius: float
    growth: float
    blocks: tuple = (1, 3, 5, 3, 3)
    down: int = 32
    within: int = 32
    joins_largest: bool = False
    #: Batch statistics in place of running ones, and what the running ones become.
    training: bool = False
    after: dict = field(default_factory=dict)
    #: Rows that each normalization has seen.
    rows: dict = field(default_factory=dict)


def numbers(network, data):
    radius, growth = {"s3dis": (0.1, 2), "scannet": (0.05, 2), "semantickitti": (0.3, 2.5)}[data]
    large = network.endswith("-l")
    vector = network.startswith("pointvector")
    return Numbers(
        "vector" if vector else "meta", radius, growth, (1, 3, 5, 3, 3) if large else (1, 4, 7, 4, 4),
        within=8 if vector else 32, joins_largest=data == "scannet" and not vector,
    )


# ----------------------------------------------------------------------------------- positions


def squares(x, y):
    """(B, M, 3) and (B, N, 3) -> squared distances (B, M, N), each operation rounded on its own."""
    total = 0
    for axis in range(3):
        part = x[:, :, None, axis] - y[:, None, :, axis]
        total = total + part * part
    return total


def farthest(points, count):
    """The obvious loop, from the first point, the lowest index among equals."""
    clouds = []
    for cloud in points:
        near = torch.full((len(cloud),), math.inf, dtype=cloud.dtype)
        chosen = [0]
        while len(chosen) < count:
            near = torch.minimum(near, squares(cloud[None, chosen[-1:]], cloud[None])[0, 0])
            near[chosen[-1]] = -1
            chosen.append(int(np.argmax(near.numpy())))
        clouds.append(chosen)
    return torch.tensor(clouds)


def rows(values, indices):
    """(B, C, N) at (B, ..) -> (B, C, ..)."""
    return torch.stack([cloud[:, of] for cloud, of in zip(values, indices)])


def ball(centers, points, radius, k):
    """The k lowest indices with d < r, the first repeated; and (p - q) / r, (B, 3, M, k)."""
    limit = torch.tensor(radius, dtype=points.dtype)
    inside = squares(centers, points) < limit * limit
    number = inside.cumsum(-1)
    first = inside.to(torch.int8).argmax(-1, keepdim=True)
    places = [first[..., 0]]
    for place in range(2, k + 1):
        hit = inside & (number == place)
        places.append(torch.where(hit.any(-1), hit.to(torch.int8).argmax(-1), first[..., 0]))
    indices = torch.stack(places, -1)
    positions = rows(points.transpose(1, 2), indices)
    return indices, (positions - centers.transpose(1, 2)[..., None]) / radius


def three_nearest(fine, coarse):
    squared, indices = squares(fine, coarse).sort(dim=-1, stable=True)
    weights = 1 / (squared[..., :3].sqrt() + 1e-8)
    return indices[..., :3], weights / weights.sum(-1, keepdim=True)


# -------------------------------------------------------------------------------------- layers


class Layers:
    """Layers by their names in a checkpoint."""

    def __init__(self, state, how):
        self.state, self.how = state, how

    def convolution(self, name, values):
        weight = self.state[f"{name}.weight"]
        result = torch.einsum("oi,bi...->bo...", weight.flatten(1), values)
        bias = self.state.get(f"{name}.bias")
        return result if bias is None else result + bias.view(1, -1, *[1] * (values.dim() - 2))

    def normalization(self, name, values):
        shape = (1, -1, *[1] * (values.dim() - 2))
        mean, variance = self.state[f"{name}.running_mean"], self.state[f"{name}.running_var"]
        if self.how.training:
            seen = values.transpose(0, 1).flatten(1)
            count = seen.shape[1]
            self.how.rows[name] = count
            own, spread = seen.mean(1), seen.var(1, unbiased=False)
            self.how.after[f"{name}.running_mean"] = (0.9 * mean + 0.1 * own).detach()
            self.how.after[f"{name}.running_var"] = (
                0.9 * variance + 0.1 * spread * count / (count - 1)
            ).detach()
            mean, variance = own, spread
        scaled = (values - mean.view(shape)) / (variance.view(shape) + 1e-5).sqrt()
        return scaled * self.state[f"{name}.weight"].view(shape) + self.state[f"{name}.bias"].view(shape)

    def cb(self, name, values):
        return self.normalization(f"{name}.1", self.convolution(f"{name}.0", values))

    def cbr(self, name, values):
        return self.cb(name, values).clamp(min=0)


def meta_down(layers, name, values, near, dp):
    sent = rows(layers.cbr(f"{name}.convs1.0", values), near)
    return (sent + layers.cbr(f"{name}.convs2.0", dp)).amax(-1)


def meta_block(layers, name, values, near, embedded):
    g = layers.cbr(f"{name}.convs.convs1.0", values)
    g = (rows(g, near) + embedded).amax(-1)
    g = layers.cbr(f"{name}.pwconv.0", g)
    return (layers.cb(f"{name}.pwconv.1", g) + values).clamp(min=0)


def vector_down(layers, name, values, near, dp):
    return layers.cbr(f"{name}.convs.0", torch.cat([dp, rows(values, near)], 1)).amax(-1)


def vector_block(layers, name, values, near, dp):
    name = f"{name}.convs.vpsa"
    y = (rows(values, near) - values[..., None] + layers.cb(f"{name}.pos_x", dp)).clamp(min=0)
    a, b = layers.cbr(f"{name}.theta_x_alpha", y), layers.cbr(f"{name}.theta_x_beta", y)
    z = layers.convolution(f"{name}.z_x", y)
    vectors = torch.stack([z * b.sin() * a.cos(), z * b.sin() * a.sin(), z * b.cos()], 2).sum(-1)
    weight = layers.state[f"{name}.tf_zx.0.weight"]  # (C, 3, 1)
    t = (vectors * weight[None]).sum(2)
    t = layers.normalization(f"{name}.tf_zx.1", t)
    return (layers.cb(f"{name}.result", t) + layers.cb(f"{name}.residual", values)).clamp(min=0)


def logits(state, how, points, features, dropout=None):
    """(B, N, 3) points and (B, N, channels) features -> (B, N, classes)."""
    layers = Layers(state, how)
    vector = how.kind == "vector"
    stem = "encoder.encoder.0.0.convs.0.0" if vector else "encoder.encoder.0.0.convs1.0.0"
    levels, places = [layers.convolution(stem, features.transpose(1, 2))], [points]
    for stage in range(1, 5):
        fine = places[-1]
        chosen = farthest(fine, fine.shape[1] // 4)
        coarse = rows(fine.transpose(1, 2), chosen).transpose(1, 2)
        near, dp = ball(coarse, fine, how.radius * how.growth ** (stage - 1), how.down)
        name = f"encoder.encoder.{stage}"
        values = (vector_down if vector else meta_down)(layers, f"{name}.0", levels[-1], near, dp)
        near, dp = ball(coarse, coarse, how.radius * how.growth**stage, how.within)
        if not vector:
            dp = layers.cbr(f"encoder.pe_encoder.{stage}.0", dp)
        for block in range(1, how.blocks[stage]):
            values = (vector_block if vector else meta_block)(layers, f"{name}.{block}", values, near, dp)
        levels.append(values)
        places.append(coarse)
    for stage in reversed(range(4)):
        near, weights = three_nearest(places[stage], places[stage + 1])
        up = (rows(levels[stage + 1], near) * weights[:, None]).sum(-1)
        joined = torch.cat([levels[stage], up], 1)
        name = f"decoder.decoder.{stage}.0.convs"
        levels[stage] = layers.cbr(f"{name}.1", layers.cbr(f"{name}.0", joined))
    values = levels[0]
    if how.joins_largest:
        values = torch.cat([values, values.amax(-1, keepdim=True).expand_as(values)], 1)
    return layers.convolution("head.head.2.0", layers.cbr("head.head.0", values)).transpose(1, 2)


def changed(how, **parts):
    return replace(how, after={}, rows={}, **parts)


# -------------------------------------------------------------------------------------- inputs


def randomize(network, seed=1):
    """Random parameters of either sign, and random statistics, so that nothing stands for something else. Statistics
    are near those of a batch: values that grew from layer to layer would make angles of them that are chaos."""
    generator = torch.Generator().manual_seed(seed)

    def draw(part):
        return torch.randn(part.shape, generator=generator, dtype=torch.float64)

    with torch.no_grad():
        for name, part in network.named_parameters():
            if part.dim() > 1:
                part.copy_(draw(part) * math.prod(part.shape[1:]) ** -0.5)
            elif name.endswith("bias"):
                part.copy_(0.3 * draw(part))
            else:  # the factor of a normalization
                part.copy_(1 + 0.3 * draw(part))
                part[::7] *= -1
        kind = network.head.head[2][0].weight.dtype
        data = {0.1: "s3dis", 0.05: "scannet", 0.3: "semantickitti"}[network.sizes.radius]
        points = cloud(data, 1200, seed).to(kind)
        norms = [part for part in network.modules() if isinstance(part, torch.nn.BatchNorm1d)]
        for norm in norms:
            norm.momentum = 1.0
        network.train()(points, features(points, network.sizes.channels, seed))
        for norm in norms:
            norm.momentum = 0.1
            norm.running_var.clamp_(min=float(norm.running_var.mean()))  # few points, and channels of zeros
            norm.running_mean += 0.3 * norm.running_var.sqrt() * draw(norm.running_mean).to(kind)
            norm.running_var *= torch.exp(0.5 * draw(norm.running_var)).to(kind)
    return network


def room(count, seed=1, unit=1.0):
    """A corner of a room, a box in it: points on planes, so dense that balls of a tenth of the unit are full."""
    generator = np.random.default_rng(seed)
    unit *= (count / 3000) ** 0.5
    side = generator.random((count, 2)) * [0.9, 0.7]
    of = generator.integers(0, 5, count)
    x, y = side.T
    zero, height = np.zeros(count), np.full(count, 0.35)
    top, front = (0.3 + x / 3, 0.3 + y / 3, height), (0.3 + x / 3, height, y / 2)
    planes = [(x, y, zero), (x, zero, y), (zero, x, y), top, front]
    points = np.stack([np.choose(of, [plane[axis] for plane in planes]) for axis in range(3)], -1)
    return (unit * (points + generator.normal(0, 0.002, points.shape))).astype(np.float32)


def turn(count, seed=1):
    """The ground, a wall and a few poles around a sensor, dense near it; so small that balls of 0.3 are full."""
    generator = np.random.default_rng(seed)
    distance, angle = 1 + 4 * generator.random(count) ** 2, generator.random(count) * 2 * np.pi
    points = np.stack([distance * np.cos(angle), distance * np.sin(angle), np.full(count, -1.7)], -1)
    scale = (count / 12_000) ** 0.5
    wall = points[:, 0] > 2
    points[wall, 2] += 2 * generator.random(wall.sum())
    points[wall, 0] = 2
    poles = np.flatnonzero(~wall)[::6]
    points[poles] = [-1.5, 0.5, 0] + np.stack([0.05 * np.cos(angle), 0.05 * np.sin(angle), distance - 2.5], -1)[poles]
    return (scale * points + generator.normal(0, 0.01, points.shape)).astype(np.float32)


def crop(points, count, seed=1):
    """The points nearest to one of them, shuffled, from 0."""
    generator = np.random.default_rng(seed)
    middle = points[generator.integers(len(points))]
    near = np.argsort(((points - middle) ** 2).sum(1), kind="stable")[:count]
    points = points[generator.permutation(near)]
    return points - points.min(0)


def cloud(data, count, seed=1):
    """A cloud as the data set has them."""
    if data == "semantickitti":
        return torch.from_numpy(crop(turn(count, seed), count, seed))[None]
    return torch.from_numpy(crop(room(count, seed, 1.0 if data == "s3dis" else 0.5), count, seed))[None]


def features(points, channels, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*points.shape[:2], channels, generator=generator, dtype=torch.float64).to(points.dtype)
