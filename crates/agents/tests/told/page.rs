//! The table of `docs/agents.md` beside what the agents are.

use watchbill_agents::{Agent, traits};

const PAGE: &str = include_str!("../../../../docs/agents.md");

/// The cells of a row, without the first one.
fn row(first: &str) -> Vec<&'static str> {
    let row = PAGE
        .lines()
        .find(|line| line.starts_with(&format!("| {first} |")))
        .unwrap_or_else(|| panic!("no row {first:?}"));
    row.trim_matches('|').split(" | ").skip(1).map(str::trim).collect()
}

#[test]
fn the_table_names_each_agent_and_says_which_have_hooks_and_take_answers() {
    let head = PAGE.lines().find(|line| line.starts_with("| | ")).expect("a table");
    let titles: Vec<_> = head.trim_matches('|').split(" | ").skip(1).map(str::trim).collect();
    let (hooks, answers) = (row("Hooks, plugin or extension"), row("Answers from Watchbill"));
    assert_eq!(
        (titles.len(), hooks.len(), answers.len()),
        (Agent::ALL.len(), Agent::ALL.len(), Agent::ALL.len())
    );
    for agent in Agent::ALL {
        let traits = traits(agent);
        let at = titles
            .iter()
            .position(|title| title.starts_with(traits.title))
            .unwrap_or_else(|| panic!("{}", traits.title));
        assert_eq!(hooks[at] != "no", traits.hooks.is_some(), "hooks of {}", traits.title);
        let takes = traits.hooks.is_some_and(|hooks| hooks.answer_event.is_some());
        assert_eq!(answers[at] != "no", takes, "answers of {}", traits.title);
    }
}
