"""The C interface on a GPU: device pointers of PyTorch on the caller's stream, beside the CPU through the same library.

    cargo rustc --release -p farpoint-capi --features cuda --lib --crate-type cdylib
    python crates/farpoint-capi/tests/gpu.py target/release/libfarpoint_capi.so

Needs a GPU, NumPy and PyTorch.
"""

import ctypes as c
import sys

import numpy as np
import torch

lib = c.CDLL(sys.argv[1])
size_t, i32, u32, f64, address = c.c_size_t, c.c_int32, c.c_uint32, c.c_double, c.c_void_p
lib.farpoint_last_error.restype = c.c_char_p
lib.farpoint_status_name.restype = c.c_char_p
OK, INVALID = 0, 1


class Points(c.Structure):
    _fields_ = [("data", address), ("count", size_t), ("dimensions", size_t), ("point_stride", c.c_ssize_t),
                ("axis_stride", c.c_ssize_t), ("axis_offsets", address), ("buffer", address), ("buffer_size", size_t),
                ("scalar", i32), ("flags", u32), ("index", address)]


class RunOptions(c.Structure):
    _fields_ = [("size", size_t), ("threads", size_t), ("device", i32), ("device_number", i32),
                ("instruction_set", i32), ("non_finite", i32), ("progress", address), ("user", address)]


class SampleOptions(c.Structure):
    _fields_ = [("size", size_t), ("run", c.POINTER(RunOptions)), ("amount", i32), ("random_start", i32),
                ("count", size_t), ("ratio", f64), ("spacing", f64), ("starts", address), ("start_count", size_t),
                ("seed", c.c_uint64), ("algorithm", c.c_char_p), ("rows", address), ("row_count", size_t),
                ("mask", address)]


class MatchOptions(c.Structure):
    _fields_ = [("size", size_t), ("run", c.POINTER(RunOptions)), ("norm", i32), ("method", i32)]


class SearchOptions(c.Structure):
    _fields_ = [("size", size_t), ("run", c.POINTER(RunOptions)), ("k", size_t), ("norm", i32), ("method", i32),
                ("kind", i32), ("order", i32), ("inclusive", i32), ("exclude_self", i32), ("radius", f64),
                ("min_radius", f64), ("near_radius", f64)]


class Batch(c.Structure):
    _fields_ = [("size", size_t), ("points", address), ("point_stride", c.c_ssize_t), ("axis_stride", c.c_ssize_t),
                ("dimensions", size_t), ("clouds", size_t), ("rows", size_t), ("scalar", i32), ("flags", u32),
                ("offsets", address), ("lengths", address), ("samples", address), ("slots", address),
                ("starts", address), ("start_count", size_t), ("indices", address), ("squared_distances", address),
                ("squared_covering_radii", address), ("counts", address), ("scratch", address),
                ("scratch_size", size_t)]


class Side(c.Structure):
    _fields_ = [("points", address), ("point_stride", c.c_ssize_t), ("axis_stride", c.c_ssize_t), ("rows", size_t),
                ("offsets", address), ("lengths", address)]


class Pairs(c.Structure):
    _fields_ = [("size", size_t), ("a", Side), ("b", Side), ("dimensions", size_t), ("pairs", size_t),
                ("scalar", i32), ("flags", u32), ("raw_distances_a", address), ("indices_a", address),
                ("raw_distances_b", address), ("indices_b", address), ("scratch", address), ("scratch_size", size_t)]


class Neighbors(c.Structure):
    _fields_ = [("size", size_t), ("x", Side), ("y", Side), ("dimensions", size_t), ("clouds", size_t),
                ("scalar", i32), ("flags", u32), ("raw_distances", address), ("indices", address),
                ("counts", address), ("scratch", address), ("scratch_size", size_t)]


def made(structure, /, **members):
    return structure(size=c.sizeof(structure), **members)


def on_gpu(structure, /, number=0, run=(), **members):
    """Options that run on a GPU, with these members of `run` besides."""
    run_options = made(RunOptions, **{"device": 1, "device_number": number, **dict(run)})
    return made(structure, run=c.pointer(run_options), **members)


def check(status):
    assert status == OK, (lib.farpoint_status_name(status), lib.farpoint_last_error())


def refused(status, words):
    text = lib.farpoint_last_error().decode()
    assert status == INVALID and words in text, (status, text)


def wide(array):
    return int(array.itemsize == 8)


def points_of(cloud):
    n, d = cloud.shape
    size = cloud.itemsize
    return Points(data=cloud.ctypes.data, count=n, dimensions=d, point_stride=d * size, axis_stride=size,
                  scalar=wide(cloud))


class SampleView(c.Structure):
    _fields_ = [("count", size_t), ("indices", address), ("squared_distances_f32", address),
                ("squared_distances_f64", address), ("covering_radius", f64), ("dropped", size_t),
                ("algorithm", c.c_char_p)]


class NearestView(c.Structure):
    _fields_ = [("rows", size_t), ("indices", address), ("raw_distances_f32", address),
                ("raw_distances_f64", address), ("dropped", size_t)]


class NeighborsView(c.Structure):
    _fields_ = [("rows", size_t), ("k", size_t), ("counts", address), ("indices", address),
                ("raw_distances_f32", address), ("raw_distances_f64", address), ("dropped", size_t)]


for name, view in (("sample", SampleView), ("nearest", NearestView), ("neighbors", NeighborsView)):
    function = getattr(lib, f"farpoint_{name}_result_view")
    function.restype, function.argtypes = view, [address]


def numbers(pointer, count, kind):
    return np.ctypeslib.as_array(c.cast(pointer, c.POINTER(kind)), (count,)).copy()


def on_host(cloud, options):
    """Indices and squared distances through farpoint_sample."""
    result, count = address(), options.count
    check(lib.farpoint_sample(points_of(cloud), c.byref(options), c.byref(result)))
    view = lib.farpoint_sample_result_view(result)
    distances = (view.squared_distances_f64, f64) if wide(cloud) else (view.squared_distances_f32, c.c_float)
    found = numbers(view.indices, count, size_t), numbers(distances[0], count, distances[1])
    lib.farpoint_sample_result_free(result)
    return found


def batch_of(points, indices, **members):
    clouds, rows, d = points.shape
    size = points.element_size()
    strides = [stride * size for stride in points.stride()[1:]]
    return made(Batch, points=points.data_ptr(), point_stride=strides[0], axis_stride=strides[1], dimensions=d,
                clouds=clouds, rows=rows, scalar=int(size == 8), indices=indices.data_ptr(), **members)


def samples(dtype):
    rng = np.random.default_rng(1)
    clouds, rows, count = 3, 5000, 700
    # Ties and duplicates in one cloud, all in one place in another.
    host = rng.random((clouds, rows, 3)).astype(dtype)
    host[1] = rng.integers(0, 12, (rows, 3))
    host[2] = 4
    points = torch.from_numpy(host).cuda()
    indices = torch.full((clouds, count), -7, dtype=torch.int64, device="cuda")
    distances = torch.zeros((clouds, count), dtype=points.dtype, device="cuda")
    stream = torch.cuda.Stream()
    options = on_gpu(SampleOptions, count=count)
    batch = batch_of(points, indices, squared_distances=distances.data_ptr())
    bytes_of = size_t()
    check(lib.farpoint_cuda_sample_scratch(c.byref(batch), c.byref(options), c.byref(bytes_of)))
    scratch = torch.empty(bytes_of.value + 256, dtype=torch.uint8, device="cuda")
    at = -scratch.data_ptr() % 256
    batch.scratch, batch.scratch_size = scratch.data_ptr() + at, bytes_of.value
    torch.cuda.synchronize()
    expected = [on_host(cloud, made(SampleOptions, count=count)) for cloud in host]

    def same():
        for cloud in range(clouds):
            assert (indices[cloud].cpu().numpy() == expected[cloud][0].astype(np.int64)).all()
            assert (distances[cloud].cpu().numpy() == expected[cloud][1]).all()

    for raw in (stream.cuda_stream, 0, 1, 2):
        indices.fill_(-7)
        torch.cuda.synchronize()
        check(lib.farpoint_cuda_sample(c.byref(batch), c.byref(options), address(raw)))
        torch.cuda.synchronize()
        check(lib.farpoint_cuda_check_stream(0, address(raw)))
        same()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        current = torch.cuda.current_stream().cuda_stream
        check(lib.farpoint_cuda_sample(c.byref(batch), c.byref(options), address(current)))
    indices.fill_(-7)
    graph.replay()
    torch.cuda.synchronize()
    same()
    for cloud in range(clouds):
        for given, found in zip(on_host(host[cloud], options), expected[cloud]):
            assert (given == found).all()
    print(f"{np.dtype(dtype)}: samples of 3 clouds on four streams, in a graph and from host memory are the CPU's")
    counts, firsts = (torch.zeros(clouds, dtype=torch.int64, device="cuda") for _ in range(2))
    points[1, 17, 2] = float("nan")
    check(lib.farpoint_cuda_check_rows(c.byref(batch), 0, address(0), address(counts.data_ptr()),
                                       address(firsts.data_ptr())))
    torch.cuda.synchronize()
    assert counts.tolist() == [0, 1, 0] and firsts.tolist() == [-1, 17, -1]
    return batch


def neighbors():
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 40, (n, 3)).astype(np.float32) for n in (900, 500))
    x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    side = [Side(points=of.data_ptr(), point_stride=12, axis_stride=4, rows=len(of)) for of in (x, y)]
    indices = torch.zeros(900, dtype=torch.int64, device="cuda")
    distances = torch.zeros(900, device="cuda")
    pairs = made(Pairs, a=side[0], b=side[1], dimensions=3, pairs=1, raw_distances_a=distances.data_ptr(),
                 indices_a=indices.data_ptr())
    check(lib.farpoint_cuda_nearest(c.byref(pairs), c.byref(on_gpu(MatchOptions)), address(0)))
    torch.cuda.synchronize()
    result = address()
    check(lib.farpoint_nearest(points_of(a), points_of(b), None, c.byref(result)))
    view = lib.farpoint_nearest_result_view(result)
    expected = numbers(view.indices, 900, u32)
    assert (indices.cpu().numpy() == expected.astype(np.int64)).all()
    of = numbers(view.raw_distances_f32, 900, c.c_float)
    assert (distances.cpu().numpy() == of).all()
    lib.farpoint_nearest_result_free(result)
    k = 6
    found = torch.zeros((900, k), dtype=torch.int64, device="cuda")
    wanted = made(Neighbors, x=side[0], y=side[1], dimensions=3, clouds=1, indices=found.data_ptr())
    for kind, order in ((0, 0), (1, 0), (1, 1)):
        options = dict(k=k, kind=kind, order=order, radius=5.0)
        check(lib.farpoint_cuda_search(c.byref(wanted), c.byref(on_gpu(SearchOptions, **options)), address(0)))
        torch.cuda.synchronize()
        check(lib.farpoint_search(points_of(a), points_of(b), c.byref(made(SearchOptions, **options)), c.byref(result)))
        expected = numbers(lib.farpoint_neighbors_result_view(result).indices, 900 * k, u32).astype(np.int64)
        expected[expected == 2**32 - 1] = -1
        assert (found.cpu().numpy().ravel() == expected).all(), (kind, order)
        lib.farpoint_neighbors_result_free(result)
    print("nearest points, k nearest and balls are the CPU's")


def bad_input(batch):
    stream, options = address(0), on_gpu(SampleOptions, count=3)

    def sample(batch, options):
        return lib.farpoint_cuda_sample(batch and c.byref(batch), options and c.byref(options), stream)

    refused(sample(None, options), "farpoint_cuda_batch is NULL")
    refused(sample(batch, None), "farpoint_sample_options is NULL")
    refused(sample(batch, made(SampleOptions, count=3)), "run is NULL")
    for run, members, words in (({"threads": 2}, {}, "threads is not supported"), ({"device": 0}, {}, "FARPOINT_CUDA"),
                                ({"non_finite": 1}, {}, "non_finite is not supported"), ({}, {"random_start": 1}, "starts is for host memory"),
                                ({}, {"count": 5001}, "5001 samples"), ({}, {"count": 0}, "count is 0")):
        refused(sample(batch, on_gpu(SampleOptions, run=run, **{"count": 3, **members})), words)
    for member, value, words in (("points", None, "null"), ("indices", None, "null"), ("flags", 1, "flags are 1"),
                                 ("scalar", 9, "scalar is 9"), ("size", 8, "sizeof"), ("dimensions", 0, "coordinates"),
                                 ("point_stride", 13, "multiples of"), ("points", batch.points + 1, "aligned")):
        kept = getattr(batch, member)
        setattr(batch, member, value)
        refused(sample(batch, options), words)
        setattr(batch, member, kept)
    assert sample(batch, on_gpu(SampleOptions, number=99, count=3)) == 5, lib.farpoint_last_error()
    print("bad input is refused with a text")


devices = size_t()
check(lib.farpoint_cuda_device_count(c.byref(devices)))
print(devices.value, "GPUs;", torch.cuda.get_device_name())
samples(np.float64)
batch = samples(np.float32)
neighbors()
bad_input(batch)
print("passed")
