//! One running program per set of folders. The first owns a name on the session bus; a second start hands its
//! arguments over to it.
//!
//! Name and interface are those of the plugin that other systems use (`tauri-plugin-single-instance` 2). So this
//! program also finds an older version that used the plugin. The plugin is not used here for two reasons:
//! - It looks for the first program after GTK has started its threads. Ending the second start then races with them:
//!   under load it sometimes crashed (a segmentation fault).
//! - If the first program ends between the plugin's two bus calls, the second start ends with an error.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tauri::AppHandle;
use zbus::blocking::{Connection, connection};
use zbus::fdo;

use crate::options::Options;
use crate::start_request::second_start;

const INTERFACE: &str = "org.SingleInstance.DBus";
/// An ending program gives its name up before anything else, so a few tries are enough.
const MAX_TRIES: u32 = 50;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The result of [`claim`].
pub enum InstanceClaim {
    /// The only program, as far as the bus knows.
    First(First),
    /// The first program has taken the arguments over.
    Second,
}

/// The name on the bus, and the calls that come in through it. Tauri's managed state.
#[derive(Default)]
pub struct First {
    door: Door,
    /// `None` without a bus: then another start cannot be noticed.
    held: Option<(Connection, String)>,
}

impl First {
    /// Carries out other starts from now on, and at once those that came earlier.
    pub fn open(&self, app: &AppHandle) {
        let mut state = self.door.lock();
        if let State::NotYet(starts) = std::mem::replace(&mut *state, State::Open(app.clone())) {
            starts.into_iter().for_each(|options| second_start(app, options));
        }
    }

    /// The program ends. The next start becomes the first one.
    pub fn close(&self) {
        *self.door.lock() = State::Closed;
        if let Some((connection, name)) = &self.held
            && let Err(error) = connection.release_name(name.as_str())
        {
            tracing::debug!(%error, "the bus is gone");
        }
    }
}

/// Receives other starts.
#[derive(Clone, Default)]
struct Door(Arc<Mutex<State>>);

enum State {
    /// There is no window yet. The starts wait for it.
    NotYet(Vec<Options>),
    Open(AppHandle),
    Closed,
}

impl Default for State {
    fn default() -> Self {
        Self::NotYet(Vec::new())
    }
}

impl Door {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[zbus::interface(name = "org.SingleInstance.DBus")]
impl Door {
    fn execute_callback(&self, argv: Vec<String>, _cwd: String) -> fdo::Result<()> {
        let options = Options::of_second_start(&argv);
        match &mut *self.lock() {
            State::NotYet(starts) => starts.push(options),
            State::Open(app) => second_start(app, options),
            State::Closed => return Err(fdo::Error::Failed("the program ends".to_owned())),
        }
        Ok(())
    }
}

/// Becomes the first program of this id, or hands the arguments over to the first one.
///
/// Call it before any other library has a thread: a program that ends while such threads run may crash.
pub fn claim(id: &str) -> InstanceClaim {
    let name = format!("{id}.SingleInstance");
    let path = format!("/{}", name.replace('.', "/").replace('-', "_"));
    for _ in 0..MAX_TRIES {
        let door = Door::default();
        match own(&name, &path, door.clone()) {
            Ok(connection) => return InstanceClaim::First(First { door, held: Some((connection, name)) }),
            Err(zbus::Error::NameTaken) => {}
            Err(error) => {
                // Only an info line: without a bus there is often no display either, and that error is shown later.
                tracing::info!(%error, "there is no session bus: another start cannot be noticed");
                return InstanceClaim::First(First::default());
            }
        }
        match hand_over(&name, &path) {
            Ok(()) => return InstanceClaim::Second,
            Err(error) => tracing::debug!(%error, "the running program is about to end"),
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    tracing::warn!("the running program does not answer; this one starts beside it");
    InstanceClaim::First(First::default())
}

fn own(name: &str, path: &str, door: Door) -> zbus::Result<Connection> {
    connection::Builder::session()?
        .name(name)?
        .replace_existing_names(false)
        .allow_name_replacements(false)
        .serve_at(path, door)?
        .build()
}

fn hand_over(name: &str, path: &str) -> zbus::Result<()> {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    let argv: Vec<String> = std::env::args_os().map(text).collect();
    let folder = std::env::current_dir().map(|folder| text(folder.into_os_string())).unwrap_or_default();
    Connection::session()?.call_method(
        Some(name),
        path,
        Some(INTERFACE),
        "ExecuteCallback",
        &(argv, folder),
    )?;
    Ok(())
}
