//! Failures that say the same, told once.

use protocol::{FailureGroup, ItemGrid, NodeError, NodeId};

/// Longer messages differ in what nobody reads.
const LONGEST: usize = 200;

/// The kinds of failures of one fan-out, in the order they were first seen.
#[derive(Clone, Default)]
pub struct Groups(Vec<FailureGroup>);

impl Groups {
    /// The place of the group this failure belongs to. When there are too many, the last one takes the rest.
    pub fn add(&mut self, node: &NodeId, error: &NodeError) -> u8 {
        let message = normalised(&error.message);
        let known = |group: &FailureGroup| {
            group.node_id == *node && group.code == error.code && group.message == message
        };
        let place = self.0.iter().position(known).unwrap_or_else(|| {
            if self.0.len() < ItemGrid::GROUPS {
                self.0.push(FailureGroup { node_id: node.clone(), code: error.code, message, count: 0 });
            } else if let Some(last) = self.0.last_mut() {
                "and other errors".clone_into(&mut last.message);
            }
            self.0.len() - 1
        });
        self.0[place].count += 1;
        place as u8
    }

    pub fn list(&self) -> Vec<FailureGroup> {
        self.0.clone()
    }
}

/// A message without what differs from item to item: numbers, ids, and what stands in quotes.
fn normalised(message: &str) -> String {
    let mut words = Vec::new();
    let mut quoted = None;
    for word in message.split_whitespace() {
        if let Some(quote) = quoted {
            if ends_quote(word, quote) {
                quoted = None;
            }
            continue;
        }
        match word.chars().next().filter(|first| matches!(first, '"' | '“' | '\'' | '`')) {
            Some(first) => {
                let quote = if first == '“' { '”' } else { first };
                words.push("“…”".to_owned());
                quoted = (word.chars().count() == 1 || !ends_quote(&word[first.len_utf8()..], quote))
                    .then_some(quote);
            }
            None => words.push(plain(word)),
        }
    }
    words.join(" ").chars().take(LONGEST).collect()
}

fn ends_quote(word: &str, quote: char) -> bool {
    word.trim_end_matches([',', '.', ':', ';', ')']).ends_with(quote)
}

/// A word with its numbers taken out; a word that is an id is nothing but one number.
fn plain(word: &str) -> String {
    let core = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let digits = core.chars().filter(char::is_ascii_digit).count();
    let is_id = digits > 0
        && core.len() >= 8
        && core.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '-');
    if is_id {
        return word.replace(core, "#");
    }
    let mut text = String::with_capacity(word.len());
    for letter in word.chars() {
        match letter.is_ascii_digit() {
            true if text.ends_with('#') => {}
            true => text.push('#'),
            false => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use protocol::ErrorCode;

    use super::*;

    #[test]
    fn what_differs_from_item_to_item_is_taken_out() {
        let check = |message: &str, expected: &str| assert_eq!(normalised(message), expected);
        check("order 4711 was refused", "order # was refused");
        check("status 503 after 12.5 s", "status # after #.# s");
        check("no customer \"Ada Lovelace\", sorry", "no customer “…” sorry");
        check("user 9f3c2a1b-77de-4c1a-9e0f-1a2b3c4d5e6f is gone", "user # is gone");
        check("the feedback  is\nhere", "the feedback is here");
        check("“x” and 'y'", "“…” and “…”");
    }

    #[test]
    fn the_same_failures_share_a_group_and_too_many_kinds_share_the_last() {
        let mut groups = Groups::default();
        let error = |text: String| NodeError::new(ErrorCode::SimulatedFailure, text);
        assert_eq!(groups.add(&"a".into(), &error("order 1".to_owned())), 0);
        assert_eq!(groups.add(&"a".into(), &error("order 2".to_owned())), 0);
        assert_eq!(groups.add(&"b".into(), &error("order 2".to_owned())), 1);
        for kind in 0..40 {
            groups.add(&"c".into(), &error(format!("kind {}", "x".repeat(kind))));
        }
        assert_eq!(groups.list().len(), ItemGrid::GROUPS);
        assert_eq!(groups.list()[0].count, 2);
        assert_eq!(groups.list().iter().map(|group| group.count).sum::<u32>(), 43);
    }
}
