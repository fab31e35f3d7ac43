"""PyTorch: lengths, starts, seeds, counts and threads that are no such are refused, in the words that
arrays are refused with; what is refused is named."""

import re

import numpy as np
import pytest
from conftest import cloud

import farpoint

torch = pytest.importorskip("torch", reason="torch is not installed")
from farpoint._torch import sampling  # noqa: E402  (they need torch)


def batch(b=3, n=60):
    return torch.from_numpy(np.stack([cloud(n, seed=s) for s in range(b)]))


WRONG = [torch.tensor([True, False, True]), torch.tensor([2.0, 1.0, 3.0]), torch.tensor([1j, 1j, 1j]),
         torch.tensor([1.5, 1.5, 1.5]).half()]


def refusals(function, what, wrong, array):
    """The refusals of a tensor's call and of an array's."""
    texts = []
    for points in (batch(), batch().numpy()):
        given = wrong if isinstance(points, torch.Tensor) or not isinstance(wrong, torch.Tensor) else wrong.numpy()
        with pytest.raises(TypeError) as caught:
            function(points, **{what: given})
        texts.append(str(caught.value))
    mine, theirs = (re.sub(r", not .*", "", text) for text in texts)
    assert mine == theirs == f"{what if array else 'lengths'} must be {array or 'a 1-D array'} of integers"
    return texts[0]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda w: str(w.dtype))
def test_lengths_and_starts_are_whole_numbers(wrong):
    def sample(points, **given):
        return farpoint.sample(points, 2, **given)

    assert str(wrong.dtype) in refusals(sample, "lengths", wrong, None)
    assert str(wrong.dtype) in refusals(sample, "start", wrong, "an array")


@pytest.mark.parametrize("wrong", WRONG[:2], ids=lambda w: str(w.dtype))
def test_lengths_of_pairs_are_whole_numbers(wrong):
    for name in ("x_lengths", "y_lengths"):
        for function in (farpoint.nearest, farpoint.chamfer):
            with pytest.raises(TypeError, match=r"lengths must be a 1-D array of integers, not torch\.Tensor"):
                function(batch(), batch(), **{name: wrong})


def test_one_start_is_a_whole_number():
    for start in (True, 2.0, torch.tensor(2.0), torch.tensor(True)):
        with pytest.raises(TypeError, match="start must be an array of integers"):
            farpoint.sample(batch()[0], 2, start=start)
    assert farpoint.sample(batch()[0], 2, start=torch.tensor(2, dtype=torch.uint8))[0] == 2


@pytest.mark.parametrize("options, text", [
    (dict(seed=-1), "seed is -1; it must be 0 or more"),
    (dict(seed=2**64), r"seed 18446744073709551616 is outside 0\.\.=18446744073709551615"),
    (dict(threads=-1), "threads is -1; it must be 1 or more"), (dict(threads=0), "threads is 0"),
    (dict(threads=2**64), r"threads 18446744073709551616 is outside 1\.\.="),
    (dict(count=2**64), r"count 18446744073709551616 is outside 0\.\.="),
    (dict(count=2**64, lengths=[1, 2, 3]), r"count 18446744073709551616 is outside 0\.\.="),
    (dict(count=2**60, lengths=[1, 2, 3]), "samples from a cloud of 60 points"),
], ids=str)
def test_numbers_out_of_range(options, text):
    for more in ({}, dict(non_finite="skip")):
        with pytest.raises(ValueError, match=text):
            farpoint.sample(batch(), **{"count": 5, **options, **more})


@pytest.mark.parametrize("threads", [-1, 0, 2**64])
def test_threads_of_pairs(threads):
    for function in (farpoint.nearest, farpoint.chamfer):
        with pytest.raises(ValueError, match=f"threads (is )?{threads}.* (must be 1 or more|outside 1)"):
            function(batch(), batch(), threads=threads)


def test_seeds_of_64_bits_are_those_of_arrays():
    points = batch()
    for seed in (0, 2**31, 2**63 - 1, 2**63, 2**63 + 12345, 2**64 - 1):
        for options in (dict(count=4), dict(count=4, non_finite="skip"), dict(spacing=0.5)):
            expected = farpoint.sample(points.numpy(), seed=seed, **options)
            np.testing.assert_array_equal(farpoint.sample(points, seed=seed, **options), expected)
        lengths = torch.tensor([60, 7, 1])
        on_gpu = sampling.random_starts(seed - 2**64 if seed >= 2**63 else seed, points, lengths)
        np.testing.assert_array_equal(
            on_gpu.squeeze(-1), farpoint.sample(points, 1, seed=seed, lengths=lengths).squeeze(-1))
    with pytest.raises(TypeError, match="integer"):
        farpoint.sample(points, 4, seed=1.5)


@pytest.mark.parametrize("other", [cloud(5), cloud(5).tolist(), None], ids=type)
def test_a_tensor_and_something_else(other):
    x = torch.from_numpy(cloud(5))
    for function in (farpoint.nearest, farpoint.chamfer):
        with pytest.raises(TypeError, match=r"both clouds must be of the same library.*(ndarray|list|None)"):
            function(x, other)


@pytest.mark.parametrize("algorithm", [None, 3, ["auto"]])
def test_an_algorithm_has_a_name(algorithm):
    for points in (batch(), batch().numpy()):
        with pytest.raises(TypeError, match=re.escape(f"algorithm is {algorithm!r}; it must be the name")):
            farpoint.sample(points, 3, algorithm=algorithm)


def test_results_are_generic():
    """As the stub says."""
    from typing import get_args, get_origin

    kinds = (farpoint.Sample, farpoint.Order, farpoint.Nearest, farpoint.Centroids, farpoint.Neighbors, farpoint.BallNeighbors)
    assert get_args(farpoint.Index[np.ndarray, int]) == (np.ndarray, int)
    for kind in kinds:
        alias = kind[torch.Tensor]
        assert get_origin(alias) is kind and get_args(alias) == (torch.Tensor,)

        class Mine(kind[torch.Tensor]):
            pass

        assert issubclass(Mine, kind)
        values = range(len(kind._fields))
        assert tuple(alias(*values)) == tuple(kind(*values)) == tuple(values)
