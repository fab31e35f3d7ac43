//! `farpoint neighbors`: the arrays are those of an obvious loop, and what can't be done is refused.

use crate::common::Folder;
use std::io::{Cursor, Read};

/// A written archive.
struct Arrays(zip::ZipArchive<Cursor<Vec<u8>>>);

/// Type of an array in NumPy's notation, shape and values.
type Array = (String, Vec<usize>, Vec<f64>);

impl Arrays {
    fn of(bytes: Vec<u8>) -> Self {
        Self(zip::ZipArchive::new(Cursor::new(bytes)).unwrap())
    }

    fn names(&self) -> Vec<String> {
        self.0.file_names().map(|name| name.unwrap().into_owned()).collect()
    }

    fn get(&mut self, name: &str) -> Array {
        let mut bytes = Vec::new();
        self.0.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\0");
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = std::str::from_utf8(&bytes[10..start]).unwrap();
        let between = |from: &str, to: &str| {
            let rest = &header[header.find(from).unwrap() + from.len()..];
            rest[..rest.find(to).unwrap()].to_owned()
        };
        let kind = between("'descr': '", "'");
        let shape = between("(", ")");
        let shape: Vec<usize> = shape
            .split(',')
            .filter(|axis| !axis.trim().is_empty())
            .map(|axis| axis.trim().parse().unwrap())
            .collect();
        let values: Vec<f64> = match kind.as_str() {
            "<f4" => {
                bytes[start..].as_chunks().0.iter().map(|b| f32::from_le_bytes(*b).into()).collect()
            }
            "<f8" => bytes[start..].as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
            "<i8" => {
                bytes[start..].as_chunks().0.iter().map(|b| i64::from_le_bytes(*b) as f64).collect()
            }
            other => panic!("{other}"),
        };
        assert_eq!(shape.iter().product::<usize>(), values.len());
        (kind, shape, values)
    }

    fn values(&mut self, name: &str) -> Vec<f64> {
        self.get(name).2
    }
}

/// Returns all points of `y` for which `counts` is true, by distance and then by index.
fn near(x: [f32; 3], y: &[[f32; 3]], counts: impl Fn(usize, f32) -> bool) -> Vec<(f32, usize)> {
    let distance = |y: &[f32; 3]| {
        let [a, b, c]: [f32; 3] = std::array::from_fn(|axis| x[axis] - y[axis]);
        (a * a + b * b) + c * c
    };
    let all = y.iter().enumerate().map(|(row, y)| (distance(y), row));
    let mut all: Vec<_> = all.filter(|&(distance, row)| counts(row, distance)).collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all
}

/// Checks an archive of places against the neighbors of each row.
fn check(mut arrays: Arrays, k: usize, squared: bool, truth: &[Vec<(f32, usize)>]) {
    assert_eq!(arrays.names(), ["distances.npy", "indices.npy", "counts.npy"]);
    let (kind, shape, distances) = arrays.get("distances");
    assert_eq!((kind.as_str(), shape), ("<f4", vec![truth.len(), k]));
    let (kind, shape, indices) = arrays.get("indices");
    assert_eq!((kind.as_str(), shape), ("<i8", vec![truth.len(), k]));
    let (kind, shape, counts) = arrays.get("counts");
    assert_eq!((kind.as_str(), shape), ("<i8", vec![truth.len()]));
    for (row, truth) in truth.iter().enumerate() {
        assert_eq!(counts[row], truth.len().min(k) as f64, "row {row}");
        for place in 0..k {
            let plain = |raw: f32| f64::from(if squared { raw } else { raw.sqrt() });
            let (distance, index) = truth
                .get(place)
                .map_or((f64::INFINITY, -1.0), |(raw, index)| (plain(*raw), *index as f64));
            let found = (distances[row * k + place], indices[row * k + place]);
            assert_eq!(found, (distance, index), "row {row}, place {place}");
        }
    }
}

#[test]
fn the_nearest_of_another_cloud_and_of_its_own() {
    let folder = Folder::new();
    let a = folder.room("a.ply", 700);
    folder.ok("generate room -n 900 --seed 4 -o b.npy");
    let b = farpoint_generate::room(900, 4);
    let truth: Vec<_> = a.iter().map(|x| near(*x, &b, |_, _| true)).collect();
    for method in ["auto", "tree", "brute", "reference"] {
        folder.ok(&format!("neighbors a.ply b.npy -k 9 -o out.npz --device cpu --method {method}"));
        check(Arrays::of(folder.read("out.npz")), 9, false, &truth);
    }
    let output = folder.ok("neighbors a.ply b.npy -k 9 -o - --squared --threads 2");
    check(Arrays::of(output.out), 9, true, &truth);
    let own: Vec<_> = a.iter().enumerate().map(|(k, x)| near(*x, &a, |row, _| row != k)).collect();
    folder.ok("neighbors a.ply -k 3 --exclude-self -o own.npz");
    check(Arrays::of(folder.read("own.npz")), 3, false, &own);
    // More than there are: the last places stay empty.
    folder.ok("generate room -n 4 --seed 9 -o few.npy");
    folder.ok("neighbors a.ply few.npy -k 6 -o few.npz --norm 2");
    let few = farpoint_generate::room(4, 9);
    let truth: Vec<_> = a.iter().map(|x| near(*x, &few, |_, _| true)).collect();
    check(Arrays::of(folder.read("few.npz")), 6, false, &truth);
    assert_eq!(folder.files(), ["a.ply", "b.npy", "few.npy", "few.npz", "out.npz", "own.npz"]);
}

#[test]
fn balls_by_index_and_by_distance() {
    let folder = Folder::new();
    let a = folder.room("a.ply", 800);
    let within = |row: usize, limits: &dyn Fn(f32) -> bool| near(a[row], &a, |_, raw| limits(raw));
    let (r, least) = (0.3f32, 0.1f32);
    let strict = |raw: f32| raw < r * r;
    let by_index = |mut row: Vec<(f32, usize)>| {
        row.sort_by_key(|(_, index)| *index);
        row
    };
    let rows = 0..a.len();
    folder.ok("neighbors a.ply -k 5 --radius 0.3 -o ball.npz");
    let truth: Vec<_> = rows.clone().map(|row| by_index(within(row, &strict))).collect();
    assert!(truth.iter().any(|row| row.len() > 5) && truth.iter().any(|row| row.len() < 5));
    check(Arrays::of(folder.read("ball.npz")), 5, false, &truth);
    folder.ok("neighbors a.ply -k 5 --radius 0.3 --order nearest -o near.npz");
    let truth: Vec<_> = rows.clone().map(|row| within(row, &strict)).collect();
    check(Arrays::of(folder.read("near.npz")), 5, false, &truth);
    folder.ok("neighbors a.ply -k 5 --radius 0.3 --min-radius 0.1 --order nearest -o ring.npz");
    let ring = |raw: f32| raw < r * r && (raw >= least * least || raw == 0.0);
    let truth: Vec<_> = rows.map(|row| within(row, &ring)).collect();
    check(Arrays::of(folder.read("ring.npz")), 5, false, &truth);
}

/// Without -k the rows follow each other, and offsets say where each begins.
#[test]
fn all_in_the_ball() {
    let folder = Folder::new();
    let a = folder.room("a.ply", 600);
    for (options, order) in [("", false), ("--order nearest --exclude-self --squared", true)] {
        folder.ok(&format!("neighbors a.ply --radius 0.4 {options} -o all.npz"));
        let mut arrays = Arrays::of(folder.read("all.npz"));
        assert_eq!(arrays.names(), ["offsets.npy", "indices.npy", "distances.npy"]);
        let (offsets, indices) = (arrays.values("offsets"), arrays.values("indices"));
        let (kind, shape, distances) = arrays.get("distances");
        assert_eq!((kind.as_str(), shape), ("<f4", vec![indices.len()]));
        assert_eq!((offsets.len(), offsets[0]), (601, 0.0));
        for (row, x) in a.iter().enumerate() {
            let mut truth =
                near(*x, &a, |other, raw| raw < 0.4f32 * 0.4 && !(order && other == row));
            if !order {
                truth.sort_by_key(|(_, index)| *index);
            }
            let [from, to] = [offsets[row] as usize, offsets[row + 1] as usize];
            let plain = |raw: f32| f64::from(if order { raw } else { raw.sqrt() });
            let truth: Vec<_> =
                truth.into_iter().map(|(raw, index)| (plain(raw), index as f64)).collect();
            let found: Vec<_> =
                (from..to).map(|place| (distances[place], indices[place])).collect();
            assert_eq!(found, truth, "row {row}");
        }
        assert_eq!(offsets[600] as usize, indices.len());
    }
}

#[test]
fn rules_at_the_edge() {
    let folder = Folder::new();
    folder.write("x.xyz", "0 0 0\n");
    folder.write("y.xyz", "0 0 0\n3 4 0\n-1 0 0\n1 0 0\n");
    let indices = |options: &str| {
        let output = folder.run(&format!("neighbors x.xyz y.xyz {options} -o - --drop-zeros"));
        assert_eq!(output.status, 2, "the only point is left out: {}", output.err);
        let output = folder.run(&format!("neighbors x.xyz y.xyz {options} -o out.npz"));
        assert_eq!(output.status, 0, "{}", output.err);
        Arrays::of(folder.read("out.npz")).values("indices")
    };
    assert_eq!(indices("-k 3"), [0.0, 2.0, 3.0]);
    assert_eq!(indices("-k 4 --radius 5"), [0.0, 2.0, 3.0, -1.0]);
    assert_eq!(indices("-k 4 --radius 5 --inclusive"), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(indices("-k 4 --radius 9 --min-radius 2"), [0.0, 1.0, -1.0, -1.0]);
    assert_eq!(indices("-k 2 --radius 9 --order nearest"), [0.0, 2.0]);
    assert_eq!(indices("--radius 5 --inclusive --norm 1"), [0.0, 2.0, 3.0]);
    assert_eq!(indices("--radius 7 --inclusive --norm 1"), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(indices("--radius 0"), [0.0; 0]);
}

/// Rows left out have no neighbors and are none; doubles stay doubles.
#[test]
fn non_finite_rows_and_precision() {
    let folder = Folder::new();
    folder.write("a.csv", "x,y,z\n0,0,5\nnan,0,0\n1,0,5\n");
    folder.write("b.xyz", "0 0 6\ninf 0 0\n0 0 8\n");
    let output = folder.run("neighbors a.csv b.xyz -k 2 -o out.npz --json");
    assert_eq!(output.status, 0, "{}", output.err);
    assert!(output.err.contains("a.csv: 1 of 3 rows hold NaN"), "{}", output.err);
    let json = output.json();
    assert_eq!((&json["a_dropped"], &json["b_dropped"]), (&1.into(), &1.into()));
    assert_eq!(
        (&json["fewest"], &json["most"], &json["without"]),
        (&2.into(), &2.into(), &0.into())
    );
    assert_eq!((&json["neighbors"], &json["farthest"]), (&4.into(), &10f64.sqrt().into()));
    assert_eq!(json["warnings"].as_array().unwrap().len(), 2);
    let mut arrays = Arrays::of(folder.read("out.npz"));
    let (kind, _, distances) = arrays.get("distances");
    let [none, two] = [f64::INFINITY, 2f64.sqrt()];
    assert_eq!((kind.as_str(), distances), ("<f8", vec![1.0, 3.0, none, none, two, 10f64.sqrt()]));
    assert_eq!(arrays.values("indices"), [0.0, 2.0, -1.0, -1.0, 0.0, 2.0]);
    assert_eq!(arrays.values("counts"), [2.0, 0.0, 2.0]);
    // Without A's non-finite row among the rows of the ragged form, too.
    let output = folder.run("neighbors a.csv b.xyz --radius 2 -o out.npz --quiet --json=out.json");
    assert_eq!((output.status, output.err.as_str()), (0, ""));
    assert_eq!(Arrays::of(folder.read("out.npz")).values("offsets"), [0.0, 1.0, 1.0, 2.0]);
    let table = output.text();
    for line in ["a.csv, 3 points, 1 left out", "b.xyz, 3 points, 1 left out", "2, 1 a point"] {
        assert!(table.contains(line), "{line}: {table}");
    }
}

#[test]
fn units_and_stdin() {
    let folder = Folder::new();
    folder.write("y.xyz", "0.02 0 0\n0.04 0 0\n0.06 0 0\n");
    let output = folder.pipe("neighbors - y.xyz --radius 5cm -k 3 -o out.npz --json", b"0 0 0\n");
    assert_eq!(output.status, 0, "{}", output.err);
    let json = output.json();
    assert_eq!((&json["radius"], &json["order"]), (&0.05.into(), &"index".into()));
    assert_eq!((&json["a"], &json["neighbors"]), (&"standard input".into(), &2.into()));
}

#[test]
fn invalid_options_are_refused() {
    let folder = Folder::new();
    // Before the input is read: there is no a.ply.
    let start = "neighbors a.ply b.ply -o out.npz";
    folder.fails(start, &["--k", "--radius"]);
    folder.fails("neighbors a.ply b.ply -k 4", &["--output"]);
    folder.fails(&format!("{start} -k 0"), &["-k: 0 neighbors", "at least 1"]);
    folder.fails(&format!("{start} -k -3"), &["-3", "whole number"]);
    folder.fails(&format!("{start} --radius -1"), &["--radius", "-1"]);
    folder.fails(&format!("{start} --radius nan"), &["--radius", "NaN"]);
    folder.fails(&format!("{start} --radius 1 --min-radius -2"), &["--min-radius", "-2"]);
    folder.fails(&format!("{start} -k 4 --min-radius 1"), &["--radius"]);
    folder.fails(&format!("{start} -k 4 --inclusive"), &["--radius"]);
    folder.fails(&format!("{start} -k 4 --exclude-self"), &["--exclude-self", "[B]"]);
    folder.fails(&format!("{start} -k 4 --norm 3"), &["--norm", "3"]);
    folder.fails(&format!("{start} -k 4 --norm 1 --squared"), &["--squared", "--norm 1"]);
    folder.fails(&format!("{start} -k 4 --method quick"), &["quick", "tree"]);
    folder
        .fails(&format!("{start} -k 4 --device cpu --method plain"), &["--method plain", "brute"]);
    folder
        .fails(&format!("{start} -k 4 --device cuda --threads 2"), &["--threads", "--device cpu"]);
    folder.fails("neighbors - - -k 4 -o out.npz", &["stdin"]);
    folder.fails("neighbors a.ply -k 4 -o out.npy", &["out.npy", ".npz"]);
    folder.fails("neighbors a.npz -k 4 -o a.npz", &["a.npz", "is the input"]);
    folder.fails("neighbors a.ply -k 4 -o no/where/b.npz", &["no/where"]);
    folder.fails("neighbors a.ply -k 4 -o - --json", &["--output", "--json"]);
    folder.fails("neighbors a.ply -k 4 -o out.npz", &["a.ply"]);
    folder.room("a.ply", 10);
    folder.ok("generate room -n 0 -o none.ply");
    folder.fails("neighbors a.ply none.ply -k 4 -o out.npz", &["none.ply", "no usable point"]);
    folder.ok("neighbors none.ply a.ply -k 4 -o nobody.npz");
    // 400 TB of places.
    folder.fails("neighbors a.ply -k 4000000000k -o out.npz", &["a.ply: needs about", "are free"]);
    // 8 TB of neighbors, estimated from evenly spaced rows.
    folder.ok("generate room -n 1M -o room.npy");
    folder.fails(
        "neighbors room.npy --radius 100 -o out.npz",
        &["room.npy: needs about", "are free"],
    );
    assert_eq!(folder.files(), ["a.ply", "nobody.npz", "none.ply", "room.npy"]);
}

/// A GPU's arrays are the CPU's, byte by byte; without a GPU the error gives the reason.
#[test]
fn a_gpu_writes_the_same() {
    let folder = Folder::new();
    if let Err(error) = farpoint_cuda::Properties::all() {
        let why = error.to_string();
        let output = ["--device cuda", &why, "--device cpu"];
        folder.fails("neighbors a.ply -k 4 -o out.npz --device cuda", &output);
        return;
    }
    folder.room("a.ply", 3000);
    for options in
        ["-k 16", "-k 40 --exclude-self", "-k 8 --radius 0.4", "--radius 0.3 --order nearest"]
    {
        for device in ["cpu", "cuda"] {
            folder.ok(&format!("neighbors a.ply {options} --device {device} -o {device}.npz"));
        }
        assert!(folder.read("cpu.npz") == folder.read("cuda.npz"), "{options}");
    }
}
