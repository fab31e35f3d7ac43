//! Interface of a figure, and its context.

use super::claim::Claim;
use super::clouds::Cloud;
use super::table::Table;
use crate::plot::Sheet;
use crate::timing::Effort;
use anyhow::Result;
use farpoint::Sampler;
use farpoint_cli::output::number;

/// Device and effort of measurements.
pub(super) struct Context {
    pub(super) gpu: Option<farpoint_cuda::Gpu>,
    pub(super) effort: Effort,
    pub(super) quick: bool,
    /// Machine, version and date.
    pub(super) machine: String,
    /// The machine without the date.
    pub(super) identity: String,
}

/// Version of the measurements, to be raised when they change: older rows are then discarded.
const FORMAT: u32 = 2;

impl Context {
    /// "cpu" or "cuda".
    pub(super) fn device(&self) -> &'static str {
        if self.gpu.is_some() { "cuda" } else { "cpu" }
    }

    /// Settings that must match for rows to be kept.
    pub(super) fn settings(&self) -> String {
        let Effort { runs, budget, .. } = self.effort;
        let gpu = self.gpu.as_ref().map_or("no GPU", |gpu| &gpu.properties().name);
        format!(
            "format {FORMAT}, {}, {gpu}, quick {}, {runs} runs, {budget} s",
            self.identity, self.quick
        )
    }

    /// Takes an exact farthest point sample, on the requested device.
    pub(super) fn farthest(&self, points: &[[f32; 3]], samples: usize) -> Result<Vec<usize>> {
        let job = Sampler::count(samples);
        Ok(match &self.gpu {
            Some(gpu) => job.on(gpu).sample(points)?.indices,
            None => job.sample(points)?.indices,
        })
    }
}

/// Rows of a figure's table.
pub(super) type TableRows = Vec<Vec<String>>;

/// A figure or table of the paper.
pub(super) trait Figure {
    /// Name of its files.
    fn name(&self) -> &'static str;
    fn title(&self) -> &'static str;
    /// Describes the content and its measurement: a paragraph for the page.
    fn about(&self) -> &'static str;
    /// Columns of the CSV.
    fn head(&self) -> &'static [&'static str];
    /// Measures the rows of one cloud.
    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<TableRows>;
    /// Returns the plots of all rows, with the names of their files.
    fn plots(&self, table: &Table, foot: &str) -> Vec<(String, Sheet)>;
    /// Returns the table for readers: the first row names the columns.
    fn readable(&self, table: &Table) -> TableRows;
    /// Returns the paper's own numbers in the same form, if it prints any.
    fn published(&self) -> TableRows {
        Vec::new()
    }
    /// Returns the paper's statements, each with its measurement and the rule to judge by.
    fn claims(&self, table: &Table) -> Vec<Claim>;
}

/// Formats a share of a cloud's points.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        whole if whole >= 10.0 => format!("{whole:.1} %"),
        few => format!("{} %", number(few)),
    }
}

/// Returns a cloud's name in plots: its folder's name, if no other cloud has the same.
pub(super) fn short<'a>(table: &'a Table, cloud: &'a str) -> &'a str {
    let folder = |name: &'a str| name.split('/').next().unwrap_or(name);
    let of_it = table.each("cloud").into_iter().filter(|other| folder(other) == folder(cloud));
    if of_it.count() == 1 { folder(cloud) } else { cloud }
}

/// A row of text.
pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}
