//! Layouts as Go writes them: the moment `Mon Jan 2 15:04:05 2006` in the form that is wanted.

/// The pieces of a layout and what they are with percent signs. Of two that begin alike the longer stands first.
const PIECES: [(&str, &str); 33] = [
    ("January", "%B"),
    ("Jan", "%b"),
    ("Monday", "%A"),
    ("Mon", "%a"),
    ("MST", "%Z"),
    ("2006", "%Y"),
    ("_2006", "_%Y"),
    ("_2", "%e"),
    ("002", "%j"),
    ("01", "%m"),
    ("02", "%d"),
    ("03", "%I"),
    ("04", "%M"),
    ("05", "%S"),
    ("06", "%y"),
    ("15", "%H"),
    ("PM", "%p"),
    ("pm", "%P"),
    ("Z07:00", UTC_OR_COLON),
    ("Z0700", UTC_OR_PLAIN),
    ("-07:00", "%:z"),
    ("-0700", "%z"),
    (".000000000", "%.9f"),
    (".000000", "%.6f"),
    (".000", "%.3f"),
    (".999999999", "%.f"),
    (".999999", "%.f"),
    (".999", "%.f"),
    ("1", "%-m"),
    ("2", "%-d"),
    ("3", "%-I"),
    ("4", "%-M"),
    ("5", "%-S"),
];

const UTC_OR_COLON: &str = "Z%:z";
const UTC_OR_PLAIN: &str = "Z%z";

/// The layout with percent signs. One that has such signs already is left as it is.
pub fn percent_signs(layout: &str, is_utc: bool) -> String {
    if layout.contains('%') {
        return layout.to_owned();
    }
    let mut written = String::new();
    let mut rest = layout;
    while let Some(first) = rest.chars().next() {
        let piece = PIECES.into_iter().find(|(piece, _)| begins_with(rest, piece));
        match piece {
            Some((piece, percent)) => {
                written.push_str(match (percent, is_utc) {
                    (UTC_OR_COLON | UTC_OR_PLAIN, true) => "Z",
                    (UTC_OR_COLON | UTC_OR_PLAIN, false) => &percent[1..],
                    (percent, _) => percent,
                });
                rest = &rest[piece.len()..];
            }
            None => {
                written.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    written
}

/// `Jan` and `Mon` stand for themselves inside a longer word, such as `Month`.
fn begins_with(text: &str, piece: &str) -> bool {
    let inside_a_word = |rest: &str| rest.starts_with(|next: char| next.is_ascii_lowercase());
    text.strip_prefix(piece).is_some_and(|rest| !(matches!(piece, "Jan" | "Mon") && inside_a_word(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_of_go_are_understood() {
        for (layout, expected) in [
            ("2006-01-02", "%Y-%m-%d"),
            ("2006-01-02T15:04:05Z07:00", "%Y-%m-%dT%H:%M:%SZ"),
            ("02.01.06 15:04", "%d.%m.%y %H:%M"),
            ("Monday, January 2, 2006", "%A, %B %-d, %Y"),
            ("Mon Jan _2 15:04:05 2006", "%a %b %e %H:%M:%S %Y"),
            ("3:04PM", "%-I:%M%p"),
            ("15:04:05.000 -0700 MST", "%H:%M:%S%.3f %z %Z"),
            ("1/2/06 5s", "%-m/%-d/%y %-Ss"),
            ("Month", "Month"),
            ("%d.%m.%Y", "%d.%m.%Y"),
            ("", ""),
        ] {
            assert_eq!(percent_signs(layout, true), expected, "{layout}");
        }
        assert_eq!(percent_signs("15:04Z07:00", false), "%H:%M%:z");
        assert_eq!(percent_signs("15:04Z0700", false), "%H:%M%z");
    }
}
