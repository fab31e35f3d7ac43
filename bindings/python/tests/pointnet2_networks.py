"""Networks as users of pointnet2_ops write them; the tests put farpoint's modules in its place."""

import torch
from pointnet2_ops import pointnet2_utils
from pointnet2_ops.pointnet2_modules import (
    PointnetFPModule, PointnetSAModule, PointnetSAModuleMSG, build_shared_mlp,
)
from torch import nn


class Classifier(nn.Module):
    """PointNet++ with one scale, or several, and a group of all points in the end."""

    def __init__(self, classes, several_scales):
        super().__init__()
        if several_scales:
            first = PointnetSAModuleMSG(
                npoint=32, radii=[0.2, 0.4], nsamples=[8, 16], mlps=[[0, 16, 16], [0, 16, 32]], use_xyz=True
            )
            second = PointnetSAModuleMSG(
                npoint=8, radii=[0.4, 0.8], nsamples=[8, 16], mlps=[[48, 32], [48, 32]], use_xyz=True
            )
        else:
            first = PointnetSAModule(npoint=32, radius=0.4, nsample=16, mlp=[0, 16, 48], use_xyz=True)
            second = PointnetSAModule(npoint=8, radius=0.8, nsample=16, mlp=[48, 64], use_xyz=True)
        self.layers = nn.ModuleList([first, second, PointnetSAModule(mlp=[64, 64], use_xyz=True)])
        self.head = nn.Linear(64, classes)

    def forward(self, xyz, features=None):
        for layer in self.layers:
            xyz, features = layer(xyz, features)
        return self.head(features.squeeze(-1))


class Segmenter(nn.Module):
    """PointNet++ that goes down and up again."""

    def __init__(self, classes, channels):
        super().__init__()
        self.down = nn.ModuleList([
            PointnetSAModule(npoint=32, radius=0.3, nsample=8, mlp=[channels, 16], use_xyz=True),
            PointnetSAModule(npoint=8, radius=0.6, nsample=8, mlp=[16, 32], use_xyz=True),
        ])
        self.up = nn.ModuleList([
            PointnetFPModule(mlp=[16 + channels, 16]), PointnetFPModule(mlp=[32 + 16, 16]),
        ])
        self.head = nn.Conv1d(16, classes, 1)

    def forward(self, xyz, features):
        positions, described = [xyz], [features]
        for layer in self.down:
            xyz, features = layer(positions[-1], described[-1])
            positions.append(xyz)
            described.append(features)
        for level in (1, 0):
            described[level] = self.up[level](
                positions[level], positions[level + 1], described[level], described[level + 1]
            )
        return self.head(described[0])


class EdgeNetwork(nn.Module):
    """A layer put together from functions, as many repositories do."""

    def __init__(self, channels):
        super().__init__()
        self.group = pointnet2_utils.QueryAndGroup(0.4, 8)
        self.mlp = build_shared_mlp([channels + 3, 16])

    def forward(self, xyz, features):
        chosen = pointnet2_utils.furthest_point_sample(xyz.contiguous(), 16)
        centers = pointnet2_utils.gather_operation(xyz.transpose(1, 2).contiguous(), chosen)
        centers = centers.transpose(1, 2).contiguous()
        groups = self.mlp(self.group(xyz, centers, features))
        pooled = torch.max(groups, 3)[0]
        dist, idx = pointnet2_utils.three_nn(xyz, centers)
        weight = 1.0 / (dist + 1e-8)
        weight = weight / weight.sum(dim=2, keepdim=True)
        return pointnet2_utils.three_interpolate(pooled, idx, weight)
