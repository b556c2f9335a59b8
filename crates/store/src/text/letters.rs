//! Letters that people type as others: `strasse` finds Straße. The index takes accents off by itself, and keeps these.

use std::borrow::Cow;

/// The letters that stand for a letter without a decomposition in Unicode. Small ones, because the index ignores case.
pub(crate) fn spelled(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' | 'ẞ' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'ł' | 'Ł' => "l",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'þ' | 'Þ' => "th",
        'ħ' | 'Ħ' => "h",
        'ŧ' | 'Ŧ' => "t",
        'ı' => "i",
        _ => return None,
    })
}

/// A text as the index gets it: with such letters spelled out. Most texts have none.
pub(crate) fn spelled_out(text: &str) -> Cow<'_, str> {
    // In UTF-8 they begin with one of these bytes, which are in no other place. `ẞ` alone does not.
    let may_hold = || {
        let bytes = text.as_bytes();
        memchr::memchr3(0xc3, 0xc4, 0xc5, bytes).is_some()
            || memchr::memmem::find(bytes, "ẞ".as_bytes()).is_some()
    };
    if !may_hold() || !text.contains(|c| spelled(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match spelled(c) {
            Some(letters) => out.push_str(letters),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_people_type_as_others_are_spelled_out() {
        for (text, spelled) in [
            ("Straße STRAẞE", "Strasse STRAssE"),
            ("Æsir œuvre smørrebrød", "aesir oeuvre smorrebrod"),
            ("Łódź Đorđe þing ħobża ısı", "lódź dorde thing hobża isi"),
            ("naïve 日本 plain", "naïve 日本 plain"),
        ] {
            assert_eq!(spelled_out(text), spelled);
        }
        assert!(matches!(spelled_out("Ärger, 日本, a"), Cow::Borrowed(_)));
    }
}
