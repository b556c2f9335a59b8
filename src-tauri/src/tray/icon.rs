//! The tray icon itself. Everything here runs on the main thread.
//!
//! The menu answers nothing: on Linux it is an object on the session bus, and the library does not tell which program clicked.

use tauri::async_runtime;
use tauri::image::Image;
use tauri::menu::{Menu, MenuBuilder, MenuItemBuilder};
use tauri::tray::{MouseButton, MouseButtonState, TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager, Wry};
use watchbill_engine::Millis;
use watchbill_protocol::shell::ShellMessage;
use watchbill_settings::TrayColours;

use super::badge;
use super::face::{Face, Look};
use crate::app_state::AppState;
use crate::window;
use crate::window_messages::WindowMessages;

const ID: &str = "watchbill";
const SHOW: &str = "show";
const MUTE: &str = "mute";
const UNMUTE: &str = "unmute";
const QUIT: &str = "quit";
/// How long "Mute for an hour" mutes.
const MUTE_SPAN: Millis = Millis::from_secs(3_600);
/// Prefix of a session's id in the id of its menu item.
const SESSION: &str = "session:";

/// Builds an icon for an empty roster. On Linux this fails while no program on the bus shows icons.
pub fn build(app: &AppHandle) -> tauri::Result<()> {
    let face = Face::default();
    let builder = TrayIconBuilder::with_id(ID)
        .icon(image(&face))
        .tooltip(&face.counts)
        .menu(&menu(app, &face)?)
        .show_menu_on_left_click(false)
        .on_menu_event(|app, event| chosen(app, event.id().as_ref()))
        .on_tray_icon_event(|icon, event| {
            let click = (MouseButton::Left, MouseButtonState::Up);
            if matches!(event, TrayIconEvent::Click { button, button_state, .. } if (button, button_state) == click) {
                window::toggle(icon.app_handle());
            }
        });
    let builder = builder.title(title(&face));
    builder.build(app)?;
    Ok(())
}

/// Changes the icon from one face to the next.
pub fn redraw(app: &AppHandle, before: &Face, face: &Face) {
    let Some(icon) = app.tray_by_id(ID) else { return };
    let drawn = (|| {
        if (before.look, before.badge, before.colours) != (face.look, face.badge, face.colours) {
            icon.set_icon(Some(image(face)))?;
            icon.set_title(Some(title(face)))?;
        }
        if before.counts != face.counts {
            icon.set_tooltip(Some(&face.counts))?;
        }
        // Tauri's tray back end compares the menus itself and sends the panel only the differences.
        icon.set_menu(Some(menu(app, face)?))
    })();
    if let Err(error) = drawn {
        tracing::warn!(%error, "the tray could not be redrawn");
    }
}

fn menu(app: &AppHandle, face: &Face) -> tauri::Result<Menu<Wry>> {
    let counts = if face.counts.is_empty() { "Watchbill" } else { &face.counts };
    let mut builder = MenuBuilder::new(app)
        .item(&MenuItemBuilder::with_id("counts", escaped(counts)).enabled(false).build(app)?)
        .separator();
    for entry in &face.entries {
        builder = builder.text(format!("{SESSION}{}", entry.session_id), escaped(&entry.label));
    }
    if face.unlisted > 0 {
        builder = builder.text(SHOW, format!("{} more in the window", face.unlisted));
    }
    if !face.entries.is_empty() {
        builder = builder.separator();
    }
    builder = builder.text(SHOW, "Show window");
    builder = match &face.muted {
        None => builder.text(MUTE, "Mute for an hour"),
        Some(until) => builder.text(UNMUTE, format!("Unmute (muted until {until})")),
    };
    builder.text(QUIT, "Quit").build()
}

/// A single ampersand marks the item's access key; two of them show one ampersand.
fn escaped(label: &str) -> String {
    label.replace('&', "&&")
}

fn chosen(app: &AppHandle, id: &str) {
    match id {
        SHOW => window::open(app),
        MUTE => mute(app, Some(MUTE_SPAN)),
        UNMUTE => mute(app, None),
        QUIT => app.exit(0),
        _ => {
            if let Some(session) = id.strip_prefix(SESSION) {
                window::open_on(app, session.to_owned());
            }
        }
    }
}

/// Mutes alerts for this long; without a span, unmutes them.
fn mute(app: &AppHandle, span: Option<Millis>) {
    let app = app.clone();
    async_runtime::spawn(async move {
        let app_state = app.state::<AppState>();
        let muted = match span {
            Some(span) => app_state.mute_for(span).await,
            None => app_state.ask(|engine| engine.mute(None)).await,
        };
        if let Err(error) = muted {
            tracing::warn!(%error, "muting or unmuting alerts reported an error");
            app.state::<WindowMessages>().tell(ShellMessage::Says { text: error.to_string() });
        }
    });
}

/// On macOS the title stands beside the icon in the menu bar. Elsewhere it is the item's name, which screen readers
/// read out.
fn title(face: &Face) -> String {
    match face.badge {
        0 if cfg!(target_os = "macos") => String::new(),
        count if cfg!(target_os = "macos") => count.to_string(),
        0 => "Watchbill".to_owned(),
        1 => "Watchbill: 1 needs you".to_owned(),
        count => format!("Watchbill: {count} need you"),
    }
}

/// The colours of an icon of one colour: dark for a light panel, light for a dark one.
const ONE_DARK: [u8; 3] = [0x24, 0x24, 0x24];
const ONE_LIGHT: [u8; 3] = [0xf4, 0xf4, 0xf4];

fn image(face: &Face) -> Image<'static> {
    let one_colour = match face.colours {
        TrayColours::Own => None,
        TrayColours::Dark => Some(ONE_DARK),
        TrayColours::Light => Some(ONE_LIGHT),
    };
    let plain = match (face.look, one_colour.is_some()) {
        (Look::Nothing, false) => tauri::include_image!("icons/tray-nothing.png"),
        (Look::Working, false) => tauri::include_image!("icons/tray-working.png"),
        (Look::NeedsYou, false) => tauri::include_image!("icons/tray-needs-you.png"),
        (Look::Nothing, true) => tauri::include_image!("icons/tray-nothing-mono.png"),
        (Look::Working, true) => tauri::include_image!("icons/tray-working-mono.png"),
        (Look::NeedsYou, true) => tauri::include_image!("icons/tray-needs-you-mono.png"),
    };
    let mut pixels = plain.rgba().to_vec();
    if let Some(colour) = one_colour {
        for pixel in pixels.chunks_exact_mut(4) {
            pixel[..3].copy_from_slice(&colour);
        }
    }
    badge::draw(&mut pixels, plain.width(), plain.height(), face.badge, &badge::Paint::of(one_colour));
    Image::new_owned(pixels, plain.width(), plain.height())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_icon_of_one_colour_has_no_other_and_each_look_differs() {
        for (colours, only) in [(TrayColours::Dark, ONE_DARK), (TrayColours::Light, ONE_LIGHT)] {
            let mut seen = Vec::new();
            for (look, badge) in
                [(Look::Nothing, 0), (Look::Working, 0), (Look::NeedsYou, 3), (Look::NeedsYou, 4)]
            {
                let image = image(&Face { look, badge, colours, ..Face::default() });
                let painted = image.rgba().chunks(4).filter(|pixel| pixel[3] > 0);
                assert!(painted.clone().all(|pixel| pixel[..3] == only), "{look:?} {colours:?}");
                assert!(painted.count() > 100, "{look:?} {colours:?}: the icon is visible");
                assert!(!seen.contains(&image.rgba().to_vec()), "{look:?} {badge} looks like another");
                seen.push(image.rgba().to_vec());
            }
        }
        let own = image(&Face { look: Look::NeedsYou, badge: 3, ..Face::default() });
        let colours: std::collections::HashSet<&[u8]> =
            own.rgba().chunks(4).map(|pixel| &pixel[..3]).collect();
        assert!(colours.len() > 2, "the own palette has several colours");
    }
}
