use crate::path::{Fence, List, PathPattern};
use crate::rule::{About, Holds};
use crate::{Policy, Rule, World, places};

/// The user's rules on files, with their beginnings found, for one call.
#[derive(Default)]
pub(crate) struct Lists<'a> {
    /// On reading.
    pub(crate) read: Forbidding<'a>,
    /// On writing; who may not read a file may not write it either.
    pub(crate) write: Forbidding<'a>,
    /// Rules that allow secrets by naming them.
    pub(crate) naming: Vec<(Fence, &'a Rule)>,
}

/// Rules that forbid or ask.
#[derive(Default)]
pub(crate) struct Forbidding<'a> {
    pub(crate) deny: Vec<(Fence, &'a Rule)>,
    pub(crate) deny_all: Option<&'a Rule>,
    pub(crate) ask: Vec<(Fence, &'a Rule)>,
    pub(crate) ask_all: Option<&'a Rule>,
}

impl<'a> Lists<'a> {
    pub(crate) fn new(policy: &'a Policy, tool: &str, world: &dyn World) -> Self {
        let mut lists = Self::default();
        let fences = |pattern: &PathPattern| {
            let fence = pattern.fence(super::bases(policy), List::Forbid);
            let real = fence.as_ref().and_then(|fence| fence.behind_links(world));
            fence.into_iter().chain(real)
        };
        for (rules, deny) in [(&policy.rules.deny, true), (&policy.rules.ask, false)] {
            for rule in rules {
                let reads = match rule.holds() {
                    Holds::Reads => true,
                    Holds::Writes => false,
                    Holds::Tool if rule.is_for(tool) => true,
                    Holds::Tool | Holds::Commands | Holds::Hosts => continue,
                };
                let both = [Some(&mut lists.write), reads.then_some(&mut lists.read)];
                for list in both.into_iter().flatten() {
                    list.add(rule, deny, fences);
                }
            }
        }
        let is_secret = |path: &std::path::Path| places::secret(path).is_some();
        for rule in &policy.rules.allow {
            let About::Path(pattern) = &rule.about else { continue };
            let bases = super::bases(policy);
            if matches!(rule.holds(), Holds::Reads | Holds::Writes) && pattern.names(bases, &is_secret) {
                lists.naming.extend(pattern.fence(bases, List::Allow).map(|fence| (fence, rule)));
            }
        }
        lists
    }
}

impl<'a> Forbidding<'a> {
    fn add<F: Iterator<Item = Fence>>(
        &mut self,
        rule: &'a Rule,
        deny: bool,
        fences: impl Fn(&PathPattern) -> F,
    ) {
        let (list, all) =
            if deny { (&mut self.deny, &mut self.deny_all) } else { (&mut self.ask, &mut self.ask_all) };
        match &rule.about {
            // A tool that is named as a whole is judged as a tool.
            About::Anything if rule.holds() != Holds::Tool => *all = all.or(Some(rule)),
            About::Path(pattern) => list.extend(fences(pattern).map(|fence| (fence, rule))),
            About::Anything | About::Command(_) | About::Host(_) | About::Name(_) => {}
        }
    }
}
