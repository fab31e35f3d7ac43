#!/usr/bin/env python3
"""Compiles the kernels with pinned compilers; needs neither a GPU nor a CUDA toolkit.

    build.py NVRTC_FOLDER PTXAS OUT_FOLDER [NAME..] [--cache FOLDER]

NVRTC_FOLDER holds libnvrtc.so.12 and its builtins, PTXAS is NVIDIA's assembler; `cargo xtask
kernels` fetches both from PyPI and calls this script. Every FOLDER/NAME.cu below this script, or below the
folder that FARPOINT_KERNELS names, is the module NAME and becomes

    OUT_FOLDER/NAME.PRECISION.compute_XX.ptx   and   OUT_FOLDER/NAME.PRECISION.sm_XX.cubin

Kernels include headers by their path from there or from here, such as "common/batch.cuh". Machine code is
assembled from these PTX files, so that both do the same operations in the same order. With --cache,
what was assembled from the same PTX before is taken from there.
"""
import argparse
import concurrent.futures
import ctypes
import functools
import hashlib
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
#: Folder of the modules, which may use the headers here.
OWN = pathlib.Path(os.environ.get("FARPOINT_KERNELS", HERE)).resolve()
PRECISIONS = {"f32": [], "f64": ["-DFARPOINT_F64"]}

#: Virtual architectures of the PTX, the fallback for cards without machine code of their own. No
#: kernel needs more than 9.0.
PTX = (75, 80, 90)

#: Cards with machine code: Turing, A100 and by its code all of Ampere and Ada, Hopper, Blackwell's two kinds. In
#: double precision only cards of data centers: the others have a 32nd or a 64th of the units for it.
MACHINES = {"f32": (75, 80, 90, 100, 120), "f64": (80, 90, 100)}

#: The same for modules that few calls need: for clouds of more than three axes, of more than 33 million points or on
#: several GPUs, distances by absolute differences, and what `auto` takes never or, like `radius`, for a few hundred
#: samples of hundreds of thousands of points alone.
FEWER = {"f32": (80, 90), "f64": ()}
SELDOM = ("peak_high", "peak_large", "peak_span", "peak_span_high", "nearest_tree_high", "nearest_tree_absolute",
          "nearest_tree_high_absolute", "quick", "fastpoint", "radius")

#: Modules that exist in one precision only.
ONLY = {"peak_large": "f32"}

#: Modules for cards with clusters only.
CLUSTERS = ("peak_cluster",)

#: `--fmad=false`: a multiplication and an addition stay two roundings. NVRTC then writes `mul.rn`
#: and `add.rn`, which the assembler never fuses, whatever its own flags.
OPTIONS = ["--fmad=false", "--std=c++17"]


def modules():
    """The source of every module, by the module's name."""
    found = {}
    for path in sorted(OWN.glob("*/*.cu")):
        if path.stem in found:
            raise RuntimeError(f"{path} and {found[path.stem]}: two modules of the same name")
        found[path.stem] = path
    return found


def newest(machine):
    """The PTX that a card's machine code is assembled from."""
    return max(architecture for architecture in PTX if architecture <= machine)


def steps(name):
    """What a module becomes: files, each with its compiler's options; for machine code the PTX's name comes first."""
    found = {}
    for precision, flags in PRECISIONS.items():
        if ONLY.get(name, precision) != precision:
            continue
        ptx = f"{name}.{precision}.compute_{{}}.ptx".format
        runs = lambda architecture: architecture >= 90 or name not in CLUSTERS
        for architecture in filter(runs, PTX):
            found[ptx(architecture)] = [f"--gpu-architecture=compute_{architecture}", *OPTIONS, *flags]
        for machine in filter(runs, (FEWER if name in SELDOM else MACHINES)[precision]):
            found[f"{name}.{precision}.sm_{machine}.cubin"] = [ptx(newest(machine)), f"-arch=sm_{machine}"]
    return found


def sources(path):
    """A file and all that it includes, by their paths, with line ends of one kind."""
    found, waiting = {}, [path.relative_to(OWN).as_posix()]
    while waiting:
        name = waiting.pop()
        if name not in found:
            own = OWN / name
            found[name] = (own if own.exists() else HERE / name).read_text(encoding="utf-8")
            waiting += re.findall(r'^\s*#\s*include\s*"(.*)"', found[name], re.MULTILINE)
    return found


def groups():
    """The modules, by the source that they are variants of. They have much in common, and are kept together."""
    found = {}
    for name, path in modules().items():
        *_, main = (source for source in sources(path) if source.endswith(".cu"))
        found.setdefault(pathlib.PurePath(main).stem, {})[name] = path
    return found


def inputs(group, compilers):
    """A digest of all that decides what the modules of a group compile to."""
    each = [[sorted(steps(name).items()), sorted(sources(path).items())] for name, path in sorted(group.items())]
    return hashlib.sha256(json.dumps([sorted(compilers), each]).encode())


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
    headers = {h.relative_to(root).as_posix(): h for root in (HERE, OWN) for h in sorted(root.glob("*/*.cu*"))}
    sources = (ctypes.c_char_p * len(headers))(*[h.read_bytes() for h in headers.values()])
    names = (ctypes.c_char_p * len(headers))(*[name.encode() for name in headers])
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


def write_ptx(folder, path, options, target):
    target.write_text(compile_one(folder, path, options))


def assemble(ptxas, version, cache, source, flag, target):
    """Machine code for one kind of card."""
    kept = None
    if cache:
        key = hashlib.sha256(source.read_bytes() + f"{version} {flag}".encode())
        kept = cache / f"{key.hexdigest()}.cubin"
        if kept.exists():
            shutil.copyfile(kept, target)
            return
    run = subprocess.run([ptxas, flag, source, "-o", target], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"{source.name}: ptxas failed with {flag}\n{run.stderr}")
    if kept:
        # Renamed into place, so that the cache never holds half a file.
        part = kept.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
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
    ptx, machine = [], []
    # The largest first, so that no core is left with a large one at the end.
    for name in sorted(names, key=lambda name: -sum(map(len, sources(kernels[name]).values()))):
        for file, options in steps(name).items():
            if file.endswith(".ptx"):
                ptx.append((given.nvrtc, kernels[name], options, given.out / file))
            else:
                machine.append((given.out / options[0], options[1], given.out / file))
    # NVRTC numbers calls across all that a process compiles, so each file gets its own process.
    with multiprocessing.Pool(maxtasksperchild=1) as pool:
        pool.starmap(write_ptx, ptx, chunksize=1)
    machine.sort(key=lambda job: -job[0].stat().st_size)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        run = functools.partial(assemble, given.ptxas, version.stdout, given.cache)
        list(pool.map(run, *zip(*machine)))


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        raise SystemExit(str(error))
