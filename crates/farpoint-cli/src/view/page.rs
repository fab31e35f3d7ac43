//! The page: a template, its script and style, and a cloud as inert data.

use super::attributes::Attributes;
use super::encode::{html, json, rising, tag};
use super::places::Places;
use super::prefixes::Prefixes;
use crate::outcome::Outcome;
use crate::picture::{Still, Unit, Up, still};
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use farpoint_io::{Cloud, Format};
use serde_json::{Value, json};
use std::path::Path;

const TEMPLATE: &str = include_str!("../../assets/view.html");
const STYLE: &str = include_str!("../../assets/view.css");
/// Made from `viewer` by `cargo xtask viewer`.
const SCRIPT: &str = include_str!("../../assets/view.js");

/// Points of the picture for browsers that cannot draw the cloud.
const PICTURED: usize = 60_000;

/// What a page shows.
pub(crate) struct Page {
    name: String,
    meta: Value,
    places: Places,
    rows: Vec<u8>,
    attributes: Attributes,
    picture: Vec<u8>,
}

impl Page {
    /// Of a sample in farthest-first order; `usable` points of the cloud could have been chosen.
    pub(crate) fn of(
        input: &Path,
        cloud: &Cloud,
        usable: usize,
        outcome: &Outcome,
        up: Option<Up>,
    ) -> Result<Self> {
        let prefixes = Prefixes::of(outcome);
        let mut order = outcome.indices.clone();
        let mut rows = Vec::with_capacity(2 * order.len());
        // The order within what a prefix adds is free: that of the file takes the fewest bytes.
        for part in prefixes.parts() {
            let part = &mut order[part];
            part.sort_unstable();
            rising(part.iter().copied(), &mut rows);
        }
        let first = &outcome.indices[..outcome.indices.len().min(PICTURED)];
        let drawn: Vec<[f64; 3]> = first.iter().map(|&row| cloud.coordinates().get(row)).collect();
        let Still { png, toward, up } = still(&drawn, up)?;
        let places = Places::of(cloud, &order, prefixes.typical());
        let attributes = Attributes::of(cloud, &order);
        let name = input.file_name().unwrap_or(input.as_os_str()).to_string_lossy().into_owned();
        let asprs = matches!(cloud.format(), Some(Format::Las | Format::Laz));
        let described: Vec<_> = attributes.varying.iter().map(|one| one.json(asprs)).collect();
        let constants = attributes.constant.iter();
        let constants: Vec<_> =
            constants.map(|(name, value)| json!({ "name": name, "value": value })).collect();
        let meta = json!({
            "version": 1,
            "name": name,
            "program": format!("farpoint {}", env!("CARGO_PKG_VERSION")),
            "total": usable,
            "shown": order.len(),
            "unit": unit(cloud),
            "crs": cloud.crs().map(|crs| crs.name.clone()).unwrap_or_default(),
            "origin": places.origin,
            "step": places.step,
            "bytes": places.bytes,
            "up": up,
            "toward": toward,
            "rgb": attributes.rgb.is_some(),
            "prefixes": prefixes.json(),
            "attributes": described,
            "constants": constants,
            "panes": [],
        });
        Ok(Self { name, meta, places, rows, attributes, picture: png })
    }

    /// The whole page as text.
    pub(crate) fn html(&self) -> Result<String> {
        let mut data = format!(
            "<script type=\"application/json\" id=\"fp-meta\">{}</script>\n",
            json(&self.meta)
        );
        data += &tag("fp-xyz", &self.places.data);
        data += &tag("fp-rows", &self.rows);
        if let Some(rgb) = &self.attributes.rgb {
            data += &tag("fp-rgb", rgb);
        }
        for (i, attribute) in self.attributes.varying.iter().enumerate() {
            data += &tag(&format!("fp-value-{i}"), &attribute.data);
        }
        let picture = STANDARD.encode(&self.picture);
        let picture = format!(
            "<img alt=\"a picture of the points\" src=\"data:image/png;base64,{picture}\">"
        );
        let generator = format!("farpoint {}", env!("CARGO_PKG_VERSION"));
        Ok(filled(&[
            ("{generator}", &generator),
            ("{title}", &html(&self.name)),
            ("{style}", STYLE),
            ("{picture}", &picture),
            ("{data}", &data),
            ("{script}", SCRIPT),
        ]))
    }
}

/// The template with its places filled, in their order; what is put in is not looked at again.
fn filled(places: &[(&str, &str)]) -> String {
    let length: usize = places.iter().map(|(_, text)| text.len()).sum();
    let mut page = String::with_capacity(TEMPLATE.len() + length);
    let mut rest = TEMPLATE;
    for (place, text) in places {
        let (before, after) = rest.split_once(place).unwrap_or((rest, ""));
        page += before;
        page += text;
        rest = after;
    }
    page + rest
}

/// The unit of lengths as it follows a number.
fn unit(cloud: &Cloud) -> &'static str {
    match Unit::of(cloud) {
        Unit::Meters => "m",
        Unit::Feet => "ft",
        Unit::Unknown => "",
    }
}
