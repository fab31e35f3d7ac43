//! `farpoint generate`: a seeded cloud into a file.

use crate::args::{CloudOutput, GeneratedKind, Length};
use crate::output::write_cloud;
use crate::progress::Progress;
use crate::{args, check, report};
use anyhow::Result;
use farpoint_generate::{Labeled, Paint, Setting, UNLABELED};
use farpoint_io::{Cloud, Column, Coordinates};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &args::Generate) -> Result<()> {
    check::points(args.count.0)?;
    let CloudOutput { output, writing } = &args.output;
    check::cloud(output, &[], writing)?;
    check::stdout_once(output, &args.report)?;
    check::outputs(&args.report, &[("--output", Some(output))], &[], &[writing.file()])?;
    let setting = args.labels.then(|| labeled(args.kind)).transpose()?;
    let start = Instant::now();
    let progress = Progress::start("generating", args.kind.name());
    let cloud = match setting {
        Some(setting) => with_columns(farpoint_generate::labeled(setting, args.count.0, args.seed)),
        None => Cloud::new(Coordinates::F32(args.kind.points(args.count.0, args.seed))),
    };
    drop(progress);
    let rows: Vec<_> = (0..cloud.len()).collect();
    let options = writing.options(writing.scale.map(Length::in_meters));
    write_cloud(output, &cloud, &rows, &options)?;
    let time = start.elapsed().as_secs_f64();
    let object = json!({
        "output": output.display().to_string(),
        "kind": args.kind.name(),
        "points": rows.len(),
        "seed": args.seed,
        "seconds": time,
    });
    report::print(&args.report, object, "", output == Path::new("-"))
}

/// Returns the scene of a kind with classes.
fn labeled(kind: GeneratedKind) -> Result<Setting> {
    let names: Vec<_> = Setting::ALL.iter().map(|setting| setting.name()).collect();
    kind.setting().ok_or_else(|| {
        let names = names.join(" and ");
        anyhow::anyhow!("--labels is for {names}, and {} has no classes; remove it", kind.name())
    })
}

/// Returns a cloud with columns red, green, blue or intensity, and label: -1 for points without a class.
fn with_columns(scene: Labeled) -> Cloud {
    let mut cloud = Cloud::new(Coordinates::F32(scene.points));
    match scene.paint {
        Paint::Colors(colors) => {
            for (channel, name) in ["red", "green", "blue"].into_iter().enumerate() {
                let values = colors.iter().map(|color| color[channel]).collect();
                cloud.add_column(name, Column::U8(values));
            }
        }
        Paint::Intensity(values) => cloud.add_column("intensity", Column::F32(values)),
    }
    let label = |class: u8| if class == UNLABELED { -1 } else { i16::from(class) };
    cloud.add_column("label", Column::I16(scene.classes.into_iter().map(label).collect()));
    cloud
}
