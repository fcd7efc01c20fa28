//! An instance's plan: its graph of actions, read from JSON, and which of them may run.

use serde::{Deserialize, Serialize};

/// What an action is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Input {
    note: String,
    attempts: u32,
    tags: Vec<String>,
}

/// An action as the database has it, and as a worker gets it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Payload {
    action: String,
    input: Input,
    /// What the action before it, the last that it waited for, came to.
    before: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Graph {
    workflow: String,
    nodes: Vec<Node>,
}

#[derive(Serialize, Deserialize)]
struct Node {
    action: String,
    after: Vec<u32>,
    input: Input,
}

/// A plan under way. The completion loop alone changes it.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
    left: usize,
}

#[derive(Debug)]
struct Step {
    action: String,
    input: Input,
    waits: usize,
    then: Vec<u32>,
}

/// What follows from an action's end.
pub(super) struct Next {
    /// Number and payload of those that may run now.
    pub(super) actions: Vec<(u32, String)>,
    pub(super) is_last: bool,
}

/// The graph of an instance, as JSON: one action, then all but one side by side, then the last.
pub(super) fn graph(instance: u64, actions: u32) -> String {
    let node = |number| Node {
        action: "noop".to_owned(),
        after: match number {
            0 => Vec::new(),
            _ if number + 1 == actions && actions > 2 => (1..number).collect(),
            _ => vec![0],
        },
        input: Input {
            note: format!("action {number} of instance {instance}"),
            attempts: 3,
            tags: vec!["queue".to_owned(), "noop".to_owned()],
        },
    };
    let graph = Graph { workflow: "queue-noop".to_owned(), nodes: (0..actions).map(node).collect() };
    serde_json::to_string(&graph).expect("a graph is JSON")
}

impl Plan {
    /// Reads a graph, of which the actions in `done` have been recorded.
    pub(super) fn read(graph: &str, done: &[u32]) -> Result<Self, String> {
        let Graph { nodes, .. } = serde_json::from_str(graph).map_err(|error| error.to_string())?;
        let is_done = |number: u32| done.contains(&number);
        let mut then = vec![Vec::new(); nodes.len()];
        for (number, node) in (0..).zip(&nodes) {
            for before in &node.after {
                let follows = then.get_mut(*before as usize);
                follows.ok_or_else(|| format!("there is no action {before}"))?.push(number);
            }
        }
        let left = nodes.len() - done.len();
        let step = |(node, then): (Node, Vec<u32>)| Step {
            waits: node.after.iter().filter(|before| !is_done(**before)).count(),
            action: node.action,
            input: node.input,
            then,
        };
        Ok(Plan { steps: nodes.into_iter().zip(then).map(step).collect(), left })
    }

    /// Those that wait for nothing.
    pub(super) fn first(&self) -> Vec<(u32, String)> {
        let all = (0..).zip(&self.steps);
        all.filter(|(_, step)| step.waits == 0).map(|(number, step)| (number, step.payload(None))).collect()
    }

    pub(super) fn complete(&mut self, number: u32, output: &str) -> Next {
        self.left -= 1;
        let mut actions = Vec::new();
        for next in self.steps[number as usize].then.clone() {
            let step = &mut self.steps[next as usize];
            step.waits -= 1;
            if step.waits == 0 {
                actions.push((next, step.payload(Some(output))));
            }
        }
        Next { actions, is_last: self.left == 0 }
    }
}

impl Step {
    fn payload(&self, before: Option<&str>) -> String {
        let (action, input) = (self.action.clone(), self.input.clone());
        let payload = Payload { action, input, before: before.map(str::to_owned) };
        serde_json::to_string(&payload).expect("a payload is JSON")
    }
}

impl Payload {
    /// Does what the action says, which is nothing, and tells what it came to.
    pub(super) fn perform(&self) -> String {
        let output = serde_json::json!({ "action": self.action, "note": self.input.note, "ok": true,
            "after": self.before.as_deref().map_or(0, str::len) });
        output.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(actions: &[(u32, String)]) -> Vec<u32> {
        actions.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn an_action_runs_when_all_before_it_are_done() {
        let graph = graph(7, 4);
        let mut plan = Plan::read(&graph, &[]).unwrap();
        assert_eq!(numbers(&plan.first()), [0]);
        assert_eq!(numbers(&plan.complete(0, "x").actions), [1, 2]);
        assert!(plan.complete(2, "x").actions.is_empty());
        let mut again = Plan::read(&graph, &[0, 2]).unwrap();
        for plan in [&mut plan, &mut again] {
            assert_eq!(numbers(&plan.complete(1, "x").actions), [3]);
            assert!(plan.complete(3, "x").is_last);
        }
    }

    #[test]
    fn every_number_of_actions_comes_to_its_end() {
        for actions in 1..6 {
            let mut plan = Plan::read(&graph(1, actions), &[]).unwrap();
            let mut ready = numbers(&plan.first());
            let mut done = 0;
            while let Some(number) = ready.pop() {
                let next = plan.complete(number, "{}");
                done += 1;
                assert_eq!(next.is_last, done == actions);
                ready.extend(numbers(&next.actions));
            }
            assert_eq!(done, actions);
        }
        assert!(Plan::read("{", &[]).is_err());
    }
}
