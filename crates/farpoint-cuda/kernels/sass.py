#!/usr/bin/env python3
"""Looks for fused multiplications and additions in the machine code of the kernels.

    sass.py FOLDER NVDISASM

Results must equal the CPU's bit for bit, so nothing may be fused except what the PTX itself fuses
(the scores of nearest_brute, which are not distances) and the parts of exact division and square
root: the assembler emits about 20 fused operations for each, whose result is rounded once.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

#: Fused operations that the assembler may emit for one division or root.
EACH = 24

INEXACT_PARTS = re.compile(r"\b(?:div|sqrt|rcp|rsqrt)\.[a-z.]*f(?:32|64)\b")
IN_PTX = re.compile(r"\bfma\.[a-z.]*f(?:32|64)\b")
IN_SASS = re.compile(r"\b(?:FFMA|DFMA|FFMA2)\b")


def fused(nvdisasm, cubin):
    shown = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True)
    if shown.returncode != 0 or ".text." not in shown.stdout:
        raise SystemExit(f"{cubin.name}: nvdisasm failed\n{shown.stderr}")
    return len(IN_SASS.findall(shown.stdout))


def most(ptx):
    """How many fused operations the machine code of this PTX may have."""
    text = ptx.read_text()
    return len(IN_PTX.findall(text)) + EACH * len(INEXACT_PARTS.findall(text))


def main():
    folder, nvdisasm = pathlib.Path(sys.argv[1]), sys.argv[2]
    cubins = sorted(folder.glob("*.cubin"))
    if not cubins:
        raise SystemExit(f"there is no machine code in {folder}")
    # The PTX of other cards has the same operations.
    allowed = {path.name.rsplit(".", 2)[0]: most(path) for path in folder.glob("*.compute_90.ptx")}
    wrong = []
    with concurrent.futures.ThreadPoolExecutor() as pool:
        counts = pool.map(lambda cubin: fused(nvdisasm, cubin), cubins)
        for cubin, count in zip(cubins, counts):
            limit = allowed[cubin.name.rsplit(".", 2)[0]]
            if count > limit:
                wrong.append(f"{cubin.name}: {count} fused operations, {limit} at most")
    if wrong:
        raise SystemExit("machine code that rounds differently from the CPU:\n  " + "\n  ".join(wrong))
    print(f"{len(cubins)} files of machine code, nothing fused")


if __name__ == "__main__":
    main()
