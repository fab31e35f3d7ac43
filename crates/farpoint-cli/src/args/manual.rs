//! The arguments of the commands that describe the program itself, for shells and for `man`.

use clap_complete::Shell;
use std::path::PathBuf;

/// Print a script that completes commands and options in a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  farpoint completions bash > ~/.local/share/bash-completion/completions/farpoint
  farpoint completions zsh > ~/.zfunc/_farpoint             with ~/.zfunc in fpath
  farpoint completions fish > ~/.config/fish/completions/farpoint.fish";

/// Print the manual page, or write one of each command.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  farpoint man | man -l -\n  farpoint man ~/.local/share/man/man1"
)]
pub(crate) struct Man {
    /// Write farpoint.1, farpoint-sample.1 and so on into this folder, which is created if missing.
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
