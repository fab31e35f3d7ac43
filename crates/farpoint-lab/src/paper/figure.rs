//! What a figure is, and what it may use.

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
pub(super) type Rows = Vec<Vec<String>>;

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
    fn measure(&self, context: &Context, cloud: &Cloud) -> Result<Rows>;
    /// The plot of all rows.
    fn plot(&self, table: &Table, foot: &str) -> Sheet;
    /// What people read: the first row names the columns.
    fn readable(&self, table: &Table) -> Rows;
    /// The paper's own numbers in the same form, where it prints any.
    fn published(&self) -> Rows {
        Vec::new()
    }
    /// The paper's statements beside what was found here.
    fn findings(&self, table: &Table) -> Vec<Finding>;
}

/// One statement of the paper, and what was found here.
pub(super) struct Finding {
    pub(super) paper: String,
    pub(super) ours: String,
    /// Whether they agree; `None` where they can't be compared.
    pub(super) agrees: Option<bool>,
    /// Why they differ, or what must be known to compare them.
    pub(super) why: &'static str,
}

/// A share of a cloud's points, as text.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        whole if whole >= 10.0 => format!("{whole:.1} %"),
        few => format!("{} %", number(few)),
    }
}

/// A row of text.
pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}
