//! Hides secrets in what others say: a server may repeat what it was sent, in its own way of writing.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

/// Shorter values occur by chance everywhere; hiding them would only garble what a server says.
const SHORTEST: usize = 4;
const HIDDEN: &str = "███";
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const IN_A_PATH: &AsciiSet = &UNRESERVED.remove(b'/').remove(b'+').remove(b':').remove(b'@').remove(b'=');

/// Every form in which a secret could come back, longest first.
#[derive(Clone, Default)]
pub struct Veil(Vec<SecretString>);

impl Veil {
    pub fn over(secrets: &[String]) -> Self {
        let mut forms: Vec<String> = secrets
            .iter()
            .filter(|secret| secret.len() >= SHORTEST)
            .flat_map(|secret| forms(secret))
            .collect();
        forms.sort_by(|left, right| right.len().cmp(&left.len()).then_with(|| left.cmp(right)));
        forms.dedup();
        Self(forms.into_iter().map(SecretString::from).collect())
    }

    /// The text without any of the secrets.
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, form| match text.contains(form.expose_secret()) {
            true => text.replace(form.expose_secret(), HIDDEN),
            false => text,
        })
    }

    /// A body, whatever it is. JSON has many ways to write a letter, so it is searched as what it means.
    pub fn hide_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.0.is_empty() {
            return bytes;
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let hide = |bytes, form: &SecretString| without(bytes, form.expose_secret().as_bytes());
                return self.0.iter().fold(error.into_bytes(), hide);
            }
        };
        let mut hidden = false;
        match serde_json::from_str(&text) {
            Ok(value) => match self.hide_in(value, &mut hidden) {
                value if hidden => value.to_string().into_bytes(),
                // Nothing was found, so the text stays as it is, digit by digit.
                _ => text.into_bytes(),
            },
            Err(_) => self.hide(&text).into_bytes(),
        }
    }

    fn hide_in(&self, value: Value, hidden: &mut bool) -> Value {
        let mut veiled = |text: String| {
            let veiled = self.hide(&text);
            *hidden |= veiled != text;
            veiled
        };
        match value {
            Value::String(text) => Value::String(veiled(text)),
            Value::Array(items) => items.into_iter().map(|item| self.hide_in(item, hidden)).collect(),
            Value::Object(fields) => {
                let mut shown = Map::new();
                for (name, value) in fields {
                    let name = veiled(name);
                    shown.insert(name, value);
                }
                Value::Object(
                    shown.into_iter().map(|(name, value)| (name, self.hide_in(value, hidden))).collect(),
                )
            }
            // A number is a secret only where its digits are.
            Value::Number(number) => match veiled(number.to_string()) {
                digits if digits == number.to_string() => Value::Number(number),
                digits => Value::String(digits),
            },
            Value::Null | Value::Bool(_) => value,
        }
    }
}

fn forms(secret: &str) -> Vec<String> {
    let quoted = Value::from(secret).to_string();
    let mut forms = vec![secret.to_owned(), quoted[1..quoted.len() - 1].to_owned()];
    for set in [UNRESERVED, IN_A_PATH] {
        let encoded = utf8_percent_encode(secret, set).to_string();
        forms.push(encoded.replace("%20", "+"));
        forms.push(lower_escapes(&encoded));
        forms.push(encoded);
    }
    forms.push(STANDARD_NO_PAD.encode(secret));
    forms.push(URL_SAFE_NO_PAD.encode(secret));
    forms.extend((0..3).flat_map(|before| inside_base64(secret, before)));
    forms
}

/// `%2F` as `%2f`.
fn lower_escapes(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (digits, rest) = part.split_at(part.len().min(2));
        format!("{text}%{}{rest}", digits.to_lowercase())
    })
}

/// What base64 makes of the secret when other bytes stand before and behind it: the letters that depend on it alone.
fn inside_base64(secret: &str, before: usize) -> [String; 2] {
    let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(secret.bytes()).collect();
    let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)].map(|text| text[first..last].to_owned())
}

fn without(bytes: Vec<u8>, form: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some(at) = rest.windows(form.len()).position(|window| window == form) {
        kept.extend_from_slice(&rest[..at]);
        kept.extend_from_slice(HIDDEN.as_bytes());
        rest = &rest[at + form.len()..];
    }
    kept.extend_from_slice(rest);
    kept
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const SECRET: &str = "pa\"ss wörd/K+7";

    fn veil() -> Veil {
        Veil::over(&[SECRET.to_owned()])
    }

    #[test]
    fn secrets_are_hidden_in_every_form() {
        for form in [
            "pa\"ss wörd/K+7",
            "pa\\\"ss wörd/K+7",
            "pa%22ss%20w%C3%B6rd%2FK%2B7",
            "pa%22ss%20w%c3%b6rd%2fk%2b7".replace("%2fk", "%2fK").as_str(),
            "pa%22ss+w%C3%B6rd%2FK%2B7",
            "pa%22ss%20w%C3%B6rd/K+7",
            STANDARD.encode(SECRET).trim_end_matches('='),
        ] {
            assert_eq!(veil().hide(&format!("<{form}>")), "<███>", "{form}");
        }
        assert_eq!(Veil::over(&["abc".to_owned()]).hide("abcdef"), "abcdef", "three letters are everywhere");
    }

    #[test]
    fn secrets_are_hidden_inside_longer_base64() {
        for around in ["Bearer ", "ada:", "x", ""] {
            let encoded = STANDARD.encode(format!("{around}{SECRET} and more"));
            let shown = veil().hide(&encoded);
            assert!(shown.contains(HIDDEN), "{around:?}: {shown}");
            assert!(shown.len() < encoded.len(), "{around:?}: most of it is gone: {shown}");
        }
    }

    #[test]
    fn json_is_searched_as_what_it_means() {
        let body = r#"{"a": "pa\u0022ss w\u00f6rd\/K\u002B7", "pa\"ss wörd/K+7": [1]}"#;
        let shown = String::from_utf8(veil().hide_bytes(body.into())).unwrap();
        assert_eq!(shown, r#"{"a":"███","███":[1]}"#);
        let untouched = r#"{"id": 12345678901234567890123, "x": 1.0}"#;
        assert_eq!(veil().hide_bytes(untouched.into()), untouched.as_bytes());
        let numbers = Veil::over(&["987654321".to_owned()]);
        assert_eq!(numbers.hide_bytes(b"[987654321]".to_vec()), "[\"███\"]".as_bytes());
    }

    #[test]
    fn bytes_that_are_no_text_are_searched_too() {
        let bytes = [&[0xff, 0x00], SECRET.as_bytes(), &[0xfe]].concat();
        assert_eq!(veil().hide_bytes(bytes), [&[0xff, 0x00], HIDDEN.as_bytes(), &[0xfe]].concat());
    }
}
