//! The same for a model, which can read more than names.

use super::{AGENTS_MD, Survey, write};

/// What a model is asked, with what was seen without it.
pub(crate) fn init_prompt(survey: &Survey) -> String {
    let task = match survey.has_agents_md {
        true => format!(
            "Improve the file {AGENTS_MD} at the root of this repository. Keep what its authors wrote; correct what is wrong, add what is \
             missing, and take out nothing that still holds."
        ),
        false => format!("Write the file {AGENTS_MD} at the root of this repository."),
    };
    let cut = if survey.cut { " It is large, and not all of it was looked at." } else { "" };
    format!(
        "{task} It is read by coding agents before they work here. Say what they can't guess: the commands to build, lint and test, and \
         how to run one single test; how the code is organised and which parts matter; conventions that the code follows and tools do \
         not enforce; what must not be done. Leave out what every programmer knows and what a look at a folder shows. 20 to 60 lines.\n\n\
         This is what a look at names and manifests gave.{cut} Check it against the files before you rely on it, and read the rule files \
         that it names.\n\n<survey>\n{}</survey>\n",
        write(survey)
    )
}
