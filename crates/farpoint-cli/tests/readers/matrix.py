"""What becomes of each attribute from each format to each other: one table, which the tests check
cell by cell and the document shows (`python3 matrix.py DOCUMENT` writes it there)."""

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

# Cells: an outcome, whose check is the function of the same name in outcomes.py.
NONE = "–"
KEPT = "kept"
WARNED = "left out"
SINGLE = "float32"
STEPS = "steps"
BYTES = "8 bits"
PACKED = "`rgb`"
WORDS = "16 bits"
FITTED = "fitted"
OWN = "extra"
TEXT = "text only"


@dataclass
class Matter:
    """An attribute: where it is called what, and what the outcomes mean."""

    name: str
    field: str
    about: str
    rows: dict[str, list[str]]


MATTERS = [
    Matter(
        "Coordinates",
        "coordinates",
        "`float32`: PCD and raw files hold float32; where those would lose more than the input's step, the"
        " minimum corner is subtracted. `steps`: LAS holds whole numbers of steps. See"
        " [precision](#precision).",
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
        "`8 bits`: 0 to 255; of 16 bits the upper 8, with a warning if the lower are lost; numbers"
        " from 0 to 1 times 255. `rgb`: the same, packed into one field as PCL does (`rgba` if there is"
        " an alpha). Fields of 16 bits in which no value is above 255 hold 8 bits. `16 bits`: 8 bits"
        " times 256, as the LAS specification says; numbers from 0 to 1 times 65535.",
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
        "`float32`: the same numbers in that type. `fitted`: whole numbers from 0 to 65535 are kept;"
        " others from 0 to 1 are multiplied by 65535, with a warning; all others go into the extra"
        " dimension `original_intensity`, with a warning.",
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
        "Called `classification` in every output; read from `classification`, `Classification`,"
        " `class` and `scalar_Classification`.",
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
        "Called `nx ny nz` in PLY, NPY and text, `normal_x normal_y normal_z` in PCD, and `NormalX"
        " NormalY NormalZ`, which are extra dimensions, in LAS; read under any of these names."
        " `float32`: in that type, which is the one that PCL knows.",
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
        "GPS time, a double called `gps_time`; read from `gps_time`, `GpsTime` and"
        " `scalar_GpsTime`. Other clocks, such as `time_stamp` of E57, are other attributes.",
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
        "Kept as it stands in the file, well-known text or GeoTIFF keys. `text only`: E57 keeps the former and"
        " leaves out the latter, with a warning.",
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
        "Under their own names; `extra`: in the LAS field of that name if there is one and the values"
        " fit, else in an extra dimension. LAS has `scan` of E57 and PTX as `point_source_id`,"
        " `return_index` of E57 as `return_number`, which counts from 1, and whole degrees in"
        " `scan_angle_rank` as `scan_angle`, in steps of 0.006 degrees. PCD has `label` as uint32 and"
        " `curvature` as float32, the types that PCL knows.",
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
    """Every cell that promises something: matter, row and output."""
    for matter in MATTERS:
        for row in INPUTS:
            for output in OUTPUTS:
                if cell(matter, row, output) != NONE:
                    yield matter, row, output


BEGIN, END = "<!-- matrix: begin -->\n", "<!-- matrix: end -->\n"


def markdown():
    """The tables, rows that are alike joined."""
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
