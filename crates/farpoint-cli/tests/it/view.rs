//! The page of `farpoint view`, `order --view` and `compare --view`: what it holds, read back.

use crate::common::{Folder, text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use farpoint::Sampler;
use farpoint::approximate::{ApproximateSampler, Keep, Method};
use serde_json::Value;
use std::io::Read;

/// A page as its script reads it.
struct Page {
    text: String,
    meta: Value,
}

impl Page {
    fn of(folder: &Folder, name: &str) -> Self {
        let text = String::from_utf8(folder.read(name)).unwrap();
        let meta = serde_json::from_str(tag(&text, "fp-meta").1).unwrap();
        Self { text, meta }
    }

    fn bytes(&self, id: &str) -> Vec<u8> {
        let (head, text) = tag(&self.text, id);
        let bytes = STANDARD.decode(text).unwrap();
        let number = |name: &str| -> Option<usize> {
            let (_, rest) = head.split_once(&format!("data-{name}=\""))?;
            Some(rest.split_once('"').unwrap().0.parse().unwrap())
        };
        let Some(each) = number("packed") else { return bytes };
        let mut planes = Vec::new();
        flate2::read::ZlibDecoder::new(&bytes[..]).read_to_end(&mut planes).unwrap();
        let values = planes.len() / each;
        let mut bytes: Vec<u8> =
            (0..planes.len()).map(|k| planes[k % each * values + k / each]).collect();
        let Some(width) = number("near") else { return bytes };
        for at in (each..bytes.len()).step_by(width) {
            let mut carry = 0;
            for k in at..at + width {
                let sum = u16::from(bytes[k]) + u16::from(bytes[k - each]) + carry;
                (bytes[k], carry) = (sum as u8, sum >> 8);
            }
        }
        bytes
    }

    fn shown(&self) -> usize {
        self.meta["shown"].as_u64().unwrap() as usize
    }

    /// Returns the end of each prefix.
    fn counts(&self) -> Vec<usize> {
        let counts = self.meta["prefixes"]["count"].as_array().unwrap();
        counts.iter().map(|count| count.as_u64().unwrap() as usize).collect()
    }

    /// Returns the row of each point.
    fn rows(&self) -> Vec<usize> {
        let differences = variable(&self.bytes("fp-rows"));
        assert_eq!(differences.len(), self.shown());
        let starts: Vec<usize> = self.counts();
        let mut rows = Vec::new();
        let mut next = 0;
        for (place, difference) in differences.into_iter().enumerate() {
            if starts.contains(&place) {
                next = 0;
            }
            rows.push(next + difference);
            next += difference + 1;
        }
        rows
    }

    fn places(&self, id: &str) -> Vec<[f64; 3]> {
        let each = self.meta["bytes"].as_u64().unwrap() as usize;
        let step = self.meta["step"].as_f64().unwrap();
        let number = |(axis, bytes): (usize, &[u8])| {
            let whole = bytes.iter().rev().fold(0, |sum, &byte| 256 * sum + u32::from(byte));
            self.meta["origin"][axis % 3].as_f64().unwrap() + f64::from(whole) * step
        };
        let numbers: Vec<f64> = self.bytes(id).chunks(each).enumerate().map(number).collect();
        numbers.as_chunks().0.to_vec()
    }

    /// Returns the rows of a pane's samples.
    fn samples(&self, pane: usize) -> Vec<usize> {
        let rows = self.rows();
        let mut next = 0;
        let differences = variable(&self.bytes(&format!("fp-samples-{pane}")));
        let place = |difference: usize| {
            next += difference + 1;
            rows[next - 1]
        };
        sorted(differences.into_iter().map(place).collect())
    }

    fn distances(&self, pane: usize) -> Vec<f64> {
        let farthest = self.meta["panes"][pane]["farthest"].as_f64().unwrap();
        let bytes = self.bytes(&format!("fp-distances-{pane}"));
        bytes.iter().map(|&byte| farthest * (f64::from(byte) / 255.0).powi(2)).collect()
    }
}

/// Returns the attributes of a tag, and its content.
fn tag<'a>(text: &'a str, id: &str) -> (&'a str, &'a str) {
    let (_, rest) = text.split_once(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no {id}"));
    rest.split_once("</script>").unwrap().0.split_once('>').unwrap()
}

fn variable(bytes: &[u8]) -> Vec<usize> {
    let (mut numbers, mut number, mut shift) = (Vec::new(), 0, 0);
    for &byte in bytes {
        number |= usize::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            numbers.push(number);
            (number, shift) = (0, 0);
        }
    }
    numbers
}

fn sorted(mut rows: Vec<usize>) -> Vec<usize> {
    rows.sort_unstable();
    rows
}

fn distance_between(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

/// Writes a room with colors, a class, and unusable rows: (0, 0, 0) and NaN.
fn mixed(folder: &Folder) -> Vec<[f32; 3]> {
    let room = farpoint_generate::room(2000, 3);
    let mut lines = "x,y,z,red,green,blue,class\n".to_owned();
    let mut all = Vec::new();
    for (k, [x, y, z]) in room.into_iter().enumerate() {
        let row = match k % 500 {
            7 => [0.0; 3],
            9 => [f32::NAN, 1.0, 2.0],
            _ => [x, y, z],
        };
        all.push(row);
        let [x, y, z] = row;
        lines += &format!("{x},{y},{z},{},{},{},{}\n", k % 256, k / 256, 7, k % 3);
    }
    folder.write("mixed.csv", lines);
    all
}

/// Searching all columns for each column, or a compressor for each, would take minutes and gigabytes.
#[test]
fn thousands_of_columns_are_shown() {
    const COLUMNS: usize = 40_000;
    let folder = Folder::new();
    let row = |first: usize| (0..COLUMNS).map(|k| format!(",{}", first + k)).collect::<String>();
    let names: String = (0..COLUMNS).map(|k| format!(",c{k}")).collect();
    folder.write("a.csv", format!("x,y,z{names}\n0,0,1{}\n0,1,0{}\n", row(5), row(9)));
    folder.ok("view a.csv -o a.html");
    let page = Page::of(&folder, "a.html");
    assert_eq!(page.meta["attributes"].as_array().unwrap().len(), COLUMNS);
    let last = &page.meta["attributes"][COLUMNS - 1];
    assert_eq!((&last["name"], &last["offset"]), (&"c39999".into(), &40_004.0.into()));
    assert_eq!(sorted(page.bytes("fp-value-39999").iter().map(|&b| b.into()).collect()), [0, 4]);
}

#[test]
fn the_order_just_computed_is_the_page_of_view() {
    let folder = Folder::new();
    folder.room("room.ply", 3000);
    mixed(&folder);
    for (input, order, page) in [
        ("room.ply", "", ""),
        ("room.ply", "--points 700", "--points 700"),
        ("room.ply", "--start 17 --up x --f32", "--start 17 --up x --f32"),
        ("mixed.csv", "--drop-zeros --keep class=0,2 -q", "--drop-zeros --keep class=0,2 -q"),
    ] {
        let ordered =
            folder.ok(&format!("order {input} -o ordered.ply --view one.html --json {order}"));
        folder.ok(&format!("view {input} -o two.html {page}"));
        assert!(folder.read("one.html") == folder.read("two.html"), "{input} {order}");
        assert_eq!(ordered.json()["view"], "one.html");
        // The page is of the rows that the file has, in its order: each prefix is one of the file's.
        let shown = Page::of(&folder, "one.html");
        let written = farpoint_io::read(&folder.path("ordered.ply"), &<_>::default()).unwrap();
        let (places, step) = (shown.places("fp-xyz"), shown.meta["step"].as_f64().unwrap());
        let first: Vec<[f64; 3]> = (0..60).map(|k| written.coordinates().get(k)).collect();
        for n in shown.counts().into_iter().filter(|&n| n <= first.len()) {
            for place in &places[..n] {
                let near = first[..n].iter().map(|first| distance_between(*first, *place));
                assert!(near.fold(f64::INFINITY, f64::min) <= step, "{input} {order}: {n}");
            }
        }
    }
    let output = folder.ok("order room.ply -o ordered.ply --view one.html");
    assert!(output.text().contains("page                  one.html"), "{}", output.text());
}

#[test]
fn a_page_holds_the_first_points_farthest_first() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 3000);
    folder.ok("view room.ply -o page.html --points 1k");
    let page = Page::of(&folder, "page.html");
    let truth = Sampler::count(1000).sample(&room).unwrap();
    let rows = page.rows();
    for (place, n) in page.counts().into_iter().enumerate() {
        assert_eq!(sorted(rows[..n].to_vec()), sorted(truth.indices[..n].to_vec()), "{n}");
        let radius = if n < 1000 { truth.distance(n) } else { truth.covering_radius() };
        // The reader of JSON here may be off by the last bit.
        let reported = page.meta["prefixes"]["radius"][place].as_f64().unwrap();
        assert!(
            (reported / f64::from(radius) - 1.0).abs() < 1e-14 || reported == f64::from(radius)
        );
    }
    let step = page.meta["step"].as_f64().unwrap();
    for (place, row) in page.places("fp-xyz").into_iter().zip(rows) {
        assert!(distance_between(place, room[row].map(f64::from)) <= step);
    }
    assert_eq!((&page.meta["total"], &page.meta["panes"]), (&3000.into(), &Value::Array(vec![])));
}

/// Samples, distances and measures of each pane, of a cloud with rows that no sampler may use.
#[test]
fn panes_hold_what_the_samplers_chose() {
    let folder = Folder::new();
    let all = mixed(&folder);
    let output = folder.run(
        "compare mixed.csv --ratio 10% --drop-zeros --seed 5 --view page.html --json \
         --algorithms tree,random,grid,grid:centroid,grid:first,grid:random",
    );
    assert_eq!(output.status, 0, "{}", output.err);
    // Without -o there is no picture beside the page.
    assert_eq!(folder.files(), ["mixed.csv", "page.html"]);
    let page = Page::of(&folder, "page.html");
    let usable = |row: &usize| all[*row].iter().all(|v| v.is_finite()) && all[*row] != [0.0; 3];
    let used: Vec<usize> = (0..all.len()).filter(usable).collect();
    let points: Vec<[f32; 3]> = used.iter().map(|&row| all[row]).collect();
    assert_eq!(sorted(page.rows()), used);
    let near = |method| ApproximateSampler::ratio(method, 0.1).sample(&points).unwrap().indices;
    let chosen = [
        Some(Sampler::ratio(0.1).sample(&points).unwrap().indices),
        Some(near(Method::Random { seed: 5 })),
        Some(near(Method::Grid { keep: Keep::Center })),
        None,
        Some(near(Method::Grid { keep: Keep::First })),
        Some(near(Method::Grid { keep: Keep::Random(5) })),
    ];
    let made = ApproximateSampler::ratio(Method::Grid { keep: Keep::Center }, 0.1);
    let made = made.centroids(&points).unwrap().coordinates;
    let json = output.json();
    for (pane, chosen) in chosen.iter().enumerate() {
        let reported = &page.meta["panes"][pane];
        let rows = chosen.as_ref().map(|chosen| chosen.iter().map(|&k| used[k]).collect());
        assert_eq!(page.samples(pane), sorted(rows.unwrap_or_default()), "pane {pane}");
        let sample: Vec<[f32; 3]> = match chosen {
            Some(chosen) => chosen.iter().map(|&k| points[k]).collect(),
            None => made.as_chunks().0.to_vec(),
        };
        assert_eq!(reported["exact"], pane == 0);
        assert_eq!(reported["farthest"], json["samplers"][pane]["covering_radius"]);
        let beside = if chosen.is_some() { 0 } else { sample.len() };
        assert_eq!(reported["beside"], beside);
        let step = page.meta["step"].as_f64().unwrap();
        for (place, expected) in page.places(&format!("fp-beside-{pane}")).into_iter().zip(&sample)
        {
            assert!(distance_between(place, expected.map(f64::from)) <= step);
        }
        right_distances(&page, pane, &all, &sample);
    }
}

/// Checks each distance to within half of a byte's step.
fn right_distances(page: &Page, pane: usize, all: &[[f32; 3]], sample: &[[f32; 3]]) {
    let farthest = page.meta["panes"][pane]["farthest"].as_f64().unwrap();
    let distances = page.distances(pane);
    assert_eq!(distances.len(), page.shown());
    for (row, reported) in page.rows().into_iter().zip(distances) {
        let to =
            |sample: &[f32; 3]| distance_between(all[row].map(f64::from), sample.map(f64::from));
        let truth = sample.iter().map(to).fold(f64::INFINITY, f64::min);
        let root = |distance: f64| 255.0 * (distance / farthest).sqrt();
        assert!(
            (root(truth) - root(reported)).abs() < 0.501,
            "pane {pane}, row {row}: {truth} {reported}"
        );
    }
}

/// A page of fewer points than there are: other samples are stored by place.
#[test]
fn samples_that_the_page_does_not_hold_lie_beside_it() {
    let folder = Folder::new();
    let room = folder.room("room.ply", 2000);
    folder.ok(
        "compare room.ply -n 300 --algorithms auto,random --view page.html --points 200 --quiet \
         -o look.png --up z --csv all.csv",
    );
    assert_eq!(folder.files(), ["all.csv", "look.png", "page.html", "room.ply"]);
    let page = Page::of(&folder, "page.html");
    let exact = Sampler::count(300).sample(&room).unwrap().indices;
    assert_eq!(sorted(page.rows()), sorted(exact[..200].to_vec()));
    assert_eq!(page.samples(0), sorted(exact[..200].to_vec()));
    let random =
        ApproximateSampler::count(Method::Random { seed: 0 }, 300).sample(&room).unwrap().indices;
    let (within, beside): (Vec<usize>, Vec<usize>) =
        random.iter().partition(|row| exact[..200].contains(row));
    assert_eq!(page.samples(1), sorted(within));
    for (pane, rows) in [&exact[200..], &beside].into_iter().enumerate() {
        let places = page.places(&format!("fp-beside-{pane}"));
        assert_eq!(places.len(), rows.len());
        for (place, &row) in places.into_iter().zip(rows) {
            let step = page.meta["step"].as_f64().unwrap();
            assert!(distance_between(place, room[row].map(f64::from)) <= step);
        }
    }
}

/// A room that stands on its side, as if y were up, and times of both epochs.
#[test]
fn the_file_states_the_up_axis_and_the_epoch_of_times() {
    let folder = Folder::new();
    let mut lines = "x,y,z,gps_time\n".to_owned();
    for (k, [x, y, z]) in farpoint_generate::room(5000, 1).into_iter().enumerate() {
        lines += &format!("{x},{},{},{}\n", z - 1.0, -y, 3.1e8 + k as f64 / 1000.0);
    }
    folder.write("room.csv", lines);
    folder.ok("convert room.csv -o room.las --scale 1e-6 --quiet");
    let page = |options: &str| {
        folder.ok(&format!("view room.las -o a.html {options}"));
        let meta = Page::of(&folder, "a.html").meta;
        let attributes = meta["attributes"].as_array().unwrap();
        let time = attributes.iter().find(|one| one["name"] == "gps_time").expect("times");
        (meta["up"].as_u64().unwrap(), time["time"].clone(), time["unit"].clone())
    };
    assert_eq!(page(""), (1, "week".into(), "s".into()));
    folder.add_crs("room.las", r#"PROJCS["grid",GEOGCS["base"],UNIT["metre",1]]"#);
    let mut bytes = folder.read("room.las");
    bytes[6] |= 1;
    folder.write("room.las", bytes);
    assert_eq!(page(""), (2, "standard".into(), "s".into()));
    assert_eq!(page("--up y").0, 1);
}

/// One point, equal points, coordinates near the largest, a line far from the origin.
#[test]
fn any_cloud_has_a_page() {
    let folder = Folder::new();
    let line: String = (0..50).map(|k| format!("{}.25 0 0.001\n", 5_000_000 + k)).collect();
    let edge = "1e38 0 -1e38\n0 0 0\n";
    for cloud in ["7 7 7\n", "7 7 7\n7 7 7\n", edge, "0 0 0\nnan 0 0\n", &line] {
        folder.write("a.xyz", cloud);
        for command in [
            "view a.xyz -o a.html",
            "order a.xyz -o b.xyz --view a.html",
            "compare a.xyz -n 1 --algorithms auto,random,grid:centroid --view a.html",
        ] {
            let output = folder.run(command);
            assert_eq!(output.status, 0, "{command}: {cloud}: {}", output.err);
            let page = Page::of(&folder, "a.html");
            assert_eq!(page.rows().len(), page.shown(), "{command}: {cloud}");
        }
    }
}

#[test]
fn pages_that_cannot_be_written_are_refused_before_work() {
    let folder = Folder::new();
    // Before the input is read: there is none.
    for command in ["order a.ply -o b.ply", "compare a.ply -n 5"] {
        let fails = |more: &str, words: &[&str]| folder.fails(&format!("{command} {more}"), words);
        fails("--view page.png", &["--view page.png", ".html"]);
        fails("--view no/where/page.html", &["--view no/where", "the folder"]);
        fails("--view -", &["--view -", "stdout", "name"]);
        fails("--view a.html --points 0", &["--points 0", "1 to 5,000,000"]);
        fails("--view a.html --points 5,000,001", &["--points 5,000,001", "1 to 5,000,000"]);
        fails("--points 5", &["--view"]);
    }
    folder.fails("view a.ply -o a.html --points 5000001", &["5,000,001", "1 to 5,000,000"]);
    folder.fails("view a.ply -o a.ply", &["--output a.ply", ".html"]);
    folder.fails("view a.ply -o - --json", &["--output", "--json", "stdout"]);
    folder.fails("order a.ply -o b.ply --up z", &["--view"]);
    folder.fails("compare a.ply -n 5 --no-picture --up z", &["--up", "--no-picture"]);
    folder.fails("order a.ply b.ply --output-dir out --view a.html", &["--view", "--merge"]);
    assert!(folder.files().is_empty());
    // The page would take the place of what is read.
    folder.write("cloud.html", text(&[[0.0; 3], [1.0, 2.0, 3.0]]));
    let text = folder.read("cloud.html");
    for command in [
        "view cloud.html -o cloud.html",
        "order cloud.html --input-format xyz -o b.xyz --view cloud.html",
        "compare cloud.html --input-format xyz -n 1 --view cloud.html",
    ] {
        folder.fails(command, &["cloud.html", "input"]);
    }
    assert_eq!((folder.files(), folder.read("cloud.html")), (vec!["cloud.html".to_owned()], text));
}

/// A folder in which nothing can be created: the order is written, the page is not, and no part of it stays.
#[test]
#[cfg(unix)]
fn a_page_that_fails_leaves_nothing() {
    let folder = Folder::new();
    folder.room("room.ply", 200);
    // A name that no file can have, as the disk says only when it is written.
    let name = format!("{}.html", "n".repeat(300));
    let output = folder.run(&format!("order room.ply -o ordered.ply --view {name}"));
    assert_eq!(output.status, 2, "{}", output.err);
    assert!(output.err.contains(".html"), "{}", output.err);
    assert_eq!(folder.files(), ["ordered.ply", "room.ply"]);
}
