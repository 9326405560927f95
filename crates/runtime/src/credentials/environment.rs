//! Secrets in the environment: `RUNEGLASS_CREDENTIAL_<NAME>`.

use super::{Keeper, KeeperError, Secret};

pub struct Environment;

const PREFIX: &str = "RUNEGLASS_CREDENTIAL_";

impl Environment {
    /// `mail server` is looked for as `MAIL_SERVER`.
    fn variable(name: &str) -> String {
        let plain =
            |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
        format!("{PREFIX}{}", name.chars().map(plain).collect::<String>())
    }
}

impl Keeper for Environment {
    fn name(&self) -> String {
        format!("variables {PREFIX}…")
    }

    fn find(&self, name: &str) -> Result<Option<Secret>, KeeperError> {
        let variable = Self::variable(name);
        let Some(value) = std::env::var_os(&variable) else { return Ok(None) };
        let text =
            value.into_string().map_err(|_| KeeperError::Unusable(format!("{variable} is not text")))?;
        let secret = Secret::parse(&text);
        secret.map(Some).map_err(|why| KeeperError::Unusable(format!("{variable} cannot be used: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_variables() {
        assert_eq!(Environment::variable("my mail-server"), "RUNEGLASS_CREDENTIAL_MY_MAIL_SERVER");
    }
}
