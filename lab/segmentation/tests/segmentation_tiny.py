"""A network small enough for tests: logits from the features and those of the nearest sample."""

import torch
from torch import nn

import farpoint
from farpoint_segmentation.samplers import parse


class Tiny(nn.Module):
    """Also counts its calls, and keeps what it was given."""

    def __init__(self, channels, classes, seed=0):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.first = nn.Linear(2 * channels, 16)
            self.norm = nn.BatchNorm1d(16)
            self.last = nn.Linear(16, classes)
        self.dropout = nn.Dropout(0.5)
        self.seen = []

    def forward(self, points, features, *, sampler="peak"):
        sampler = parse(sampler) if isinstance(sampler, str) else sampler
        self.seen.append((points.detach().clone(), features.detach().clone(), sampler.name))
        samples = sampler.sample(points, max(points.shape[1] // 4, 1), 1)
        nearest = farpoint.knn(points, farpoint.gather(points, samples), 1).indices[..., 0]
        coarse = farpoint.gather(farpoint.gather(features, samples), nearest)
        values = self.first(torch.cat([features, coarse], dim=-1))
        values = self.norm(values.transpose(1, 2)).transpose(1, 2).relu()
        return self.last(self.dropout(values))
