#!/usr/bin/env python3
"""Packs the compiled kernels into the one file that the crate includes.

    archive.py modules ARCHIVE COMPILER..          print all modules
    archive.py changed ARCHIVE COMPILER..          print those that have to be compiled
    archive.py pack FOLDER ARCHIVE COMPILER..      put the modules of a folder into it, keep the others
    archive.py compare FOLDER ARCHIVE COMPILER..   fail and list the differences to the modules of a folder
    archive.py unpack ARCHIVE FOLDER [GROUP..]     extract the files of all groups, or of some

An archive begins with lines of text: a title; "GROUP KIND BYTES MODULE:PRECISION:TARGET:LENGTH,.." for the files of each
kind (their suffix) of each of `build.groups`, where BYTES is their packed size; an empty line. Then come these files, for
each line one LZMA stream (the format of .lzma files) of them in this order, each padded with zeros to a multiple
of 16. A kernel's code for several cards is much alike: in one stream it takes half the space. PTX is held
with its registers and labels renumbered (`renumber`): that takes half the space again. `src/archive.rs` reads it.

Beside it, `digests.txt` has a line for every group: a digest of its lines and streams and of all that decides what it
compiles to (`build.inputs`; COMPILER is the name and version of one). A group whose digest is still right need not be
compiled to know that the archive holds what it compiles to.

Releases of the LZMA library may compress differently, so archives are compared by their contents.
"""
import lzma
import pathlib
import re
import sys

import build

TITLE = "farpoint kernels 3"

#: A reader stops once it has what it needs, so the cards of clusters come first, and then all others.
FIRST = (90, 80)
PREFIX = {"cubin": "sm_", "ptx": "compute_"}

#: An instruction has 16 bytes, and the same fields are at the same bytes of each.
FILTERS = {"cubin": {"lc": 0, "lp": 4, "pb": 4}, "ptx": {"lc": 4, "lp": 0, "pb": 0}}
#: About the size of the largest group, so that all of it is within reach of a match.
WINDOW = 16 << 20

#: A register, such as %rd12, or a label, such as $L__BB0_12, by what comes before its number.
NUMBERED = re.compile(rb"(%[a-z]+|BB[0-9]*_)(-?[0-9]+)")


def renumber(text, held):
    """PTX as it is held (or the text of PTX that is held so): each number is less by the last of its kind that a line
    before has in its first operand, where results are. The same operations then look the same wherever they are."""
    last, lines = {}, []
    for line in text.split(b"\n"):
        results, end = {}, (line + b",").index(b",")

        def shown(match):
            kind, number = match[1], int(match[2])
            number += 0 if held else last.get(kind, 0)
            if match.start() < end:
                results[kind] = number
            return kind + b"%d" % (number - last.get(kind, 0) if held else number)

        lines.append(NUMBERED.sub(shown, line))
        last.update(results)
    return b"\n".join(lines)


def padded(data):
    return data + bytes(-len(data) % 16)


def read_folder(folder):
    return {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())}


def compress(group, kind, files):
    """The line and the stream of a group's files of one kind."""
    parts = []
    for file, data in files.items():
        name, precision, target, _ = file.split(".")
        target = int(target[len(PREFIX[kind]):])
        order = FIRST.index(target) if target in FIRST else len(FIRST)
        if kind == "ptx":
            text, data = data, renumber(data, True)
            if renumber(data, False) != text:
                raise SystemExit(f"{file} can't be renumbered")
        parts.append((order, target, name, precision, data))
    parts.sort()
    chain = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": WINDOW} | FILTERS[kind]
    plain = b"".join(padded(data) for *_, data in parts)
    stream = lzma.compress(plain, lzma.FORMAT_ALONE, filters=[chain])
    shown = ",".join(f"{name}:{precision}:{target}:{len(data)}" for _, target, name, precision, data in parts)
    return f"{group} {kind} {len(stream)} {shown}", stream


def read_archive(archive):
    """Lines with their streams, by group; none if it is not there or of another version."""
    path = pathlib.Path(archive)
    data = path.read_bytes() if path.exists() else b"\n\n"
    index, _, streams = data.partition(b"\n\n")
    title, *lines = index.decode().split("\n")
    held = {}
    for line in lines if title == TITLE else []:
        group, _, size, _ = line.split(" ")
        held.setdefault(group, []).append((line, streams[: int(size)]))
        streams = streams[int(size):]
    return held


def unpack(packed):
    """The files of a group, without those of damaged streams."""
    files = {}
    for line, stream in packed:
        _, kind, _, parts = line.split(" ")
        try:
            plain = lzma.decompress(stream, lzma.FORMAT_ALONE)
        except lzma.LZMAError:
            continue
        for part in parts.split(","):
            name, precision, target, length = part.split(":")
            data, plain = plain[: int(length)], plain[int(length) + -int(length) % 16:]
            files[f"{name}.{precision}.{PREFIX[kind]}{target}.{kind}"] = renumber(data, False) if kind == "ptx" else data
    return files


def digests_of(archive):
    return pathlib.Path(archive).with_name("digests.txt")


def digest(group, modules, packed, compilers):
    """A line of `digests.txt`."""
    whole = build.inputs(modules, compilers)
    for line, stream in packed:
        whole.update(line.encode() + stream)
    return f"{whole.hexdigest()}  {group}"


def changed(held, archive, compilers):
    """Groups that may compile to something else than the archive holds, with their modules."""
    path = digests_of(archive)
    known = path.read_text().splitlines() if path.exists() else []
    for group, modules in build.groups().items():
        if digest(group, modules, held.get(group, []), compilers) not in known:
            yield group, modules


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


def compiled(files, modules):
    """The files of a group's modules, all or none."""
    names = [file for name in modules for file in build.steps(name)]
    missing = [name for name in names if name not in files]
    if 0 < len(missing) < len(names):
        raise SystemExit(f"not compiled: {', '.join(missing)}")
    return {} if missing else {name: files[name] for name in names}


def compare(folder, archive, compilers):
    """Fails unless the archive holds what all modules compile to: those of a folder, and the others by their digests."""
    files, held = read_folder(folder), read_archive(archive)
    wrong = [f"{name} has no source anymore" for name in held.keys() - build.groups().keys()]
    late = dict(changed(held, archive, compilers))
    for group, modules in build.groups().items():
        fresh = compiled(files, modules)
        if fresh:
            wrong += differences(fresh, unpack(held.get(group, [])))
        elif group in late:
            wrong.append(f"{group} was changed and not compiled")
    if wrong:
        raise SystemExit(f"{archive} does not hold what the kernels compile to:\n  " + "\n  ".join(wrong))
    print(f"{archive} holds what the kernels compile to; {len(files)} files of them were compiled")
    if late:
        print(f"The same as before, but with another digest, which `cargo xtask kernels` writes: {' '.join(late)}")


def pack(folder, archive, compilers):
    files, held = read_folder(folder), read_archive(archive)
    late = dict(changed(held, archive, compilers))
    lines, streams, digests = [TITLE], [], []
    for group, modules in sorted(build.groups().items()):
        packed, fresh = held.get(group, []), compiled(files, modules)
        if group in late and not fresh:
            raise SystemExit(f"{group} was changed and not compiled")
        if fresh and fresh != unpack(packed):
            kinds = {kind: {name: data for name, data in fresh.items() if name.endswith(kind)} for kind in PREFIX}
            packed = [compress(group, kind, files) for kind, files in kinds.items()]
            print(f"{group} changed")
        lines += [line for line, _ in packed]
        streams += [stream for _, stream in packed]
        digests.append(digest(group, modules, packed, compilers))
    data = "\n".join([*lines, "", ""]).encode() + b"".join(streams)
    pathlib.Path(archive).write_bytes(data)
    digests_of(archive).write_bytes("\n".join([*digests, ""]).encode())
    print(f"{archive} has {len(data):,} bytes")


def main():
    task, *args = sys.argv[1:]
    if task == "modules":
        print(*build.modules())
    elif task == "changed":
        found = changed(read_archive(args[0]), args[0], args[1:])
        print(*(name for _, modules in found for name in modules))
    elif task == "unpack":
        folder = pathlib.Path(args[1])
        folder.mkdir(parents=True, exist_ok=True)
        for group, packed in read_archive(args[0]).items():
            if len(args) == 2 or group in args[2:]:
                for name, data in unpack(packed).items():
                    (folder / name).write_bytes(data)
    else:
        {"pack": pack, "compare": compare}[task](args[0], args[1], args[2:])


if __name__ == "__main__":
    main()
