//! Invalid input returns the right error, the CPU's where the CPU has it too, and the next call works.

use super::expected::same;
use super::{METHODS, method};
use crate::clouds::Cloud;
use crate::errors::alike;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::neighbors::backward;
use farpoint::{BadRows, Matcher};
use farpoint_cuda::{Buffer, DeviceGradients, DevicePairs, Error, Gpu, Stream};
use farpoint_generate::Kind;

type Wrong = fn(&Gpu, &Matcher, &Cloud<f32>, &mut Tally) -> Result<()>;

pub(super) fn groups() -> Vec<Group> {
    vec![
        with_a_next_call("chamfer, wrong input in host memory", host),
        with_a_next_call("chamfer, wrong gradients in host memory", gradients),
        with_a_next_call("chamfer, wrong input in device memory", pointers),
        with_a_next_call("chamfer, wrong scratch memory", scratch),
    ]
}

/// Checks an invalid call, then that the next one works.
fn with_a_next_call(name: &'static str, wrong: Wrong) -> Group {
    Group::new(name, METHODS, move || {
        let cloud = Cloud::<f32>::of(Kind::Room, 1_000, 1);
        let truth = farpoint::chamfer(&cloud, &cloud.first(300))?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let matcher = Matcher::new().method(method(part));
            wrong(device, &matcher, &cloud, tally)?;
            let found = matcher.on(device).chamfer(&cloud, &cloud.first(300));
            if let Some(found) = tally.take("the next call", found) {
                tally.check("the next call", same(&found, &truth));
            }
            Ok(())
        })
    })
}

fn host(device: &Gpu, matcher: &Matcher, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let cpu = Matcher::new();
    let flat = Cloud { data: cloud.data[..40].to_vec(), dims: 2 };
    let none = cloud.first(0);
    let mut bad = cloud.clone();
    bad.data[17] = f32::NAN;
    let all_bad = Cloud { data: vec![f32::INFINITY; 30], dims: 3 };
    for (what, a, b) in [
        ("axes differ", cloud, &flat),
        ("the first is empty", &none, cloud),
        ("the second is empty", cloud, &none),
        ("a row is bad", cloud, &bad),
        ("all rows are bad", &all_bad, cloud),
    ] {
        alike(tally, what, matcher.on(device).chamfer(a, b), cpu.chamfer(a, b));
        alike(tally, what, matcher.on(device).nearest(a, b), cpu.nearest(a, b));
    }
    let (ours, theirs) =
        (matcher.clone().bad_rows(BadRows::Skip), cpu.clone().bad_rows(BadRows::Skip));
    let found = ours.on(device).chamfer(cloud, &all_bad);
    alike(tally, "no row is left", found, theirs.chamfer(cloud, &all_bad));
    let (a, b) = ([cloud.clone(), cloud.first(10)], [cloud.first(5), none]);
    let found = matcher.on(device).chamfer_batch(&a, &b);
    alike(tally, "a pair is empty", found, cpu.chamfer_batch(&a, &b));
    let found = matcher.on(device).nearest_batch(&a, &b[..1]);
    alike(tally, "batches differ", found, cpu.nearest_batch(&a, &b[..1]));
    let none: [Cloud<f32>; 0] = [];
    let nothing = matcher.on(device).chamfer_batch(&none, &none);
    tally.is("an empty batch", nothing.is_ok_and(|found| found.is_empty()));
    if *matcher == Matcher::new().method(method("brute")) {
        let high = Cloud::<f32>::random(20, 4, None, 1);
        let result = matcher.on(device).chamfer(&high, &high);
        tally.is("brute with 4 axes", matches!(result, Err(Error::Unsupported(_))));
    }
    Ok(())
}

fn gradients(device: &Gpu, matcher: &Matcher, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let b = cloud.first(20);
    let good = farpoint::chamfer(cloud, &b)?;
    let (ga, gb) = (vec![1.0f32; 1_000], vec![1.0f32; 20]);
    let mut outside = good.clone();
    outside.a_to_b.indices[3] = 20;
    let flat = Cloud { data: cloud.data[..40].to_vec(), dims: 2 };
    let mut check = |what, chamfer, b: &Cloud<f32>, ga: &[f32], gb: &[f32]| {
        let found = matcher.on(device).backward(chamfer, cloud, b, ga, gb);
        alike(tally, what, found, backward(chamfer, cloud, b, ga, gb));
    };
    check("an index outside", &outside, &b, &ga, &gb);
    check("too few gradients", &good, &b, &ga[1..], &gb);
    check("too many gradients", &good, &b, &ga, &ga);
    check("other points", &good, cloud, &ga, &gb);
    check("axes differ", &good, &flat, &ga, &gb);
    Ok(())
}

fn pointers(device: &Gpu, matcher: &Matcher, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let stream = Stream::new(device)?;
    let points = Buffer::upload(&stream, &cloud.data, "points")?;
    let (p, n) = (points.pointer(), 1_000);
    let of = |points, pairs, rows, dims| {
        DevicePairs::<f32>::padded(points, pairs, rows, dims).answers([Some(p); 2], [None; 2])
    };
    let good = of([p; 2], 1, [n; 2], 3);
    let mut no_offsets = good;
    no_offsets.sides[1].offsets = Some(0);
    for (what, pairs) in [
        ("the first is empty", of([p; 2], 1, [0, n], 3)),
        ("the second is empty", of([p; 2], 1, [n, 0], 3)),
        ("no axes", of([p; 2], 1, [n; 2], 0)),
        ("null points", of([p, 0], 1, [n; 2], 3)),
        ("points not aligned", of([p + 2, p], 1, [n; 2], 3)),
        ("null distances", good.answers([Some(0), None], [None; 2])),
        ("indices not aligned", good.answers([None; 2], [Some(p + 4), None])),
        ("null offsets", no_offsets),
        ("too many rows", of([p; 2], 1, [n, u32::MAX as usize], 3)),
        ("too many pairs", of([p; 2], 1 << 25, [n; 2], 3)),
    ] {
        // SAFETY: what is refused uses no memory.
        let result = unsafe { device.enqueue_nearest(matcher, &stream, &pairs) };
        tally.is(what, matches!(result, Err(Error::Sampling(_))));
    }
    let skip = matcher.clone().bad_rows(BadRows::Skip);
    // SAFETY: rows to leave out are refused before any memory is used.
    let result = unsafe { device.enqueue_nearest(&skip, &stream, &good) };
    tally.is("rows to leave out", matches!(result, Err(Error::Unsupported(_))));
    let without = DeviceGradients::new(good, [p; 2], [p; 2]);
    // SAFETY: gradients without indices are refused before any memory is used.
    let result = unsafe { device.enqueue_gradients(matcher, &stream, &without) };
    tally.is("gradients without indices", matches!(result, Err(Error::Sampling(_))));
    Ok(stream.synchronize()?)
}

fn scratch(device: &Gpu, matcher: &Matcher, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let stream = Stream::new(device)?;
    let points = Buffer::upload(&stream, &cloud.data, "points")?;
    let answers = Buffer::<i64>::new(&stream, 1_000, "indices")?;
    let (p, i) = (points.pointer(), answers.pointer());
    // More rows than there are, for small clouds need none: what is refused uses no memory.
    let pairs =
        DevicePairs::<f32>::padded([p; 2], 1, [5_000; 2], 3).answers([None; 2], [Some(i), None]);
    let wanted =
        [device.nearest_scratch_bytes(matcher, &pairs), device.gradients_scratch_bytes(&pairs)];
    let scratch = Buffer::<u8>::new(&stream, wanted[0].max(wanted[1]) + 512, "scratch")?;
    let at = scratch.pointer();
    for (which, wanted) in wanted.into_iter().enumerate().filter(|(_, wanted)| *wanted > 0) {
        for (what, given) in [
            ("too small", (at, wanted - 1)),
            ("none at all", (at, 0)),
            ("not aligned", (at + 128, wanted)),
        ] {
            let pairs = DevicePairs { scratch: Some(given), ..pairs };
            let backward = DeviceGradients {
                grads: [Some(p), None],
                scratch: Some(given),
                ..DeviceGradients::new(pairs, [0; 2], [p; 2])
            };
            // SAFETY: what is refused uses no memory.
            let result = unsafe {
                match which {
                    0 => device.enqueue_nearest(matcher, &stream, &pairs),
                    _ => device.enqueue_gradients(matcher, &stream, &backward),
                }
            };
            let text = result.as_ref().map_or_else(ToString::to_string, |()| String::new());
            let named = text.contains(&wanted.to_string());
            tally.is(what, named && matches!(result, Err(Error::Unsupported(_))));
        }
    }
    if wanted[0] == 0 {
        tally.note("the search needs no scratch memory");
    }
    Ok(stream.synchronize()?)
}
