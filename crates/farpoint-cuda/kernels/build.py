#!/usr/bin/env python3
"""Compiles the kernels with pinned compilers; needs neither a GPU nor a CUDA toolkit.

    build.py NVRTC_FOLDER PTXAS OUT_FOLDER [NAME..] [--cache FOLDER]

NVRTC_FOLDER holds libnvrtc.so.12 and its builtins, PTXAS is NVIDIA's assembler; `cargo xtask
kernels` fetches both from PyPI and calls this script. Every FOLDER/NAME.cu below this script is the
module NAME and becomes

    OUT_FOLDER/NAME.PRECISION.compute_XX.ptx   and   OUT_FOLDER/NAME.PRECISION.sm_XX.cubin

Kernels include headers by their path from here, such as "common/batch.cuh". Machine code is
assembled from these PTX files, so that both do the same operations in the same order. With --cache,
what was assembled from the same PTX before is taken from there.
"""
import argparse
import concurrent.futures
import ctypes
import functools
import hashlib
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PRECISIONS = {"f32": [], "f64": ["-DFARPOINT_F64"]}

#: Virtual architectures of the PTX, the fallback for cards without machine code of their own. No
#: kernel needs more than 9.0.
PTX = (75, 80, 90)

#: Cards with machine code: Turing, A100, Ampere and (by 8.6, whose code is the same but for a few
#: instructions' order) Ada, Hopper, Blackwell's two kinds.
MACHINES = (75, 80, 86, 90, 100, 120)

#: Modules with machine code for fewer cards; the others take their PTX. One cloud on several GPUs is for those of a
#: data center, which reach each other's memory fast.
FEWER = {"peak_span": (80, 90, 100)}

#: `--fmad=false`: a multiplication and an addition stay two roundings. NVRTC then writes `mul.rn`
#: and `add.rn`, which the assembler never fuses, whatever its own flags.
OPTIONS = ["--fmad=false", "--std=c++17"]


def modules():
    """The source of every module, by the module's name."""
    found = {}
    for path in sorted(HERE.glob("*/*.cu")):
        if path.stem in found:
            raise RuntimeError(f"{path} and {found[path.stem]}: two modules of the same name")
        found[path.stem] = path
    return found


def load(folder):
    folder = pathlib.Path(folder)
    # The compiler opens its builtins by name: load them first.
    for library in sorted(folder.glob("libnvrtc-builtins.so*")):
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(folder / "libnvrtc.so.12"))


def text(nvrtc, program, size, get):
    length = ctypes.c_size_t()
    size(program, ctypes.byref(length))
    buffer = ctypes.create_string_buffer(length.value)
    get(program, buffer)
    return buffer.raw[: length.value].rstrip(b"\0").decode()


def compile_one(folder, path, options):
    """PTX of one file."""
    nvrtc = load(folder)
    headers = sorted(HERE.glob("*/*.cu*"))
    sources = (ctypes.c_char_p * len(headers))(*[h.read_bytes() for h in headers])
    names = (ctypes.c_char_p * len(headers))(
        *[h.relative_to(HERE).as_posix().encode() for h in headers]
    )
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), path.read_bytes(), path.name.encode(), len(headers), sources, names
    )
    flags = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    status = nvrtc.nvrtcCompileProgram(program, len(options), flags)
    log = text(nvrtc, program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
    if log.strip():
        print(f"{path.name} {' '.join(options)}:\n{log}", file=sys.stderr)
    if status != 0:
        raise RuntimeError(f"{path.name}: NVRTC failed with status {status}")
    ptx = text(nvrtc, program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx


def write_ptx(folder, path, precision, architecture, out):
    options = [f"--gpu-architecture=compute_{architecture}", *OPTIONS, *PRECISIONS[precision]]
    ptx = compile_one(folder, path, options)
    (out / f"{path.stem}.{precision}.compute_{architecture}.ptx").write_text(ptx)


def newest(machine):
    """The PTX that a card's machine code is assembled from."""
    return max(architecture for architecture in PTX if architecture <= machine)


def assemble(ptxas, version, out, cache, source, machine):
    """Machine code for one kind of card."""
    flags = [f"-arch=sm_{machine}"]
    target = out / f"{source.name.rsplit('.', 2)[0]}.sm_{machine}.cubin"
    kept = None
    if cache:
        key = hashlib.sha256(source.read_bytes() + f"{version} {flags}".encode())
        kept = cache / f"{key.hexdigest()}.cubin"
        if kept.exists():
            shutil.copyfile(kept, target)
            return
    run = subprocess.run([ptxas, *flags, source, "-o", target], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"{source.name}: ptxas failed for sm_{machine}\n{run.stderr}")
    if kept:
        # Renamed into place, so that the cache never holds half a file.
        part = kept.with_suffix(f".{os.getpid()}.{machine}")
        shutil.copyfile(target, part)
        part.replace(kept)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("nvrtc", type=pathlib.Path)
    parser.add_argument("ptxas", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def main():
    given = arguments()
    for folder in (given.out, given.cache):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    kernels = modules()
    names = given.names or list(kernels)
    version = subprocess.run([given.ptxas, "--version"], check=True, capture_output=True, text=True)
    # The largest first, so that no core is left with a large one at the end.
    files = sorted((kernels[name] for name in names), key=lambda p: -p.stat().st_size)
    # NVRTC numbers calls across all that a process compiles, so each file gets its own process.
    with multiprocessing.Pool(maxtasksperchild=1) as pool:
        pool.starmap(write_ptx, [
            (given.nvrtc, path, precision, architecture, given.out)
            for path in files for precision in PRECISIONS for architecture in PTX
        ], chunksize=1)
    jobs = [
        (given.out / f"{name}.{precision}.compute_{newest(machine)}.ptx", machine)
        for name in names for precision in PRECISIONS for machine in FEWER.get(name, MACHINES)
    ]
    jobs.sort(key=lambda job: -job[0].stat().st_size)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        run = functools.partial(assemble, given.ptxas, version.stdout, given.out, given.cache)
        list(pool.map(run, *zip(*jobs)))


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        raise SystemExit(str(error))
