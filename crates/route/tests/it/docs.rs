//! The examples of docs/routing.md are read by the code that they are written for.

use rail_route::{Chain, Options, Rule};

const PAGE: &str = include_str!("../../../../docs/routing.md");

fn examples() -> Vec<toml::Table> {
    let blocks = PAGE.split("```toml\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.map(|block| block.parse().unwrap()).collect()
}

#[test]
fn every_example_is_understood() {
    let (mut options, mut rules, mut chains) = (Vec::new(), 0, 0);
    for example in examples() {
        for (name, table) in &example {
            assert!(["router", "security", "aliases"].contains(&name.as_str()), "{name}");
            for (key, value) in table.as_table().unwrap() {
                match (name.as_str(), key.as_str(), value) {
                    ("router", "options", value) => {
                        options.push(value.clone().try_into::<Options>().unwrap())
                    }
                    ("router", "rules", toml::Value::Array(list)) => {
                        for rule in list {
                            let rule: Rule = rule.clone().try_into().unwrap();
                            assert!(rule.chain.is_none_or(|chain| chain.parse::<Chain>().is_ok()));
                            rules += 1;
                        }
                    }
                    ("aliases", _, _) => {}
                    (_, _, value) => {
                        value.as_str().unwrap().parse::<Chain>().unwrap();
                        chains += 1;
                    }
                }
            }
        }
    }
    assert_eq!(options, [Options::default()], "the page shows the options as they are by default");
    assert_eq!((rules, chains), (2, 12));
}

#[test]
fn the_example_set_up_is_the_one_that_the_tests_run_on() {
    let seed = crate::setup::seed();
    let page = examples().pop().unwrap();
    let read = |name: &str| -> Vec<(String, Chain)> {
        let chains = page[name].as_table().unwrap().iter();
        let mut list: Vec<_> =
            chains.map(|(key, chain)| (key.clone(), chain.as_str().unwrap().parse().unwrap())).collect();
        list.sort_by(|(one, _), (other, _)| one.cmp(other));
        list
    };
    assert_eq!(read("router"), seed.chains.into_iter().collect::<Vec<_>>());
    assert_eq!(read("security"), seed.security.into_iter().collect::<Vec<_>>());
}
