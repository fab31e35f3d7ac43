//! `farpoint completions` and `farpoint man`: the program's arguments for shells and as manual pages.

use crate::args::{self, Args, Messages};
use crate::{check, output};
use anyhow::Result;
use clap::{Args as _, Command, CommandFactory};
use clap_mangen::Man;

/// Writes a completion script to stdout.
pub(crate) fn completions(args: &args::Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "farpoint", &mut script);
    output::print_bytes(&script)
}

/// Writes the page of the program to stdout, or a page of each command into a folder.
pub(crate) fn man(args: &args::Man) -> Result<()> {
    let mut command = command().disable_help_subcommand(true);
    let Some(folder) = &args.folder else { return output::print_bytes(&page(command)?) };
    check::folder(folder)?;
    // Gives commands the options of the program.
    command.build();
    let mut pages = vec![("farpoint.1".to_owned(), page(command.clone())?)];
    for each in command.get_subcommands() {
        let name = format!("farpoint-{}", each.get_name());
        let words = each.get_bin_name().unwrap_or(&name).to_owned();
        pages.push((format!("{name}.1"), page(each.clone().name(name).bin_name(words))?));
    }
    pages.iter().try_for_each(|(name, page)| output::write_file(&folder.join(name), page))
}

/// The program without the commands that only say where they went.
fn command() -> Command {
    let all = Args::command();
    let shown = all.get_subcommands().filter(|each| !each.is_hide_set()).cloned();
    let command = Command::new("farpoint").version(env!("CARGO_PKG_VERSION"));
    Messages::augment_args(command.subcommands(shown))
        .about(all.get_about().cloned().unwrap_or_default())
        .after_help(all.get_after_help().cloned().unwrap_or_default())
}

fn page(command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}
