"""Small COPC files by copclib, sound or with a flaw that a check has to find."""

from pathlib import Path

import copclib
import numpy as np

# What is wrong, and what the check says of it.
FLAWS = {
    "a point outside of its node": "outside of their node",
    "an empty node above others": "absent or empty",
    "a level that does not reach": "level 0: ",
    "a large node": "a node of 101 points",
    "another point": r"the sound file: \d+ rows differ",
}
# Side of the cube, and the spacing that it declares.
SIDE, SPACING = 16.0, 4.0


def write(path, flaw=None):
    """A root of a point in each cell of 2 units, and a child with points beside them."""
    random = np.random.default_rng(5)
    lattice = np.stack(np.meshgrid([1.0, 3.0, 5.0, 7.0], [1.0, 3.0, 5.0, 7.0], [1.0, 3.0]), -1).reshape(-1, 3)
    child = np.round(lattice[random.integers(0, len(lattice), 60)] + random.uniform(-0.9, 0.9, (60, 3)), 2)
    if flaw == "a point outside of its node":
        child[7] = [9.0, 1.0, 1.0]
    if flaw == "a level that does not reach":
        child[7] = [7.9, 7.9, 7.9]
    if flaw == "another point":
        child[7, 0] += 0.01
    if flaw == "a large node":
        child = np.concatenate([child, child[:41]])
    config = copclib.CopcConfigWriter(6, copclib.Vector3(0.01, 0.01, 0.01), copclib.Vector3(0, 0, 0))
    info = config.copc_info
    info.center_x = info.center_y = info.center_z = info.halfsize = SIDE / 2
    info.spacing = SPACING
    # copclib takes the cube from the header's box: its lower corner and longest side.
    config.las_header.min, config.las_header.max = copclib.Vector3(0, 0, 0), copclib.Vector3(SIDE, SIDE, SIDE)
    writer = copclib.FileWriter(str(path), config)
    if flaw == "an empty node above others":
        writer.AddNode(copclib.VoxelKey(0, 0, 0, 0), points(config, lattice))
        writer.AddNode(copclib.VoxelKey(2, 0, 0, 0), points(config, lattice[:3] * 0 + [1.0, 1.0, 1.0]))
    else:
        writer.AddNode(copclib.VoxelKey(0, 0, 0, 0), points(config, lattice))
        writer.AddNode(copclib.VoxelKey(1, 0, 0, 0), points(config, child))
    writer.Close()
    return path


def points(config, places):
    made = copclib.Points(config.las_header)
    for place in places:
        point = made.CreatePoint()
        point.x, point.y, point.z = map(float, place)
        made.AddPoint(point)
    return made


# A file of several pages for the tests of farpoint-io, where numpy and copclib are not at hand.
FIXTURE = Path(__file__).parents[3] / "farpoint-io/tests/copc/pages.copc.laz"


def write_fixture(path):
    """41 nodes of three levels with colors, those of 16 bits in one node alone, on three pages of which the
    root is not the first; points on the faces of their cubes."""
    random = np.random.default_rng(11)
    scale, offset = copclib.Vector3(0.01, 0.01, 0.01), copclib.Vector3(1000, 2000, 0)
    config = copclib.CopcConfigWriter(7, scale, offset)
    info, low = config.copc_info, np.array([1000.0, 2000.0, 0.0])
    info.halfsize, info.spacing = SIDE / 2, SPACING
    info.center_x, info.center_y, info.center_z = map(float, low + SIDE / 2)
    config.las_header.min = copclib.Vector3(*map(float, low))
    config.las_header.max = copclib.Vector3(*map(float, low + SIDE))
    writer = copclib.FileWriter(str(path), config)
    keys = [(0, 0, 0, 0)] + [(1, x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    keys += [(2, x, y, z) for x in range(4) for y in range(4) for z in (0, 3)]
    root = copclib.VoxelKey(0, 0, 0, 0)
    for level, x, y, z in keys:
        side = SIDE / 2**level
        places = low + (np.array([x, y, z]) + random.uniform(0, 1, (40, 3))) * side
        places[:2] = low + np.array([[x, y, z], [x + 1, y + 1, z + 1]]) * side
        made = points(config, places)
        bright = (level, x, y, z) == (2, 3, 3, 3)
        made.red = [60_000 if bright else int(c) for c in random.integers(0, 256, 40)]
        made.classification = [int(c) for c in random.integers(0, 32, 40)]
        page = copclib.VoxelKey(1, x // 2, 0, 0) if level == 2 and y < 2 and z < 2 else root
        writer.AddNode(copclib.VoxelKey(level, x, y, z), made, page)
    writer.Close()


if __name__ == "__main__":
    # python3 crates/farpoint-cli/tests/readers/made_copc.py
    write_fixture(FIXTURE)
