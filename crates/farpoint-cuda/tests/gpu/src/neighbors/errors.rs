//! Invalid input returns the right error, the CPU's where the CPU has it too, and the next call works.

use super::expected::{same, same_nearest};
use super::{METHODS, method};
use crate::clouds::Cloud;
use crate::errors::same_error;
use crate::runner::Group;
use crate::tally::Tally;
use anyhow::Result;
use farpoint::neighbors::backward;
use farpoint::{Matcher, NonFinite};
use farpoint_cuda::{Buffer, DeviceGradients, DevicePairs, Error, Gpu, Stream};
use farpoint_generate::Kind;

type InvalidCall = fn(&Gpu, &Matcher, &Cloud<f32>, &mut Tally) -> Result<()>;

pub(super) fn groups() -> Vec<Group> {
    vec![
        with_a_next_call("chamfer, wrong input in host memory", host),
        with_a_next_call("chamfer, wrong gradients in host memory", gradients),
        with_a_next_call("chamfer, wrong input in device memory", pointers),
        with_a_next_call("chamfer, wrong scratch memory", scratch),
    ]
}

/// Checks an invalid call, then that the next one works.
fn with_a_next_call(name: &'static str, invalid_call: InvalidCall) -> Group {
    Group::new(name, METHODS, move || {
        let cloud = Cloud::<f32>::of(Kind::Room, 1_000, 1);
        let truth = farpoint::chamfer(&cloud, &cloud.first(300))?;
        Ok(move |device: &Gpu, part: &str, tally: &mut Tally| {
            let matcher = Matcher::new().method(method(part));
            invalid_call(device, &matcher, &cloud, tally)?;
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
    let mut non_finite = cloud.clone();
    non_finite.data[17] = f32::NAN;
    let all_non_finite = Cloud { data: vec![f32::INFINITY; 30], dims: 3 };
    for (label, a, b) in [
        ("axes differ", cloud, &flat),
        ("the first is empty", &none, cloud),
        ("the second is empty", cloud, &none),
        ("a row is non-finite", cloud, &non_finite),
        ("all rows are non-finite", &all_non_finite, cloud),
    ] {
        same_error(tally, label, matcher.on(device).chamfer(a, b), cpu.chamfer(a, b));
        let (found, expected) = (matcher.on(device).nearest(a, b), cpu.nearest(a, b));
        match (found, expected) {
            (Ok(found), Ok(truth)) => tally.check(label, same_nearest(label, &found, &truth)),
            (found, expected) => same_error(tally, label, found, expected),
        }
    }
    let (gpu_job, cpu_job) =
        (matcher.clone().non_finite(NonFinite::Skip), cpu.clone().non_finite(NonFinite::Skip));
    let found = gpu_job.on(device).chamfer(cloud, &all_non_finite);
    same_error(tally, "no row is left", found, cpu_job.chamfer(cloud, &all_non_finite));
    let (a, b) = ([none.clone(), cloud.first(10)], [none.clone(), cloud.first(5)]);
    let truth = cpu.nearest_batch(&a, &b)?;
    if let Some(found) = tally.take("no queries", matcher.on(device).nearest_batch(&a, &b)) {
        let same =
            std::iter::zip(&found, &truth).map(|(found, truth)| same_nearest("", found, truth));
        tally.check("no queries", same.collect());
    }
    let (a, b) = ([cloud.clone(), cloud.first(10)], [cloud.first(5), none]);
    let found = matcher.on(device).chamfer_batch(&a, &b);
    same_error(tally, "a pair is empty", found, cpu.chamfer_batch(&a, &b));
    let found = matcher.on(device).nearest_batch(&a, &b[..1]);
    same_error(tally, "batches differ", found, cpu.nearest_batch(&a, &b[..1]));
    let none: [Cloud<f32>; 0] = [];
    let nothing = matcher.on(device).chamfer_batch(&none, &none);
    tally.is("an empty batch", nothing.is_ok_and(|found| found.is_empty()));
    if *matcher == Matcher::new().method(method("brute")) {
        let four_axes = Cloud::<f32>::random(20, 4, None, 1);
        let result = matcher.on(device).chamfer(&four_axes, &four_axes);
        tally.is("brute with 4 axes", matches!(result, Err(Error::Unsupported(_))));
    }
    Ok(())
}

fn gradients(device: &Gpu, matcher: &Matcher, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let b = cloud.first(20);
    let valid = farpoint::chamfer(cloud, &b)?;
    let (ga, gb) = (vec![1.0f32; 1_000], vec![1.0f32; 20]);
    let mut outside = valid.clone();
    outside.a_to_b.indices[3] = 20;
    let flat = Cloud { data: cloud.data[..40].to_vec(), dims: 2 };
    let mut check = |label, chamfer, b: &Cloud<f32>, ga: &[f32], gb: &[f32]| {
        let found = matcher.on(device).backward(chamfer, cloud, b, ga, gb);
        same_error(tally, label, found, backward(chamfer, cloud, b, ga, gb));
    };
    check("an index outside", &outside, &b, &ga, &gb);
    check("too few gradients", &valid, &b, &ga[1..], &gb);
    check("too many gradients", &valid, &b, &ga, &ga);
    check("other points", &valid, cloud, &ga, &gb);
    check("axes differ", &valid, &flat, &ga, &gb);
    Ok(())
}

fn pointers(device: &Gpu, matcher: &Matcher, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let stream = Stream::new(device)?;
    let points = Buffer::upload(&stream, &cloud.data, "points")?;
    let (p, n) = (points.pointer(), 1_000);
    let pairs_of = |points, pairs, rows, dims| {
        DevicePairs::<f32>::padded(points, pairs, rows, dims).outputs([Some(p); 2], [None; 2])
    };
    let valid = pairs_of([p; 2], 1, [n; 2], 3);
    let mut no_offsets = valid;
    no_offsets.sides[1].offsets = Some(0);
    for (label, pairs) in [
        ("the first is empty", pairs_of([p; 2], 1, [0, n], 3)),
        ("the second is empty", pairs_of([p; 2], 1, [n, 0], 3)),
        ("no axes", pairs_of([p; 2], 1, [n; 2], 0)),
        ("null points", pairs_of([p, 0], 1, [n; 2], 3)),
        ("points not aligned", pairs_of([p + 2, p], 1, [n; 2], 3)),
        ("null distances", valid.outputs([Some(0), None], [None; 2])),
        ("indices not aligned", valid.outputs([None; 2], [Some(p + 4), None])),
        ("null offsets", no_offsets),
        ("too many rows", pairs_of([p; 2], 1, [n, u32::MAX as usize], 3)),
        ("too many pairs", pairs_of([p; 2], 1 << 25, [n; 2], 3)),
    ] {
        // SAFETY: what is refused uses no memory.
        let result = unsafe { device.enqueue_nearest(matcher, &stream, &pairs) };
        tally.is(label, matches!(result, Err(Error::Sampling(_))));
    }
    let skip = matcher.clone().non_finite(NonFinite::Skip);
    // SAFETY: rows to leave out are refused before any memory is used.
    let result = unsafe { device.enqueue_nearest(&skip, &stream, &valid) };
    tally.is("rows to leave out", matches!(result, Err(Error::Unsupported(_))));
    let without = DeviceGradients::new(valid, [p; 2], [p; 2]);
    // SAFETY: gradients without indices are refused before any memory is used.
    let result = unsafe { device.enqueue_gradients(matcher, &stream, &without) };
    tally.is("gradients without indices", matches!(result, Err(Error::Sampling(_))));
    Ok(stream.synchronize()?)
}

fn scratch(device: &Gpu, matcher: &Matcher, cloud: &Cloud<f32>, tally: &mut Tally) -> Result<()> {
    let stream = Stream::new(device)?;
    let points = Buffer::upload(&stream, &cloud.data, "points")?;
    let indices = Buffer::<i64>::new(&stream, 1_000, "indices")?;
    let (p, i) = (points.pointer(), indices.pointer());
    // More rows than there are, for small clouds need none: what is refused uses no memory.
    let pairs =
        DevicePairs::<f32>::padded([p; 2], 1, [5_000; 2], 3).outputs([None; 2], [Some(i), None]);
    let required =
        [device.nearest_scratch_bytes(matcher, &pairs), device.gradients_scratch_bytes(&pairs)];
    let scratch = Buffer::<u8>::new(&stream, required[0].max(required[1]) + 512, "scratch")?;
    let address = scratch.pointer();
    for (call, required) in required.into_iter().enumerate().filter(|(_, required)| *required > 0) {
        for (label, provided) in [
            ("too small", (address, required - 1)),
            ("none at all", (address, 0)),
            ("not aligned", (address + 128, required)),
        ] {
            let pairs = DevicePairs { scratch: Some(provided), ..pairs };
            let backward = DeviceGradients {
                grads: [Some(p), None],
                scratch: Some(provided),
                ..DeviceGradients::new(pairs, [0; 2], [p; 2])
            };
            // SAFETY: what is refused uses no memory.
            let result = unsafe {
                match call {
                    0 => device.enqueue_nearest(matcher, &stream, &pairs),
                    _ => device.enqueue_gradients(matcher, &stream, &backward),
                }
            };
            let text = result.as_ref().map_or_else(ToString::to_string, |()| String::new());
            let named = text.contains(&required.to_string());
            tally.is(label, named && matches!(result, Err(Error::Unsupported(_))));
        }
    }
    if required[0] == 0 {
        tally.note("the search needs no scratch memory");
    }
    Ok(stream.synchronize()?)
}
