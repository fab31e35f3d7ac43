//! `farpoint clean`: removes the files that killed runs left.

use crate::messages::spelled;
use crate::{args, check, report};
use anyhow::Result;
use farpoint_pipeline::disk::{Leftover, clean};
use farpoint_pipeline::text::bytes;
use serde_json::json;

pub(crate) fn run(args: &args::Clean) -> Result<()> {
    check::outputs(&args.report, &[], &[], &[])?;
    let found = clean(&args.folder)?;
    let object = |left: &Leftover| json!({ "path": left.path.display().to_string(), "bytes": left.bytes, "kept": left.kept.map(spelled) });
    let line = |left: &Leftover| {
        let kept = |why| ("kept", format!(": {}", spelled(why)));
        let (done, why) = left.kept.map_or(("removed", String::new()), kept);
        format!("{done:<8}  {} ({}){why}\n", left.path.display(), bytes(left.bytes))
    };
    let table: String = match found.is_empty() {
        true => format!("{}: nothing was left\n", args.folder.display()),
        false => found.iter().map(line).collect(),
    };
    let files: Vec<_> = found.iter().map(object).collect();
    report::print(&args.report, json!({ "files": files }), &table, false)
}
