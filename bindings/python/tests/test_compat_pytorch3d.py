"""``farpoint.compat.pytorch3d``: against plain loops and what its documentation says."""

import itertools

import numpy as np
import pytest
from conftest import cloud, reference

torch = pytest.importorskip("torch", reason="torch is not installed")

from farpoint.compat import pytorch3d as mine  # noqa: E402


def batch(b=3, n=20, d=3, seed=0, dtype=torch.float32):
    return torch.from_numpy(np.stack([cloud(n, d, seed=seed + s) for s in range(b)])).to(dtype)


def distance(a, b, norm):
    """Each operation rounded on its own."""
    total = None
    for one, other in zip(a, b):
        part = abs(one - other) if norm == 1 else (one - other) * (one - other)
        total = part if total is None else total + part
    return total


def loop(p1, p2, lengths1, lengths2, k, missing, norm=2, below=None):
    """Distances and indices: the k nearest, or the k first below."""
    a, b = p1.detach().numpy(), p2.detach().numpy()
    dists = np.zeros((*a.shape[:2], k), a.dtype)
    idx = np.full((*a.shape[:2], k), missing)
    for n in range(len(a)):
        for i in range(int(lengths1[n])):
            own = [(distance(a[n, i], b[n, j], norm), j) for j in range(int(lengths2[n]))]
            own = sorted(own) if below is None else [pair for pair in own if pair[0] < below]
            for place, (d, j) in enumerate(own[:k]):
                dists[n, i, place], idx[n, i, place] = d, j
    return torch.from_numpy(dists), torch.from_numpy(idx)


FULL = torch.tensor([20, 20, 20]), torch.tensor([11, 11, 11])
RAGGED = torch.tensor([20, 0, 7]), torch.tensor([3, 11, 0])


class TestKnnPoints:
    @pytest.mark.parametrize("norm", [1, 2])
    @pytest.mark.parametrize("k", [1, 4, 15])
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_loop(self, norm, k, dtype):
        for d, (l1, l2) in itertools.product((2, 3, 5), (FULL, RAGGED)):
            p1, p2 = batch(3, 20, d, 1, dtype), batch(3, 11, d, 9, dtype)
            result = mine.knn_points(p1, p2, l1, l2, norm, k, return_nn=True)
            dists, idx = loop(p1, p2, l1, l2, k, 0, norm)
            assert result.idx.dtype == torch.int64 and result._fields == ("dists", "idx", "knn")
            assert torch.equal(result.dists, dists) and torch.equal(result.idx, idx)
            assert torch.equal(result.knn, mine.knn_gather(p2, idx, l2))
        result = mine.knn_points(p1, p2, K=k, norm=norm, version=2, return_sorted=False)
        assert torch.equal(result.dists, loop(p1, p2, *FULL, k, 0, norm)[0]) and result.knn is None

    def test_gradient(self):
        p1, p2 = [batch(2, n, seed=n, dtype=torch.float64).requires_grad_() for n in (4, 5)]
        for lengths in (None, torch.tensor([5, 2]), torch.tensor([0, 3])):
            for norm in (1, 2):
                def dists(a, b):
                    return mine.knn_points(a, b, None, lengths, norm, 3).dists

                torch.autograd.gradcheck(dists, (p1, p2))

            def inside(a, b):
                return mine.ball_query(a, b, None, lengths, 3, 0.6).dists

            torch.autograd.gradcheck(inside, (p1, p2))

    def test_empty(self):
        for shapes in (((2, 0, 3), (2, 5, 3)), ((2, 5, 3), (2, 0, 3)), ((0, 5, 3), (0, 4, 3))):
            p1, p2 = (torch.zeros(shape, requires_grad=True) for shape in shapes)
            result = mine.knn_points(p1, p2, K=2, return_nn=True)
            assert result.dists.shape == (*shapes[0][:2], 2) == result.idx.shape
            assert result.knn.shape == (*shapes[0][:2], 2, 3)
            assert not result.dists.any() and not result.idx.any() and not result.knn.any()
            result.dists.sum().backward()
            assert not p1.grad.any() and not p2.grad.any()

    def test_refused(self):
        p1, p2 = batch(), batch(n=11)
        for call, text in (
            (lambda: mine.knn_points(p1, p2[:2]), "same batch dimension"),
            (lambda: mine.knn_points(p1, p2[..., :2]), "same point dimension"),
            (lambda: mine.knn_points(p1, p2, norm=3), "Support for 1 or 2 norm."),
            (lambda: mine.knn_points(p1, p2, K=0), "k is 0"),
            (lambda: mine.knn_points(p1, p2, torch.tensor([21, 1, 1])), "too long"),
            (lambda: mine.knn_points(p1, p2, None, torch.tensor([1, -1, 1])), "too long, or negative"),
            (lambda: mine.knn_points(p1, p2, None, torch.tensor([1, 1])), "lengths2 of shape"),
            (lambda: mine.ball_query(p1, p2, radius=-1.0), "radius is -1"),
            (lambda: mine.ball_query(p1[0], p2[0]), "must be a batch"),
            (lambda: mine.knn_points(p1, p2 * torch.nan), ""),
        ):
            with pytest.raises(ValueError, match=text):
                call()

    def test_arrays(self):
        array, p1 = batch().numpy(), batch()
        for call in (
            lambda: mine.knn_points(array, p1), lambda: mine.ball_query(p1, array),
            lambda: mine.knn_gather(array, p1), lambda: mine.masked_gather(p1, array),
            lambda: mine.sample_farthest_points(array), lambda: mine.knn_points(p1, p1, array),
            lambda: mine.chamfer_distance(p1, p1, weights=array),
            lambda: mine.chamfer_distance(p1, p1, x_normals=array),
        ):
            with pytest.raises(TypeError, match="takes tensors, as torch.as_tensor"):
                call()


class TestBallQuery:
    @pytest.mark.parametrize("k", [1, 4, 500])
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_loop(self, k, dtype):
        kind = np.float32 if dtype == torch.float32 else np.float64
        for r, (l1, l2) in itertools.product((0.3, 0.6, 5.0), (FULL, RAGGED)):
            p1, p2 = batch(3, 20, 3, 1, dtype), batch(3, 11, 3, 9, dtype)
            result = mine.ball_query(p1, p2, l1, l2, k, r, skip_points_outside_cube=True)
            dists, idx = loop(p1, p2, l1, l2, k, -1, below=kind(r) * kind(r))
            assert torch.equal(result.dists, dists) and torch.equal(result.idx, idx)
            assert torch.equal(result.knn, mine.masked_gather(p2, idx))
        assert mine.ball_query(p1, p2, return_nn=False).knn is None

    def test_points_at_the_radius_are_outside(self):
        result = mine.ball_query(torch.zeros(1, 1, 1), torch.tensor([[[2.0], [1.0]]]), K=2, radius=2.0)
        assert result.idx.tolist() == [[[1, -1]]]


class TestGather:
    def test_knn_gather(self):
        x = batch(2, 6).requires_grad_()
        idx = torch.randint(0, 6, (2, 5, 4))
        expected = torch.stack([x[n][idx[n]] for n in range(2)])
        assert torch.equal(mine.knn_gather(x, idx), expected)
        short = mine.knn_gather(x, idx, torch.tensor([4, 1]))
        assert torch.equal(short[0], expected[0]) and torch.equal(short[1, :, :1], expected[1, :, :1])
        assert not short[1, :, 1:].any()
        short.sum().backward()
        assert x.grad.sum() == 3 * (20 + 5)
        assert not mine.knn_gather(x[:, :3], idx.clamp(max=2))[:, :, 3:].any()

    def test_masked_gather(self):
        for dtype in (torch.float16, torch.float32, torch.float64, torch.int64):
            x = (10 * batch(2, 6)).to(dtype)
            for idx in (torch.tensor([[0, -1, 5], [-1, 2, 2]]), torch.tensor([[[0, -1]], [[3, 5]]])):
                result = mine.masked_gather(x, idx)
                assert result.dtype == dtype and result.shape == (*idx.shape, 3)
                for place in itertools.product(*map(range, idx.shape)):
                    row = int(idx[place])
                    assert torch.equal(result[place], x[place[0], row] if row >= 0 else torch.zeros(3, dtype=dtype))

    def test_gradient(self):
        x = batch(2, 4, dtype=torch.float64).requires_grad_()
        torch.autograd.gradcheck(lambda x: mine.masked_gather(x, torch.tensor([[0, -1, 0], [1, 1, 3]])), (x,))

    def test_refused(self):
        for call, text in (
            (lambda: mine.masked_gather(batch(), torch.zeros(2, 3).long()), "same batch dimension"),
            (lambda: mine.masked_gather(batch(), torch.zeros(3).long()), "not supported"),
            (lambda: mine.knn_gather(batch(), torch.zeros(2, 3, 1).long()), "same batch dimension"),
        ):
            with pytest.raises(ValueError, match=text):
                call()


class TestSampleFarthestPoints:
    def test_documented(self):
        points = torch.tensor([
            [[-1.0, -1.0], [-1.3, 1.1], [0.2, -1.1], [0.0, 0.0], [1.3, 1.3], [1.0, 0.5], [-1.3, 0.2], [1.5, -0.5]],
            [[-2.2, -2.4], [-2.1, 2.0], [2.2, 2.1], [2.1, -2.4], [0.4, -1.0], [0.3, 0.3], [1.2, 0.5], [4.5, 4.5]],
        ])
        assert mine.sample_farthest_points(points, K=2)[1].tolist() == [[0, 4], [0, 7]]
        chosen, indices = mine.sample_farthest_points(points, K=[3, 2])
        assert indices.tolist() == [[0, 4, 1], [0, 7, -1]]
        assert torch.equal(chosen, mine.masked_gather(points, indices))

    def test_wrong_lengths(self):
        for lengths in ([21, 3, 4], [-1, 3, 4]):
            with pytest.raises(ValueError, match=r"too long, or negative: lengths \["):
                mine.sample_farthest_points(batch(), torch.tensor(lengths), 2)
        with pytest.raises(ValueError, match="points and lengths must have same batch dimension"):
            mine.sample_farthest_points(batch(), torch.tensor([1, 2]), 2)
        with pytest.raises(ValueError, match="K and points must have the same batch dimension"):
            mine.sample_farthest_points(batch(), K=[1, 2])

    def test_lengths_of_zero(self):
        chosen, indices = mine.sample_farthest_points(batch(), torch.tensor([0, 3, 20]), 4)
        assert indices[0].tolist() == [-1] * 4 and not chosen[0].any()
        assert indices[2].tolist() == reference(batch()[2].numpy(), 4)[0].tolist()

    def test_gradient(self):
        points = batch(2, 10, dtype=torch.float64).requires_grad_()
        lengths = torch.tensor([7, 2])
        torch.autograd.gradcheck(lambda x: mine.sample_farthest_points(x, lengths, 4)[0], (points,))


# ------------------------------------------------------------------------------- the Chamfer distance


def chamfer_loop(x, y, lengths, normals=None, weights=None, norm=2, abs_cosine=True):
    """Each side's distances and angles of every point, padding 0."""
    sides = []
    for a, b, (n_a, n_b), flip in ((x, y, lengths, 0), (y, x, lengths[::-1], 1)):
        dists, angles = torch.zeros(a.shape[:2]), torch.zeros(a.shape[:2])
        for c in range(len(a)):
            for i in range(int(n_a[c])):
                own = [(float(distance(a[c, i], b[c, j], norm)), j) for j in range(int(n_b[c]))]
                near = min(own) if own else (0.0, None)
                dists[c, i] = near[0]
                if normals is not None:
                    mine_, theirs = normals[flip][c, i], normals[1 - flip][c]
                    cosine = 0.0 if near[1] is None else float(
                        torch.nn.functional.cosine_similarity(mine_, theirs[near[1]], dim=0, eps=1e-6))
                    angles[c, i] = 1 - (abs(cosine) if abs_cosine else cosine)
        if weights is not None:
            dists, angles = (values * weights.view(-1, 1) for values in (dists, angles))
        sides.append((dists, angles))
    return sides


def reduced(sides, lengths, point, batch_reduction, weights, single, k):
    parts = []
    for (values, n) in list(zip([side[k] for side in sides], lengths))[: 1 if single else 2]:
        if point is None:
            parts.append(values)
        elif point == "max":
            parts.append(values.amax(1))
        else:
            total = values.sum(1)
            parts.append(total / n.clamp(min=1) if point == "mean" else total)
    if point is None:
        return parts[0] if single else tuple(parts)
    loss = parts[0] if single else torch.maximum(*parts) if point == "max" else parts[0] + parts[1]
    if batch_reduction == "sum":
        return loss.sum()
    if batch_reduction == "mean":
        if point == "max":  # of each side's largest, over the batch
            loss = loss
        return loss.sum() / (len(loss) if weights is None else weights.sum())
    return loss


class TestChamfer:
    x, y = batch(4, 9), batch(4, 12, seed=9)
    normals = batch(4, 9, seed=20) - 0.5, batch(4, 12, seed=30) - 0.5
    lengths = torch.tensor([9, 0, 4, 0]), torch.tensor([12, 5, 0, 0])
    weights = torch.tensor([1, 2, 0, 3])

    @pytest.mark.parametrize("ragged", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("single", [False, True])
    def test_loop(self, ragged, weighted, single):
        lengths = self.lengths if ragged else (torch.full((4,), 9), torch.full((4,), 12))
        weights = self.weights if weighted else None
        given = dict(x_lengths=lengths[0], y_lengths=lengths[1]) if ragged else {}
        for norm, abs_cosine, (point, per_batch) in itertools.product(
            (1, 2), (True, False),
            [(p, b) for p in ("mean", "sum") for b in ("mean", "sum", None)] + [(None, None)],
        ):
            sides = chamfer_loop(self.x, self.y, lengths, self.normals, weights, norm, abs_cosine)
            actual = mine.chamfer_distance(
                self.x, self.y, **given, x_normals=self.normals[0], y_normals=self.normals[1],
                weights=weights, norm=norm, abs_cosine=abs_cosine, point_reduction=point,
                batch_reduction=per_batch, single_directional=single,
            )
            for k in (0, 1):
                expected = reduced(sides, lengths, point, per_batch, weights, single, k)
                torch.testing.assert_close(actual[k], expected, rtol=1e-5, atol=1e-6)

    def test_max(self):
        for lengths, single in itertools.product((None, self.lengths), (True, False)):
            given = {} if lengths is None else dict(x_lengths=lengths[0], y_lengths=lengths[1])
            full = (torch.full((4,), 9), torch.full((4,), 12)) if lengths is None else lengths
            sides = chamfer_loop(self.x, self.y, full, None, self.weights)
            result, none = mine.chamfer_distance(
                self.x, self.y, **given, weights=self.weights, point_reduction="max", batch_reduction=None,
                single_directional=single,
            )
            torch.testing.assert_close(result, reduced(sides, full, "max", None, None, single, 0))
            assert none is None

    def test_empty_clouds_count_as_zero(self):
        """Of which one is made by Pointclouds([torch.zeros(0, 3), torch.zeros(10, 3)])."""
        x, y = torch.zeros(2, 10, 3, requires_grad=True), torch.ones(2, 40, 3)
        loss, _ = mine.chamfer_distance(x, y, torch.tensor([0, 10]), batch_reduction=None)
        assert loss.tolist() == [0.0, 6.0]
        loss.sum().backward()
        assert not x.grad[0].any() and x.grad[1].any()
        for shapes in (((0, 0, 3), (0, 0, 3)), ((2, 0, 3), (2, 4, 3)), ((2, 4, 3), (2, 0, 3))):
            for point in ("mean", "sum", "max"):
                x, y = (torch.zeros(shape, requires_grad=True) for shape in shapes)
                loss, _ = mine.chamfer_distance(x, y, point_reduction=point)
                assert loss.item() == 0
                loss.backward()

    def test_empty_clouds_may_be_padded_with_anything(self):
        x, y = self.x.clone(), self.y.clone()
        x[1], y[2] = torch.nan, torch.inf
        loss, _ = mine.chamfer_distance(x, y, *self.lengths)
        assert loss == mine.chamfer_distance(self.x, self.y, *self.lengths)[0]

    def test_weights_of_zero(self):
        x = self.x.clone().requires_grad_()
        loss, normals = mine.chamfer_distance(x, self.y, weights=torch.zeros(4))
        assert loss.item() == 0 and loss.requires_grad and normals is None
        loss, _ = mine.chamfer_distance(x, self.y, weights=torch.zeros(4).long(), batch_reduction=None)
        assert loss.tolist() == [0, 0, 0, 0]

    @pytest.mark.parametrize("options, text", [
        (dict(batch_reduction="max"), "batch_reduction must be one of"),
        (dict(point_reduction="min"), "point_reduction must be one of"),
        (dict(point_reduction=None), "Batch reduction must be None"),
        (dict(norm=0), "Support for 1 or 2 norm."), (dict(norm=3), "Support for 1 or 2 norm."),
        (dict(x_normals=torch.ones(1, 4, 9, 3)), "Expected normals to be of shape"),
        (dict(x_normals=torch.ones(4, 8, 3)), "Expected normals to be of shape"),
        (dict(y_normals=torch.ones(4, 9, 3)), "Expected normals to be of shape"),
        (dict(x_normals=torch.ones(4, 9, 3), point_reduction="max"), "Normals must be None"),
        (dict(x_lengths=torch.tensor([1, 2, 3])), "Expected lengths to be of shape"),
        (dict(x_lengths=torch.tensor([1, 2, 3, 10])), "A length value was too long"),
        (dict(y_lengths=torch.tensor([1, 2, 3, -1])), "too long, or negative"),
        (dict(weights=-torch.ones(4)), "weights cannot be negative"),
        (dict(weights=torch.ones(3)), "weights must be of shape"),
        (dict(y=torch.ones(3, 4, 3)), "y does not have the correct shape"),
        (dict(y=torch.ones(4, 4, 2)), "y does not have the correct shape"),
        (dict(y=torch.ones(4, 4)), "Expected points to be of shape"),
        (dict(y=[1, 1, 1]), "Pointclouds objects or torch.Tensor"),
        (dict(y=np.ones((4, 9, 3))), "Pointclouds objects or torch.Tensor"),
        (dict(y=torch.full((4, 9, 3), torch.nan)), "NaN"),
    ])
    def test_refused(self, options, text):
        with pytest.raises(ValueError, match=text):
            mine.chamfer_distance(**{"x": self.x, "y": self.y, **options})

    @pytest.mark.parametrize("norm", [1, 2])
    def test_gradient(self, norm):
        clouds = [batch(3, n, seed=n, dtype=torch.float64).requires_grad_() for n in (4, 5)]
        normals = [(batch(3, n, seed=n + 1, dtype=torch.float64) - 0.5).requires_grad_() for n in (4, 5)]
        lengths = torch.tensor([4, 0, 2]), torch.tensor([5, 3, 1])
        for point in ("mean", "sum"):
            def losses(x, y, x_normals, y_normals):
                return mine.chamfer_distance(x, y, *lengths, x_normals, y_normals, point_reduction=point, norm=norm)

            torch.autograd.gradcheck(losses, (*clouds, *normals))


def test_default_device_elsewhere():
    x, y, lengths = batch(), batch(n=11), torch.tensor([20, 0, 7])
    weights, normals = torch.ones(3), (batch(seed=3), batch(n=11, seed=4))

    def results():
        yield from mine.knn_points(x, y, lengths, K=2, return_nn=True)
        yield from mine.ball_query(x, y, lengths, K=2)
        yield from mine.chamfer_distance(x, y, lengths, None, *normals, weights)
        yield from mine.sample_farthest_points(x, lengths, [3, 4, 5])
        yield mine.sample_farthest_points(x, lengths, 3, True)[1][1]

    expected = list(results())
    torch.set_default_device("meta")
    try:
        actual = list(results())
    finally:
        torch.set_default_device(None)
    assert all(torch.equal(a, b) for a, b in zip(actual, expected, strict=True))


def test_names_are_where_they_were():
    from farpoint.compat.pytorch3d import loss, ops

    assert ops.knn_points is mine.knn_points and loss.chamfer_distance is mine.chamfer_distance
    assert {*ops.__all__, *loss.__all__, "ops", "loss"} == set(mine.__all__)


@pytest.mark.parametrize("call", [
    lambda x, y: mine.knn_points(x, y, K=3, return_nn=True), lambda x, y: mine.ball_query(x, y, K=3),
    lambda x, y: mine.masked_gather(y, mine.knn_points(x, y, K=2).idx),
    lambda x, y: mine.chamfer_distance(x, y, x_normals=x, y_normals=y),
    lambda x, y: mine.sample_farthest_points(x, K=4),
])
def test_compiled_whole(call):
    """Lengths on the CPU are read, which breaks the graph."""
    x, y = batch(), batch(n=11)
    actual, expected = torch.compile(call, fullgraph=True, backend="eager")(x, y), call(x, y)
    if isinstance(expected, torch.Tensor):
        actual, expected = (actual,), (expected,)
    for one, other in zip(actual, expected, strict=True):
        assert one is other is None or torch.equal(one, other)
