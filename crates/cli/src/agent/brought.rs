//! What Markdown files of the project and of the user bring: commands, skills, types of agents.

use std::path::Path;

use rail_agent::commands::{Commands, FileKind, OwnedFolder, Places};
use rail_agent::skills::{self, Skill};
use rail_agent::team::types::{self, AgentType};
use rail_config::{Env, Loaded, Trusted};
use rail_tool::{Registry, SkillCard};

use crate::Failure;
use crate::permission::workspace;

/// What such files bring.
pub(crate) struct Brought {
    pub(crate) commands: Commands,
    pub(crate) skills: Skills,
    pub(crate) agents: Agents,
}

/// The skills there are.
#[derive(Default)]
pub(crate) struct Skills {
    pub(crate) all: Vec<Skill>,
    /// Those that a model may load.
    pub(crate) cards: Vec<SkillCard>,
    /// What is wrong with the files.
    pub(crate) problems: Vec<String>,
}

/// The types of agents there are.
pub(crate) struct Agents {
    pub(crate) all: Vec<AgentType>,
    /// What is wrong with the files.
    pub(crate) problems: Vec<String>,
}

impl Brought {
    /// What the files of this folder and of the user bring.
    pub(crate) fn read(loaded: &Loaded, trusted: Trusted, env: &Env) -> Result<Self, Failure> {
        Ok(Self::of(&workspace()?, loaded, trusted, env))
    }

    /// What the files of a folder and of the user bring.
    pub(crate) fn of(workspace: &Path, loaded: &Loaded, trusted: Trusted, env: &Env) -> Self {
        let folders = |kind| folders(kind, workspace, loaded, trusted, env);
        let skills = Skills::of(&folders(FileKind::Skills));
        let mut problems = Vec::new();
        let all = types::all(&folders(FileKind::Agents), &mut problems);
        Self {
            commands: Commands::load(&folders(FileKind::Commands)).with_skills(&skills.all),
            skills,
            agents: Agents { all, problems },
        }
    }
}

impl Skills {
    /// The skills of this folder and of the user.
    pub(crate) fn read(loaded: &Loaded, trusted: Trusted, env: &Env) -> Result<Self, Failure> {
        Ok(Self::of(&folders(FileKind::Skills, &workspace()?, loaded, trusted, env)))
    }

    fn of(folders: &[OwnedFolder]) -> Self {
        let mut problems = Vec::new();
        let all = skills::read(folders, &mut problems);
        let cards = skills::cards(&all, &mut problems);
        Self { all, cards, problems }
    }

    /// These tools; the one that loads skills only if there are any.
    pub(crate) fn with(&self, registry: &Registry) -> Registry {
        registry.only(|card| card.name != "skill" || !self.cards.is_empty())
    }
}

fn folders(
    kind: FileKind,
    workspace: &Path,
    loaded: &Loaded,
    trusted: Trusted,
    env: &Env,
) -> Vec<OwnedFolder> {
    let places = loaded.places.as_ref();
    // Where the project's own folder stands further up, its files do too.
    let above = places.and_then(|places| places.project.as_deref().and_then(Path::parent));
    let project = above.unwrap_or(workspace);
    let config = places.map(|places| places.config.as_path());
    Places { project, trusted, config, home: env.home() }.folders(kind)
}
