//! Display, session bus, window manager and home of one test; where it is wanted, what screen readers need.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::{Picture, program, until};

/// A bus without service files: nothing of the real machine can be started by asking for it.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// How the package at-spi2-core sets up the bus of screen readers, on every system that has it.
const ACCESSIBILITY: &str = "/usr/share/defaults/at-spi2/accessibility.conf";

/// What a desktop has beside a display and a window manager.
#[derive(Clone, Copy)]
struct Furniture {
    bus: bool,
    accessibility: bool,
}

/// A desktop of its own; it ends when it is dropped.
pub struct Desktop {
    display: String,
    bus: Option<String>,
    accessibility: Option<String>,
    /// What each program is told beside the rest.
    more: Vec<(&'static str, String)>,
    // Children before the folder in which they work: fields are dropped in this order.
    _accessibility: Option<Child>,
    _window_manager: Child,
    _bus: Option<Child>,
    _display: Child,
    home: TempDir,
}

impl Desktop {
    /// Starts a desktop with a session bus and without a tray.
    ///
    /// # Errors
    /// When a program is missing or does not start.
    pub async fn start() -> Result<Self> {
        Self::furnished(Furniture { bus: true, accessibility: false }).await
    }

    /// Starts a desktop on which there is no session bus at all.
    ///
    /// # Errors
    /// When a program is missing or does not start.
    pub async fn start_without_bus() -> Result<Self> {
        Self::furnished(Furniture { bus: false, accessibility: false }).await
    }

    /// Starts a desktop whose programs tell a [`ScreenReader`](crate::ScreenReader) of their windows.
    ///
    /// # Errors
    /// When a program is missing or does not start.
    pub async fn with_accessibility() -> Result<Self> {
        Self::furnished(Furniture { bus: true, accessibility: true }).await
    }

    async fn furnished(wanted: Furniture) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("watchbill-desktop-").tempdir()?;
        let run = home.path().join("run");
        std::fs::create_dir(&run)?;
        let mut x = Command::new("Xvfb");
        x.args(["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset"]);
        let (display_server, number) = program::start_and_read_line(&mut x).await?;
        let display = format!(":{number}");
        let (bus_daemon, bus) = if wanted.bus {
            let config = home.path().join("bus.conf");
            std::fs::write(&config, BUS)?;
            let mut daemon = Command::new("dbus-daemon");
            daemon.arg(format!("--config-file={}", config.display()));
            daemon.args(["--nofork", "--nopidfile", "--print-address=1"]);
            let (child, address) = program::start_and_read_line(&mut daemon).await?;
            (Some(child), Some(address))
        } else {
            (None, None)
        };
        let base = environment(home.path(), &display, bus.as_deref());
        let mut openbox = Command::new("openbox");
        openbox.envs(base.clone()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // The window manager has windows of its own, which are no business of a screen reader in these tests.
        let window_manager = program::start(openbox.env("NO_AT_BRIDGE", "1"))?;
        let (accessibility_daemon, accessibility) = if wanted.accessibility {
            let (child, address) = accessibility(&run, base).await?;
            (Some(child), Some(address))
        } else {
            (None, None)
        };
        let desktop = Self {
            display,
            bus,
            accessibility,
            more: Vec::new(),
            _accessibility: accessibility_daemon,
            _window_manager: window_manager,
            _bus: bus_daemon,
            _display: display_server,
            home,
        };
        // Without it the first window may get no focus, since nobody hands it out yet.
        until("the window manager", 20, async || desktop.has_window_manager().await.then_some(())).await?;
        Ok(desktop)
    }

    /// Sets a variable for every program that is started from now on.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.more.push((name, value.into()));
    }

    /// The home folder of everything that runs here.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The session bus.
    ///
    /// # Errors
    /// When this desktop has none.
    pub fn bus(&self) -> Result<&str> {
        self.bus.as_deref().context("this desktop has no session bus")
    }

    /// The bus of screen readers.
    ///
    /// # Errors
    /// When this desktop has none.
    pub fn accessibility_bus(&self) -> Result<&str> {
        self.accessibility.as_deref().context("this desktop was started without accessibility")
    }

    /// A program that will run on this desktop, with an environment of its own. It ends when its
    /// child is dropped.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        // Whatever the person has set must not reach what is tested: not even a setting of the agent's.
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("LANG", "C.UTF-8");
        command.envs(environment(self.home(), &self.display, self.bus.as_deref()));
        // Otherwise the library would look for the bus of screen readers, and start one of its own.
        command.env(
            match &self.accessibility {
                Some(_) => "AT_SPI_BUS_ADDRESS",
                None => "NO_AT_BRIDGE",
            },
            self.accessibility.as_deref().unwrap_or("1"),
        );
        command.envs(self.more.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Saves a picture of the whole screen.
    ///
    /// # Errors
    /// When ImageMagick fails.
    pub async fn screenshot(&self, to: &Path) -> Result<()> {
        let output = program::output(self.command("import").args(["-window", "root"]).arg(to)).await?;
        ensure!(output.status.success(), "import: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// What a window shows, without its frame.
    ///
    /// # Errors
    /// When ImageMagick fails, or the window is not there.
    pub async fn picture(&self, id: &str) -> Result<Picture> {
        let file = self.home().join(format!("window-{id}.png"));
        let to = format!("PNG24:{}", file.display());
        let output = program::output(self.command("import").args(["-window", id, &to])).await?;
        ensure!(output.status.success(), "import: {}", String::from_utf8_lossy(&output.stderr));
        Picture::read(&file)
    }

    /// Puts the pointer somewhere on the screen.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn point_at(&self, x: u32, y: u32) -> Result<()> {
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["mousemove", &x.to_string(), &y.to_string()])).await?;
        ensure!(output.status.success(), "xdotool: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// The ids of all visible windows with this title.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn windows(&self, title: &str) -> Result<Vec<String>> {
        let pattern = format!("^{title}$");
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["search", "--onlyvisible", "--name", &pattern])).await?;
        // It exits with 1 when there is none.
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// The title of the window that has the focus.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn focused(&self) -> Result<Option<String>> {
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["getactivewindow", "getwindowname"])).await?;
        let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(output.status.success().then_some(name))
    }

    /// Presses keys one after the other wherever the focus is, by X's names of them: `Down`, `slash`, `ctrl+k`.
    ///
    /// # Errors
    /// When xdotool is missing or knows no such key.
    pub async fn press(&self, keys: &[&str]) -> Result<()> {
        let output =
            program::output(self.command("xdotool").args(["key", "--delay", "40"]).args(keys)).await?;
        ensure!(output.status.success(), "xdotool: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Types a text wherever the focus is.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn write(&self, text: &str) -> Result<()> {
        let output = program::output(self.command("xdotool").args(["type", "--delay", "40", text])).await?;
        ensure!(output.status.success(), "xdotool: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Asks a window to close, as its close button does.
    ///
    /// # Errors
    /// When wmctrl is missing.
    pub async fn close_window(&self, id: &str) -> Result<()> {
        let output = program::output(self.command("wmctrl").args(["-i", "-c", id])).await?;
        ensure!(output.status.success(), "wmctrl: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Gives a window another size, in pixels.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn resize_window(&self, id: &str, width: u32, height: u32) -> Result<()> {
        let (width, height) = (width.to_string(), height.to_string());
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["windowsize", id, &width, &height])).await?;
        ensure!(output.status.success(), "xdotool: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Width and height of a window's content, in pixels.
    ///
    /// # Errors
    /// When xdotool is missing, or the window is.
    pub async fn window_size(&self, id: &str) -> Result<(u32, u32)> {
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["getwindowgeometry", "--shell", id])).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.parse().ok());
        let size = number("WIDTH=").zip(number("HEIGHT="));
        size.with_context(|| format!("the window {id} is not there"))
    }

    async fn has_window_manager(&self) -> bool {
        let mut xdotool = self.command("xdotool");
        // Answers only when a window manager keeps the list of desktops.
        program::output(xdotool.arg("get_desktop")).await.is_ok_and(|output| output.status.success())
    }
}

/// Starts the bus of screen readers, which starts the registry of programs by itself. On a person's desktop the session bus
/// starts at-spi-bus-launcher, and that starts this; when the launcher is killed, the bus stays behind.
async fn accessibility(run: &Path, environment: Vec<(&'static str, String)>) -> Result<(Child, String)> {
    ensure!(
        Path::new(ACCESSIBILITY).is_file(),
        "{ACCESSIBILITY} is missing; on Debian and Ubuntu: apt-get install at-spi2-core"
    );
    let address = format!("unix:path={}", run.join("accessibility").display());
    let mut daemon = Command::new("dbus-daemon");
    // The registry inherits this environment and must meet nothing of the person's.
    daemon.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(environment);
    daemon.env("AT_SPI_BUS_ADDRESS", &address);
    daemon.arg(format!("--config-file={ACCESSIBILITY}")).arg(format!("--address={address}"));
    daemon.args(["--nofork", "--nopidfile", "--print-address=1"]);
    program::start_and_read_line(&mut daemon).await
}

fn environment(home: &Path, display: &str, bus: Option<&str>) -> Vec<(&'static str, String)> {
    let folder = |name: &str| home.join(name).display().to_string();
    // An address that is certainly dead: without one, libraries look in other places for a bus.
    let bus = bus.map_or_else(|| format!("unix:path={}", folder("no-bus")), str::to_owned);
    vec![
        ("DISPLAY", display.to_owned()),
        ("DBUS_SESSION_BUS_ADDRESS", bus),
        ("HOME", PathBuf::from(home).display().to_string()),
        ("XDG_RUNTIME_DIR", folder("run")),
        ("XDG_DATA_HOME", folder("data")),
        ("XDG_CONFIG_HOME", folder("config")),
        ("XDG_CACHE_HOME", folder("cache")),
        ("GDK_BACKEND", "x11".into()),
        // No settings daemon, no graphics card: neither is on this desktop.
        ("GSETTINGS_BACKEND", "memory".into()),
        ("WEBKIT_DISABLE_DMABUF_RENDERER", "1".into()),
    ]
}
