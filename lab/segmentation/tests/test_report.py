"""The report of segmentation, from made records: values by hand, and every file opens."""

import csv
import dataclasses
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from farpoint_segmentation import report, samplers
from farpoint_segmentation.records import SceneRecord, Seconds, append
from farpoint_segmentation.report import published, remarks
from farpoint_segmentation.report.runs import disagreeing, is_exact, runs_of
from farpoint_segmentation.report.tables import latency

GPU = "NVIDIA H100 80GB HBM3"
CLASSES = {"s3dis": 13, "scannet": 20, "semantickitti": 19}


def record(
    task="time",
    sampler="naive",
    scene="a",
    *,
    data="s3dis",
    network="pointmetabase-l",
    points=60_000,
    seconds=(0.5, 0.4),
    right=None,
    wrong=0,
    options=None,
    **more,
):
    """A scene; ``right`` and ``wrong`` points of class 0, the wrong ones taken for class 1."""
    confusion = None
    if right is not None:
        size = CLASSES[data]
        confusion = [[0] * size for _ in range(size)]
        confusion[0][0], confusion[0][1] = right, wrong
        confusion = tuple(tuple(row) for row in confusion)
    return SceneRecord(
        task=task,
        data=data,
        network=network,
        sampler=sampler,
        scene=scene,
        points=points,
        device=GPU,
        protocol="time" if task == "time" else "val",
        options={"folder": "generated", **(options or {})},
        seconds=Seconds(*seconds),
        peak_memory=1 << 30,
        confusion=confusion,
        **more,
    )


def made(folder, records):
    for one in records:
        append(folder, one)
    return folder


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


TIMES = [
    record(scene="a", seconds=(0.5, 0.4)),
    record(scene="b", seconds=(1.5, 1.2), points=120_000),
    record(sampler="peak", scene="a", seconds=(0.11, 0.01)),
    record(sampler="peak", scene="b", seconds=(0.29, 0.03), points=120_000),
    # Timed on one scene only: compared with naive on that scene.
    record(sampler="radius", scene="b", seconds=(0.5, 0.2), points=120_000),
]


def test_times_shares_and_speed_ups(tmp_path):
    page = report.run([made(tmp_path / "in", TIMES)], tmp_path / "out")
    assert page == tmp_path / "out" / "report.html"
    slug = "s3dis-pointmetabase-l-nvidia-h100-80gb-hbm3-generated"
    table = {row["sampler"]: row for row in rows(tmp_path / "out" / f"table-2-{slug}.csv") if row["sampler"]}
    naive, peak, radius = table["naive"], table["peak"], table["radius"]
    assert naive["in the paper"] == "FPS (GPU)" and peak["in the paper"] == ""
    assert float(naive["ms a scene"]) == pytest.approx(1000) and naive["scenes"] == "2"
    assert float(naive["sampling %"]) == pytest.approx(80)
    assert float(naive["times faster"]) == 1 and float(naive["paper s"]) == 40.176
    assert float(peak["ms a scene"]) == pytest.approx(200) and float(peak["times faster"]) == pytest.approx(5)
    assert float(peak["sampling %"]) == pytest.approx(10) and peak["paper s"] == ""
    assert radius["scenes"] == "1" and float(radius["times faster"]) == pytest.approx(3)
    assert float(radius["paper times faster"]) == pytest.approx(40.176 / 15.335)
    assert float(naive["peak MiB"]) == 1024 and naive["OA %"] == ""
    # Samplers of the paper that did not run have its numbers alone.
    named = {row["in the paper"]: row for row in rows(tmp_path / "out" / f"table-2-{slug}.csv")}
    assert set(published.TABLES[2]) <= set(named)
    assert named["QuickFPS"]["ms a scene"] == "" and named["QuickFPS"]["paper mIoU %"] == "67.9"

    speed = {row["sampler"]: row for row in rows(tmp_path / "out" / f"figure-11-{slug}.csv")}
    assert list(speed) == ["naive", "radius", "peak"]
    assert float(speed["peak"]["sampling times faster"]) == pytest.approx(1.6 / 0.04)
    sizes = rows(tmp_path / "out" / f"figure-1-sizes-{slug}.csv")
    assert [(row["sampler"], row["points"], row["scenes"]) for row in sizes] == [
        ("naive", "50–75k", "1"),
        ("naive", "100–150k", "1"),
        ("peak", "50–75k", "1"),
        ("peak", "100–150k", "1"),
    ]
    assert float(sizes[1]["sampling ms"]) == pytest.approx(1200)
    share = rows(tmp_path / "out" / "figure-1-share.csv")
    assert float(share[0]["sampling %"]) == pytest.approx(80) and float(share[0]["paper %"]) == 77.6
    assert share[1]["sampler"] == "peak" and share[1]["paper %"] == ""


def scored(sampler, right, *, seed=0, checkpoint="x.pth", scene="a", **more):
    return record(
        "evaluate",
        sampler,
        scene,
        right=right,
        wrong=100 - right,
        seed=seed,
        options={"checkpoint": checkpoint},
        **more,
    )


def test_wide_tables_are_two_on_the_page(tmp_path):
    """Scores and times: each column is in one of them, each sampler where it has numbers."""
    page = report.run([made(tmp_path / "in", [*TIMES, scored("radius", 80)])], tmp_path / "out").read_text()
    [result] = [table for run in runs_of([*TIMES, scored("radius", 80)]) for table in latency(2, [run])]
    (scores, names, score_rows), (times, other, time_rows) = result.shown()
    assert (scores, times) == ("Scores", "Times") and set(names) | set(other) == set(result.head)
    assert max(len(names), len(other)) <= 10
    ours = [{row[0] for row in part if row[0] is not None} for part in (score_rows, time_rows)]
    assert ours[0] >= {"radius"} and "peak" not in ours[0] and ours[1] == {"naive", "radius", "peak"}
    assert page.count("<caption>Scores</caption>") == page.count("<caption>Times</caption>") == 1


def test_scenes_of_other_sizes_are_others(tmp_path):
    records = [record(options={"scene_points": points}, seconds=(points / 1e6, 0.1)) for points in (100_000, 200_000)]
    [run] = runs_of(records)
    assert run.samplers["naive"].sums().scenes == 2


def test_scores_are_means_over_trainings(tmp_path):
    records = [scored("naive", 80), scored("naive", 60, seed=1, checkpoint="y.pth"), scored("radius", 80)]
    records += [scored("random", 40), scored("random", 10, checkpoint="random weights")]
    report.run([made(tmp_path / "in", records)], tmp_path / "out")
    table = {
        row["sampler"]: row
        for path in (tmp_path / "out").glob("table-2-*.csv")
        for row in rows(path)
        if row["sampler"]
    }
    # Of 13 classes 11 are absent (100 %), class 0 has right/100, class 1 nothing.
    miou = [100 * (11 + right / 100) / 13 for right in (80, 60)]
    naive = table["naive"]
    assert naive["trainings"] == "2" and float(naive["OA %"]) == pytest.approx(70)
    assert float(naive["mIoU %"]) == pytest.approx(sum(miou) / 2)
    assert float(naive["mIoU lowest"]) == pytest.approx(miou[1])
    assert float(naive["mIoU highest"]) == pytest.approx(miou[0])
    assert table["random"]["trainings"] == "1" and float(table["random"]["OA %"]) == pytest.approx(40)
    fifth = {row["sampler"]: row for row in rows(tmp_path / "out" / "table-5.csv")}
    assert set(fifth) == {"naive", "radius", "random"}
    # Over the training of both: in the second, in which random has no scores, naive is lower.
    assert float(fifth["random"]["to FPS (GPU)"]) == pytest.approx(100 * (11.4 / 13) - miou[0])
    assert float(fifth["radius"]["to FPS (GPU)"]) == pytest.approx(0)
    assert float(fifth["random"]["paper to FPS (GPU)"]) == pytest.approx(65.28 - 67.90)


def test_semantic_kitti_has_its_own_metric(tmp_path):
    records = [scored("naive", 80, data="semantickitti", network="pointvector-l")]
    report.run([made(tmp_path / "in", records)], tmp_path / "out")
    (row,) = rows(tmp_path / "out" / "table-5.csv")
    # Absent classes have 0 there.
    assert float(row["mIoU %"]) == pytest.approx(100 * 0.8 / 19) and row["paper mIoU %"] == "48.38"


def test_times_of_time_replace_those_of_evaluate():
    records = [record("time", seconds=(0.2, 0.1)), record("evaluate", seconds=(9.0, 8.0), right=1)]
    (run,) = runs_of(records)
    assert run.samplers["naive"].sums().all == 0.2 and run.score("naive").oa == pytest.approx(100)


def test_runs_are_told_apart():
    records = [
        record(),
        record(network="pointvector-l"),
        record(data="scannet"),
        record(options={"bfloat16": True}),
        record(options={"folder": "/data/s3dis"}),
        record(options={"compile": True}),
    ]
    assert len(runs_of(records)) == len({run.slug for run in runs_of(records)}) == 6


def test_exact_samplers_that_disagree_are_named(tmp_path):
    alike = [scored("naive", 80), scored("radius:nvox=24", 80), scored("cpu:peak", 80), scored("random", 70)]
    (run,) = runs_of(alike)
    assert disagreeing(run) == (["naive", "radius:nvox=24", "cpu:peak"], [])
    assert any("lead to equal predictions" in text for text in remarks.findings([run]))
    (run,) = runs_of([*alike, scored("quick", 79)])
    assert disagreeing(run)[1] == ["quick"]
    assert any("differ from naive in their predictions: quick" in text for text in remarks.findings([run]))
    assert is_exact("naive@first") and is_exact("naive@released") and is_exact("cpu:radius:nvox=24")
    assert not any(map(is_exact, ("fastpoint+naive", "random@first", "naive+all-pairs", "grid@released", "fps")))


def test_both_protocols_are_told_apart(tmp_path):
    """The paper does not say which its scores are of."""
    records = [scored("naive@first", 80), dataclasses.replace(scored("naive@first", 60), protocol="test")]
    report.run([made(tmp_path / "in", records)], tmp_path / "out")
    fifth = {row["protocol"]: float(row["mIoU %"]) for row in rows(tmp_path / "out" / "table-5.csv")}
    assert fifth == pytest.approx({"val": 100 * 11.8 / 13, "test": 100 * 11.6 / 13})


def test_what_runs_on_the_cpu_is_told(tmp_path):
    names = ("naive", "cpu:naive", "fastpoint+radius", "random@released", "grid@released", "naive+all-pairs")
    texts = remarks.limits(runs_of(record(sampler=name) for name in names))
    assert any("The samplers grid@released run on the CPU" in text for text in texts)
    assert not any("run on the CPU" in text for text in remarks.limits(runs_of([record(), record(sampler="peak")])))
    for sampler, told in (("cpu:fastpoint+radius@first", True), ("fastpoint+radius@first", False)):
        texts = remarks.limits(runs_of([record(sampler=sampler)]))
        assert any("on the CPU as a whole" in text for text in texts) == told


@pytest.mark.parametrize(
    ("sampler", "device", "name"),
    [
        ("naive", GPU, "FPS (GPU)"),
        ("naive", "cpu", "FPS (CPU)"),
        ("cpu:naive", GPU, "FPS (CPU)"),
        ("radius:nvox=24", GPU, "RadiusFPS-G"),
        ("radius", "cpu", "RadiusFPS"),
        ("radius@first", GPU, "RadiusFPS-G"),
        ("radius@every", GPU, None),
        ("morton:bits=21@first", GPU, "EdgePC"),
        ("morton:bits=21", GPU, None),
        ("npdu:order=morton,window=64@released", GPU, "FPS + NPDU"),
        ("npdu", GPU, None),
        ("grid", "cpu", None),
        ("random", GPU, "Random"),
        ("random@first", GPU, "Random"),
        ("naive@first", GPU, "FPS (GPU)"),
        ("fastpoint+radius@first", GPU, "FastPoint + RadiusFPS-G"),
        ("fastpoint+radius@first", "cpu", "FastPoint + RadiusFPS"),
        ("fastpoint+radius", GPU, None),
        ("cpu:fastpoint+radius@first", GPU, "FastPoint + RadiusFPS"),
        ("cpu:fastpoint+radius", GPU, None),
        ("peak", GPU, None),
        ("naive+all-pairs", GPU, None),
    ],
)
def test_names_of_the_paper(sampler, device, name):
    assert published.name_of(sampler, device) == name


def test_names_are_those_of_the_switch():
    for table in published.TABLES.values():
        assert list(samplers.TABLE_2.values()) == list(table)
    for table in published.TABLE_5.values():
        assert list(samplers.TABLE_5.values()) == list(table)
    for sampler, name in {**samplers.TABLE_2, **samplers.TABLE_5}.items():
        assert published.name_of(sampler, GPU) == name


def test_of_several_that_of_the_paper_counts():
    """Textbook sampling that runs once is faster than the paper's, which runs on each level."""
    (run,) = runs_of([record(sampler=name) for name in ("naive", "naive@first", "radius", "radius:nvox=24")])
    assert run.of("FPS (GPU)") == "naive@first" and run.of("RadiusFPS-G") == "radius"


def test_all_that_may_be_a_column_of_table_5_are_in_it(tmp_path):
    """Of random and grid sampling the paper does not say how."""
    names = ["random@released", "naive@first", "grid@released", "random", "grid", "grid@first"]
    report.run([made(tmp_path / "in", [scored(name, 80) for name in names])], tmp_path / "out")
    assert [(row["sampler"], row["in the paper"]) for row in rows(tmp_path / "out" / "table-5.csv")] == [
        ("naive@first", "FPS (GPU)"), ("random", "Random"), ("random@released", "Random"), ("grid@first", "Grid"),
        ("grid@released", "Grid"),
    ]


def test_the_paper_is_copied_whole():
    assert all(len(table) == 10 for table in published.TABLES.values())
    # Sums of the columns, computed from the paper's text.
    sums = {
        number: [
            round(sum(row[data][k] for row in table.values()), 3) for data in published.DATA for k in range(3)
        ]
        for number, table in published.TABLES.items()
    }
    assert sums == SUMS
    assert [round(sum(row.values()), 2) for row in published.TABLE_5.values()] == SUMS_5


SUMS = {
    2: [892.23, 673.57, 581.729, 888.82, 691.06, 4460.219, 884.88, 475.46, 25284.322],
    3: [880.49, 661.15, 1081.757, 878.93, 664.27, 4665.685, 871.11, 454.18, 29924.469],
}
SUMS_5 = [532.97, 538.61, 369.53, 511.32, 508.08, 345.53]


def test_remarks_name_numbers_of_the_paper():
    texts = remarks.misfits()
    assert len(texts) == 7
    numbers = {
        f"{figures.miou:.2f}"
        for table in published.TABLES.values()
        for row in table.values()
        for figures in row.values()
    }
    numbers |= {f"{value:.2f}" for row in published.TABLE_5.values() for value in row.values()}
    result = re.findall(r"\d\d\.\d\d", " ".join(texts))
    assert len(result) > 25 and set(result) <= numbers
    for pair in ("68.28 and 67.90", "50.22"):
        assert any(pair in text for text in texts)


class Structure(HTMLParser):
    """Tags, which must be closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "html"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "html":
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def everything(folder):
    """Records of every kind."""
    records = []
    for data, points in (("s3dis", 60_000), ("scannet", 140_000), ("semantickitti", 88_000)):
        for network in ("pointmetabase-l", "pointvector-l"):
            for number in range(3):
                more = {
                    "data": data,
                    "network": network,
                    "points": points + 9_000 * number,
                    "scene": f"s{number}",
                }
                for sampler, time, part in (
                    ("naive+all-pairs", 0.9, 0.4),
                    ("naive", 0.5, 0.4),
                    ("cpu:naive", 7.0, 6.9),
                    ("npdu@first", 1.1, 1.0),
                    ("quick", 0.13, 0.03),
                    ("radius", 0.12, 0.02),
                    ("peak", 0.103, 0.003),
                    ("fastpoint+naive@first", 0.2, 0.1),
                    ("fastpoint+radius@first", 0.11, 0.008),
                    ("random", 0.101, 0.0004),
                ):
                    records.append(record("time", sampler, seconds=(time, part), **more))
                    records.append(
                        record(
                            "evaluate",
                            sampler,
                            right=70,
                            wrong=30,
                            seconds=(time, part),
                            options={"checkpoint": "x"},
                            **more,
                        )
                    )
    return made(folder, records)


def test_every_file_opens(tmp_path):
    page = report.run([everything(tmp_path / "in")], tmp_path / "out")
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert not [name for name in files if name.startswith(".")]
    # Six runs: a table 2 or 3, a plot and a table of figures 1 and 11 each; table 5, shares, the page.
    assert len(files) == 6 + 6 * 4 + 1 + 2 + 1
    for name in files:
        path = tmp_path / "out" / name
        if name.endswith(".csv"):
            assert len(rows(path)) > 1
        elif name.endswith(".svg"):
            assert ElementTree.parse(path).getroot().tag.endswith("svg")
    structure = Structure()
    structure.feed(page.read_text(encoding="utf-8"))
    assert structure.open == []
    anchors = {attrs["id"] for tag, attrs in structure.seen if "id" in attrs}
    links = {attrs["href"][1:] for tag, attrs in structure.seen if tag == "a"}
    assert links == anchors and len(anchors) == 8
    assert sum(tag == "img" for tag, _ in structure.seen) == 13
    text = " ".join(structure.words)
    assert "nan" not in text.lower().split() and "None" not in text


def test_equal_records_make_equal_pages(tmp_path):
    folder = made(tmp_path / "in", TIMES)
    pages = [report.run([folder], tmp_path / name).read_bytes() for name in ("one", "two")]
    assert pages[0] == pages[1]


def test_folders_without_records_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"nothing.scenes\.jsonl: no records"):
        report.run([tmp_path / "nothing"], tmp_path / "out")
    made(tmp_path / "in", TIMES)
    path = tmp_path / "in" / SceneRecord.FILE
    path.write_bytes(path.read_bytes() + b"{broken\n")
    with pytest.raises(ValueError, match=r"scenes\.jsonl:6"):
        report.run([tmp_path / "in"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
