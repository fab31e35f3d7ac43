//! The page: a template, its script and style, and a cloud as inert data.

use super::attributes::Attributes;
use super::encode::{Part, html, json, packer, relative_to_green, rising, tag};
use super::panes::{Located, Panes, Stored};
use super::places::Places;
use super::prefixes::{Prefixes, Sequence};
use crate::picture::{Unit, Up, still};
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use farpoint_io::{Cloud, Format};
use farpoint_pipeline::SampledCloud;
use flate2::read::ZlibDecoder;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;

const TEMPLATE: &str = include_str!("../../assets/view.html");
const STYLE: &str = include_str!("../../assets/view.css");
/// Made from `viewer` by `cargo xtask viewer`, and packed by the build script.
const SCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/view.js.zz"));

/// Points of the picture for browsers that cannot draw the cloud.
const PICTURED: usize = 60_000;

/// A cloud shown on a page.
pub(crate) struct Subject<'a> {
    /// Path of the input.
    pub(crate) input: &'a Path,
    pub(crate) cloud: &'a Cloud,
    /// Number of usable points.
    pub(crate) usable: usize,
    /// Up axis, if requested.
    pub(crate) up: Option<Up>,
}

impl<'a> Subject<'a> {
    /// Returns a cloud with its order.
    pub(crate) fn of(sampled: &'a SampledCloud<'_>, up: Option<Up>) -> Self {
        let input = Path::new(&sampled.finished.name);
        Self { input, cloud: &sampled.cloud, usable: sampled.usable(), up }
    }
}

/// Contents of a page.
pub(crate) struct Page {
    name: String,
    meta: Value,
    places: Places,
    rows: Vec<u8>,
    attributes: Attributes,
    panes: Vec<Stored>,
    picture: Vec<u8>,
}

impl Page {
    /// Lays out a cloud's points in farthest-first order, once or once per pane.
    pub(crate) fn of(
        subject: &Subject<'_>,
        sequence: Sequence<'_>,
        panes: &Panes<'_>,
    ) -> Result<Self> {
        let Subject { input, cloud, .. } = *subject;
        let prefixes = Prefixes::of(sequence);
        let (order, rows) = stored_order(&prefixes, sequence.rows);
        let first = &sequence.rows[..sequence.rows.len().min(PICTURED)];
        let drawn: Vec<[f64; 3]> = first.iter().map(|&row| cloud.coordinates().get(row)).collect();
        let still = still(&drawn, Up::of(subject.up, cloud))?;
        let located = Located::of(&order, cloud.len(), panes);
        let found = panes.found(cloud, &located);
        let beside: Vec<_> = found.iter().flat_map(|found| found.beside.iter().copied()).collect();
        let places = Places::of(cloud, &order, &beside, prefixes.typical());
        let panes = panes.stored(&found, &places, &located, order.len());
        let mut attributes = Attributes::of(cloud, &order);
        attributes.rgb.as_deref_mut().into_iter().for_each(relative_to_green);
        let name = input.file_name().unwrap_or(input.as_os_str()).to_string_lossy().into_owned();
        let mut meta = described(cloud, &attributes);
        meta["name"] = name.clone().into();
        meta["total"] = subject.usable.into();
        meta["shown"] = order.len().into();
        meta["origin"] = json!(places.origin);
        meta["step"] = places.step.into();
        meta["bytes"] = places.bytes.into();
        meta["up"] = still.up.into();
        meta["toward"] = json!(still.toward);
        meta["prefixes"] = prefixes.json();
        meta["panes"] = panes.iter().map(|pane| pane.json.clone()).collect();
        Ok(Self { name, meta, places, rows, attributes, panes, picture: still.png })
    }

    /// Returns the whole page as text.
    pub(crate) fn html(&self) -> Result<String> {
        let mut data = format!(
            "<script type=\"application/json\" id=\"fp-meta\">{}</script>\n",
            json(&self.meta)
        );
        let parts = self.parts();
        let tags = parts.par_iter();
        let tags = tags.map_init(packer, tag);
        data.extend(tags.collect::<Vec<String>>());
        let picture = STANDARD.encode(&self.picture);
        let picture = format!(
            "<img alt=\"a picture of the points\" src=\"data:image/png;base64,{picture}\">"
        );
        let mut script = String::new();
        ZlibDecoder::new(SCRIPT).read_to_string(&mut script)?;
        let generator = format!("farpoint {}", env!("CARGO_PKG_VERSION"));
        Ok(filled(&[
            ("{generator}", &generator),
            ("{title}", &html(&self.name)),
            ("{style}", STYLE),
            ("{picture}", &picture),
            ("{data}", &data),
            ("{script}", &script),
        ]))
    }

    /// Returns the data by name.
    fn parts(&self) -> Vec<Part<'_>> {
        fn part(id: String, bytes: &[u8], each: usize) -> Part<'_> {
            Part { id, bytes, each, near: None }
        }
        let width = self.places.bytes;
        // The file's order within a prefix makes coordinates and times follow each other.
        let places = part("fp-xyz".to_owned(), &self.places.data, 3 * width);
        let mut parts = vec![Part { near: Some(width), ..places }];
        parts.push(part("fp-rows".to_owned(), &self.rows, 1));
        parts.extend(self.attributes.rgb.iter().map(|rgb| part("fp-rgb".to_owned(), rgb, 3)));
        for (i, attribute) in self.attributes.varying.iter().enumerate() {
            let plain = part(format!("fp-value-{i}"), &attribute.data, attribute.bytes);
            parts.push(Part { near: attribute.near(), ..plain });
        }
        for (i, pane) in self.panes.iter().enumerate() {
            parts.push(part(format!("fp-samples-{i}"), &pane.samples, 1));
            parts.push(part(format!("fp-beside-{i}"), &pane.beside, 3 * width));
            parts.push(part(format!("fp-distances-{i}"), &pane.distances, 1));
        }
        parts
    }
}

/// Returns the rows in the order of the page, and as it stores them.
fn stored_order(prefixes: &Prefixes, rows: &[usize]) -> (Vec<usize>, Vec<u8>) {
    let mut order = rows.to_vec();
    let mut stored = Vec::with_capacity(2 * order.len());
    // The order within what a prefix adds is free: that of the file takes the fewest bytes.
    for part in prefixes.parts() {
        let part = &mut order[part];
        part.sort_unstable();
        rising(part.iter().copied(), &mut stored);
    }
    (order, stored)
}

/// Describes the file and its attributes to the page.
fn described(cloud: &Cloud, attributes: &Attributes) -> Value {
    let asprs = matches!(cloud.format(), Some(Format::Las | Format::Laz));
    let varying: Vec<_> = attributes
        .varying
        .iter()
        .map(|attribute| attribute.json(asprs, cloud.gps_time()))
        .collect();
    let constants = attributes.constant.iter();
    let constants: Vec<_> =
        constants.map(|(name, value)| json!({ "name": name, "value": value })).collect();
    json!({
        "version": 1,
        "program": format!("farpoint {}", env!("CARGO_PKG_VERSION")),
        "unit": unit(cloud),
        "crs": cloud.crs().map(|crs| crs.name.clone()).unwrap_or_default(),
        "rgb": attributes.rgb.is_some(),
        "attributes": varying,
        "constants": constants,
    })
}

/// Fills the places of the template in order; inserted text is not searched.
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

/// Returns the unit of lengths as it follows a number.
fn unit(cloud: &Cloud) -> &'static str {
    Unit::of(cloud).symbol()
}
