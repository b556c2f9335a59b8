//! Secrets: a text that may hold one never becomes a memory, and no model and no other agent gets it. It is dropped, not masked.
//!
//! The rules of gitleaks know the tokens of some two hundred services. They are data in `secrets/gitleaks.tsv`, because no crate that
//! carries them is widely used, and a newer list is a newer file. The rules here know what gitleaks leaves out as too frequent in
//! files: short tokens, options of commands, passwords in sentences. In doubt more is dropped.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

/// The rules of gitleaks.
const GITLEAKS: &str = include_str!("secrets/gitleaks.tsv");

/// Further rules: a text that has one of these words is compared with the expression.
const FURTHER: &[(&[&str], &str)] = &[
    (
        &["akia", "asia", "glpat-", "sk-", "whsec_"],
        r"(?:^|[^A-Za-z0-9])(?:AKIA|ASIA|glpat-|sk-|whsec_)[\w./+-]{16}",
    ),
    (
        &[
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "npm_",
            "pypi-",
            "hf_",
            "dop_v1_",
            "sg.",
            "ya29.",
        ],
        r"(?:^|[^A-Za-z0-9])(?:gh[pousr]_|github_pat_|npm_|pypi-|hf_|dop_v1_|SG\.|ya29\.)[\w./+-]{20}",
    ),
    (
        &["sk_", "rk_", "xox", "xapp-"],
        r"(?:^|[^A-Za-z0-9])(?:[sr]k_(?:live|test)_|xox[a-z]-|xapp-)[\w./+-]{10}",
    ),
    (&["aiza", "eyj"], r"(?:^|[^A-Za-z0-9])(?:AIza|eyJ)[\w./+-]{30}"),
    // A bot's token of Telegram, without its name.
    (&[":aa"], r"\b\d{6,12}:AA[\w-]{30}"),
    (
        &["hooks.slack", "webhook"],
        r"(?i)hooks\.slack\.com/\S{8}|discord(?:app)?\.com/api/webhooks/\S{8}|\boffice(?:365)?\.com/webhook\S{8}",
    ),
    (&["-----begin"], r"(?i)-----BEGIN "),
    (&["authorization"], r"(?i)authorization:"),
    // `Bearer V` and `Basic V`: a value has a digit, a sign, or upper case after lower case.
    (
        &["bearer", "basic"],
        r"\b(?i:bearer|basic)\s+['\x22`]?(?:[A-Za-z+/=_.~-]*[0-9+/=_~][\w+/=.~-]*|[A-Za-z]*[a-z][A-Z][A-Za-z]*)(?:\b|$|['\x22`\s])",
    ),
    // `--token V`, `--db-password=V`.
    (
        &["token", "pass", "secret", "key", "credential", "pwd", "auth"],
        r"(?i)(?:^|\s)--?[\w-]*(?:token|password|passwd|passphrase|secret|(?:api|access|private|secret)-?key|credentials?|pwd|pass|auth)[= ]\s*['\x22`]?([^\s'\x22`]{3,})",
    ),
    (&["sshpass", "mysql", "mariadb"], r"(?i)\b(?:sshpass|mysql\w*|mariadb\S*)\s(?:.*\s)?-p\s?([^\s-]\S+)"),
    (&["redis-cli"], r"(?i)\bredis-cli\b.*\s-a\s+(\S+)"),
    // `curl -u a:b`.
    (
        &["curl", "wget", "http", "xh"],
        r"(?i)\b(?:curl|wget|https?|xh)\b.*\s(?:-u|--user|-a|--proxy-user)[= ]?\s*['\x22]?([^\s:'\x22/]*:[^\s'\x22]+)",
    ),
    // `the password for staging is V`.
    (
        &["pass", "secret", "kennwort", "contrase", "pin", "code"],
        r"(?i)\b(?:password|passwd|passphrase|passcode|pass code|secret|kennwort|passwort|mot de passe|contrase\S+a)\b(?:\s+(?:for|of|to|f\S+r|von|de|para)(?:\s+[\w./-]+){1,4}?)?\s*(?:\bis\b|\bwas\b|\bist\b|\blautet\b|\best\b|\bes\b|=|:)\s*:?\s*['\x22`]?([^\s'\x22`]{3,})",
    ),
];

/// What stands behind such words in plain sentences, and is no value.
const NO_VALUES: &[&str] = &[
    "a",
    "all",
    "also",
    "always",
    "an",
    "and",
    "any",
    "argument",
    "asked",
    "at",
    "be",
    "before",
    "by",
    "checked",
    "correct",
    "empty",
    "encrypted",
    "ever",
    "expired",
    "file",
    "flag",
    "flags",
    "for",
    "from",
    "generated",
    "given",
    "hashed",
    "here",
    "hidden",
    "in",
    "incorrect",
    "into",
    "invalid",
    "is",
    "it",
    "kept",
    "known",
    "logged",
    "made",
    "missing",
    "necessary",
    "needed",
    "never",
    "no",
    "none",
    "not",
    "now",
    "null",
    "of",
    "ok",
    "on",
    "only",
    "option",
    "optional",
    "options",
    "or",
    "parameter",
    "passed",
    "printed",
    "read",
    "required",
    "rotated",
    "safe",
    "same",
    "saved",
    "sent",
    "set",
    "shown",
    "so",
    "still",
    "stored",
    "taken",
    "than",
    "that",
    "the",
    "there",
    "this",
    "to",
    "too",
    "true",
    "false",
    "unknown",
    "unset",
    "used",
    "valid",
    "value",
    "when",
    "where",
    "with",
    "wrong",
    "your",
];

/// One rule. Its expression is made when a text first has one of its words.
struct Rule {
    expression: &'static str,
    made: OnceLock<Option<Regex>>,
}

/// All rules, and where their words lead.
struct Rules {
    words: Option<AhoCorasick>,
    /// For each word, its rule.
    of_word: Vec<usize>,
    rules: Vec<Rule>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let (mut words, mut of_word, mut rules) = (Vec::new(), Vec::new(), Vec::new());
    let mut add = |keywords: &mut dyn Iterator<Item = &'static str>, expression| {
        for word in keywords {
            words.push(word);
            of_word.push(rules.len());
        }
        rules.push(Rule { expression, made: OnceLock::new() });
    };
    for (keywords, expression) in FURTHER {
        add(&mut keywords.iter().copied(), expression);
    }
    for line in GITLEAKS.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.splitn(3, '\t').skip(1);
        if let (Some(keywords), Some(expression)) = (columns.next(), columns.next()) {
            add(&mut keywords.split(' '), expression);
        }
    }
    let words =
        AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::Standard).build(words).ok();
    Rules { words, of_word, rules }
});

impl Rule {
    fn finds(&self, text: &str) -> bool {
        // As in gitleaks, `\\w` and the like stand for ASCII.
        let make = || RegexBuilder::new(self.expression).unicode(false).build().ok();
        let Some(regex) = self.made.get_or_init(make) else { return false };
        regex.captures_iter(text.as_bytes()).any(|found| {
            let value = found.iter().skip(1).flatten().next().map_or(&b""[..], |group| group.as_bytes());
            let value = String::from_utf8_lossy(value).to_ascii_lowercase();
            let word = value.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
            !NO_VALUES.contains(&word) && !is_reference(word)
        })
    }
}

/// Whether a value only names the place of a secret.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '<', '{', '%']) || value.starts_with("env") || value.starts_with("\u{2039}")
}

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
    let rules = &*RULES;
    let Some(words) = &rules.words else { return true };
    let mut due: Vec<usize> =
        words.find_overlapping_iter(text).map(|found| rules.of_word[found.pattern().as_usize()]).collect();
    due.sort_unstable();
    due.dedup();
    due.into_iter().any(|rule| rules.rules[rule].finds(text))
        || text.split(|c: char| c.is_whitespace() || "\"'`,;()[]{}<>=".contains(c)).any(has_login)
        || has_named_value(text)
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
        let least = if sign == "=" { 6 } else { 12 };
        !is_reference(&value) && value.chars().count() >= least && (sign == "=" || entropy(&value) >= ENTROPY)
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
mod tests;
