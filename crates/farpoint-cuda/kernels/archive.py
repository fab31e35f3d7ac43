#!/usr/bin/env python3
"""Packs the compiled kernels into the one file that the crate includes.

    archive.py pack FOLDER ARCHIVE      write it, unless it holds these files already
    archive.py compare FOLDER ARCHIVE   fail and list the differences, unless it holds these files
    archive.py unpack ARCHIVE FOLDER    extract all files

An archive begins with lines of text: a title; for each group of files "NAME KIND BYTES
PRECISION:TARGET:LENGTH,..", where KIND is the files' suffix and BYTES the group's packed size; an
empty line. Then come the groups, each one LZMA stream (the format of .lzma files) of its files in
this order, each padded with zeros to a multiple of 16. A kernel's code for several cards is much
alike: in one stream it takes half the space. `src/archive.rs` reads it.

Releases of the LZMA library may compress differently, so archives are compared by their contents.
"""
import lzma
import pathlib
import sys

TITLE = "farpoint kernels 2"

#: A reader stops once it has what it needs, so the cards of clusters come first, similar ones together.
TARGETS = {"cubin": (90, 80, 86, 75, 100, 120), "ptx": (90, 80, 75)}
PREFIX = {"cubin": "sm_", "ptx": "compute_"}

#: An instruction has 16 bytes, and the same fields are at the same bytes of each.
FILTERS = {"cubin": {"lc": 0, "lp": 4, "pb": 4}, "ptx": {"lc": 4, "lp": 0, "pb": 0}}
#: At least the size of a group, so that all of it is within reach of a match.
WINDOW = 16 << 20


def padded(data):
    return data + bytes(-len(data) % 16)


def read_folder(folder):
    return {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())}


def pack(files):
    groups = {}
    for name in files:
        kernel, precision, target, kind = name.split(".")
        part = (int(target[len(PREFIX[kind]):]), precision)
        if part[0] not in TARGETS[kind]:
            raise SystemExit(f"{name}: TARGETS does not name {part[0]}")
        groups.setdefault((kernel, kind), []).append((TARGETS[kind].index(part[0]), *part, name))
    lines, streams = [TITLE], []
    for (kernel, kind), parts in sorted(groups.items()):
        parts.sort()
        held = [files[name] for *_, name in parts]
        chain = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": WINDOW}
        plain = b"".join(map(padded, held))
        streams.append(lzma.compress(plain, lzma.FORMAT_ALONE, filters=[chain | FILTERS[kind]]))
        shown = ",".join(
            f"{precision}:{target}:{len(files[name])}" for _, target, precision, name in parts
        )
        lines.append(f"{kernel} {kind} {len(streams[-1])} {shown}")
    return "\n".join([*lines, "", ""]).encode() + b"".join(streams)


def unpack(archive):
    """The files of an archive; none if it is not there or of another version."""
    path = pathlib.Path(archive)
    data = path.read_bytes() if path.exists() else b"\n\n"
    index, _, streams = data.partition(b"\n\n")
    title, *lines = index.decode().split("\n")
    files = {}
    for line in lines if title == TITLE else []:
        kernel, kind, size, parts = line.split(" ")
        plain = lzma.decompress(streams[: int(size)], lzma.FORMAT_ALONE)
        streams = streams[int(size):]
        for part in parts.split(","):
            precision, target, length = part.split(":")
            name, size = f"{kernel}.{precision}.{PREFIX[kind]}{target}.{kind}", int(length)
            files[name] = plain[:size]
            plain = plain[size + -size % 16:]
    return files


def differences(fresh, held):
    for name in sorted(fresh.keys() | held.keys()):
        if name not in held:
            yield f"{name} is missing"
        elif name not in fresh:
            yield f"{name} has no kernel anymore"
        elif fresh[name] != held[name]:
            yield f"{name} differs {place(name, fresh[name], held[name])}"


def place(name, new, old):
    """Where two files differ first."""
    what, split = ("line", bytes.splitlines) if name.endswith(".ptx") else ("byte", list)
    pairs = enumerate(zip(split(new), split(old)), 1)
    at = next((at for at, (a, b) in pairs if a != b), None)
    return "in length" if at is None else f"from {what} {at} on"


def main():
    task, source, target = sys.argv[1:]
    if task == "unpack":
        folder = pathlib.Path(target)
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in unpack(source).items():
            (folder / name).write_bytes(data)
        return
    fresh = read_folder(source)
    wrong = list(differences(fresh, unpack(target)))
    if task == "pack":
        if wrong:
            pathlib.Path(target).write_bytes(pack(fresh))
        print(f"{len(wrong)} of {len(fresh)} files changed in {target}, "
              f"{pathlib.Path(target).stat().st_size:,} bytes")
    elif wrong:
        raise SystemExit(f"{target} does not hold what the kernels compile to:\n  " + "\n  ".join(wrong))
    else:
        print(f"{target} holds what the kernels compile to, {len(fresh)} files")


if __name__ == "__main__":
    main()
