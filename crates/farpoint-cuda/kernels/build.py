#!/usr/bin/env python3
"""Compiles the kernels to PTX with a pinned NVRTC; needs neither a GPU nor a CUDA toolkit.

    build.py NVRTC_FOLDER OUT_FOLDER [NAME..]

NVRTC_FOLDER holds libnvrtc.so.12 and its builtins, out of the PyPI wheel
nvidia-cuda-nvrtc-cu12 (`cargo xtask kernels` fetches it and calls this script). Every NAME.cu
beside this script becomes OUT_FOLDER/NAME.PRECISION.ARCHITECTURE.ptx.
"""
import ctypes
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = ("compute_75", "compute_80", "compute_90")
PRECISIONS = {"f32": [], "f64": ["-DFARPOINT_F64"]}


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


def compile_one(nvrtc, path, options):
    headers = sorted(HERE.glob("*.cuh"))
    sources = (ctypes.c_char_p * len(headers))(*[h.read_bytes() for h in headers])
    names = (ctypes.c_char_p * len(headers))(*[h.name.encode() for h in headers])
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
        raise SystemExit(f"{path.name}: NVRTC failed with status {status}")
    ptx = text(nvrtc, program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx


def main():
    nvrtc = load(sys.argv[1])
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[3:]
    for path in sorted(HERE.glob("*.cu")):
        if wanted and path.stem not in wanted:
            continue
        for architecture in ARCHITECTURES:
            for precision, defines in PRECISIONS.items():
                options = [f"--gpu-architecture={architecture}", "--fmad=false", "--std=c++17", *defines]
                ptx = compile_one(nvrtc, path, options)
                (out / f"{path.stem}.{precision}.{architecture}.ptx").write_text(ptx)


if __name__ == "__main__":
    main()
