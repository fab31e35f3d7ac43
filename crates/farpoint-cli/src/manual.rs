//! `farpoint completions` and `farpoint man`: the program's arguments for shells and as manual pages.

use crate::args::{self, Args};
use crate::{check, output};
use anyhow::Result;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

/// Writes a completion script to stdout.
pub(crate) fn completions(args: &args::Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "farpoint", &mut script);
    output::print_bytes(&script)
}

/// Writes the page of the program to stdout, or a page of each command into a folder.
pub(crate) fn man(args: &args::Man) -> Result<()> {
    let mut command = command();
    let Some(folder) = &args.folder else { return output::print_bytes(&page(command)?) };
    check::folder(folder)?;
    // Gives commands their full names and the global options.
    command.build();
    let mut pages = vec![("farpoint.1".to_owned(), page(command.clone())?)];
    for each in command.get_subcommands().filter(|each| !each.is_hide_set()) {
        let name = format!("farpoint-{}", each.get_name());
        let words = each.get_bin_name().unwrap_or(&name).to_owned();
        pages.push((format!("{name}.1"), page(each.clone().name(name).bin_name(words))?));
    }
    pages.iter().try_for_each(|(name, page)| output::write_file(&folder.join(name), page))
}

/// Without the commands that only say where they went.
fn command() -> Command {
    let mut command = Args::command();
    let hidden = command.get_subcommands().filter(|each| each.is_hide_set());
    for name in hidden.map(|each| each.get_name().to_owned()).collect::<Vec<_>>() {
        command = command.mut_subcommand(name, |each| each.disable_help_flag(true).hide(true));
    }
    command.disable_help_subcommand(true)
}

fn page(command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}
