//! Hints of messages: what was meant, and what to do instead.

use crate::common::Folder;

#[test]
fn words_that_are_not_known_are_answered_in_a_sentence() {
    let folder = Folder::new();
    let sample = "sample a.ply -n 5 -o b.ply";
    for (arguments, hint) in [
        ("sampel a.ply", "unrecognized subcommand 'sampel'; did you mean 'sample'? --help shows"),
        ("decimate a.ply", "'sample'?"),
        ("downsample a.ply", "'sample'?"),
        ("thin a.ply", "'sample'?"),
        ("subsample a.ply", "'sample'?"),
        ("distance a.ply b.ply", "'chamfer'?"),
        (
            "sample a.ply --ration 0.5",
            "unexpected argument '--ration' found; did you mean '--ratio'?",
        ),
        ("sample a.ply --bananas", "unexpected argument '--bananas' found; --help shows"),
        ("sample a.ply --voxel-size 2", "'--cell'?"),
        ("--ratio 0.5 sample a.ply", "did you mean 'sample --ratio'?"),
        (&format!("{sample} --algorithm peek"), "did you mean 'peak'? --help shows"),
        (&format!("{sample} --algorithm voxel"), "did you mean 'grid'?"),
        ("compare a.ply -n 5 --algorithms auto,gird", "did you mean 'grid'?"),
        (&format!("{sample} --format plly"), "did you mean 'ply'?"),
        (&format!("{sample} --format las:ascii"), "leave out ':ascii'; --help"),
        (&format!("{sample} --input-format lasz"), "did you mean 'las'?"),
        (&format!("{sample} --device gpu"), "did you mean 'cuda'?"),
        (&format!("{sample} --t_srs EPSG:25832"), "reproject the file first"),
        (&format!("{sample} -t_srs EPSG:25832"), "reproject the file first"),
        (&format!("{sample} --drop classification=noise"), "classification=low_noise,high_noise"),
    ] {
        folder.fails(arguments, &[hint]);
        assert!(!folder.run(arguments).err.contains("tip:"), "{arguments}");
    }
}

#[test]
fn numbers_that_are_written_otherwise_are_answered_with_the_right_way() {
    let folder = Folder::new();
    for (option, hint) in [
        ("--ratio 25", "25 percent are written 25%"),
        ("--ratio 0,5", "the decimal separator is a point: 0.5"),
        ("--ratio 12,5%", "point: 12.5%"),
        ("--spacing 0,5m", "point: 0.5m"),
        ("--spacing=-1,5", "point: -1.5"),
        ("--cell 0,5", "point: 0.5"),
        ("-n 5 --memory 1,5GiB", "point: 1.5GiB"),
        ("-n 5 --box 0,5 1 2 3", "point: 0.5"),
        ("-n 5 --time-limit 0,5", "point: 0.5"),
        ("--spacing 5furlongs", "units are mm, cm, m, km, in, ft, and usft"),
    ] {
        folder.fails(&format!("sample a.ply -o b.ply {option}"), &[hint]);
    }
    for option in ["-n 1,00", "-n 5 --xyz 1,2"] {
        let error = folder.run(&format!("sample a.ply -o b.ply {option}")).err;
        assert!(!error.contains("decimal"), "{error}");
    }
}

#[test]
fn names_of_files_are_answered_with_what_to_do() {
    let folder = Folder::new();
    folder.room("a.ply", 50);
    for (arguments, hint) in [
        ("sample https://host/a.laz -n 5 -o b.ply", "is a URL; download the file first"),
        ("sample https://host/a.laz?key=* -n 5 -o b.ply", "is a URL; download"),
        ("sample s3://bucket/a.laz -n 5 --output-dir o", "is a URL; download"),
        ("info s3://bucket/a.laz", "is a URL; download"),
        ("chamfer a.ply http://host/a.ply", "is a URL; download"),
        ("sample a.ply -n 5 -o s3://bucket/b.ply", "is a URL; write to a file"),
        ("view a.ply -o v.txt", "must end in .html or .htm; use v.html"),
        ("neighbors a.ply -k 3 -o n.txt", "must end in .npz; use n.npz"),
        ("sample a.ply -n 5 --indices i", "must end in .npy; use i.npy"),
        ("info a.ply --json=i", "must end in .json; use i.json"),
    ] {
        folder.fails(arguments, &[hint]);
    }
    assert_eq!(folder.files(), ["a.ply"]);
}

#[test]
fn options_of_a_sampler_choose_it() {
    let folder = Folder::new();
    folder.room("a.ply", 500);
    for (options, algorithm) in [
        ("--cell 2", "grid"),
        ("--voxel 2", "grid"),
        ("--cell 2 --keep-point centroid", "grid"),
        ("-n 20 --keep-point first", "grid"),
        ("--cell 2 --min-points 2", "grid"),
    ] {
        let [implied, named] = ["", &format!("--algorithm {algorithm}")].map(|algorithm| {
            let run = format!("sample a.ply -o b.ply --json {options} {algorithm}");
            assert_eq!(folder.ok(&run).json()["exact"], false, "{run}");
            folder.read("b.ply")
        });
        assert!(implied == named, "{options}");
    }
    folder.fails("sample a.ply -o b.ply --cell 2m --algorithm tree", &["--cell", "not tree"]);
}

#[test]
fn gpus_have_the_names_of_pytorch() {
    let folder = Folder::new();
    folder.fails("sample a.ply -n 5 --device cuda:99", &["--device cuda", "--device cpu"]);
    folder.fails("sample a.ply -n 5 --device cuda:0 --gpu 0", &["both name the GPU"]);
    folder.fails("sample a.ply -n 5 --device cuda:x", &["cuda:N"]);
    if farpoint_cuda::device_count().is_err() {
        folder.fails("sample a.ply -n 5 --gpu 0", &["--gpu", "remove it to use the CPU"]);
    }
}

#[test]
fn copc_is_warned_of_once() {
    let folder = Folder::new();
    folder.room("a.ply", 2_000);
    folder.ok("-q order a.ply -o a.copc.laz --node-points 100");
    for options in ["", "--box 0 0 1 1", "--spool s --memory 256MiB"] {
        for (output, warnings) in [("b.laz", 1), ("b.copc.laz", 0)] {
            let output = folder.run(&format!("sample a.copc.laz -n 5 -o {output} {options}"));
            assert_eq!(output.err.matches("octree").count(), warnings, "{options}: {}", output.err);
        }
    }
}
