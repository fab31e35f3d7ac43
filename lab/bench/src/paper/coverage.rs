//! Every table and figure of the paper, and its reproduction here.

use super::figure::{TableRows, row};
use super::record::Record;

/// A table or figure of the paper.
struct Item {
    name: &'static str,
    shows: &'static str,
    coverage: Coverage,
}

/// Reproduction of an item.
enum Coverage {
    /// Reproduced by the figure of this name, except for the second text.
    Made(&'static str, &'static str),
    /// Replaced by something else.
    Instead(&'static str),
    /// An illustration of the method without measurements.
    Drawing,
    /// Not reproduced, with the reason.
    Not(&'static str),
}

const NETWORKS: &str = "needs the authors' checkpoints of PointMetaBase and PointVector and the \
    validation sets of S3DIS, ScanNet and SemanticKITTI, none of which is part of farpoint; with \
    them `python -m farpoint_segmentation report` makes it";

/// In the paper's order.
const ITEMS: [Item; 20] = [
    Item {
        name: "Figure 1",
        shows: "share of FPS in a network's latency, by the size of the cloud",
        coverage: Coverage::Not(NETWORKS),
    },
    Item {
        name: "Figure 2",
        shows: "spacing of FPS and of random sampling on the dragon",
        coverage: Coverage::Made("figure2", "the pictures (a) and (b)"),
    },
    Item {
        name: "Figure 3",
        shows: "updates that change nothing, at each step, at three ratios",
        coverage: Coverage::Made("figure3", ""),
    },
    Item { name: "Figure 4", shows: "overview of RadiusFPS", coverage: Coverage::Drawing },
    Item { name: "Figure 5", shows: "cubic and spherical voxels", coverage: Coverage::Drawing },
    Item { name: "Figure 6", shows: "pruning by both", coverage: Coverage::Drawing },
    Item { name: "Figure 7", shows: "overview of RadiusFPS-G", coverage: Coverage::Drawing },
    Item { name: "Figure 8", shows: "fusion kernel 1", coverage: Coverage::Drawing },
    Item { name: "Figure 9", shows: "reduction by warps", coverage: Coverage::Drawing },
    Item { name: "Figure 10", shows: "fusion kernel 2", coverage: Coverage::Drawing },
    Item {
        name: "Table 1",
        shows: "the machine",
        coverage: Coverage::Instead(
            "the machine is named at the top of the report and under each plot",
        ),
    },
    Item {
        name: "Table 2",
        shows: "accuracy and end-to-end time of PointMetaBase with ten samplers",
        coverage: Coverage::Not(NETWORKS),
    },
    Item { name: "Table 3", shows: "the same of PointVector", coverage: Coverage::Not(NETWORKS) },
    Item {
        name: "Figure 11",
        shows: "speed-up of inference and of sampling inside both networks",
        coverage: Coverage::Not(NETWORKS),
    },
    Item {
        name: "Table 4",
        shows: "what each pruning and each fused kernel is worth, on S3DIS",
        coverage: Coverage::Made("table4", "mIoU; the time is that of sampling, not of a network"),
    },
    Item {
        name: "Table 5",
        shows: "mIoU of two networks with eight samplers",
        coverage: Coverage::Made("table5", "mIoU; distances and spacing stand in its place"),
    },
    Item {
        name: "Figure 12",
        shows: "pictures of RadiusFPS and RadiusFPS-G samples",
        coverage: Coverage::Instead("`farpoint compare` draws samples of any cloud"),
    },
    Item {
        name: "Figure 13",
        shows: "close-ups of them beside FPS",
        coverage: Coverage::Instead("`farpoint compare` draws a close-up of each sample"),
    },
    Item {
        name: "Figure 14",
        shows: "latency, memory and throughput of FPS, QuickFPS and RadiusFPS-G",
        coverage: Coverage::Made("figure14", "QuickFPS on a GPU: it is measured on the CPU only"),
    },
    Item {
        name: "Figure 15",
        shows: "speed-up against the number of voxels, on a GPU and on a CPU",
        coverage: Coverage::Made("figure15", "QuickFPS on a GPU"),
    },
];

/// Returns a table of all items, the first row naming the columns.
pub(super) fn rows(record: &Record) -> TableRows {
    let head = row(["in the paper", "shows", "here"]);
    let lines =
        ITEMS.iter().map(|item| row([item.name, item.shows, &item.coverage.described(record)]));
    std::iter::once(head).chain(lines).collect()
}

impl Coverage {
    fn described(&self, record: &Record) -> String {
        match self {
            Self::Made(name, _) if !record.has(name) => {
                format!("not in this record; `--only {name}` makes it")
            }
            Self::Made(name, "") => format!("made: {name}"),
            Self::Made(name, missing) => format!("made: {name}. Left out: {missing}"),
            Self::Instead(what) => format!("not made; {what}"),
            Self::Drawing => "not made: it explains the method and holds no measurement".into(),
            Self::Not(why) => format!("not made: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_and_figure_is_there_once() {
        let figures = (1..=15).map(|k| format!("Figure {k}"));
        let mut expected: Vec<_> = figures.chain((1..=5).map(|k| format!("Table {k}"))).collect();
        let mut named: Vec<_> = ITEMS.iter().map(|item| item.name.to_owned()).collect();
        expected.sort();
        named.sort();
        assert_eq!(named, expected);
    }

    #[test]
    fn what_is_made_is_a_figure_and_no_other() {
        let made = ITEMS.iter().filter_map(|item| match item.coverage {
            Coverage::Made(name, _) => Some(name),
            _ => None,
        });
        let mut made: Vec<_> = made.collect();
        let mut figures: Vec<_> = super::super::figures(&[]).iter().map(|f| f.name()).collect();
        made.sort_unstable();
        figures.sort_unstable();
        assert_eq!(made, figures);
    }
}
