//! Checks whether notifications could be shown, without showing one.

use watchbill_protocol::doctor::DesktopHealth;
use zbus::fdo::DBusProxy;
use zbus::names::BusName;

use super::message::{NAME, PATH};
use super::session_bus;

/// Whether notifications could be shown now, and by which server. Does not start a server for it.
pub async fn health(tray: bool) -> DesktopHealth {
    let unable = |problem: &str| DesktopHealth {
        tray,
        notifications: false,
        notification_server: None,
        notification_problem: Some(problem.to_owned()),
    };
    let Ok(connection) = session_bus().await else { return unable("there is no session bus") };
    let Ok(bus) = DBusProxy::new(&connection).await else { return unable("the session bus does not answer") };
    let Ok(name) = BusName::try_from(NAME) else { return unable("the session bus does not answer") };
    if !bus.name_has_owner(name).await.unwrap_or(false) {
        let startable = bus.list_activatable_names().await.unwrap_or_default();
        if startable.iter().any(|name| name.as_str() == NAME) {
            let server = Some("started when it is needed".to_owned());
            return DesktopHealth {
                tray,
                notifications: true,
                notification_server: server,
                notification_problem: None,
            };
        }
        return unable("no program of this desktop shows them; install a notification daemon such as dunst");
    }
    let asked = connection.call_method(Some(NAME), PATH, Some(NAME), "GetServerInformation", &()).await;
    let Ok(reply) = asked else { return unable("the program that shows them does not answer") };
    let told = reply.body().deserialize::<(String, String, String, String)>().ok();
    DesktopHealth {
        tray,
        notifications: true,
        notification_server: told.map(|(name, _vendor, version, _specification)| format!("{name} {version}")),
        notification_problem: None,
    }
}
