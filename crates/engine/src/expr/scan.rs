//! Finding names, `{{ }}` and `$roots` in text.

/// The longest name at the start of `text`: letters, digits, `_`, `-`.
pub fn name(text: &str) -> Option<&str> {
    let length =
        text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).count();
    (length > 0).then(|| &text[..length])
}

/// The longest field name at the start of `text`: as a name, and `$` as in `$filter.$json`.
pub fn field(text: &str) -> Option<&str> {
    let is_field =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$') || *byte >= 0x80;
    let length = text.bytes().take_while(is_field).count();
    (length > 0).then(|| &text[..length])
}

/// The length of the JavaScript in front of the closing `}}`, where `text` starts after the opening `{{`.
/// Braces and quotes inside the expression are respected.
pub fn expression_length(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if byte == b'\\' => escaped = true,
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None => match byte {
                b'"' | b'\'' | b'`' => quote = Some(byte),
                b'{' => depth += 1,
                b'}' if depth > 0 => depth -= 1,
                b'}' if text.as_bytes().get(at + 1) == Some(&b'}') => return Some(at),
                _ => {}
            },
        }
    }
    None
}

/// A piece of JavaScript: code that is copied as it is, or a `$root` that stands for a value of the context.
#[derive(Debug, PartialEq, Eq)]
pub enum Token<'t> {
    Code(&'t str),
    Root(&'t str),
}

/// Splits JavaScript into code and `$roots`; string literals are code, `${…}` inside a template literal is looked at.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    // One entry per open `${`: the depth of braces inside it.
    let mut templates: Vec<usize> = Vec::new();
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' => at = skip_string(bytes, at),
            b'`' => at = skip_template_text(bytes, at + 1, &mut templates),
            b'{' => {
                templates.iter_mut().last().map(|depth| *depth += 1).unwrap_or_default();
                at += 1;
            }
            b'}' if templates.last() == Some(&0) => {
                templates.pop();
                at = skip_template_text(bytes, at + 1, &mut templates);
            }
            b'}' => {
                templates.iter_mut().last().map(|depth| *depth -= 1).unwrap_or_default();
                at += 1;
            }
            b'$' if !continues_a_word(bytes, at) => match name(&source[at + 1..]) {
                Some(root) => {
                    found.push(Token::Code(&source[copied..at]));
                    found.push(Token::Root(root));
                    at += 1 + root.len();
                    copied = at;
                }
                None => at += 1,
            },
            _ => at += 1,
        }
    }
    found.push(Token::Code(&source[copied..]));
    found
}

fn continues_a_word(bytes: &[u8], at: usize) -> bool {
    at > 0 && matches!(bytes[at - 1], b'.' | b'_' | b'$' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9')
}

fn skip_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != bytes[start] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Skips the text of a template literal up to its end or to a `${`, which is then open.
fn skip_template_text(bytes: &[u8], start: usize, templates: &mut Vec<usize>) -> usize {
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'`' => return at + 1,
            b'\\' => at += 2,
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                templates.push(0);
                return at + 2;
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_expression_respects_braces_and_quotes() {
        assert_eq!(expression_length(" 1 }}"), Some(3));
        assert_eq!(expression_length("{a: {b: 1}}}} rest"), Some(11));
        assert_eq!(expression_length("'}}' + 1 }}"), Some(9));
        assert_eq!(expression_length("'\\'}}' }}"), Some(7));
        assert_eq!(expression_length("never closed }"), None);
    }

    #[test]
    fn roots_are_found_in_code_and_not_in_strings() {
        let roots = |source: &str| -> Vec<String> {
            let is_root = |token: &Token| match token {
                Token::Root(root) => Some((*root).to_owned()),
                Token::Code(_) => None,
            };
            tokens(source).iter().filter_map(is_root).collect()
        };
        assert_eq!(roots("$a.b + '$no' + \"$no\" + $c_d"), ["a", "c_d"]);
        assert_eq!(roots("`$no ${ $yes.map(x => ({ y: `${$deep}` })) } $no` + $end"), ["yes", "deep", "end"]);
        assert_eq!(roots("x.$field + a$b + $"), Vec::<String>::new());
        assert_eq!(roots("$fetch-1.status"), ["fetch-1"]);
    }
}
