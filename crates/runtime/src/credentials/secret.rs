//! A secret: a few named values that cannot be printed, and know how to hide themselves in what others say.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use protocol::{ErrorCode, NodeError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::Veil;

/// Fields that say what a credential is for, and are no secret.
const OPEN_FIELDS: [&str; 9] =
    ["type", "host", "port", "username", "user", "field", "key", "token_type", "name"];

#[derive(Clone, Default)]
pub struct Secret {
    kind: Option<String>,
    open: BTreeMap<String, String>,
    values: BTreeMap<String, SecretString>,
    veil: Veil,
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
        let mut hidden: Vec<String> =
            secret.values.values().map(|value| value.expose_secret().to_owned()).collect();
        if secret.value("password").is_some() {
            hidden.push(secret.user_and_password());
        }
        secret.veil = Veil::over(&hidden);
        Ok(secret)
    }

    fn is_none(&self) -> bool {
        self.kind.is_none() && self.open.is_empty() && self.values.is_empty()
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
        if self.is_none() {
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

    /// Hides the values in what others say.
    pub fn veil(&self) -> &Veil {
        &self.veil
    }

    fn user_and_password(&self) -> String {
        let user = self.text("username").or(self.text("user")).unwrap_or_default();
        let password = self.value("password").map(ExposeSecret::expose_secret).unwrap_or_default();
        STANDARD.encode(format!("{user}:{password}"))
    }
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
        let empty = headers(r#"{"type": "api_key", "key": "X-Key"}"#, None);
        assert!(empty.is_err(), "a credential that signs nothing is no credential: {empty:?}");
        assert!(Secret::parse(r#"{"token": ["t"]}"#).is_err());
    }
}
