"""What the words in the cells of the matrix mean: the values that a reader has to find, computed here
from what the input holds, and the warnings that have to be printed. Nothing of farpoint is used."""

import re
from dataclasses import dataclass

import numpy as np
import pyproj

import matrix
from matrix import BYTES, FITTED, KEPT, OWN, PACKED, SINGLE, STEPS, TEXT, WARNED, WORDS
from readers import Output
from truth import Truth

ALIASES = {
    "classification": ["classification", "scalar_Classification"],
    "time": ["gps_time", "scalar_GpsTime"],
    "intensity": ["intensity"],
}
NORMALS = {
    "PLY": ["nx", "ny", "nz"],
    "PCD": ["normal_x", "normal_y", "normal_z"],
    "LAS, LAZ": ["NormalX", "NormalY", "NormalZ"],
    "E57": ["nx", "ny", "nz"],
    "NPY": ["nx", "ny", "nz"],
    "text": ["nx", "ny", "nz"],
}
COLORS = ["red", "green", "blue"]
# A pose is applied in doubles, in whatever order.
POSE = 1e-9
POSED = ["E57", "PTX"]


@dataclass
class Case:
    """A converted file: what its input holds, in the order of its rows, and what is read of it."""

    truth: Truth
    out: Output
    row: str
    output: str
    warnings: list[str]

    @property
    def same_format(self):
        """Rows are copied, under the names they had."""
        return self.row.split(",")[0] == self.output.split(",")[0]

    def warned(self, pattern):
        return [line for line in self.warnings if re.search(pattern, line)]


def check(case, matter):
    """Checks one attribute; gives the patterns of the warnings that it accounts for."""
    outcome = matrix.cell(matter, case.row, case.output)
    if not case.truth.has(matter.field):
        return absent(case, matter.field)
    assert outcome != matrix.NONE, f"the matrix says that {case.row} has no {matter.name}"
    return CHECKS[matter.field, outcome](case)


def absent(case, what):
    """What the input does not have is not made up, but for fields that every file of a format has."""
    filled = what == "intensity" and case.output in ["PTS", "raw"] and "intensity" in case.out.names
    if filled:
        assert (case.out.columns["intensity"] == 0).all()
    names = {"colors": COLORS, "normals": sum(NORMALS.values(), []), **ALIASES}.get(what, [])
    always = {"LAS, LAZ": ["classification", "intensity", "gps_time"], "PTS": ["intensity"]}
    always["raw"] = ["intensity"]
    made_up = set(names) & set(case.out.names) - set(always.get(case.output, []))
    assert not made_up, made_up
    return must_warn(case, "no 'intensity'") if filled and case.output == "raw" else []


def equal(found, expected, tolerance=0.0):
    found, expected = np.asarray(found, np.float64), np.asarray(expected)
    if expected.dtype == np.float32:
        # A text has as many digits as tell a float32 from the next.
        found = found.astype(np.float32)
    np.testing.assert_allclose(found, expected.astype(np.float64), rtol=0, atol=tolerance)


def must_warn(case, pattern):
    assert case.warned(pattern), f"no warning matches {pattern!r}: {case.warnings}"
    return [pattern]


# Coordinates


def coordinates_kept(case):
    # E57 has steps times whole numbers, as LAS, which differ in the last bit.
    stepped = case.output == "E57" and case.truth.step is not None
    tolerance = POSE if case.row in POSED or stepped else 0
    if case.row == "LAS, LAZ" and case.output in ["text", "PTS"]:
        # Decimals as the scale has them, without the last bits that computing them in binary adds.
        tolerance = 2 * np.spacing(np.abs(case.truth.xyz).max())
    equal(case.out.xyz, case.truth.xyz, tolerance)
    if case.output in ["PLY", "NPY", "PCD"]:
        kinds = {case.out.columns[axis].dtype.newbyteorder("=") for axis in "xyz"}
        assert kinds == {case.truth.xyz.dtype}, kinds
    assert case.out.offset is None
    return scale_warned(case)


def scale_warned(case):
    """The scale and offset of LAS have a place in E57 alone."""
    lost = case.row == "LAS, LAZ" and case.output not in ["LAS, LAZ", "E57"]
    return must_warn(case, "scale") if lost else []


def spacing(case):
    """Of float32 at the largest coordinates of each axis."""
    return np.spacing(np.abs(case.truth.xyz).max(axis=0).astype(np.float32)).astype(np.float64)


def rounds(case):
    """Whether float32 rounds by more than a tenth of a millimeter, also in degrees."""
    return (spacing(case) / 2 > (1e-9 if case.warned("degrees") else 1e-4)).any()


def loses(case):
    """Whether it also loses more than the input's step."""
    xyz, step = case.truth.xyz, case.truth.step
    step = 1e-6 * np.ptp(xyz, axis=0).max() if step is None else step
    return rounds(case) and (spacing(case) >= step).any() and xyz.dtype != np.float32


def coordinates_single(case):
    xyz = case.truth.xyz.astype(np.float64)
    kinds = {case.out.columns[axis].dtype for axis in "xyz"}
    if case.output == "PCD" and kinds == {np.dtype("f8")}:
        equal(case.out.xyz, xyz, 1e-6 if case.row in POSED else 0)
        assert case.out.offset is None and rounds(case)
        return must_warn(case, "float64") + scale_warned(case)
    assert kinds == {np.dtype("f4")}
    if not loses(case):
        assert case.out.offset is None
        equal(case.out.xyz, xyz.astype(np.float32), 1e-6 if case.row in POSED else 0)
        return scale_warned(case)
    corner = np.floor(xyz.min(axis=0))
    assert case.output == "raw", "PCD holds float64"
    equal(case.out.xyz, (xyz - corner).astype(np.float32), 1e-6 if case.row in POSED else 0)
    for number in corner:
        must_warn(case, rf"\b{number:.0f}\b")
    return must_warn(case, "offset") + ["rounded to float32"] + scale_warned(case)


def coordinates_steps(case):
    xyz = case.truth.xyz.astype(np.float64)
    scale = case.out.scale
    error = np.abs(case.out.xyz - xyz).max(axis=0)
    assert (error <= scale / 2 + POSE).all(), (error, scale)
    powers = np.log10(scale)
    np.testing.assert_allclose(powers, powers.round(), atol=1e-9)
    if case.truth.step is not None:
        np.testing.assert_allclose(scale, case.truth.step, rtol=1e-9)
    else:
        # What float32 keeps of a cloud of that extent at the origin; no less, no more.
        spacing = np.spacing(np.float32(np.ptp(xyz, axis=0).max()))
        assert (scale <= 1.1 * spacing).all() or (error < POSE).all() or same(case), (scale, spacing)
        assert (scale >= spacing / 10).all(), (scale, spacing)
    return must_warn(case, "round") if (error > POSE).any() and not same(case) else ["round"]


def same(case):
    """Whether the coordinates read are the same numbers, of float32 those closest."""
    return (case.out.xyz.astype(case.truth.xyz.dtype) == case.truth.xyz).all()


# Colors


def unit(colors):
    return colors.dtype.kind == "f"


def small(colors):
    """Whether a LAS file holds 8 bits in its fields of 16."""
    return colors.max() <= 255


def eight_bits(case):
    colors = case.truth.colors
    if unit(colors):
        return np.floor(colors.astype(np.float64) * 255 + 0.5)
    if colors.dtype == np.uint16 and not small(colors):
        must_warn(case, "color")
        return colors >> 8
    return colors


def says_of_colors(case):
    """A warning if bits are lost; numbers from 0 to 1 may or may not lose some."""
    colors = case.truth.colors
    return [] if colors.dtype == np.uint8 or not unit(colors) and small(colors) else ["color"]


def colors_bytes(case):
    if case.output == "PLY":
        assert {case.out.columns[name].dtype for name in COLORS} == {np.dtype("u1")}
    equal(case.out.three(COLORS), eight_bits(case))
    return says_of_colors(case)


def colors_packed(case):
    packed = "rgba" if "alpha" in case.truth.others else "rgb"
    assert case.out.columns[packed].dtype.itemsize == 4
    equal(case.out.three(COLORS), eight_bits(case))
    return says_of_colors(case)


def colors_words(case):
    colors = case.truth.colors
    if unit(colors):
        colors = np.floor(colors.astype(np.float64) * 65535 + 0.5)
    elif colors.dtype == np.uint8:
        colors = colors.astype(int) * 256
    equal(case.out.three(COLORS), colors)
    return ["color"] if unit(case.truth.colors) else []


def colors_kept(case):
    equal(case.out.three(COLORS), case.truth.colors)
    if case.output in ["PLY", "NPY"] and case.row not in ["text", "PTS", "OBJ, OFF"]:
        kinds = {case.out.columns[name].dtype.newbyteorder("=") for name in COLORS}
        assert kinds == {case.truth.colors.dtype}, kinds
    return []


def colors_warned(case):
    assert not set(COLORS) & set(case.out.names)
    return must_warn(case, "no place for .*red")


# Intensity


def intensity_kept(case):
    equal(case.out.columns["intensity"], case.truth.intensity)
    return []


def intensity_single(case):
    assert case.out.columns["intensity"].dtype == np.float32
    return intensity_kept(case)


def intensity_fitted(case):
    values = case.truth.intensity.astype(np.float64)
    found = case.out.columns["intensity"]
    if (values == values.round()).all() and values.min() >= 0 and values.max() <= 65535:
        equal(found, values)
        return []
    if values.min() >= 0 and values.max() <= 1:
        equal(found, np.floor(values * 65535 + 0.5))
        assert "original_intensity" not in case.out.names
        return must_warn(case, "intensity.*65535")
    equal(found, 0)
    equal(case.out.columns["original_intensity"], values)
    return must_warn(case, "original_intensity")


# Classification, time, normals, others


def named_kept(field, kind=None):
    def check(case):
        aliases = ALIASES[field] if case.same_format else ALIASES[field][:1]
        names = [name for name in aliases if name in case.out.names]
        assert len(names) == 1, (aliases, case.out.names)
        found = case.out.columns[names[0]]
        equal(found, getattr(case.truth, field))
        if kind and case.output not in ["text", "PTS"]:
            assert found.dtype.newbyteorder("=") == np.dtype(kind), found.dtype
        return []

    return check


def named_warned(field, pattern):
    def check(case):
        assert not set(ALIASES.get(field, [])) & set(case.out.names)
        return must_warn(case, pattern)

    return check


def normals_kept(case):
    equal(case.out.three(NORMALS[case.output]), case.truth.normals)
    return []


def normals_single(case):
    assert {case.out.columns[name].dtype for name in NORMALS["PCD"]} == {np.dtype("f4")}
    equal(case.out.three(NORMALS["PCD"]), case.truth.normals.astype(np.float32))
    return []


def others_kept(case):
    for name, values in case.truth.others.items():
        if case.output == "LAS, LAZ" and name == "scan":
            name = "point_source_id"
        equal(case.out.columns[name], values)
    # The name of a file of numbers alone tells how many are in a row.
    return must_warn(case, "--columns 5") if case.output == "raw" else []


def others_warned(case):
    for name in case.truth.others:
        assert name not in case.out.names
        must_warn(case, rf"\b{name}\b")
    return ["left out", "no place for"]


# Coordinate reference system


def crs_kept(case):
    assert case.out.crs is not None, "no record of a coordinate reference system"
    if case.truth.crs.startswith("EPSG"):
        keys = np.frombuffer(case.out.crs, "<u2")
        assert keys[-1] == int(case.truth.crs.split(":")[1]), keys
    else:
        assert case.out.crs.rstrip(b"\0").decode() == case.truth.crs
    return []


def crs_text(case):
    if not case.truth.crs.startswith("EPSG"):
        return crs_kept(case)
    crs = pyproj.CRS.from_wkt(case.out.crs.rstrip(b"\0").decode())
    assert f"EPSG:{crs.to_epsg()}" == case.truth.crs
    return []


def crs_warned(case):
    return must_warn(case, "coordinate system") and must_warn(case, "32632|UTM zone 32N")


CHECKS = {
    ("coordinates", KEPT): coordinates_kept,
    ("coordinates", SINGLE): coordinates_single,
    ("coordinates", STEPS): coordinates_steps,
    ("colors", KEPT): colors_kept,
    ("colors", BYTES): colors_bytes,
    ("colors", PACKED): colors_packed,
    ("colors", WORDS): colors_words,
    ("colors", WARNED): colors_warned,
    ("intensity", KEPT): intensity_kept,
    ("intensity", SINGLE): intensity_single,
    ("intensity", FITTED): intensity_fitted,
    ("classification", KEPT): named_kept("classification"),
    ("classification", WARNED): named_warned("classification", "(?i)classification"),
    ("normals", KEPT): normals_kept,
    ("normals", SINGLE): normals_single,
    ("normals", WARNED): named_warned("normals", "(?i)nx|normal"),
    ("time", KEPT): named_kept("time", "f8"),
    ("time", WARNED): named_warned("time", "(?i)gps_?time"),
    ("crs", KEPT): crs_kept,
    ("crs", TEXT): crs_text,
    ("crs", WARNED): crs_warned,
    ("others", KEPT): others_kept,
    ("others", OWN): others_kept,
    ("others", WARNED): others_warned,
}
