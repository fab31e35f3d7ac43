"""Texts, PTX and meshes."""

import numpy as np

import truth
from sources import an_input, lines, words, words_of
from truth import Truth

# Text and meshes, by hand.


@an_input("text", ".xyz")
def text_bare(path):
    t = Truth(truth.surveyed(), step=0.001)
    lines(path, zip(*words_of(t.xyz, 3)), " ")
    return t


@an_input("text", ".csv")
def text_named(path):
    t = Truth(
        truth.surveyed(),
        step=0.001,
        colors=truth.bytes_of_color(),
        intensity=truth.random().integers(0, 4096, truth.POINTS).astype(np.int32),
        classification=truth.classes(),
        normals=truth.directions().astype(np.float64).round(6),
        time=truth.times(),
        others={"label": truth.random().integers(0, 100_000, truth.POINTS).astype(np.int32)},
    )
    columns = words_of(t.xyz, 3) + [words(t.colors[:, i], 0) for i in range(3)]
    columns += [words(t.intensity, 0), words(t.classification, 0)]
    columns += words_of(t.normals, 6) + [words(t.time, 12)]
    columns.append(words(t.others["label"], 0))
    head = "x,y,z,red,green,blue,intensity,classification,nx,ny,nz,gps_time,label\n"
    lines(path, zip(*columns), ",", head)
    return t


@an_input("PTS", ".pts")
def pts(path):
    t = Truth(
        truth.surveyed(),
        step=0.001,
        colors=truth.bytes_of_color(),
        intensity=truth.random().integers(-2048, 2048, truth.POINTS).astype(np.int32),
    )
    columns = words_of(t.xyz, 3) + [words(t.intensity, 0)]
    columns += [words(t.colors[:, i], 0) for i in range(3)]
    lines(path, zip(*columns), " ", f"{truth.POINTS}\n")
    return t


@an_input("OBJ, OFF", ".obj", says=("face",))
def obj(path):
    """Colors after the coordinates, from 0 to 1, as MeshLab writes them."""
    t = Truth(truth.local(np.float64).round(4), step=0.0001, colors=truth.bytes_of_color() / 255)
    t.colors = t.colors.round(6).astype(np.float32)
    columns = words_of(t.xyz, 4) + words_of(t.colors, 6)
    lines(path, [("v", *row) for row in zip(*columns)] + [("f", "1", "2", "3")], " ")
    return t


@an_input("OBJ, OFF", ".off", says=("face",))
def off(path):
    t = Truth(truth.local(np.float64).round(4), step=0.0001)
    lines(path, [*zip(*words_of(t.xyz, 4)), ("3", "0", "1", "2")], " ", f"OFF\n{truth.POINTS} 1 0\n")
    return t


@an_input("OBJ, OFF", ".off")
def off_colored(path):
    """Colors and opacity after the coordinates."""
    t = Truth(truth.local(np.float64).round(4), step=0.0001, colors=truth.bytes_of_color())
    columns = words_of(t.xyz, 4) + [words(t.colors[:, i], 0) for i in range(3)]
    columns.append(["255"] * truth.POINTS)
    t.others = {"alpha": np.full(truth.POINTS, 255)}
    lines(path, zip(*columns), " ", f"COFF\n{truth.POINTS} 0 0\n")
    return t


@an_input("OBJ, OFF", ".off")
def off_with_normals(path):
    t = Truth(truth.local(np.float64).round(4), step=0.0001, normals=truth.directions())
    t.normals = t.normals.round(6)
    columns = words_of(t.xyz, 4) + words_of(t.normals, 6)
    lines(path, zip(*columns), " ", f"NOFF\n{truth.POINTS} 0 0\n")
    return t


@an_input("PTX", ".ptx", says=("2 scans become one cloud",))
def ptx_of_two_scans(path):
    """By hand: each scan with its size, its position and a matrix that turns and moves it."""
    own = truth.local(np.float64).round(3)
    turn = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    moves = np.array([[682_345.25, 5_250_123.5, 401.0], [682_395.5, 5_250_163.25, 402.5]])
    colors = truth.bytes_of_color()
    intensity = truth.random().uniform(0, 1, truth.POINTS).round(6).astype(np.float32)
    half = truth.POINTS // 2
    xyz = []
    with open(path, "w") as file:
        for part, move in zip([slice(0, half), slice(half, None)], moves):
            place = " ".join(map(str, move))
            file.write(f"{half // 4}\n4\n{place}\n1 0 0\n0 1 0\n0 0 1\n")
            file.writelines(f"{' '.join(map(str, row))} 0\n" for row in turn)
            file.write(f"{place} 1\n")
            columns = words_of(own[part], 3) + [words(intensity[part], 6)]
            columns += [words(colors[part, i], 0) for i in range(3)]
            file.writelines(" ".join(row) + "\n" for row in zip(*columns))
            # A row of PTX stands before the matrix.
            xyz.append(own[part] @ turn + move)
    number = (np.arange(truth.POINTS) >= half).astype(np.uint8)
    t = Truth(np.concatenate(xyz), colors=colors, intensity=intensity)
    return t.with_(others={"scan": number})
