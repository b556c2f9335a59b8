//! Tests of the values of settings.

use super::*;
use proptest::prelude::*;

fn toml(text: &str) -> Toml {
    text.parse().unwrap()
}

#[test]
fn spans_and_sizes_are_written_in_the_largest_unit() {
    for (given, shown) in [
        ("90", "90s"),
        ("600", "10m"),
        ("1.5", "1500ms"),
        ("'24 h'", "24h"),
        ("'48h'", "2d"),
        ("'2min'", "2m"),
    ] {
        assert_eq!(ValueKind::Span.of_toml(&toml(given)).unwrap().wire(), SettingValue::Text(shown.into()));
    }
    for (given, shown) in [("5368709120", "5GiB"), ("'5 gb'", "5GB"), ("'1000kb'", "1MB"), ("1025", "1025B")]
    {
        assert_eq!(ValueKind::Size.of_toml(&toml(given)).unwrap().wire(), SettingValue::Text(shown.into()));
    }
}

#[test]
fn a_span_of_more_than_1000_years_is_refused() {
    for given in ["'365000d'", "31536000000"] {
        assert!(ValueKind::Span.of_toml(&toml(given)).is_ok(), "{given}");
    }
    for given in ["'3000000d'", "31536000001", "9e11"] {
        for kind in [ValueKind::Span, ValueKind::SpanOrNever] {
            let refused = kind.of_toml(&toml(given)).unwrap_err();
            assert!(refused.starts_with("expected no more than 1000 years; found "), "{given}: {refused}");
        }
    }
}

#[test]
fn what_is_wrong_is_told_with_what_was_expected() {
    let mut listing = String::new();
    for (kind, given) in [
        (ValueKind::Flag, "'yes'"),
        (ValueKind::Number(1, 19), "20"),
        (ValueKind::Number(0, i64::MAX), "-1"),
        (ValueKind::Span, "'soon'"),
        (ValueKind::Span, "0"),
        (ValueKind::Span, "-1.0"),
        (ValueKind::Span, "9223372036854775807"),
        (ValueKind::Span, "nan"),
        (ValueKind::SpanOrNever, "'always'"),
        (ValueKind::Size, "'5 potatoes'"),
        (ValueKind::OneOf(&["auto", "poll"]), "'sometimes'"),
        (ValueKind::Line, r#""a\nb""#),
        (ValueKind::List, "['a', 1]"),
        (ValueKind::List, "['a', ' ']"),
        (ValueKind::List, "'a'"),
        (ValueKind::SomeOf, "[]"),
        (ValueKind::Patterns, "['secret/**']"),
        (ValueKind::Patterns, "['$HOME/secret']"),
        (ValueKind::Patterns, "['~dev/secret']"),
        (ValueKind::Patterns, "['/home/dev/{secret,other}/**']"),
        (ValueKind::Patterns, "['/home/dev/sec[r]et']"),
        (ValueKind::Patterns, "['~/secret', '*.env']"),
        (ValueKind::Hours, "['22-7']"),
        (ValueKind::Hours, "['25:00-07:00']"),
        (ValueKind::Hours, "['07:00-07:00']"),
        (ValueKind::Flag, "{ a = 1 }"),
        (ValueKind::Flag, "2026-11-20"),
    ] {
        let refused = kind.of_toml(&toml(given)).unwrap_err();
        listing.push_str(&format!("{given}: {refused}\n"));
    }
    insta::assert_snapshot!(listing);
}

#[test]
fn hours_may_pass_midnight_and_end_with_the_day() {
    assert_eq!(hours_text("22:00-07:00").as_deref(), Some("22:00-07:00"));
    assert_eq!(hours_text(" 9:05 - 24:00 ").as_deref(), Some("09:05-24:00"));
    assert_eq!(hours_text("07:00-07:00"), None);
}

proptest! {
    #[test]
    fn a_written_value_is_read_back(ms in 1..=MAX_SPAN.0, bytes in 1..u64::MAX) {
        for (kind, value) in [(ValueKind::Span, Value::Span(Millis(ms))), (ValueKind::Size, Value::Size(bytes))] {
            prop_assert_eq!(kind.of_wire(&value.wire()), Ok(value.clone()));
            prop_assert_eq!(kind.of_toml(&value.toml(None)), Ok(value));
        }
    }

    #[test]
    fn parsing_never_panics(text in ".{0,40}", number in any::<f64>()) {
        for kind in [ValueKind::Span, ValueKind::SpanOrNever, ValueKind::Size, ValueKind::Hours, ValueKind::Line, ValueKind::List] {
            let _ = kind.of_wire(&SettingValue::Text(text.clone()));
            let _ = kind.of_wire(&SettingValue::List(vec![text.clone()]));
            let _ = kind.of_toml(&Toml::from(number));
        }
    }
}
