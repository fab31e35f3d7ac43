"""Mutates a file of every format, and compares what the command reads with readers that are not ours, and
its paths with each other: `FARPOINT=target/debug/farpoint python3 mutate.py --seconds 600 --keep FOLDER`.

An error of the command is never a fault. These are: a panic or a signal; wrong values without a warning;
ways of reading that disagree; a count of `info` that is not there; an output after an error."""

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pye57

import command
import inputs
import readers

# What the command makes of other seeds, by extension and encoding.
CONVERTED = {
    "pcd_colored": ["pcd:ascii", "pcd:compressed", "ply:binary", "e57", "npz", "csv", "xyz"],
    "laz_1_4": ["laz", "las", "copc"],
    "pts": ["bin", "pts", "ply:ascii"],
}
# Processor time and memory of a run: nothing here takes a tenth of either.
SECONDS, BYTES = 10, 4 << 30
WAYS = {
    "convert": ["convert", "-o"],
    "sample": ["sample", "--ratio", "1", "--sorted", "-o"],
    "spool": ["sample", "--ratio", "1", "--sorted", "--memory", "64MiB", "--spool", "spool", "-o"],
    "merge": ["sample", "--ratio", "1", "--sorted", "--merge", "-o"],
}


@dataclass
class Seed:
    name: str
    extension: str
    data: bytes
    # What is said of the file as it is, and the columns that readers name or scale in other ways.
    says: frozenset = frozenset()
    other: frozenset = frozenset()


# Mutations


def place(data, chance):
    """A place in the head, in the tail or anywhere."""
    near = min(len(data), chance.choice([32, 128, 512, 2048]))
    head, tail = chance.randrange(near), len(data) - 1 - chance.randrange(near)
    return chance.choice([head, tail, chance.randrange(len(data))])


def bit(data, chance):
    data[place(data, chance)] ^= 1 << chance.randrange(8)


def number(data, chance):
    """Another count, length, offset or version."""
    size = chance.choice([1, 2, 4, 8])
    at = place(data, chance) & -size
    old = int.from_bytes(data[at : at + size], chance.choice(["little", "big"]))
    top = 1 << (8 * size - 1)
    new = chance.choice([0, 1, old + 1, old - 1, old * 2, -1, top, chance.randrange(2 * top)])
    data[at : at + size] = (new % (1 << 8 * size)).to_bytes(size, "little")


def word(data, chance):
    """Another word of the file or an odd one in the place of a word."""
    found = list(re.finditer(rb"[A-Za-z_]{1,24}|-?[0-9][0-9.e+-]*", data))
    if found:
        match, other = chance.choice([found[:40], found[-40:], found]), chance.choice(found[:60])
        match = chance.choice(match)
        old, swapped = match[0], other[0]
        figures = [b"0", b"1", b"-1", b"%d" % (len(data) + 1), b"4294967297"]
        figures += [b"1e300", b"1.5", b"0x10", b"1,5"]
        odd = [b"", b"nan", b"NA", b"-nan(ind)", b"inf", b"x", b"_", b"\0", b'"', b"\xff\xfe", b"#", *figures]
        new = chance.choice([swapped, swapped, old.swapcase(), old + b"\x01", *odd, *figures])
        data[match.start() : match.end()] = new


def line(data, chance):
    """A line left out, repeated or moved, or other ends of lines."""
    parts = bytes(data).split(b"\n")
    at, to = (chance.randrange(min(len(parts), chance.choice([4, 16, 1000]))) for _ in range(2))
    kind = chance.randrange(5)
    if kind == 4:
        ends = chance.choice([b"\r\n", b"\n\r", b"\r", b"\n\n", b" \n"])
        head = chance.choice([to, len(parts)])
        data[:] = ends.join(parts[: head + 1]) + b"".join(b"\n" + part for part in parts[head + 1 :])
        return
    taken = parts[at] if kind == 0 else parts.pop(at)
    if kind < 3:
        parts.insert(to, taken)
    data[:] = b"\n".join(parts)


def length(data, chance):
    """Bytes left out, repeated, cut off at the end or added there."""
    at, size = place(data, chance), chance.choice([1, 2, 4, 18, 100])
    kind = chance.randrange(4)
    if kind == 0:
        del data[at : at + size]
    elif kind == 1:
        data[at:at] = data[at : at + size]
    elif kind == 2:
        del data[-size:]
    else:
        data += chance.choice([b"\0", b"\n", b" 1", b"7"]) * size


def mutated(seed, chance):
    data = bytearray(seed.data)
    whole = chance.random() < 0.2
    if seed.extension == "e57" and not whole:
        data = bytearray(b"".join(seed.data[at : at + 1020] for at in range(0, len(seed.data), 1024)))
    if seed.extension == "npz" and not whole:
        with zipfile.ZipFile(BytesIO(seed.data)) as archive:
            data = bytearray(archive.read(archive.namelist()[0]))
    before = len(data)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if data:
            chance.choice([bit, number, word, word, line, length])(data, chance)
    if seed.extension == "e57" and not whole:
        return pages(data, len(data) - before)
    if seed.extension == "npz" and not whole:
        packed = BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("points.npy", bytes(data))
        return packed.getvalue()
    return bytes(data)


def table():
    values = list(range(256))
    for _ in range(8):
        values = [value >> 1 ^ (0x82F63B78 if value & 1 else 0) for value in values]
    return values


TABLE = table()


def pages(data, longer):
    """E57 of these bytes: with checksums, and the lengths of the file and its XML, which stands last."""
    data += bytes(-len(data) % 1020)
    data[16:24] = struct.pack("<Q", len(data) // 1020 * 1024)
    (xml,) = struct.unpack("<Q", data[32:40])
    data[32:40] = struct.pack("<Q", (xml + longer) % (1 << 64))
    parts = []
    for at in range(0, len(data), 1020):
        check = 0xFFFFFFFF
        for byte in data[at : at + 1020]:
            check = check >> 8 ^ TABLE[(check ^ byte) & 255]
        parts.append(bytes(data[at : at + 1020]) + struct.pack(">I", check ^ 0xFFFFFFFF))
    return b"".join(parts)


# Readers that are not ours


def foreign(path, extension):
    """The columns of a file."""
    if extension == "e57":
        file = pye57.E57(path)
        scans = [file.read_scan(i, ignore_missing_fields=True) for i in range(file.scan_count)]
        return {a: np.concatenate([scan[f"cartesian{a.upper()}"] for scan in scans]) for a in "xyz"}
    if extension.endswith("bin"):
        width = 5 if extension == "pcd.bin" else 4
        return dict(zip("xyz", np.fromfile(path, "<f4").reshape(-1, width).T, strict=False))
    return readers.read(path).columns


def differences(path, extension, array):
    """Names of columns that another reader finds otherwise; the numbers of rows if they differ."""
    theirs = foreign(path, extension)
    ours = readers.of_array(array).columns
    if len(theirs["x"]) != len(array):
        return [f"{len(array)} rows, and {len(theirs['x'])} by others"]
    # A pose turns a row with a huge coordinate with the last bits of that.
    size = np.abs([np.asarray(theirs[a], np.float64) for a in "xyz"]).max(axis=0)
    near = {name: 1e-9 * (1 + size) if name in "xyz" else 1e-9 for name in ours if name in theirs}
    return [name for name in near if not same(ours[name], theirs[name], near[name])]


def same(ours, theirs, tolerance):
    theirs = np.asarray(theirs, np.float64).astype(ours.dtype).astype(np.float64)
    tolerance = np.nan_to_num(tolerance)
    return np.allclose(ours.astype(np.float64), theirs, rtol=1e-9, atol=tolerance, equal_nan=True)


def aside(work):
    """What a function returns, a list of texts, computed in a process that may hang or be killed: what
    others do of a damaged file is their matter. None if they read nothing."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        limits()
        try:
            os.write(write, b"=" + json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        answer = answers.read()
    os.waitpid(child, 0)
    return json.loads(answer[1:]) if answer else None


def limits():
    signal.alarm(3 * SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# Faults


@dataclass
class Result:
    status: int
    text: str
    output: Path

    def array(self):
        return np.load(self.output)

    def warnings(self):
        """Without the names of files."""
        found = re.findall("^farpoint: warning: (.*)$", self.text, re.MULTILINE)
        return {found.split(": ", 1)[-1] for found in found}


def run(folder, way, args, file):
    output = folder / f"{way}.npy"
    args = [command.PROGRAM, *args, output.name, file] if way in WAYS else [command.PROGRAM, *args, file]
    done = subprocess.run(args, cwd=folder, capture_output=True, preexec_fn=limits)
    text = (done.stderr if way in WAYS else done.stdout + done.stderr).decode(errors="replace")
    return Result(done.returncode, text, output)


def of_run(way, done, folder):
    """Faults of one run."""
    if done.status not in (0, 1, 2) or "panicked" in done.text:
        yield f"{way}: status {done.status}: {done.text.strip()[-300:]}"
    if done.status and way in WAYS:
        left = [path.name for path in folder.iterdir() if path.name.startswith((f"{way}.npy", f".{way}.npy"))]
        if left:
            yield f"{way}: {left} after an error"
    if done.status == 0 and way in WAYS:
        try:
            done.array()
        except (OSError, ValueError) as error:
            yield f"{way}: no output and no error: {error}"


def of_counts(done, info, seed):
    stated = json.JSONDecoder().raw_decode(info.text)[0]["points"] if info.status == 0 else None
    rows = len(done.array()) if done.status == 0 else None
    if rows is not None and stated is None:
        yield f"info: refuses what convert reads: {info.text.strip()[-200:]}"
    elif rows is not None and rows != stated:
        yield f"info: {stated} points, and {rows} by convert"
    elif stated and stated > len(seed.data):
        yield f"info: {stated} points, which convert refuses: {done.text.strip()[-200:]}"


def lowered(columns):
    return {name.lower(): columns[name] for name in columns}


def of_ways(results):
    """Ways of reading that disagree; `convert` alone keeps rows that are not finite."""
    all_rows = results["convert"]
    if all_rows.status == 0:
        expected = readers.of_array(all_rows.array())
        finite = np.isfinite(expected.xyz).all(axis=1)
        expected = lowered({name: column[finite] for name, column in expected.columns.items()})
    for way in ["sample", "spool", "merge"]:
        done = results[way]
        if done.status and all_rows.status == 0 and finite.any():
            yield f"{way}: refuses what convert reads: {done.text.strip()[-200:]}"
        elif done.status == 0 and all_rows.status:
            yield f"{way}: reads what convert refuses: {all_rows.text.strip()[-200:]}"
        elif done.status == 0:
            # Merging spells names of colors alike.
            found = lowered(readers.of_array(done.array()).columns)
            if list(found) != list(expected):
                yield f"{way}: columns {list(found)}, and {list(expected)} by convert"
            elif wrong := [name for name in found if found[name].tobytes() != expected[name].tobytes()]:
                yield f"{way}: other rows or values than convert: {', '.join(wrong)}"


def faults(seed, data):
    """What is wrong with how the command reads this file, and whether others read it as well."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = f"in.{seed.extension}"
        (folder / file).write_bytes(data)
        results = {way: run(folder, way, args, file) for way, args in WAYS.items()}
        info = run(folder, "info", ["info", "--json"], file)
        runs = {**results, "info": info}
        found = [fault for way, done in runs.items() for fault in of_run(way, done, folder)]
        if found:
            return found, False
        done = results["convert"]
        found = [*of_counts(done, info, seed), *of_ways(results)]
        if done.status:
            return found, False
        array = done.array()
        others = aside(lambda: differences(str(folder / file), seed.extension, array))
        wrong = set(others or []) - seed.other
        if wrong and not done.warnings() - seed.says:
            found.append(f"convert: other than by other readers, in silence: {', '.join(sorted(wrong))}")
        return found, others is not None


def seeds(folder):
    # Aside, as threads that a process has started are missing in those that it forks.
    made = aside(lambda: [(name, make(folder).file) for name, make in inputs.INPUTS.items()])
    files = dict(made)
    for name, formats in CONVERTED.items():
        for kind in formats:
            extension = "copc.laz" if kind == "copc" else kind.split(":")[0]
            target = str(folder / f"{name}-{kind.replace(':', '-')}.{extension}")
            verb = "order" if kind == "copc" else "convert"
            command.run(verb, files[name], "-o", target, "--format", kind)
            made.append((Path(target).stem, target))
    return [as_it_is(folder, name, Path(file)) for name, file in made]


def as_it_is(folder, name, path):
    """A seed, with what is said of it and which columns readers see in other ways."""
    extension = path.name.split(".", 1)[1]
    file = f"in.{extension}"
    shutil.copy(path, folder / file)
    done = run(folder, "convert", WAYS["convert"], file)
    array = done.array()
    others = aside(lambda: differences(str(path), extension, array)) or []
    seed = Seed(name, extension, path.read_bytes(), frozenset(done.warnings()), frozenset(others))
    assert not seed.other & {"x", "y", "z"}, f"{name}: {seed.other}"
    assert faults(seed, seed.data)[0] == [], f"{name}: {faults(seed, seed.data)}"
    return seed


def search(seconds, start, keep=None):
    """Mutants for so many seconds; gives the faults, and the numbers of mutants and of those that others
    read as well."""
    found, counts = [], [0, 0]
    with tempfile.TemporaryDirectory() as name, np.errstate(all="ignore"):
        all_seeds = seeds(Path(name))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            chance = random.Random(f"{start} {counts[0]}")
            seed = chance.choice(all_seeds)
            data = mutated(seed, chance)
            wrong, compared = faults(seed, data)
            if wrong:
                found.append((f"{seed.name}, seed {start}, mutant {counts[0]}", wrong))
                if keep:
                    Path(keep, f"{start}-{counts[0]}-{seed.name}.{seed.extension}").write_bytes(data)
                    print(found[-1][0], *wrong, sep="\n    ", flush=True)
            counts[0] += 1
            counts[1] += compared
    return found, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", default=".", help="folder of mutants with faults")
    options = parser.parse_args()
    os.makedirs(options.keep, exist_ok=True)
    found, counts = search(options.seconds, options.seed, options.keep)
    print(f"{counts[0]} mutants, {counts[1]} compared with other readers, {len(found)} with faults")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
