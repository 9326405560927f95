//! A secret: a few named values that cannot be printed, and know how to hide themselves in what others say.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{ErrorCode, NodeError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

/// Fields that say what a credential is for, and are no secret.
const OPEN_FIELDS: [&str; 9] =
    ["type", "host", "port", "username", "user", "field", "key", "token_type", "name"];
/// Shorter values occur by chance everywhere; hiding them would only garble what a server says.
const SHORTEST_HIDDEN: usize = 4;
const HIDDEN: &str = "███";
const IN_A_URL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

#[derive(Clone, Default)]
pub struct Secret {
    kind: Option<String>,
    open: BTreeMap<String, String>,
    values: BTreeMap<String, SecretString>,
    /// Every form in which a value could come back, longest first.
    forms: Vec<SecretString>,
}

impl Secret {
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads an object of texts and numbers; plain text is a token.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fields = match serde_json::from_str::<Value>(text.trim()) {
            Ok(Value::Object(fields)) => fields,
            Ok(Value::String(token)) => [("token".to_owned(), Value::String(token))].into_iter().collect(),
            Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | Err(_) => {
                [("token".to_owned(), Value::String(text.trim().to_owned()))].into_iter().collect()
            }
        };
        let mut secret = Self::default();
        for (name, value) in fields {
            let text = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                Value::Null => continue,
                Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                    return Err(format!("the field {name:?} is neither text nor a number"));
                }
            };
            match name.as_str() {
                "type" => secret.kind = Some(text.to_lowercase()),
                open if OPEN_FIELDS.contains(&open) => drop(secret.open.insert(name, text)),
                _ => drop(secret.values.insert(name, SecretString::from(text))),
            }
        }
        secret.forms = secret.all_forms();
        Ok(secret)
    }

    /// What it is for, where it does not say so itself.
    pub fn of_kind(mut self, kind: Option<&str>) -> Self {
        self.kind = self.kind.or_else(|| kind.map(str::to_lowercase));
        self
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.open.get(name).map(String::as_str)
    }

    pub fn value(&self, name: &str) -> Option<&SecretString> {
        self.values.get(name)
    }

    /// The headers that make an http request one of ours.
    pub fn headers(&self) -> Result<Vec<(String, SecretString)>, NodeError> {
        if self.values.is_empty() {
            return Ok(Vec::new());
        }
        let authorization = |scheme: &str, value: &str| {
            Ok(vec![("Authorization".to_owned(), SecretString::from(format!("{scheme} {value}")))])
        };
        let named = |name: &str, value: &SecretString| Ok(vec![(name.to_owned(), value.clone())]);
        let value = |names: &[&str]| names.iter().find_map(|name| self.value(name));
        let token = value(&["access_token", "token"]);
        let key = value(&["value", "api_key", "token"]);
        match (self.kind.as_deref(), self.text("field").or(self.text("key"))) {
            (Some("basic_auth"), _) | (None, None) if self.value("password").is_some() => {
                authorization("Basic", &self.user_and_password())
            }
            (Some("header" | "api_key") | None, Some(name)) if key.is_some() => {
                key.map_or(Ok(Vec::new()), |key| named(name, key))
            }
            (Some("oauth2"), _) if token.is_some() => {
                let scheme = self.text("token_type").unwrap_or("Bearer");
                token.map_or(Ok(Vec::new()), |token| authorization(scheme, token.expose_secret()))
            }
            (Some("token" | "api_key") | None, _) if token.or(key).is_some() => {
                token.or(key).map_or(Ok(Vec::new()), |token| authorization("Bearer", token.expose_secret()))
            }
            (kind, _) => {
                let kind = kind.unwrap_or("without a type");
                let message = format!("a credential {kind} with these fields does not fit an http request");
                Err(NodeError::new(ErrorCode::CredentialUnusable, message))
            }
        }
    }

    /// The text without any of the values, in whatever form they are in it.
    pub fn hide(&self, text: &str) -> String {
        self.forms.iter().fold(text.to_owned(), |text, form| match text.contains(form.expose_secret()) {
            true => text.replace(form.expose_secret(), HIDDEN),
            false => text,
        })
    }

    pub fn hide_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.forms.is_empty() {
            return bytes;
        }
        match String::from_utf8(bytes) {
            Ok(text) => self.hide(&text).into_bytes(),
            // Bytes that are no text are replaced as they stand.
            Err(error) => self.forms.iter().fold(error.into_bytes(), |bytes, form| {
                replace_bytes(bytes, form.expose_secret().as_bytes())
            }),
        }
    }

    fn user_and_password(&self) -> String {
        let user = self.text("username").or(self.text("user")).unwrap_or_default();
        let password = self.value("password").map(ExposeSecret::expose_secret).unwrap_or_default();
        STANDARD.encode(format!("{user}:{password}"))
    }

    fn all_forms(&self) -> Vec<SecretString> {
        let mut forms: Vec<String> = Vec::new();
        for value in self.values.values().map(ExposeSecret::expose_secret) {
            if value.len() < SHORTEST_HIDDEN {
                continue;
            }
            let quoted = Value::from(value).to_string();
            forms.push(quoted[1..quoted.len() - 1].to_owned());
            forms.push(utf8_percent_encode(value, IN_A_URL).to_string());
            forms.push(STANDARD.encode(value));
            forms.push(value.to_owned());
        }
        if self.value("password").is_some() {
            forms.push(self.user_and_password());
        }
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        forms.into_iter().map(SecretString::from).collect()
    }
}

fn replace_bytes(bytes: Vec<u8>, form: &[u8]) -> Vec<u8> {
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
    use super::*;

    fn headers(text: &str, kind: Option<&str>) -> Result<Vec<(String, String)>, String> {
        let headers = Secret::parse(text).unwrap().of_kind(kind).headers();
        let shown = |headers: Vec<(String, SecretString)>| {
            headers.into_iter().map(|(name, value)| (name, value.expose_secret().to_owned())).collect()
        };
        headers.map(shown).map_err(|error| error.message)
    }

    #[test]
    fn every_type_becomes_a_header() {
        let check = |text: &str, kind: Option<&str>, name: &str, value: &str| {
            assert_eq!(headers(text, kind), Ok(vec![(name.to_owned(), value.to_owned())]), "{text}");
        };
        check(
            r#"{"type": "basic_auth", "username": "u", "password": "p"}"#,
            None,
            "Authorization",
            "Basic dTpw",
        );
        check(r#"{"username": "u", "password": "p"}"#, None, "Authorization", "Basic dTpw");
        check(r#"{"field": "X-Key", "value": "v"}"#, Some("HEADER"), "X-Key", "v");
        check(r#"{"type": "api_key", "key": "X-Key", "value": "v"}"#, None, "X-Key", "v");
        check(r#"{"type": "api_key", "value": "v"}"#, None, "Authorization", "Bearer v");
        check(
            r#"{"type": "oauth2", "access_token": "t", "token_type": "MAC"}"#,
            None,
            "Authorization",
            "MAC t",
        );
        check(r#"{"token": "t"}"#, Some("token"), "Authorization", "Bearer t");
        check("plain-token", None, "Authorization", "Bearer plain-token");
        assert_eq!(Secret::none().headers().unwrap().len(), 0);
        assert!(headers(r#"{"type": "basic_auth", "token": "t"}"#, None).unwrap_err().contains("basic_auth"));
        assert!(Secret::parse(r#"{"token": ["t"]}"#).is_err());
    }

    #[test]
    fn values_are_hidden_in_every_form() {
        let secret = Secret::parse(r#"{"username": "ada", "password": "pa\"ss wörd"}"#).unwrap();
        for form in [
            "pa\"ss wörd",
            "pa\\\"ss wörd",
            "pa%22ss%20w%C3%B6rd",
            &STANDARD.encode("pa\"ss wörd"),
            &STANDARD.encode("ada:pa\"ss wörd"),
        ] {
            assert_eq!(secret.hide(&format!("<{form}>")), "<███>", "{form}");
        }
        assert_eq!(secret.hide("ada"), "ada", "a user name is no secret");
        let bytes = [&[0xff, 0x00], "pa\"ss wörd".as_bytes(), &[0xfe]].concat();
        assert_eq!(secret.hide_bytes(bytes), [&[0xff, 0x00], HIDDEN.as_bytes(), &[0xfe]].concat());
    }
}
