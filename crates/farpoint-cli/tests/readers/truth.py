"""What a file holds, told apart from how a format stores it."""

from dataclasses import dataclass, field, replace

import numpy as np

POINTS = 64

WKT = (
    'PROJCS["WGS 84 / UTM zone 32N",GEOGCS["WGS 84",DATUM["WGS_1984",'
    'SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],'
    'UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],'
    'PARAMETER["latitude_of_origin",0],PARAMETER["central_meridian",9],'
    'PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],'
    'PARAMETER["false_northing",0],UNIT["metre",1],AUTHORITY["EPSG","32632"]]'
)


@dataclass
class Truth:
    """The values of a file, `None` where it has none. Colors are as stored: 0..255, 0..65535 or 0..1."""

    xyz: np.ndarray
    # What a coordinate may be off by: the step of stored integers, the last decimal of a text.
    step: float | None = None
    # Colors of 16 bits, unless all of them are small, which some writers of LAS do.
    colors: np.ndarray | None = None
    intensity: np.ndarray | None = None
    classification: np.ndarray | None = None
    normals: np.ndarray | None = None
    time: np.ndarray | None = None
    crs: str | None = None
    others: dict[str, np.ndarray] = field(default_factory=dict)

    def has(self, what):
        value = getattr(self, "xyz" if what == "coordinates" else what)
        return len(value) > 0 if what == "others" else value is not None

    def with_(self, **changes):
        return replace(self, **changes)


def random():
    return np.random.default_rng(13)


def local(kind):
    """A room of ten meters around the origin."""
    return random().uniform(-5, 5, (POINTS, 3)).astype(kind)


def surveyed(step=0.001):
    """Projected coordinates on a grid of `step`, where a float32 is off by a quarter of a meter."""
    low = np.array([682_345.0, 5_250_123.0, 401.0])
    whole = random().integers(0, round(100 / step), (POINTS, 3))
    return np.round(low + whole * step, 9)


def directions():
    """Normals of length 1."""
    vectors = random().normal(size=(POINTS, 3))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def bytes_of_color():
    colors = random().integers(0, 256, (POINTS, 3)).astype(np.uint8)
    # The limits are where a wrong conversion shows.
    colors[0], colors[1] = 0, 255
    return colors


def words_of_color():
    colors = random().integers(0, 65536, (POINTS, 3)).astype(np.uint16)
    colors[0], colors[1] = 0, 65535
    return colors


def classes():
    return random().choice([1, 2, 5, 6, 9, 17], POINTS).astype(np.uint8)


def times():
    """GPS time, whose fraction a float32 would lose."""
    return 316_812_345.25 + np.arange(POINTS) / 1024
