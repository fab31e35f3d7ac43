#!/usr/bin/env python3
"""Lets PyTorch's Linux wheel run on the CPU without the CUDA packages that it names, a few GB.

    python torch_on_the_cpu.py       (with the Python whose `torch` it is)

The wheel's own libraries are linked to cuBLAS, cuDNN and so on, and will not load without them. This puts
stand-ins next to them: libraries of those names whose functions all report that there is no GPU. For
tests on the CPU only; it refuses to touch an installation that has the real libraries. Needs what a
Rust toolchain needs, too: cc, readelf and nm.
"""

import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

CUDA = re.compile(r"lib(cu|nccl|nv)")

#: What is called when torch is imported, or asked for a GPU; everything else is an error.
ANSWERS = {
    "__cudaRegisterFatBinary": "static void *handle; void *{0}(void *x) {{ return &handle; }}",
    "cudaGetDeviceCount": "int {0}(int *n) {{ *n = 0; return 100; }}",
    "cudaGetErrorString": 'const char *{0}(int e) {{ return "there is no CUDA here"; }}',
    "cudaGetErrorName": 'const char *{0}(int e) {{ return "there is no CUDA here"; }}',
    "cudaGetLastError": "int {0}(void) {{ return 0; }}",
    "cudaPeekAtLastError": "int {0}(void) {{ return 0; }}",
    "cudaRuntimeGetVersion": "int {0}(int *v) {{ *v = 0; return 0; }}",
    "cudaDriverGetVersion": "int {0}(int *v) {{ *v = 0; return 0; }}",
}
ERROR = "int {0}(void) {{ return 999; }}"


def output(*command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout


def wanted(libraries):
    """The CUDA libraries that these are linked to, each with the functions wanted of it: name -> version.
    A function without a version could be of any: the CUDA runtime, which is loaded first, gets it."""
    needed, loose = {}, set()
    for library in libraries:
        told = output("readelf", "-dVW", str(library))
        for name in re.findall(r"NEEDED.*\[(.*)\]", told):
            if CUDA.match(name):
                needed.setdefault(name, {})
        file_of, file = {}, None
        for line in told.splitlines():
            if found := re.search(r"Version: 1  File: (\S+)", line):
                file = found[1]
            elif found := re.search(r"Name: (\S+)\s+Flags: \S+\s+Version: \d+", line):
                file_of[found[1]] = file
        for line in output("nm", "-D", "--undefined-only", str(library)).splitlines():
            name, _, version = line.split()[-1].partition("@")
            owner = file_of.get(version.lstrip("@"))
            if owner and CUDA.match(owner):
                needed.setdefault(owner, {})[name] = version.lstrip("@")
            elif not version and re.match(r"_*(cu|nccl|nv)", name):
                loose.add(name)
    if not needed:
        return {}  # a wheel for the CPU
    runtime = next(name for name in needed if name.startswith("libcudart."))
    needed[runtime].update({name: "" for name in loose if name not in needed[runtime]})
    return needed


def stand_in(folder, library, functions):
    """Compiles a library whose functions fail."""
    with tempfile.TemporaryDirectory() as scratch:
        source, script = (pathlib.Path(scratch, name) for name in ("stand_in.c", "versions"))
        lines = [ANSWERS.get(name, ERROR).format(name) for name in sorted(functions)]
        source.write_text("\n".join([*lines, "int farpoint_stand_in;", ""]))
        versions = {}
        for name, version in functions.items():
            versions.setdefault(version, []).append(name)
        parts = [f"{v} {{ global: {'; '.join(names)}; }};" for v, names in versions.items() if v]
        command = ["cc", "-w", "-fno-builtin", "-fPIC", "-shared", f"-Wl,-soname,{library}"]
        if parts:
            script.write_text("\n".join(parts))
            command.append(f"-Wl,--version-script={script}")
        subprocess.run([*command, "-o", str(folder / library), str(source)], check=True)


def main():
    found = importlib.util.find_spec("torch")
    if found is None:
        sys.exit("torch is not installed")
    if importlib.util.find_spec("nvidia") is not None:
        sys.exit("the CUDA packages are installed; nothing was changed")
    folder = pathlib.Path(found.origin).parent / "lib"
    libraries = sorted(path for path in folder.glob("lib*.so") if not CUDA.match(path.name))
    for library, functions in sorted(wanted(libraries).items()):
        stand_in(folder, library, functions)


if __name__ == "__main__":
    main()
