"""Conversion of each attribute between each pair of formats: one table. The tests check every cell, and
`python3 matrix.py DOCUMENT` writes it to the documentation."""

import sys
import textwrap
from dataclasses import dataclass

OUTPUTS = ["PLY", "PCD", "LAS, LAZ", "E57", "NPY", "text", "PTS", "raw"]
EXTENSIONS = {
    "PLY": ["ply"],
    "PCD": ["pcd"],
    "LAS, LAZ": ["las", "laz"],
    "E57": ["e57"],
    "NPY": ["npy", "npz"],
    "text": ["xyz", "csv"],
    "PTS": ["pts"],
    "raw": ["bin"],
}

# Outcomes; the table in outcomes.py has the check of each.
NONE = "–"
KEPT = "kept"
WARNED = "left out"
SINGLE = "float32"
STEPS = "scaled"
BYTES = "8 bits"
PACKED = "`rgb`"
WORDS = "16 bits"
FITTED = "fitted"
OWN = "extra"
TEXT = "as WKT"


@dataclass
class Matter:
    """An attribute: its names and the meaning of its outcomes."""

    name: str
    field: str
    about: str
    rows: dict[str, list[str]]


MATTERS = [
    Matter(
        "Coordinates",
        "coordinates",
        "`float32`: raw files hold float32; if that would lose more than the resolution of the input, the"
        " minimum corner is subtracted. PCD holds float64 instead. `scaled`: LAS holds integers, which are"
        " multiplied by a scale. See [precision](#precision).",
        {
            "PLY": [KEPT, SINGLE, STEPS, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "PCD": [KEPT, KEPT, STEPS, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "LAS, LAZ": [KEPT, SINGLE, KEPT, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "E57": [KEPT, SINGLE, STEPS, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "PTX": [KEPT, SINGLE, STEPS, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "NPY, NPZ": [KEPT, SINGLE, STEPS, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "raw": [KEPT, KEPT, STEPS, KEPT, KEPT, KEPT, KEPT, KEPT],
            "text": [KEPT, SINGLE, STEPS, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "PTS": [KEPT, SINGLE, STEPS, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "OBJ, OFF": [KEPT, SINGLE, STEPS, KEPT, KEPT, KEPT, KEPT, SINGLE],
        },
    ),
    Matter(
        "Colors",
        "colors",
        "`8 bits`: 0 to 255. Of 16-bit values the upper 8 bits are kept, with a warning if the lower"
        " ones are lost; colors from 0 to 1 are multiplied by 255. 16-bit fields without a value above"
        " 255 are taken as 8-bit. `rgb`: the 8 bits packed into one field, as in PCL (`rgba` if there"
        " is an alpha channel). `16 bits`: 8-bit values are multiplied by 256, as the LAS"
        " specification requires, and colors from 0 to 1 by 65535.",
        {
            "PLY": [KEPT, PACKED, WORDS, BYTES, KEPT, KEPT, BYTES, WARNED],
            "PCD": [BYTES, KEPT, WORDS, BYTES, BYTES, BYTES, BYTES, WARNED],
            "LAS, LAZ": [BYTES, PACKED, KEPT, BYTES, KEPT, KEPT, BYTES, WARNED],
            "E57": [BYTES, PACKED, WORDS, KEPT, KEPT, KEPT, BYTES, WARNED],
            "PTX": [BYTES, PACKED, WORDS, BYTES, KEPT, KEPT, BYTES, WARNED],
            "NPY, NPZ": [BYTES, PACKED, WORDS, BYTES, KEPT, KEPT, BYTES, WARNED],
            "raw": [NONE] * 8,
            "text": [BYTES, PACKED, WORDS, BYTES, KEPT, KEPT, BYTES, WARNED],
            "PTS": [BYTES, PACKED, WORDS, BYTES, KEPT, KEPT, KEPT, WARNED],
            "OBJ, OFF": [BYTES, PACKED, WORDS, BYTES, KEPT, KEPT, BYTES, WARNED],
        },
    ),
    Matter(
        "Intensity",
        "intensity",
        "`float32`: the same values as float32. `fitted`: integers from 0 to 65535 are kept. An"
        " intensity from 0 to 1 is multiplied by 65535, with a warning. Any other is written to the"
        " extra dimension `original_intensity`, with a warning.",
        {
            "PLY": [KEPT, SINGLE, FITTED, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "PCD": [KEPT, KEPT, FITTED, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "LAS, LAZ": [KEPT, SINGLE, KEPT, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "E57": [KEPT, SINGLE, FITTED, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "PTX": [KEPT, SINGLE, FITTED, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "NPY, NPZ": [KEPT, SINGLE, FITTED, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "raw": [KEPT, KEPT, FITTED, KEPT, KEPT, KEPT, KEPT, KEPT],
            "text": [KEPT, SINGLE, FITTED, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "PTS": [KEPT, SINGLE, FITTED, KEPT, KEPT, KEPT, KEPT, SINGLE],
            "OBJ, OFF": [NONE] * 8,
        },
    ),
    Matter(
        "Classification",
        "classification",
        "Written as `classification`. Read from `classification`, `Classification`, `class` and"
        " `scalar_Classification`.",
        {
            "PLY": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PCD": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "LAS, LAZ": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "E57": [NONE] * 8,
            "PTX": [NONE] * 8,
            "NPY, NPZ": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "raw": [NONE] * 8,
            "text": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PTS": [NONE] * 8,
            "OBJ, OFF": [NONE] * 8,
        },
    ),
    Matter(
        "Normals",
        "normals",
        "Written as `nx ny nz` to PLY, NPY and text, as `normal_x normal_y normal_z` to PCD, and as"
        " the extra dimensions `NormalX NormalY NormalZ` to LAS. Read under any of these names."
        " `float32`: as float32, the only type that PCL reads.",
        {
            "PLY": [KEPT, SINGLE, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PCD": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "LAS, LAZ": [KEPT, SINGLE, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "E57": [KEPT, SINGLE, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PTX": [NONE] * 8,
            "NPY, NPZ": [KEPT, SINGLE, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "raw": [NONE] * 8,
            "text": [KEPT, SINGLE, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PTS": [NONE] * 8,
            "OBJ, OFF": [KEPT, SINGLE, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
        },
    ),
    Matter(
        "Time",
        "time",
        "GPS time, written as the double `gps_time`. Read from `gps_time`, `GpsTime` and"
        " `scalar_GpsTime`. Times of other clocks, such as `time_stamp` in E57, are treated as other"
        " attributes.",
        {
            "PLY": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PCD": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "LAS, LAZ": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "E57": [NONE] * 8,
            "PTX": [NONE] * 8,
            "NPY, NPZ": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "raw": [NONE] * 8,
            "text": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PTS": [NONE] * 8,
            "OBJ, OFF": [NONE] * 8,
        },
    ),
    Matter(
        "Coordinate reference system",
        "crs",
        "Copied unchanged, as well-known text (WKT) or GeoTIFF keys. `as WKT`: E57 keeps WKT; instead of GeoTIFF keys"
        " that of their EPSG code, or a warning.",
        {
            "PLY": [NONE] * 8,
            "PCD": [NONE] * 8,
            "LAS, LAZ": [WARNED, WARNED, KEPT, TEXT, WARNED, WARNED, WARNED, WARNED],
            "E57": [WARNED, WARNED, KEPT, KEPT, WARNED, WARNED, WARNED, WARNED],
            "PTX": [NONE] * 8,
            "NPY, NPZ": [NONE] * 8,
            "raw": [NONE] * 8,
            "text": [NONE] * 8,
            "PTS": [NONE] * 8,
            "OBJ, OFF": [NONE] * 8,
        },
    ),
    Matter(
        "Other attributes",
        "others",
        "Written under their own names. `extra`: written to the LAS field of the same name if there"
        " is one and the values fit, otherwise to an extra dimension. LAS stores `scan` of E57 and PTX"
        " as `point_source_id`, `return_index` of E57 as `return_number`, which counts from 1, and"
        " whole degrees in `scan_angle_rank` as `scan_angle`, in units of 0.006 degrees. PCD stores"
        " `label` as uint32 and `curvature` as float32, the types that PCL reads.",
        {
            "PLY": [KEPT, KEPT, OWN, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PCD": [KEPT, KEPT, OWN, KEPT, KEPT, KEPT, WARNED, WARNED],
            "LAS, LAZ": [KEPT, KEPT, KEPT, KEPT, KEPT, KEPT, WARNED, WARNED],
            "E57": [KEPT, KEPT, OWN, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PTX": [KEPT, KEPT, OWN, KEPT, KEPT, KEPT, WARNED, WARNED],
            "NPY, NPZ": [KEPT, KEPT, OWN, KEPT, KEPT, KEPT, WARNED, WARNED],
            "raw": [KEPT, KEPT, OWN, KEPT, KEPT, KEPT, WARNED, KEPT],
            "text": [KEPT, KEPT, OWN, KEPT, KEPT, KEPT, WARNED, WARNED],
            "PTS": [NONE] * 8,
            "OBJ, OFF": [KEPT, KEPT, OWN, KEPT, KEPT, KEPT, WARNED, WARNED],
        },
    ),
]

INPUTS = list(MATTERS[0].rows)


def cell(matter, row, output):
    return matter.rows[row][OUTPUTS.index(output)]


def cells():
    """Cells other than NONE, as (matter, row, output)."""
    for matter in MATTERS:
        for row in INPUTS:
            for output in OUTPUTS:
                if cell(matter, row, output) != NONE:
                    yield matter, row, output


BEGIN, END = "<!-- matrix: begin -->\n", "<!-- matrix: end -->\n"


def markdown():
    """The tables, with equal rows merged."""
    parts = []
    for matter in MATTERS:
        alike = {}
        for row in INPUTS:
            alike.setdefault(tuple(matter.rows[row]), []).append(row)
        lines = [
            f"### {matter.name}",
            "",
            textwrap.fill(matter.about, 110, break_on_hyphens=False),
            "",
            f"| from \\ to | {' | '.join(OUTPUTS)} |",
            f"|---|{'---|' * len(OUTPUTS)}",
        ]
        for cells, names in alike.items():
            lines.append(f"| {', '.join(names)} | {' | '.join(cells)} |")
        parts.append("\n".join(lines))
    return "\n" + "\n\n".join(parts) + "\n\n"


def with_matrix(document):
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + markdown() + END + after


if __name__ == "__main__":
    path = sys.argv[1]
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(with_matrix(text))
