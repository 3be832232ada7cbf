//! `rail doctor`: what works here, what does not, and what to do about it.
//!
//! A check is a function and a line in `GROUPS`.

mod check;
mod clients;
mod configuration;
mod machine;
mod mcp;
mod place;
mod pointers;
mod programs;
mod providers;
mod show;
mod storage;

use std::io;
use std::path::PathBuf;

use clap::Args;
use rail_config::found::Local;
use rail_config::{Checked, Env, Inputs};
use tokio::runtime::Runtime;

use crate::setup::{Common, local_servers, runtime};
use crate::{Failure, output};
use check::{Check, Look, State};
use show::Marks;

/// It exits with 0 when there is no problem; warnings are none.
#[derive(Args)]
pub(crate) struct Doctor {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Ask no server: tell only what this machine shows.
    #[arg(long)]
    offline: bool,
}

/// All checks, in the order in which they are told.
const GROUPS: [(&str, &[Look]); 7] = [
    ("Place", &[Look::One(place::home), Look::One(place::working_folder), Look::One(place::terminal)]),
    (
        "Configuration",
        &[
            Look::One(configuration::files),
            Look::Many(configuration::judged),
            Look::One(configuration::trust),
            Look::Many(mcp::configured),
        ],
    ),
    ("Providers", &[Look::Many(providers::asked), Look::One(providers::local)]),
    ("Clients", &[Look::Many(clients::installed), Look::Many(clients::missing)]),
    ("Safety", &[Look::One(machine::sandbox), Look::One(machine::tls)]),
    ("Programs", &[Look::One(machine::git), Look::One(machine::shell), Look::One(machine::browser)]),
    (
        "Storage",
        &[
            Look::Many(storage::folders),
            Look::Many(storage::private),
            Look::One(storage::space),
            Look::One(storage::database),
        ],
    ),
];

/// What checks look at.
struct Cx {
    inputs: Inputs,
    /// Why there is no working folder.
    lost: Option<io::Error>,
    checked: Checked,
    /// Model servers on this machine.
    local: Vec<Local>,
    reach: Reach,
    runtime: Runtime,
}

/// Whether servers are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Servers,
    Nobody,
}

impl Doctor {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let cx = Cx::look(common, if self.offline { Reach::Nobody } else { Reach::Servers })?;
        let marks = Marks::for_output(&cx.inputs.env);
        let mut all = Vec::new();
        for (group, looks) in GROUPS {
            let checks: Vec<Check> = looks.iter().flat_map(|look| look.at(&cx)).collect();
            if !self.json {
                output::print(&show::group(group, &checks, &marks))?;
            }
            all.push((group, checks));
        }
        // A look-up of a name can't be cancelled; nobody waits for it.
        cx.runtime.shutdown_background();
        let counts = show::Counts::of(all.iter().flat_map(|(_, checks)| checks));
        if self.json {
            output::print_json(&show::json(&all, &counts))?;
        } else {
            output::print(&format!("{counts}\n"))?;
        }
        if counts.of_state(State::Problem) == 0 { Ok(()) } else { Err(Failure::Ended(1)) }
    }
}

/// The whole list as a text, for who asks from inside of a session.
pub(crate) fn report(common: &Common) -> Result<String, Failure> {
    let cx = Cx::look(common, Reach::Servers)?;
    let marks = Marks::for_output(&cx.inputs.env);
    let (mut out, mut all) = (String::new(), Vec::new());
    for (group, looks) in GROUPS {
        let checks: Vec<Check> = looks.iter().flat_map(|look| look.at(&cx)).collect();
        out += &show::group(group, &checks, &marks);
        all.extend(checks);
    }
    // A look-up of a name can't be cancelled; nobody waits for it.
    cx.runtime.shutdown_background();
    Ok(format!("{out}{}\n", show::Counts::of(all.iter())))
}

impl Cx {
    fn look(common: &Common, reach: Reach) -> Result<Self, Failure> {
        let (inputs, lost) = match Inputs::of_process() {
            Ok(inputs) => (inputs, None),
            // All that does not depend on the folder can be told from anywhere.
            Err(error) => {
                let working_folder = PathBuf::from("/");
                (Inputs { env: Env::of_process(), working_folder, ..Inputs::default() }, Some(error))
            }
        };
        let mut inputs = Inputs { config: common.config.clone(), ..inputs };
        let mut checked = rail_config::check(&inputs);
        let settings = checked.loaded.as_ref().map(|loaded| loaded.settings.clone()).unwrap_or_default();
        let local = match reach {
            Reach::Servers => local_servers(&inputs.env, &settings.discovery)?,
            Reach::Nobody => Vec::new(),
        };
        if settings.providers.is_empty() && !local.is_empty() {
            inputs.local.clone_from(&local);
            checked = rail_config::check(&inputs);
        }
        Ok(Self { inputs, lost, checked, local, reach, runtime: runtime()? })
    }

    /// A path as people write it: the home is `~`.
    fn shown(&self, path: &std::path::Path) -> String {
        let home = self.inputs.env.home().filter(|home| home.parent().is_some());
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(inner) if inner.as_os_str().is_empty() => "~".to_owned(),
            Some(inner) => format!("~/{}", inner.display()),
            None => path.display().to_string(),
        }
    }
}
