//! Secrets: a text that may hold one never becomes a memory. It is dropped, not masked.
//!
//! The prefixes are the public formats of the services' tokens, as the rules of gitleaks 8 list them.

/// Prefixes of tokens, and how many characters of a token follow at least.
const PREFIXES: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("npm_", 20),
    ("pypi-", 20),
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxs-", 10),
    ("AIza", 30),
    ("hf_", 20),
    ("dop_v1_", 20),
    ("SG.", 20),
    ("eyJ", 30),
];

/// Endings of names whose value is a secret.
const NAMES: &[&str] =
    &["key", "token", "secret", "password", "passwd", "passphrase", "credential", "credentials", "pwd"];

/// Names of files that hold secrets. A leading or closing `*` stands for anything.
const FILES: &[&str] = &[
    ".env*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.keystore",
    "credentials*",
    "id_rsa*",
    "id_ed25519*",
    ".netrc",
    ".pgpass",
    ".npmrc",
    "*.kdbx",
    "secrets.*",
];

/// Characters of entropy per character, in bits, from which a long value beside such a name is a secret.
const ENTROPY: f64 = 3.0;

/// Whether a text may hold a secret.
pub fn has_secret(text: &str) -> bool {
    text.contains("-----BEGIN ")
        || text.to_ascii_lowercase().contains("authorization:")
        || text.split(|c: char| c.is_whitespace() || "\"'`,;()[]{}<>=".contains(c)).any(is_secret_word)
        || has_named_value(text)
}

fn is_secret_word(word: &str) -> bool {
    let is_token = |rest: &str, least: usize| {
        let len = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "_-./+".contains(*c)).count();
        len >= least
    };
    let known = PREFIXES.iter().any(|(prefix, least)| {
        word.find(prefix).is_some_and(|at| {
            // Not in the middle of a longer name, such as `task-`.
            let before = word[..at].chars().next_back();
            before.is_none_or(|c| !c.is_ascii_alphanumeric()) && is_token(&word[at + prefix.len()..], *least)
        })
    });
    known || has_login(word)
}

/// `scheme://user:password@host`.
fn has_login(word: &str) -> bool {
    let Some((_, rest)) = word.split_once("://") else { return false };
    let Some((login, _)) = rest.split_once('@') else { return false };
    !login.contains('/') && login.split_once(':').is_some_and(|(_, password)| !password.is_empty())
}

/// `NAME=value` or `name: value`, where the name ends as a secret's does.
fn has_named_value(text: &str) -> bool {
    text.match_indices(['=', ':']).any(|(at, sign)| {
        let name = text[..at].trim_end_matches(['"', '\'', ' ', '`']);
        let name: String =
            name.chars().rev().take_while(|c| c.is_ascii_alphanumeric() || "_-".contains(*c)).collect();
        let name: String = name.chars().rev().collect::<String>().to_ascii_lowercase();
        let last = name.rsplit(['_', '-']).next().unwrap_or_default();
        if !NAMES.iter().any(|known| last == *known || name.ends_with(known)) {
            return false;
        }
        let value = text[at + sign.len()..].trim_start_matches(['=', ' ', '"', '\'', '`']);
        let value: String =
            value.chars().take_while(|c| !c.is_whitespace() && !"\"'`,;".contains(*c)).collect();
        let is_reference = value.starts_with('$') || value.starts_with('<') || value.starts_with("env");
        let least = if sign == "=" { 6 } else { 12 };
        !is_reference && value.chars().count() >= least && (sign == "=" || entropy(&value) >= ENTROPY)
    })
}

/// Shannon entropy in bits per character.
fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::<char, u32>::new();
    text.chars().for_each(|c| *counts.entry(c).or_default() += 1);
    let all = f64::from(counts.values().sum::<u32>()).max(1.0);
    counts.values().map(|n| f64::from(*n) / all).map(|p| -p * p.log2()).sum()
}

/// Whether a file holds secrets, by its name.
pub fn is_secret_file(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    FILES.iter().any(|pattern| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(begin)) => name.starts_with(begin),
        (None, None) => name == *pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_a_secret_is_found() {
        for text in [
            "use AKIAIOSFODNN7EXAMPLE for it",
            "token ghp_0123456789abcdefghijklmnopqrstuvwxyz",
            "github_pat_11AAAAAAA0aaaaaaaaaaaaaa_bbbbbbb",
            "export OPENAI=\"sk-proj-abcdef0123456789abcd\"",
            "glpat-abcdefghij0123456789",
            "npm_abcdefghijklmnopqrstuvwxyz0123",
            "xoxb-123456789012-abcdef",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
            "curl -H 'Authorization: Bearer abc'",
            "postgres://app:hunter2@db/app",
            "PGPASSWORD=hunter2x psql",
            "DB_SECRET = 'correcthorse'",
            "api_key: f3Ab90xQ77LmPz01",
        ] {
            assert!(has_secret(text), "{text}");
        }
    }

    #[test]
    fn common_words_are_no_secrets() {
        for text in [
            "no, never ask for the password in the test",
            "run task-runner-for-all-the-things first",
            "the key: always use the fixture",
            "PASSWORD=$DB_PASSWORD is set by the shell",
            "see https://example.test/a:b",
            "monkey=banana",
            "cargo test -p store --test laws",
            "risk-assessment-of-the-release-plan",
        ] {
            let is_monkey = text.starts_with("monkey");
            assert_eq!(has_secret(text), is_monkey, "in doubt more is dropped: {text}");
        }
    }

    #[test]
    fn files_that_hold_secrets_are_known_by_their_names() {
        for path in [
            "/a/.env",
            "/a/.env.local",
            "server.pem",
            "/h/.aws/credentials",
            "/h/.ssh/id_rsa.pub",
            "/a/.netrc",
        ] {
            assert!(is_secret_file(path), "{path}");
        }
        for path in ["/a/environment.rs", "/a/pem.rs", "/a/keys.rs", "/a/src/credential.rs"] {
            assert!(!is_secret_file(path), "{path}");
        }
    }
}
