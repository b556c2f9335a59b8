//! Tests of secrets: what is found, and what is not taken for one.

use proptest::strategy::{Strategy as _, ValueTree as _};

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
        "deploy --token abcd1234",
        "run it with --password correcthorse",
        "tool --db-password=hunter2 --verbose",
        "curl -u a:b https://x.test",
        "curl -sS --user admin:pw https://x.test",
        "mysql -u root -phunter2 app",
        "sshpass -p hunter2 ssh box",
        "use Bearer abc123def456 there",
        "send Basic dXNlcjpwYXNzd29yZA== with it",
        "the header is bearer aBcDeFgHiJkLmNoP",
        "the password is hunter2",
        "the password for staging is correcthorse",
        "das Passwort lautet hunter2",
        "mot de passe : hunter2",
        "whsec_abcdefghijklmnopqrstuvwx012345",
        "ya29.a0AfH6SMBx1234567890abcdef",
        "https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx",
        "https://discord.com/api/webhooks/123456789/abcdefgh",
        "the bot is 123456789:AAF0abcdefghijklmnopqrstuvwxyz01234",
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
        "the password is never stored in the clear",
        "the password is wrong in staging",
        "never pass --password on the command line",
        "the --token flag is gone",
        "use basic authentication and bearer tokens",
        "curl https://x.test:8080/a with -v",
        "the secret is read from the vault",
        "PGPASSWORD=<from the vault> psql",
    ] {
        let is_monkey = text.starts_with("monkey");
        assert_eq!(has_secret(text), is_monkey, "in doubt more is dropped: {text}");
    }
}

#[test]
fn every_rule_is_usable() {
    assert!(RULES.rules.len() > 200 && RULES.words.is_some());
    for rule in &RULES.rules {
        let made = RegexBuilder::new(rule.expression).unicode(false).build();
        assert!(made.is_ok(), "{}: {made:?}", rule.expression);
    }
}

/// Texts that fit a rule of gitleaks: made from its expression, as gitleaks makes its own examples. What a generator cannot
/// make, the ends of words and lines, is replaced.
fn examples(keyword: &str, expression: &str) -> proptest::strategy::BoxedStrategy<String> {
    let plain = expression
        .replace("\\b", "")
        .replace("\\B", "")
        .replace("\\z", "")
        .replace("|$", "|;")
        .replace("(?:^|", "(?: |")
        .replace("(?:$|", "(?: |");
    let keyword = keyword.to_owned();
    let made = proptest::string::bytes_regex(&format!("(?-u){plain}"));
    let made = made.unwrap_or_else(|error| panic!("{expression}: {error}"));
    made.prop_map(move |text| {
        format!("{keyword} {} ", String::from_utf8_lossy(&text).replace(|c: char| !c.is_ascii(), " "))
    })
    .boxed()
}

#[test]
fn what_fits_a_rule_of_gitleaks_is_found() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for line in GITLEAKS.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.splitn(3, '\t').collect();
        let examples = examples(columns[1].split(' ').next().unwrap_or_default(), columns[2]);
        for _ in 0..8 {
            let text = examples.new_tree(&mut runner).unwrap().current();
            assert!(has_secret(&text), "{}: {text:?}", columns[0]);
        }
    }
}

#[test]
fn files_that_hold_secrets_are_known_by_their_names() {
    for path in
        ["/a/.env", "/a/.env.local", "server.pem", "/h/.aws/credentials", "/h/.ssh/id_rsa.pub", "/a/.netrc"]
    {
        assert!(is_secret_file(path), "{path}");
    }
    for path in ["/a/environment.rs", "/a/pem.rs", "/a/keys.rs", "/a/src/credential.rs"] {
        assert!(!is_secret_file(path), "{path}");
    }
}
