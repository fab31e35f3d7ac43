"""A small PointNet++ whose sampler is farpoint: sample, group, MLP, max, twice; then a classifier."""

import torch
from torch import nn

import farpoint


def gather(values, indices):
    """(B, N, C) values at (B, ...) indices -> (B, ..., C)."""
    flat = indices.reshape(len(indices), -1, 1).expand(-1, -1, values.shape[-1])
    return values.gather(1, flat).reshape(*indices.shape, values.shape[-1])


class SetAbstraction(nn.Module):
    """Chooses centers, groups the nearest points round each, and describes each group."""

    def __init__(self, count, neighbors, channels_in, channels_out):
        super().__init__()
        self.count, self.neighbors = count, neighbors
        self.mlp = nn.Sequential(
            nn.Linear(3 + channels_in, channels_out), nn.ReLU(),
            nn.Linear(channels_out, channels_out), nn.ReLU(),
        )

    def forward(self, points, features):
        centers = gather(points, farpoint.sample(points, self.count))
        near = torch.cdist(centers, points).topk(self.neighbors, largest=False).indices
        groups = gather(points, near) - centers.unsqueeze(2)
        if features is not None:
            groups = torch.cat([groups, gather(features, near)], dim=-1)
        return centers, self.mlp(groups).amax(dim=2)


class PointNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.first = SetAbstraction(64, 16, 0, 32)
        self.second = SetAbstraction(16, 16, 32, 64)
        self.head = nn.Linear(64, classes)

    def forward(self, points):
        points, features = self.first(points, None)
        _, features = self.second(points, features)
        return self.head(features.amax(dim=1))


def shapes(count, points, generator):
    """Clouds of two kinds, spheres and cubes' surfaces, and which is which."""
    kind = torch.arange(count) % 2
    cloud = torch.randn(count, points, 3, generator=generator)
    sphere = cloud / cloud.norm(dim=-1, keepdim=True)
    cube = cloud / cloud.abs().amax(dim=-1, keepdim=True)
    return torch.where(kind.view(-1, 1, 1) == 0, sphere, cube), kind


def train(steps, device="cpu", compiled=False, seed=1):
    """Losses of a few steps, and the share that is told right in the end."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = PointNet(2).to(device)
    model = torch.compile(network, fullgraph=True) if compiled else network
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    losses = []
    for _ in range(steps):
        points, kind = (part.to(device) for part in shapes(16, 256, generator))
        loss = nn.functional.cross_entropy(model(points), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    points, kind = (part.to(device) for part in shapes(32, 256, generator))
    with torch.no_grad():
        right = (network(points).argmax(dim=-1) == kind).float().mean().item()
    return losses, right
