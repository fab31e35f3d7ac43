"""What type checkers know of calls of the package; `mypy --strict` reads this, nobody runs it."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from typing_extensions import assert_type

import farpoint

array, tensor, cloud = np.zeros((5, 3), np.float32), torch.zeros(5, 3), farpoint.read("cloud.ply")

# The library of the points comes back, and NumPy's arrays for what is of no library.
assert_type(farpoint.sample(array, 3, threads=2), NDArray[np.int64])
assert_type(farpoint.sample(cloud, spacing=0.1), NDArray[np.int64])
assert_type(farpoint.sample([[0.0, 1.0]], 1), NDArray[np.int64])
assert_type(farpoint.sample(tensor, ratio=0.5, seed=3), torch.Tensor)
assert_type(farpoint.sample(tensor, 3, return_distances=True), farpoint.Sample[torch.Tensor])
assert_type(farpoint.sample(tensor, 3, return_distances=True).distances, torch.Tensor)
assert_type(farpoint.order(tensor).indices, torch.Tensor)
assert_type(farpoint.sample(array, 3, rows=[1, 2, 4]), NDArray[np.int64])
assert_type(farpoint.sample(tensor, 3, mask=tensor[:, 0] > 0), torch.Tensor)
assert_type(farpoint.sample_grid(tensor, 3, keep="center"), torch.Tensor)
assert_type(farpoint.centroids(tensor, cell=0.1).points, torch.Tensor)

# Whether distances are squared is in the type.
assert_type(farpoint.nearest(tensor, tensor), farpoint.Nearest[torch.Tensor])
assert_type(farpoint.nearest(tensor, tensor, squared=False), farpoint.Nearest[torch.Tensor])
assert_type(farpoint.nearest(tensor, tensor, norm=1), farpoint.Nearest[torch.Tensor])

# With k there are places, without it all in the ball.
assert_type(farpoint.knn(tensor, tensor, 3, index_dtype=torch.int32), farpoint.Neighbors[torch.Tensor])
assert_type(farpoint.ball_query(tensor, tensor, 0.1, 8), farpoint.Neighbors[torch.Tensor])
assert_type(farpoint.within(tensor, tensor, 0.1), farpoint.BallNeighbors[torch.Tensor])
assert_type(farpoint.Index(tensor).knn(tensor, 3).indices, torch.Tensor)

# Of NumPy arrays, whatever their type, indices, counts and offsets are whole numbers, and values are numbers or arrays.
Wholes = NDArray[np.signedinteger[Any]]
assert_type(farpoint.order(array).indices, NDArray[np.int64])
assert_type(farpoint.nearest(array, array).indices, NDArray[np.int64])
assert_type(farpoint.nearest(array, array, squared=False), farpoint.Nearest[NDArray[Any], NDArray[np.int64]])
assert_type(farpoint.nearest_both(array, array)[1].indices, NDArray[np.int64])
assert_type(farpoint.nearest_both(tensor, tensor)[1].indices, torch.Tensor)
assert_type(farpoint.knn(array, [[0.0, 1.0, 2.0]], 3).indices, Wholes)
assert_type(farpoint.knn(cloud, cloud, 3, index_dtype=np.int32).counts, Wholes)
assert_type(farpoint.ball_query(array, array, 0.1, 8).indices, Wholes)
assert_type(farpoint.within(array, array, 0.1).offsets, Wholes)
assert_type(farpoint.Index(array).knn(array, 3).indices, Wholes)
assert_type(farpoint.Index(array).within(array, 0.1).offsets, Wholes)
assert_type(farpoint.Index(array).nearest(array).indices, Wholes)
assert_type(farpoint.centroids(array, cell=0.1).counts, NDArray[np.int64])
assert_type(farpoint.sample_padded(array[None], [3]), NDArray[np.int64])
assert_type(farpoint.sample_ragged(tensor, [0, 5], [3]), torch.Tensor)
assert_type(farpoint.sample(array, [3, 1], offsets=[0, 2, 5]), NDArray[np.int64])
assert_type(farpoint.sample(tensor, [3, 1], offsets=[0, 2, 5], seed=1), torch.Tensor)
assert_type(farpoint.assign(array, [0, 3]).indices, NDArray[np.int64])
assert_type(farpoint.assign(tensor, tensor, offsets=[0, 5]), farpoint.Nearest[torch.Tensor])
near = farpoint.within(array, array, 0.1)
row: NDArray[np.float32] = array[near.indices[near.offsets[0] : near.offsets[1]]]
assert_type(near.squared, bool)

assert_type(farpoint.sample(array, 3, return_distances=True).covering_radius, float | NDArray[np.float64])
assert_type(farpoint.sample(tensor, 3, return_distances=True).covering_radius, torch.Tensor)
assert_type(farpoint.chamfer(array, array, squared=False), float | NDArray[np.float64])
assert_type(farpoint.chamfer(tensor, tensor, reduction="max"), torch.Tensor)
assert_type(farpoint.sample(tensor, 3, seed=torch.Generator()), torch.Tensor)
assert_type(farpoint.quality(array, [0]).covering_radius, float | NDArray[np.float64])
assert_type(farpoint.quality(array, [0]).samples, int | NDArray[np.int64])
assert_type(farpoint.f_score(array, cloud, 0.1).f_score, float | NDArray[np.float64])
assert_type(farpoint.f_score(tensor, tensor, 0.1), farpoint.FScore[torch.Tensor])

# Values keep their type; lists become arrays.
assert_type(farpoint.gather(tensor, tensor), torch.Tensor)
singles: NDArray[np.float32] = farpoint.gather(array, near.indices)
labels: NDArray[np.int16] = farpoint.gather(np.zeros(5, np.int16), [0, -1])
assert_type(farpoint.gather([[0.0], [1.0]], [0]), NDArray[Any])
pooled: NDArray[np.float32] = farpoint.gather_max(array, near.indices, array)
assert_type(farpoint.gather_max(tensor, tensor), torch.Tensor)
doubles: NDArray[np.float64] = farpoint.gather_max(np.zeros((5, 3), np.int16), near.indices)
assert_type(farpoint.interpolate([[0.0], [1.0]], [[0, 1]], [[0.5, 0.5]]), NDArray[np.float64])
assert_type(farpoint.inverse_distance_weights([[1.0, 2.0]], squared=True), NDArray[Any])
smooth: NDArray[np.float32] = farpoint.interpolate(array, near.indices, array)
assert_type(farpoint.interpolate(tensor, tensor, tensor), torch.Tensor)
assert_type(farpoint.inverse_distance_weights(tensor, squared=True), torch.Tensor)



class OtherArray:
    """An array of JAX, CuPy or another library."""

    def __array_namespace__(self) -> Any: ...


other = OtherArray()
assert_type(farpoint.sample(other, 3), OtherArray)
assert_type(farpoint.knn(other, other, 3), farpoint.Neighbors[OtherArray])
assert_type(farpoint.nearest(other, other).indices, OtherArray)
assert_type(farpoint.chamfer(other, other), OtherArray | float)
assert_type(farpoint.gather(other, other), OtherArray)
assert_type(farpoint.nearest(torch.nn.Parameter(tensor), tensor), farpoint.Nearest[torch.Tensor])

assert_type(cloud["intensity"], NDArray[Any])
assert_type(cloud[:10], farpoint.Cloud)

# What is refused when it runs is refused here.
farpoint.sample(array, 3, thread=2)  # type: ignore[call-overload]
farpoint.sample(array, 3, non_finite="leave")  # type: ignore[call-overload]
farpoint.sample_grid(array, 3, keep="centre")  # type: ignore[call-overload]

# Clouds, indices and weights are of one library.
farpoint.knn(array, tensor, 3)  # type: ignore[call-overload]
farpoint.knn(tensor, [[0.0, 1.0, 2.0]], 3)  # type: ignore[call-overload]
farpoint.knn(other, tensor, 3)  # type: ignore[call-overload]
farpoint.nearest(tensor, array)  # type: ignore[call-overload]
farpoint.nearest_both(cloud, tensor)  # type: ignore[call-overload]
farpoint.ball_query(array, tensor, 0.1, 3)  # type: ignore[call-overload]
farpoint.within(tensor, array, 0.1)  # type: ignore[call-overload]
farpoint.chamfer(tensor, array)  # type: ignore[call-overload]
farpoint.assign(tensor, array)  # type: ignore[call-overload]
farpoint.f_score(array, tensor, 0.1)  # type: ignore[call-overload]
farpoint.gather(array, tensor)  # type: ignore[call-overload]
farpoint.gather_max(tensor, array)  # type: ignore[call-overload]
farpoint.interpolate(tensor, tensor, array)  # type: ignore[call-overload]
farpoint.Index(array).knn(tensor, 3)  # type: ignore[arg-type]
farpoint.Index(tensor).within(array, 0.1)  # type: ignore[arg-type]

# Indices, counts and offsets are no coordinates.
floats: NDArray[np.float32]
floats = farpoint.knn(array, array, 3).indices  # type: ignore[assignment]
floats = farpoint.knn(array, array, 3).counts  # type: ignore[assignment]
floats = farpoint.within(array, array, 0.1).offsets  # type: ignore[assignment]
floats = farpoint.nearest(array, array).indices  # type: ignore[assignment]
floats = farpoint.Index(array).within(array, 0.1).indices  # type: ignore[assignment]
floats = farpoint.sample(array, 3)  # type: ignore[assignment]
