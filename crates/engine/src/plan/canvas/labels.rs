//! Names from labels. References on a canvas are written with the name, so it must come out as Rune would make it.

use std::collections::{HashMap, HashSet};

use protocol::{Diagnostic, DiagnosticCode as Code};

use super::CanvasNode;

/// One name per node, all different.
///
/// Rune lets labels repeat; whichever node ran last is then the one that is meant. Here the first in the file keeps the
/// name, and the others get `_2`, `_3` and so on. A name that only one label asks for is never taken away from it.
pub fn names(nodes: &[CanvasNode]) -> (Vec<String>, Vec<Diagnostic>) {
    let wanted: Vec<String> = nodes.iter().map(wanted).collect();
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (at, name) in wanted.iter().enumerate() {
        first.entry(name).or_insert(at);
    }
    let ids: HashSet<&str> = nodes.iter().map(|node| node.id.as_str()).collect();
    let mut made: HashSet<String> = HashSet::new();
    let mut names = Vec::with_capacity(nodes.len());
    let mut findings = Vec::new();
    for (at, (node, name)) in nodes.iter().zip(&wanted).enumerate() {
        // `$<id>` is that node; a label that spells the id of another node would be out of reach behind it.
        let is_free =
            first[name.as_str()] == at && (node.id.as_str() == name || !ids.contains(name.as_str()));
        if is_free {
            names.push(name.clone());
            continue;
        }
        let taken = |name: &str| first.contains_key(name) || ids.contains(name) || made.contains(name);
        let fresh = (2..).map(|number| format!("{name}_{number}")).find(|fresh| !taken(fresh));
        let fresh = fresh.unwrap_or_else(|| name.clone());
        let message = format!("${name} means another node; this one is called {fresh:?} here");
        let hint = "give every node a label of its own";
        findings.push(Diagnostic::warning(Code::AmbiguousName, message, hint).at_node(&node.id));
        made.insert(fresh.clone());
        names.push(fresh);
    }
    (names, findings)
}

fn wanted(node: &CanvasNode) -> String {
    let label = node.data.as_ref().and_then(|data| data.label.as_deref()).unwrap_or_default().trim();
    if label.is_empty() {
        let mut letters = node.kind.chars();
        let capital = letters.next().map(|letter| letter.to_ascii_uppercase());
        return sanitised(&capital.into_iter().chain(letters).collect::<String>());
    }
    sanitised(label)
}

/// Letters, digits, `_` and `-`, beginning with a letter or `_`.
fn sanitised(label: &str) -> String {
    let mut name = String::new();
    for letter in label.chars() {
        let fits = letter.is_ascii_alphanumeric() || letter == '-';
        match fits {
            true => name.push(letter),
            false if name.ends_with('_') => {}
            false => name.push('_'),
        }
    }
    let name = name.trim_start_matches(|first: char| first.is_ascii_digit() || first == '-');
    if name.is_empty() { "Node".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names_that_can_be_referred_to() {
        for (label, name) in [
            ("Fetch users", "Fetch_users"),
            ("Fetch  (all) users!", "Fetch_all_users_"),
            ("2nd-try", "nd-try"),
            ("--x", "x"),
            ("_own", "_own"),
            ("Überweisung", "_berweisung"),
            ("A__b", "A_b"),
            ("42", "Node"),
            ("9 lives", "_lives"),
        ] {
            assert_eq!(sanitised(label), name, "{label}");
        }
    }
}
