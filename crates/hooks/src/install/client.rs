//! Finds the installed client and our own program: facts that the installer needs for a settings file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use watchbill_agents::{Agent, HOME, traits};
use watchbill_platform::files::real_path;
use watchbill_platform::program::without_window;

use watchbill_agents::install::Version;

/// How long to wait for the client to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// The version of the client that a shell would start, or that the client's own installer has installed. The client
/// itself prints it.
pub fn client_version(agent: Agent, env: &dyn Fn(&str) -> Option<OsString>, root: &Path) -> Option<Version> {
    let name = traits(agent).program;
    // npm installs a script for Windows.
    let script = cfg!(windows).then(|| format!("{name}.cmd"));
    let names: Vec<String> = std::iter::once(executable(name)).chain(script).collect();
    let path = env("PATH");
    let on_path = path.iter().flat_map(std::env::split_paths);
    let aside = env(HOME).map(|home| PathBuf::from(home).join(".local/bin"));
    let folders = on_path.chain(aside).chain([root.join("local")]);
    let mut programs = folders.flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    let client = programs.find(|program| program.is_file())?;
    ask(&client)
}

/// The path by which other programs should start our program. It is the name on the `PATH`, because that name
/// survives an update, and its target may not.
pub fn own_program(env: &dyn Fn(&str) -> Option<OsString>) -> std::io::Result<PathBuf> {
    let truth = std::env::current_exe()?;
    let same = |named: &PathBuf| real_path(named).is_ok_and(|found| found == truth);
    let path = env("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(executable("watchbill")))
        .find(same);
    Ok(found.unwrap_or(truth))
}

/// The command line program, for another program of ours: the one beside it, else the one on the `PATH`. Returns the
/// name on the `PATH` if it leads to that program.
///
/// # Errors
/// When there is none.
pub fn sender_program(env: &dyn Fn(&str) -> Option<OsString>) -> std::io::Result<PathBuf> {
    let name = executable("watchbill");
    let own = std::env::current_exe()?;
    let beside = own.with_file_name(&name);
    let beside = real_path(&beside).ok().filter(|program| program.is_file());
    let path = env("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .filter(|program| program.is_file())
        .collect();
    let same = |named: &&PathBuf| match &beside {
        Some(beside) => real_path(named).is_ok_and(|found| found == *beside),
        None => true,
    };
    let found = on_path.iter().find(same).cloned().or(beside);
    let missing = || {
        let place = own.parent().unwrap_or(Path::new("")).display().to_string();
        let message = format!("the program {name} is neither in {place} nor on the PATH");
        std::io::Error::new(std::io::ErrorKind::NotFound, message)
    };
    found.ok_or_else(missing)
}

fn ask(client: &Path) -> Option<Version> {
    let mut child = without_window(&mut Command::new(client))
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if begun.elapsed() < VERSION_TIMEOUT => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let output = child.wait_with_output().ok()?;
    Version::parse(&String::from_utf8_lossy(&output.stdout))
}

fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}
