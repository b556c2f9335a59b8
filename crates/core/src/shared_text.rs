//! Deserializes shared texts directly into `Arc<str>`, without the `String` that serde would make first. A start
//! reads some ten thousand of them from stored data.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// Deserializes one text.
///
/// # Errors
/// When the stored value is no text.
pub fn arc_str<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
    struct Text;
    impl Visitor<'_> for Text {
        type Value = Arc<str>;

        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("a text")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Arc<str>, E> {
            Ok(Arc::from(text))
        }
    }
    from.deserialize_str(Text)
}

/// Deserializes a list of texts.
///
/// # Errors
/// When the stored value is no list of texts.
pub fn arc_strs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Arc<str>>, D::Error> {
    struct Text(Arc<str>);
    impl<'de> Deserialize<'de> for Text {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            arc_str(from).map(Self)
        }
    }
    let texts = Vec::<Text>::deserialize(from)?;
    Ok(texts.into_iter().map(|Text(text)| text).collect())
}
