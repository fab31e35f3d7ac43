"""What the point operators refuse, with the numbers at fault; of NumPy arrays and of tensors alike."""

import functools

import numpy as np
import pytest
from conftest import in_ball

import farpoint
from farpoint import neighbors

torch = pytest.importorskip("torch", reason="torch is not installed")

X, Y = np.zeros((4, 3)), np.arange(15.0).reshape(5, 3)


@pytest.fixture(params=[np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def of(request):
    return request.param


def refused(kind, *words):
    return pytest.raises(kind, match="(?s)" + ".*".join(words))


def test_k(of):
    x, y = of(X), of(Y)
    for k in (0, -3):
        with refused(ValueError, f"k is {k}; it must be 1 or more"):
            farpoint.knn(x, y, k)
    with refused(ValueError, "k is 0"):
        farpoint.ball_query(x, y, 1.0, 0)
    with refused(TypeError, "k must be an integer, not 2.5"):
        farpoint.knn(x, y, 2.5)
    assert farpoint.knn(x, y, 9).counts.tolist() == [5] * 4  # fewer points than k


@pytest.mark.parametrize("radius", [-1.0, np.nan, -np.inf])
def test_radius(of, radius):
    x, y = of(X), of(Y)
    for k in (3, None):
        with refused(ValueError, "^radius is .*(number|at least 0)"):
            in_ball(x, y, radius, k)
        with refused(ValueError, "^min_radius is .*(number|at least 0)"):
            in_ball(x, y, 1.0, k, min_radius=radius)
    with refused(TypeError, "radius must be a number, not 'far'"):
        farpoint.ball_query(x, y, "far", 3)


def test_options(of):
    x, y = of(X), of(Y)
    with refused(ValueError, 'order is .*"index" or "nearest"'):
        farpoint.ball_query(x, y, 1.0, 3, order="random")
    with refused(ValueError, "norm is 3; it must be 1 or 2"):
        farpoint.knn(x, y, 3, norm=3)
    with refused(ValueError, "index_dtype is 'int16'"):
        farpoint.knn(x, y, 3, index_dtype="int16")
    with refused(ValueError, "threads is 0"):
        farpoint.knn(x, y, 3, threads=0)
    with refused(ValueError, "maximum is NaN"):
        neighbors.ball_query_raw(x, y, 3, maximum=np.nan)


def test_shapes_and_types(of):
    x, y = of(X), of(Y)
    for a, b in ((X[0], Y), (X[:, :2], Y), (X[None], Y), (X[None], np.stack([Y, Y]))):
        with refused(ValueError, "."):
            farpoint.knn(of(a), of(b), 3)
    with refused(TypeError, "both clouds must be of the same type"):
        farpoint.knn(of(X.astype(np.float32)), y, 3)
    with refused(TypeError, "float32"):
        farpoint.knn(of(X > 0), of(Y > 0), 3)
    for call in (farpoint.nearest, farpoint.chamfer, lambda a, b: farpoint.within(a, b, 1.0)):
        with refused(TypeError, r"of the same type, not float64 and float32; .*\(4, 3\) and type int64; .*\(5, 3\) and type float32"):
            call(X.astype(np.int64), Y.astype(np.float32))
    with refused(ValueError, "lengths are for a batch"):
        farpoint.knn(x, y, 3, x_lengths=[3])


def test_errors_have_the_shape_that_was_passed(of):
    """Messages about one cloud mention neither a batch nor an option that searches lack."""
    bad = X.copy()
    bad[2] = np.nan
    index = farpoint.Index(of(Y))
    calls = [
        farpoint.nearest, farpoint.nearest_both, farpoint.chamfer, lambda x, y: farpoint.knn(x, y, 2),
        lambda x, y: farpoint.within(x, y, 1.0), lambda x, y: index.knn(x, 2),
        lambda x, y: farpoint.quality(x, [0]), lambda x, y: farpoint.Index(x),
    ]
    for call in calls:
        with refused(ValueError, "1 of 4 rows hold NaN or infinity, the first is row 2; remove them .*", r"\(4, 3\)") as error:
            call(of(bad), of(Y))
        text = str(error.value)
        assert "(1, " not in text and "batch" not in text and "skip" not in text, text
    for call in calls[:6]:
        with refused(ValueError, r"\(1, 4, 3\)|\(4, 3\)"):  # the index is of a cloud, the others of a batch
            call(of(bad[None]), of(Y[None]))
    for call in calls[:5]:
        with refused(ValueError, r"\(2, 4, 3\)") as error:
            call(of(np.stack([X, bad])), of(np.stack([Y, Y])))
        assert "cloud 1 of the batch: " in str(error.value) or call not in calls[:3]
    with refused(ValueError, r"remove them \("):
        farpoint.sample_ragged(of(bad), [0, 4], [2])
    with refused(ValueError, 'remove them or pass non_finite="skip"'):
        farpoint.sample(of(bad), 2)
    for call in calls[:6]:
        with refused(ValueError, "the second cloud: the cloud has no usable point", r"\(4, 3\)") as error:
            call(of(X), of(Y[:0])) if call is not calls[5] else farpoint.Index(of(Y[:0])).knn(of(X), 2)
        assert "(1, " not in str(error.value) and "batch" not in str(error.value)
    for call in (*calls[1:3], lambda x, y: farpoint.chamfer(x, y, one_sided=True)):
        with refused(ValueError, "the first cloud: the cloud has no usable point", r"\(0, 3\)"):
            call(of(X[:0]), of(Y))


SEARCHES = [
    farpoint.nearest, farpoint.nearest_both, farpoint.chamfer, functools.partial(farpoint.f_score, threshold=1.0),
    functools.partial(farpoint.knn, k=2), functools.partial(farpoint.ball_query, radius=1.0, k=2),
    functools.partial(farpoint.within, radius=1.0),
]


@pytest.mark.parametrize("call", SEARCHES, ids=range(len(SEARCHES)))
def test_errors_about_concatenated_clouds_have_the_shape_that_was_passed(of, call):
    bad = X.copy()
    bad[2] = np.nan
    offsets = dict(x_offsets=[0, 1, 4], y_offsets=[0, 2, 5])
    with refused(ValueError, "1 of . rows hold NaN or infinity, the first is row .; remove them .*", r"\(4, 3\)") as error:
        call(of(bad), of(Y), **offsets)
    assert "leave" not in str(error.value) and "(2, " not in str(error.value)
    with refused(ValueError, "cloud 1 ", r"\(5, 3\)") as error:
        call(of(X), of(Y), x_offsets=[0, 1, 4], y_offsets=[0, 5, 5])
    assert "(2, " not in str(error.value)
    with refused(ValueError, r"offsets are for .* shape \(N, D\).*\(1, 4, 3\)"):
        call(of(X[None]), of(Y[None]), x_offsets=[0, 4], y_offsets=[0, 5])
    with refused(ValueError, r"lengths are for a batch of shape \(B, N, D\) .*\(4, 3\)"):
        call(of(X), of(Y), x_lengths=[3])
    with refused(ValueError, r"for each of 2 clouds, not of shape \(3,\)|3 lengths for 2 clouds"):
        call(of(np.stack([X, X])), of(np.stack([Y, Y])), x_lengths=[1, 2, 3])


def test_lengths(of):
    x, y = of(np.stack([X, X])), of(np.stack([Y, Y]))
    with refused(ValueError, "6.* over 5"):
        farpoint.knn(x, y, 3, y_lengths=[6, 2])
    with refused(ValueError, "length -1"):
        farpoint.knn(x, y, 3, x_lengths=[-1, 2])
    with refused(ValueError, "."):
        farpoint.knn(x, y, 3, x_lengths=[1, 2, 3])


@pytest.mark.parametrize("offsets", [[0, 3, 2, 4], [1, 4], [0, 3], [0, 5], []])
def test_offsets(of, offsets):
    x, y = of(X), of(Y)
    own = np.linspace(0, 5, max(len(offsets), 2)).astype(int).tolist()
    for given in (offsets, np.array(offsets, np.int64)):
        with refused(ValueError, "offset"):
            farpoint.knn(x, y, 3, x_offsets=given, y_offsets=own)


def test_offsets_of_one_side(of):
    x, y = of(X), of(Y)
    with refused(ValueError, "x_offsets are given without y_offsets"):
        farpoint.knn(x, y, 3, x_offsets=[0, 4])
    with refused(ValueError, "pass one of them"):
        farpoint.knn(x, y, 3, x_offsets=[0, 4], y_offsets=[0, 5], x_lengths=[4])
    with refused(ValueError, "2 clouds .* 1"):
        farpoint.knn(x, y, 3, x_offsets=[0, 2, 4], y_offsets=[0, 5])


@pytest.mark.parametrize("shapes", [((0, 3), (5, 3)), ((0, 3), (0, 3)), ((2, 0, 3), (2, 5, 3)), ((2, 0, 3), (2, 0, 3))])
def test_no_queries_have_no_results(of, shapes):
    x, y = (of(np.zeros(shape)) for shape in shapes)
    rows = shapes[0][:-1]
    assert farpoint.nearest(x, y).indices.shape == rows
    assert farpoint.knn(x, y, 2).indices.shape == (*rows, 2)
    assert farpoint.ball_query(x, y, 1.0, 2).indices.shape == (*rows, 2)
    assert farpoint.within(x, y, 1.0).indices.shape == (0,)
    if len(rows) == 1 and shapes[1][0]:
        index = farpoint.Index(y)
        assert index.knn(x, 2).indices.shape == (0, 2) and index.nearest(x).indices.shape == (0,)


def test_nobody_to_be_found(of):
    with refused(ValueError, "no usable point"):
        farpoint.knn(of(X), of(Y[:0]), 3)
    with refused(ValueError, "cloud 1 .*no usable point"):
        farpoint.knn(of(X), of(Y), 3, x_offsets=[0, 2, 4], y_offsets=[0, 5, 5])
    with refused(ValueError, "cloud 1 .*no usable point"):
        farpoint.knn(of(np.stack([X, X])), of(np.stack([Y, Y])), 3, y_lengths=[5, 0])


def test_rows_with_nan(of):
    bad = Y.copy()
    bad[3, 1] = np.nan
    with refused(ValueError, "1 of 5 rows .*NaN.* row 3"):
        farpoint.knn(of(X), of(bad), 3)
    with refused(ValueError, "NaN"):
        farpoint.within(of(bad), of(X), 1.0)
    with refused(ValueError, "NaN"):
        farpoint.Index(of(bad))


def test_indices_of_32_bits():
    few = np.broadcast_to(np.zeros((1, 1), np.float32), (2**31 + 1, 1))
    for of in (np.asarray, torch.as_tensor):
        with refused(ValueError, "32 bits do not reach all 2147483649 rows"):
            farpoint.knn(of(np.zeros((2, 1), np.float32)), of(few), 1, index_dtype="int32")


def test_two_libraries():
    with refused(TypeError, "same library"):
        farpoint.knn(X, torch.as_tensor(Y), 3)
    with refused(TypeError, "same library"):
        farpoint.gather(torch.as_tensor(Y), np.zeros(3, np.int64))


# --------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("index", [5, -2, 2**40, -(2**40)])
def test_indices_out_of_range(of, index):
    values, indices = of(Y), np.zeros((4, 3), np.int64)
    indices[2, 1] = index
    for call in (
        lambda i: farpoint.gather(values, i),
        lambda i: farpoint.gather_max(values, i),
        lambda i: farpoint.interpolate(values, i, of(np.ones((4, 3)))),
        lambda i: farpoint.operators.check_indices(i, 5),
    ):
        with refused(IndexError, "."):
            call(of(indices))
    with refused(IndexError, f"index {index} at place 7 .* 5"):
        farpoint.gather(values, of(indices))
    with refused(IndexError, f"1 of the indices .* 5 rows, .* is {index} at place 7"):
        farpoint.operators.check_indices(of(indices), 5)
    farpoint.operators.check_indices(of(np.array([-1, 4])), 5)


def test_shapes_of_values(of):
    values, indices = of(Y), of(np.zeros((4, 3), np.int64))
    with refused(ValueError, r"\(N, C\) or"):
        farpoint.gather(values[None, None], indices)
    with refused(ValueError, r"\(M\) or \(M, k\)"):
        farpoint.gather(values, indices[None])
    with refused(ValueError, r"\(M, k\)"):
        farpoint.gather_max(values, indices[0])
    with refused(ValueError, "2 clouds for values of 1"):
        farpoint.gather(values[None], of(np.zeros((2, 4, 3), np.int64)))
    with refused(ValueError, r"add must be of shape \(4, 3, 3\), not \(4, 3\)"):
        farpoint.gather_max(values, indices, of(np.ones((4, 3))))
    with refused(ValueError, r"weights must be of shape \(4, 3\), not \(4, 2\)"):
        farpoint.interpolate(values, indices, of(np.ones((4, 2))))


def test_types_of_values(of):
    values, indices = of(Y), of(np.zeros((4, 3), np.int64))
    with refused(TypeError, "values must be float"):
        farpoint.gather(of(Y.astype(np.complex64)), indices)
    with refused(TypeError, "values must be float"):
        farpoint.gather_max(of(Y > 3), indices)
    for kind in (np.int64, np.bool_):
        with refused(IndexError, "1 of the indices .* 5 rows.* 9 at place 2"):
            farpoint.gather(of(Y.astype(kind)), of(np.array([0, -1, 9])))
        with refused(TypeError, "indices must be .*integers"):
            farpoint.gather(of(Y.astype(kind)), of(np.zeros((4, 3))))
    with refused(TypeError, "indices must be .*integers"):
        farpoint.gather(values, of(np.zeros((4, 3))))
    with refused(TypeError, "add must be of the type of the values"):
        farpoint.gather_max(values, indices, of(np.ones((4, 3, 3), np.float32)))
    with refused(TypeError, "weights must be"):
        farpoint.interpolate(values, indices, of(np.ones((4, 3), np.float32)))


@pytest.mark.parametrize("kind", [torch.int64, torch.int16, torch.uint8])
def test_tensors_of_integers_are_not_converted(kind):
    """As PyTorch's own functions do not; what only copies takes them."""
    values, indices = torch.as_tensor(Y).to(kind), torch.zeros((4, 3), dtype=torch.int64)
    for call in (
        lambda: farpoint.sample(values, 2), lambda: farpoint.knn(values, values, 2), lambda: farpoint.Index(values),
        lambda: farpoint.chamfer(values, values),
    ):
        with refused(TypeError, "must be float32 or float64.*torch.u?int"):
            call()
    for call in (
        lambda: farpoint.gather_max(values, indices), lambda: farpoint.interpolate(values, indices, torch.ones(4, 3)),
        lambda: farpoint.inverse_distance_weights(values, squared=True),
    ):
        with refused(TypeError, "must be float32.*torch.u?int"):
            call()
    assert farpoint.gather(values, indices).dtype == kind


def test_weights(of):
    with refused(ValueError, "power.* 3 "):
        farpoint.inverse_distance_weights(of(X), 3, squared=False)
    with refused(ValueError, "eps is -1.0"):
        farpoint.inverse_distance_weights(of(X), eps=-1.0, squared=True)
    with refused(TypeError, "distances must be float"):
        farpoint.inverse_distance_weights(of(np.zeros((2, 3), np.bool_)), squared=True)
    with refused(ValueError, "not a number"):
        farpoint.inverse_distance_weights(
            of(np.float64(1.0)) if of is torch.as_tensor else np.array(1.0), squared=True
        )


def test_an_index_of_other_clouds():
    index = farpoint.Index(Y)
    with refused(ValueError, "pass one of them"):
        farpoint.Index(Y, y_lengths=[5], y_offsets=[0, 5])
    with refused(ValueError, "index is of other clouds"):
        neighbors.knn(X, Y, 2) and index.__class__.knn(changed(index, Y[:4]), X, 2)


def changed(index, y):
    """An index whose cloud was replaced."""
    index.y = y
    return index


def test_arguments_that_equal_good_ones(of):
    """Records of arguments are kept; what equals them is not always as good."""
    x, y = of(X), of(Y)
    result = farpoint.knn(x, y, 2, norm=2, threads=1)
    again = farpoint.knn(x, y, np.int64(2), norm=2, threads=np.int64(1))
    assert all((np.asarray(a) == np.asarray(b)).all() for a, b in zip(result, again))
    with refused(TypeError, "k must be an integer"):
        farpoint.knn(x, y, 2.0)
    with refused(TypeError, "threads must be an integer"):
        farpoint.knn(x, y, 2, threads=1.0)
    with refused(ValueError, "index_dtype"):
        farpoint.knn(x, y, 2, index_dtype=["int32"])
    with refused(TypeError, "k must be an integer"):
        farpoint.knn(x, y, None)
