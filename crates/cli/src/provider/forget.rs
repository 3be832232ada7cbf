//! `rail provider forget`: what was learned of targets is unlearned.

use anyhow::anyhow;
use clap::Args;
use rail_route::Target;
use rail_stdx::nearest;

use crate::setup::{Common, warn};
use crate::state::{places, upstream};
use crate::{Failure, output};

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Forget {
    /// A target `provider,model`, or a provider for all its targets.
    target: Option<String>,
    /// What was learned of all targets.
    #[arg(long)]
    all: bool,
}

impl Forget {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let loaded = common.load()?;
        warn(&loaded);
        places(&loaded)?;
        let upstream = upstream(&loaded, &common.inputs()?.env);
        let learned = upstream.learned();
        let all: Vec<Target> = learned.all().filter_map(|(name, _)| name.parse().ok()).collect();
        let meant: Vec<&Target> = all.iter().filter(|target| self.means(target)).collect();
        if meant.is_empty() {
            return self.nothing(&all);
        }
        let mut out = String::new();
        for target in meant {
            upstream.forget(target, None).map_err(|problem| Failure::Task(anyhow!(problem)))?;
            for lesson in learned.of(target) {
                out += &format!("forgotten: {target} {}\n", lesson.fix);
            }
        }
        output::print(&out)
    }

    fn means(&self, target: &Target) -> bool {
        match &self.target {
            None => self.all,
            Some(name) => {
                *name == target.provider || name.parse().is_ok_and(|meant: Target| meant == *target)
            }
        }
    }

    fn nothing(&self, all: &[Target]) -> Result<(), Failure> {
        let Some(name) = &self.target else { return output::print("nothing was learned yet\n") };
        let names: Vec<String> = all.iter().map(Target::to_string).collect();
        let providers = all.iter().map(|target| target.provider.as_str());
        let meant = nearest(name, names.iter().map(String::as_str).chain(providers));
        let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        Err(Failure::Task(anyhow!("nothing was learned of `{name}`{meant}")))
    }
}
