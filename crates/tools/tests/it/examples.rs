//! Every example of every tool does what it says.

use rail_permit::Mode;
use serde_json::Value;

use crate::person::Person;
use crate::scratch::{Scratch, unexplained, without_times};

#[test]
fn every_example_gives_what_it_says() {
    for tool in rail_tools::registry().tools() {
        let card = tool.card();
        assert!(!tool.examples().is_empty(), "`{}` has no example", card.name);
        for example in tool.examples() {
            // Whoever is asked takes the first option.
            let scratch = Scratch::asking(Person::first());
            if card.name == "exit_plan_mode" {
                scratch.executor.change_policy(|policy| policy.mode = Mode::Plan);
            }
            for (name, content) in example.files {
                scratch.write(name, content);
            }
            for name in example.read {
                let input = serde_json::json!({ "file_path": scratch.path(name) });
                assert!(scratch.run("read_file", &input).success());
            }
            let input: Value = serde_json::from_str(example.input).unwrap();
            let outcome = scratch.run(card.name, &input);
            let said = outcome.text().replace(scratch.workspace().to_str().unwrap(), "{workspace}");
            let said = without_times(unexplained(card.name, &said));
            assert_eq!(said, example.output, "{}: {}", card.name, example.about);
            for (name, content) in example.after {
                assert_eq!(scratch.read(name), *content, "{}: {}", card.name, example.about);
            }
        }
    }
}
