"""Coordinate systems that files state by their EPSG codes, as the text that COPC and E57 get of them, read by
PROJ: it finds the same code, and no point moves."""

import json
import math
import os

import laspy
import numpy as np
import pyproj
import pytest
from pyproj.database import query_crs_info
from pyproj.enums import PJType, WktVersion

import command
import readers

UTM = [32610, 32632, 32733, 26910, 26917, 25832, 25833, 28355, 7855, 6339, 31983]
FEET = [2992, 2913, 2222, 2223, 2256, 2994, 3361, 2225, 2227, 2229, 2263, 2264, 2272, 2274, 2276, 2278, 2285, 2286, 3435]
FEET += [3089, 6420, 6588, 6589, 26741, 32040, 27200, 29902]
NATIONAL = [27700, 28992, 2154, 27572, 31370, 2056, 21781, 31467, 31468, 3006, 3067, 31256, 31287, 3763, 3346, 3301, 2100]
NATIONAL += [23700, 3765, 2193, 2443, 6677, 5179, 4547, 3857, 3395]
GEOGRAPHIC = [4326, 4269, 4267, 4258, 4171, 4277, 4230, 4314, 4289, 4490, 4807, 4979, 4937, 4957]
COMPOUND = [7415, 7405, 5554, 6349, 5498, 7407, 6190, 5973, 8360]

# Horizontal and vertical keys, the unit of heights, and what the text states.
HEIGHTS = [
    (28992, 5709, None, 7415),
    (27700, 5701, None, 7405),
    (2227, 6360, None, (2227, 6360)),
    (2227, 5703, 9003, (2227, 6360)),
    (2992, 5703, 9002, (2992, 8228)),
    (32610, 5703, 9001, (32610, 5703)),
    # By the datum, as in GeoTIFF 1.0.
    (26910, 5103, None, (26910, 5703)),
]


def with_keys(path, keys):
    """A file of two points whose GeoTIFF keys have these values."""
    numbers = [1, 1, 0, len(keys), *(n for key, value in sorted(keys.items()) for n in (key, 0, 1, value))]
    return with_record(path, 34735, np.array(numbers, "<u2").tobytes())


def with_record(path, number, content):
    header = laspy.LasHeader(version="1.2", point_format=0)
    header.scales = [0.001] * 3
    header.vlrs.append(laspy.VLR("LASF_Projection", number, "", content))
    las = laspy.LasData(header)
    las.x, las.y, las.z = [1, 2], [3, 5], [1, 1]
    las.write(str(path))
    return str(path)


def copc(folder, keys):
    source = with_keys(folder / "in.las", keys)
    done = command.run("order", source, "-o", folder / "out.copc.laz")
    record = laspy.open(str(folder / "out.copc.laz")).header.vlrs.get("WktCoordinateSystemVlr")
    return pyproj.CRS.from_wkt(record[0].string), done


def offset(crs, code):
    """Meters between a point in the middle of the system's area and itself by the text."""
    area, world = pyproj.CRS(code).area_of_use, pyproj.CRS(4979)
    west, east = area.west, area.east + 360 * (area.east < area.west)
    start = ((west + east) / 2 + 180) % 360 - 180, (area.south + area.north) / 2, 0
    point = pyproj.Transformer.from_crs(world, code, always_xy=True).transform(*start)
    x, y = [pyproj.Transformer.from_crs(c, world, always_xy=True).transform(*point)[:2] for c in (crs, code)]
    return 111_320 * math.hypot((x[0] - y[0]) * math.cos(math.radians(start[1])), x[1] - y[1])


@pytest.mark.parametrize("code", UTM + FEET + NATIONAL + GEOGRAPHIC + COMPOUND)
def test_code(tmp_path, code):
    model, key = (2, 2048) if code in GEOGRAPHIC else (1, 3072)
    crs, done = copc(tmp_path, {1024: model, key: code})
    assert crs.to_epsg() == code
    assert offset(crs, code) < 0.001
    assert "heights" not in done.stderr
    expected = pyproj.CRS(code).axis_info[0]
    report = json.loads(command.run("info", tmp_path / "in.las", "--json").stdout)["crs"]
    if "degree" in expected.unit_name or "grad" in expected.unit_name:
        assert report["meters_per_unit"] is None
    else:
        assert report["meters_per_unit"] == pytest.approx(expected.unit_conversion_factor, rel=1e-12)


@pytest.mark.parametrize("horizontal, vertical, unit, expected", HEIGHTS)
def test_heights(tmp_path, horizontal, vertical, unit, expected):
    keys = {1024: 1, 3072: horizontal, 4096: vertical} | ({4099: unit} if unit else {})
    crs, done = copc(tmp_path, keys)
    if isinstance(expected, tuple):
        assert tuple(part.to_epsg() for part in crs.sub_crs_list) == expected
    else:
        assert crs.to_epsg() == expected
    assert "left out" not in done.stderr


def test_unknown_heights_are_named(tmp_path):
    crs, done = copc(tmp_path, {1024: 1, 3072: 32610, 4096: 5754})
    assert crs.to_epsg() == 32610
    assert "heights (EPSG:5754)" in done.stderr


def stated(crs):
    """Meters of x and y and of heights, as PROJ reads them; degrees are None."""
    parts = crs.sub_crs_list or [crs.source_crs if crs.is_bound else crs]
    axes = [(axis, part.is_geographic and axis.direction != "up") for part in parts for axis in part.axis_info]
    units = [None if angle else axis.unit_conversion_factor for axis, angle in axes]
    return units[0], units[2] if len(units) > 2 else None


KINDS = [PJType.PROJECTED_CRS, PJType.COMPOUND_CRS, PJType.GEOCENTRIC_CRS, PJType.GEOGRAPHIC_2D_CRS]
FORMS = [WktVersion.WKT1_GDAL, WktVersion.WKT1_ESRI, WktVersion.WKT2_2015, WktVersion.WKT2_2019]


def test_units_of_every_form(tmp_path):
    """All forms of well-known text that PROJ writes, of every 40th code: what it reads of them."""
    expected = {}
    known = query_crs_info("EPSG", [*KINDS, PJType.GEOGRAPHIC_3D_CRS])
    for code in sorted(int(info.code) for info in known)[:: int(os.environ.get("EVERY", 40))]:
        for form in FORMS:
            try:
                text = pyproj.CRS(code).to_wkt(form)
                crs = pyproj.CRS.from_wkt(text)
            except pyproj.exceptions.CRSError:
                continue
            path = with_record(tmp_path / f"{code}-{form.value}.las", 2112, text.encode())
            expected[path] = stated(crs), text
    assert len(expected) > 400
    done = command.run("info", tmp_path, "--json")
    reports = {report["file"]: report["crs"] for report in json.loads(done.stdout)["files"]}
    assert reports.keys() == expected.keys()
    wrong = []
    for path, (units, text) in expected.items():
        crs = reports[path]
        found = crs["meters_per_unit"], crs["meters_per_unit_of_heights"]
        equal = [a == b or None not in (a, b) and math.isclose(a, b, rel_tol=1e-9) for a, b in zip(found, units)]
        if not all(equal) or crs["geographic"] != (units[0] is None):
            wrong.append((found, units, text))
    assert not wrong


def test_e57(tmp_path):
    source = with_keys(tmp_path / "in.las", {1024: 1, 3072: 28992, 4096: 5709})
    command.run("convert", source, tmp_path / "out.e57")
    _, text = readers.columns_of_e57(str(tmp_path / "out.e57"))
    assert pyproj.CRS.from_wkt(text).to_epsg() == 7415
