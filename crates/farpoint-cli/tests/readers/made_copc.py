"""Small COPC files by copclib, sound or with a flaw that a check has to find."""

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
