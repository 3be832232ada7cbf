use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use rail_config::{Inputs, PROJECT_FOLDER, Places, Trusted, set_trusted, trust_root, trust_wishes};

use super::print;
use crate::Failure;
use crate::setup::Common;
use crate::trust::listed;

#[derive(Args)]
pub(crate) struct Trust {
    /// The folder that holds `.switchrail`; the project's that you are in when not said.
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Take the trust back.
    #[arg(long)]
    remove: bool,
}

impl Trust {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let inputs = common.inputs()?;
        let places = Places::find(&inputs.env, &inputs.working_folder);
        let places = places.map_err(|problem| Failure::Usage(anyhow!("{problem}")))?;
        let folder = self.folder.map(|folder| inputs.working_folder.join(folder));
        let root = || trust_root(&inputs.env, &inputs.working_folder);
        let folder = folder.or_else(root).ok_or_else(|| {
            Failure::Usage(anyhow!(
                "there is no folder `{PROJECT_FOLDER}` from here up, so that there is nothing to trust; name the folder"
            ))
        })?;
        let trusted = if self.remove { Trusted::No } else { Trusted::Yes };
        let changed =
            set_trusted(&places, &folder, trusted).map_err(|error| Failure::Usage(anyhow!("{error}")))?;
        let folder = std::fs::canonicalize(&folder).unwrap_or(folder);
        let shown = folder.display();
        let said = match (trusted, changed) {
            (Trusted::Yes, true) => format!("trusted: {shown}\n"),
            (Trusted::Yes, false) => format!("trusted already: {shown}\n"),
            (Trusted::No, true) => return print(&format!("not trusted any more: {shown}\n")),
            (Trusted::No, false) => return print(&format!("was not trusted: {shown}\n")),
        };
        print(&said)?;
        print(&what_it_may_do(&Inputs { working_folder: folder, ..inputs }))
    }
}

fn what_it_may_do(inputs: &Inputs) -> String {
    let wishes = trust_wishes(inputs);
    if wishes.is_empty() {
        return "Its files say nothing that needs trust now; whatever they say later counts in full.\n"
            .to_owned();
    }
    format!("What its files say counts in full from now on. They may:\n{}", listed(&wishes))
}
