//! Where things stand in the text of a file.

use protocol::Place;

/// The lines of a text, for turning offsets into places.
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(breaks).collect() }
    }

    pub fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = &self.text.as_bytes()[self.starts[line - 1]..offset.min(self.text.len())];
        // In a file without line breaks the column is a rough guide at best; bytes will do, and cost nothing.
        let characters = if before.len() > LONG_LINE {
            before.len()
        } else {
            String::from_utf8_lossy(before).chars().count()
        };
        Place { line, column: 1 + characters }
    }
}

const LONG_LINE: usize = 1_000;

/// The offset of `part`, which must be a slice of `text`.
pub fn offset_of(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// The offset of the first bracket that is nested deeper than `limit`.
pub fn too_deep(text: &str, limit: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > limit {
                    return Some(at);
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one() {
        let text = "{\n  \"ä\": 1\n}";
        assert_eq!(Lines::new(text).place(0), Place { line: 1, column: 1 });
        let one = text.find('1').unwrap();
        assert_eq!(Lines::new(text).place(one), Place { line: 2, column: 8 });
        assert_eq!(offset_of(text, &text[one..]), one);
    }

    #[test]
    fn depth_ignores_strings() {
        assert_eq!(too_deep("[[[", 3), None);
        assert_eq!(too_deep("[[[[", 3), Some(3));
        assert_eq!(too_deep(r#"["[[[\"[", []]"#, 2), None);
    }
}
