//! A simulated launcher: it records the number that a program wants on its icon.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use futures_util::StreamExt;
use zbus::message::Type;
use zbus::zvariant::OwnedValue;
use zbus::{MatchRule, MessageStream, connection};

use crate::Desktop;

/// The last update of a program's icon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The desktop entry of the icon.
    pub entry: String,
    /// The number.
    pub count: i64,
    /// Whether the number is shown.
    pub visible: bool,
}

/// A launcher. It listens for as long as the test runs.
pub struct Launcher {
    count_state: Arc<Mutex<Option<Count>>>,
}

impl Launcher {
    /// Listens for launcher updates on the desktop's bus.
    ///
    /// # Errors
    /// When the desktop has no bus.
    pub async fn start(desktop: &Desktop) -> Result<Self> {
        let connection = connection::Builder::address(desktop.bus()?)?.build().await?;
        let rule = MatchRule::builder()
            .msg_type(Type::Signal)
            .interface("com.canonical.Unity.LauncherEntry")?
            .member("Update")?
            .build();
        let mut signals = MessageStream::for_match_rule(rule, &connection, None).await?;
        let count_state = Arc::new(Mutex::default());
        let noted = Arc::clone(&count_state);
        tokio::spawn(async move {
            while let Some(Ok(signal)) = signals.next().await {
                let body = signal.body();
                let Ok((entry, properties)) = body.deserialize::<(String, HashMap<String, OwnedValue>)>()
                else {
                    continue;
                };
                let count = properties.get("count").and_then(|value| i64::try_from(value).ok()).unwrap_or(-1);
                let visible = properties.get("count-visible").and_then(|value| bool::try_from(value).ok());
                let visible = visible.unwrap_or(false);
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(Count { entry, count, visible });
            }
        });
        Ok(Self { count_state })
    }

    /// The last update.
    pub fn count(&self) -> Option<Count> {
        self.count_state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
