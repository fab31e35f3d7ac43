//! What a figure is, and what it may use.

use super::claim::Claim;
use super::clouds::Cloud;
use super::table::Table;
use crate::plot::Sheet;
use crate::timing::Effort;
use anyhow::Result;
use farpoint::Sampler;
use farpoint_cli::output::number;

/// Where and how long to measure.
pub(super) struct Context {
    pub(super) gpu: Option<farpoint_cuda::Gpu>,
    pub(super) effort: Effort,
    pub(super) quick: bool,
    /// Machine, version and date.
    pub(super) machine: String,
    /// The machine without the date.
    pub(super) identity: String,
}

/// Raise this when what is measured changes: rows measured before are then not kept.
const FORMAT: u32 = 2;

impl Context {
    /// "cpu" or "cuda".
    pub(super) fn device(&self) -> &'static str {
        if self.gpu.is_some() { "cuda" } else { "cpu" }
    }

    /// What must be the same for rows to be kept.
    pub(super) fn settings(&self) -> String {
        let Effort { runs, budget, .. } = self.effort;
        let gpu = self.gpu.as_ref().map_or("no GPU", |gpu| &gpu.properties().name);
        format!(
            "format {FORMAT}, {}, {gpu}, quick {}, {runs} runs, {budget} s",
            self.identity, self.quick
        )
    }

    /// An exact farthest point sample, on the requested device.
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
    /// The name of its files.
    fn name(&self) -> &'static str;
    fn title(&self) -> &'static str;
    /// What is shown and how it was measured: a paragraph for the page.
    fn about(&self) -> &'static str;
    /// Columns of the CSV.
    fn head(&self) -> &'static [&'static str];
    /// The rows of one cloud.
    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<TableRows>;
    /// The plots of all rows, with the names of their files.
    fn plots(&self, table: &Table, foot: &str) -> Vec<(String, Sheet)>;
    /// What people read: the first row names the columns.
    fn readable(&self, table: &Table) -> TableRows;
    /// The paper's own numbers in the same form, where it prints any.
    fn published(&self) -> TableRows {
        Vec::new()
    }
    /// The paper's statements, each with what was measured for it and the rule to judge by.
    fn claims(&self, table: &Table) -> Vec<Claim>;
}

/// A share of a cloud's points, as text.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        whole if whole >= 10.0 => format!("{whole:.1} %"),
        few => format!("{} %", number(few)),
    }
}

/// What a cloud is called in plots: its folder's name, where no other cloud has the same.
pub(super) fn short<'a>(table: &'a Table, cloud: &'a str) -> &'a str {
    let folder = |name: &'a str| name.split('/').next().unwrap_or(name);
    let of_it = table.each("cloud").into_iter().filter(|other| folder(other) == folder(cloud));
    if of_it.count() == 1 { folder(cloud) } else { cloud }
}

/// A row of text.
pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}
