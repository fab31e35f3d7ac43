//! `report.html`: every figure with its verdicts, its table and the paper's numbers, on one page
//! that needs no other file.

use super::figure::TableRows;
use super::published::{MACHINE, SOURCE};
use super::record::{Part, Record};
use super::statements::{claim_rows, claims, summary};
use super::{coverage, timed};
use anyhow::Result;
use farpoint_cli::output::count;
use std::fmt::Write;

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;color:#222;max-width:1000px;margin:2em auto;padding:0 1em}\
h1,h2{line-height:1.2}h2{margin-top:2.4em;border-top:1px solid #ccc;padding-top:.8em}\
svg{display:block;max-width:100%;height:auto;margin:1em 0}\
table{border-collapse:collapse;font-size:14px;margin:1em 0}\
th,td{padding:.25em .7em;border-bottom:1px solid #e2e2e2;text-align:right;vertical-align:top}\
th{border-bottom:2px solid #888}th:first-child,td:first-child{text-align:left}\
.words td,.words th{text-align:left}.words td{min-width:7em}.wide{overflow-x:auto}\
.agrees{color:#0060a0;font-weight:600}.differs{color:#a33;font-weight:600}.cannot{color:#666}\
nav a{margin-right:1.2em}summary{cursor:pointer;color:#0060a0}";

/// Returns the page. Writing into a string can't fail, hence the ignored results.
pub(super) fn page(record: &Record) -> Result<String> {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>The RadiusFPS paper's figures, by farpoint</title>\n<style>{STYLE}</style>\n\
         <h1>The RadiusFPS paper's figures, measured by farpoint</h1>\n\
         <p>{}.</p>\n<p>Paper: {} (measured there on {MACHINE}). The numbers of the paper are shown \
         beside ours; as machines and clouds differ, compare ratios, not times. {}</p>\n\
         <p>{} A verdict is computed from the measured numbers by the rule beside it. A rule about \
         one of the paper's clouds is applied to clouds of that kind and about that size; numbers of \
         other clouds are listed and do not count.</p>\n",
        escaped(&record.machine),
        escaped(SOURCE),
        escaped(timed::COMPUTED),
        summary(record)
    );
    page.push_str("<nav>");
    for Part { figure, .. } in &record.parts {
        let short = figure.title().split(':').next().unwrap_or_default();
        let _ = write!(page, "<a href=\"#{}\">{}</a>", figure.name(), escaped(short));
    }
    page.push_str("</nav>\n<h2 id=\"coverage\">What of the paper is made</h2>\n");
    table(&mut page, &coverage::rows(record), "words");
    page.push_str("<h2 id=\"clouds\">Clouds</h2>\n");
    table(&mut page, &cloud_rows(record), "words");
    for part in &record.parts {
        section(&mut page, part)?;
    }
    page.push_str("</html>\n");
    Ok(page)
}

fn cloud_rows(record: &Record) -> TableRows {
    let head = ["cloud", "points", "from"].map(str::to_owned).to_vec();
    let clouds = record.clouds.iter();
    let lines = clouds.map(|c| vec![c.name.clone(), count(c.points), c.note.clone()]);
    std::iter::once(head).chain(lines).collect()
}

fn section(page: &mut String, part: &Part) -> Result<()> {
    let Part { figure, table: numbers, foot } = part;
    let name = figure.name();
    let _ = writeln!(
        page,
        "<h2 id=\"{name}\">{}</h2>\n<p>{}</p>",
        escaped(figure.title()),
        escaped(figure.about())
    );
    table(page, &claim_rows(&claims(part)), "words");
    for (_, sheet) in figure.plots(numbers, foot) {
        page.push_str(&sheet.svg()?);
    }
    let published = figure.published();
    if !published.is_empty() {
        page.push_str("<p>The paper's own numbers:</p>\n");
        table(page, &published, "");
    }
    let _ =
        writeln!(page, "<details><summary>All numbers ({name}.csv holds them in full)</summary>");
    table(page, &figure.readable(numbers), "");
    page.push_str("</details>\n");
    Ok(())
}

/// Escapes text for HTML, and removes the marks of code in Markdown.
fn escaped(text: &str) -> String {
    let text = text.replace('`', "");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Writes a table whose first row names the columns. A verdict is colored by the class of its first
/// word.
fn table(page: &mut String, rows: &TableRows, class: &str) {
    let verdict = rows.first().and_then(|head| head.iter().position(|cell| cell == "verdict"));
    let _ = write!(page, "<div class=\"wide\"><table class=\"{class}\">");
    for (k, row) in rows.iter().enumerate() {
        let kind = if k == 0 { "th" } else { "td" };
        page.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let class = match (k, verdict == Some(column)) {
                (1.., true) => {
                    format!(" class=\"{}\"", cell.split(' ').next().unwrap_or_default())
                }
                _ => String::new(),
            };
            let _ = write!(page, "<{kind}{class}>{}</{kind}>", escaped(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}
