//! Autostart: one switch, off until the user turns it on. Packages install no autostart entry.

/// On Linux, an entry in the autostart folder (freedesktop.org's "Desktop Application Autostart Specification" 0.5).
/// Elsewhere Tauri's plugin does it; on Linux that plugin handles neither `XDG_CONFIG_HOME` nor quotes.
#[cfg(target_os = "linux")]
pub use entry::Switch;
#[cfg(not(target_os = "linux"))]
pub use plugin::Switch;

#[cfg(any(target_os = "linux", test))]
mod entry {
    use std::ffi::OsString;
    use std::io;
    use std::path::{Path, PathBuf};

    const NAME: &str = "watchbill-desktop.desktop";

    /// The entry in the autostart folder.
    pub struct Switch {
        file: PathBuf,
        arguments: Vec<String>,
    }

    impl Switch {
        /// The switch for the user with this configuration folder. The desktop will start the program with these
        /// arguments.
        pub fn new(config: &Path, arguments: Vec<String>) -> Self {
            Self { file: config.join("autostart").join(NAME), arguments }
        }

        /// Whether the desktop will start the program.
        ///
        /// # Errors
        /// When the entry exists and cannot be read.
        pub fn is_on(&self) -> io::Result<bool> {
            Ok(self.read()?.is_some_and(|entry| is_enabled(&entry)))
        }

        /// Turns it on or off.
        ///
        /// # Errors
        /// When the folder cannot be written to.
        pub fn set(&self, on: bool) -> io::Result<()> {
            if on { self.write(&own_program()?) } else { self.remove() }
        }

        /// If the entry names a program that does not exist any more, such as one of an older package, it gets the
        /// path of this one. An entry with another existing program stays: the user may have two. An entry without a
        /// path, as in `env NAME=value …`, stays too: the search path finds it, and the user wrote it.
        ///
        /// # Errors
        /// When the entry cannot be read or written.
        pub fn correct(&self) -> io::Result<bool> {
            let Some(entry) = self.read()?.filter(|entry| is_enabled(entry)) else { return Ok(false) };
            let leads_somewhere = |program: &Path| program.is_relative() || program.exists();
            if program_of(&entry).is_some_and(|program| leads_somewhere(Path::new(&program))) {
                return Ok(false);
            }
            self.write(&own_program()?)?;
            Ok(true)
        }

        fn read(&self) -> io::Result<Option<String>> {
            match std::fs::read_to_string(&self.file) {
                Ok(text) => Ok(Some(text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            }
        }

        fn write(&self, program: &Path) -> io::Result<()> {
            let program =
                program.to_str().ok_or_else(|| io::Error::other("the program's path is not UTF-8"))?;
            let folder = self.file.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(folder)?;
            let fresh = folder.join(format!(".{NAME}.{}", std::process::id()));
            let written = std::fs::write(&fresh, text_of(program, &self.arguments))
                .and_then(|()| std::fs::rename(&fresh, &self.file));
            if written.is_err() {
                // This error does not matter beside the first one.
                let _ = std::fs::remove_file(&fresh);
            }
            written
        }

        fn remove(&self) -> io::Result<()> {
            match std::fs::remove_file(&self.file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        }
    }

    /// The program to start: the running one, or the AppImage that it was mounted from.
    fn own_program() -> io::Result<PathBuf> {
        let own = std::env::current_exe()?;
        let image = image_of(&own, std::env::var_os("APPIMAGE"), std::env::var_os("APPDIR"));
        Ok(image.unwrap_or(own))
    }

    /// The AppImage that holds a program. The AppImage runtime sets both variables: the image and its mount folder. A
    /// terminal that is itself an AppImage passes both on to every program in it, so they count only for programs in
    /// that folder.
    fn image_of(own: &Path, image: Option<OsString>, mounted: Option<OsString>) -> Option<PathBuf> {
        let mounted = PathBuf::from(mounted.filter(|folder| !folder.is_empty())?);
        let mounted = mounted.canonicalize().unwrap_or(mounted);
        image.filter(|_| own.starts_with(mounted)).map(PathBuf::from)
    }

    fn text_of(program: &str, arguments: &[String]) -> String {
        let words: Vec<String> =
            std::iter::once(program).chain(arguments.iter().map(String::as_str)).map(quoted).collect();
        format!(
            "[Desktop Entry]\nType=Application\nVersion=1.0\nName=Watchbill\n\
             Comment=The roster of your coding agents\nExec={}\nIcon=watchbill-desktop\nTerminal=false\n\
             StartupNotify=false\nX-GNOME-Autostart-enabled=true\n",
            words.join(" ")
        )
    }

    /// Quotes a word as the Desktop Entry Specification 1.5 requires: first the quotes, then the escapes of every
    /// string, and `%` doubled.
    fn quoted(word: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            return word.to_owned();
        }
        let mut text = String::from("\"");
        for c in word.chars() {
            match c {
                '"' | '`' | '$' => text.extend(["\\\\", c.encode_utf8(&mut [0; 4])]),
                '\\' => text.push_str("\\\\\\\\"),
                '%' => text.push_str("%%"),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                other => text.push(other),
            }
        }
        text + "\""
    }

    /// The program that an entry starts; `None` if it has no such line.
    fn program_of(entry: &str) -> Option<String> {
        let line = value(entry, "Exec")?;
        let mut program = String::new();
        // The string escapes are removed first, so only those of the quotes are left.
        let line = unescaped(line);
        let mut chars = line.chars();
        if line.starts_with('"') {
            chars.next();
            while let Some(c) = chars.next().filter(|c| *c != '"') {
                program.push(if c == '\\' { chars.next()? } else { c });
            }
        } else {
            program.extend(chars.take_while(|c| !c.is_whitespace()));
        }
        Some(program.replace("%%", "%"))
    }

    /// A string of an entry without its escapes.
    fn unescaped(text: &str) -> String {
        let mut plain = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match (c, chars.as_str().chars().next()) {
                ('\\', Some(escaped @ ('s' | 'n' | 't' | 'r' | '\\'))) => {
                    chars.next();
                    plain.push(match escaped {
                        's' => ' ',
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        other => other,
                    });
                }
                (c, _) => plain.push(c),
            }
        }
        plain
    }

    fn is_enabled(entry: &str) -> bool {
        let says = |key, word: &str| value(entry, key).is_some_and(|value| value.eq_ignore_ascii_case(word));
        !says("Hidden", "true") && !says("X-GNOME-Autostart-enabled", "false")
    }

    fn value<'a>(entry: &'a str, key: &str) -> Option<&'a str> {
        entry.lines().find_map(|line| Some(line.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim()))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn switch(arguments: &[&str]) -> (tempfile::TempDir, Switch) {
            let config = tempfile::tempdir().expect("a folder");
            let switch = Switch::new(config.path(), arguments.iter().map(ToString::to_string).collect());
            (config, switch)
        }

        #[test]
        fn autostart_is_off_until_it_is_turned_on() {
            let (_config, switch) = switch(&["--hidden"]);
            assert!(!switch.is_on().expect("readable"));
            switch.set(false).expect("nothing to do");
            switch.set(true).expect("writable");
            assert!(switch.is_on().expect("readable"));
            let own = std::env::current_exe().expect("a program runs");
            let text = std::fs::read_to_string(&switch.file).expect("readable");
            assert!(text.contains(&format!("Exec={} --hidden\n", own.display())), "{text}");
            assert!(!switch.correct().expect("readable"), "the program is there");
            switch.set(false).expect("writable");
            assert!(!switch.is_on().expect("readable"));
        }

        #[test]
        fn an_entry_that_the_desktop_disabled_counts_as_off() {
            let (_config, switch) = switch(&[]);
            for line in ["Hidden=true", "X-GNOME-Autostart-enabled = false"] {
                switch.set(true).expect("writable");
                let text = std::fs::read_to_string(&switch.file).expect("readable");
                let text = text.replace("X-GNOME-Autostart-enabled=true", line);
                std::fs::write(&switch.file, text.replace("Exec=/", "Exec=/gone/")).expect("writable");
                assert!(!switch.is_on().expect("readable"), "{line}");
                assert!(!switch.correct().expect("readable"), "a disabled entry stays unchanged");
            }
        }

        #[test]
        fn an_entry_that_names_a_missing_program_is_corrected() {
            let (config, switch) = switch(&[]);
            switch.set(true).expect("writable");
            let right = std::fs::read_to_string(&switch.file).expect("readable");
            std::fs::write(
                &switch.file,
                "[Desktop Entry]\nExec=\"/opt/old one/watchbill-desktop\" --hidden\n",
            )
            .expect("ours");
            assert!(switch.correct().expect("writable"));
            assert_eq!(std::fs::read_to_string(&switch.file).expect("readable"), right);
            let other = config.path().join("other \"$\\% program");
            std::fs::write(&other, "").expect("ours");
            switch.write(&other).expect("writable");
            assert!(!switch.correct().expect("readable"), "another program that is there stays");
            let by_hand = "[Desktop Entry]\nExec=env GDK_SCALE=2 watchbill-desktop --hidden\n";
            std::fs::write(&switch.file, by_hand).expect("ours");
            assert!(!switch.correct().expect("readable"), "an entry that the user wrote stays");
        }

        #[test]
        fn only_the_appimage_that_holds_the_program_is_started() {
            let image = |own: &str, mounted: &str| {
                image_of(Path::new(own), Some("/home/dev/x.AppImage".into()), Some(mounted.into()))
            };
            let inside = image("/run/.mount_Watchb1/usr/bin/watchbill-desktop", "/run/.mount_Watchb1");
            assert_eq!(inside, Some("/home/dev/x.AppImage".into()));
            let of_a_terminal = "/run/.mount_Termin2";
            assert_eq!(image("/usr/bin/watchbill-desktop", of_a_terminal), None);
            assert_eq!(image("/run/.mount_Termin23/watchbill-desktop", of_a_terminal), None);
            assert_eq!(image("/usr/bin/watchbill-desktop", ""), None);
        }

        #[test]
        fn a_quoted_program_is_read_back() {
            for program in [
                "/usr/bin/watchbill-desktop",
                "/home/dev/my programs/a",
                "/a\"b`c$d\\e%f%%g",
                "/ä b",
                "/two\nlines\tand\r\\n",
            ] {
                let text = text_of(program, &["--hidden".to_owned()]);
                assert_eq!(program_of(&text).as_deref(), Some(program), "{text}");
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod plugin {
    use std::io;

    use tauri::AppHandle;
    use tauri_plugin_autostart::ManagerExt;

    /// The plugin's switch: a launch agent, or a value in the registry. Turning it on writes the program's path anew.
    pub struct Switch {
        app: AppHandle,
    }

    impl Switch {
        /// The desktop will start the program with these arguments.
        ///
        /// # Errors
        /// When the plugin does not find the program's own path.
        pub fn new(app: &AppHandle, arguments: Vec<String>) -> tauri::Result<Self> {
            app.plugin(tauri_plugin_autostart::Builder::new().args(arguments).build())?;
            Ok(Self { app: app.clone() })
        }

        /// Whether the desktop will start the program.
        ///
        /// # Errors
        /// When the system does not answer.
        pub fn is_on(&self) -> io::Result<bool> {
            self.app.autolaunch().is_enabled().map_err(io::Error::other)
        }

        /// Turns it on or off.
        ///
        /// # Errors
        /// When the system refuses.
        pub fn set(&self, on: bool) -> io::Result<()> {
            let switch = self.app.autolaunch();
            if on { switch.enable() } else { switch.disable() }.map_err(io::Error::other)
        }

        /// If it is on, it names this program from now on: an update may have moved it.
        ///
        /// # Errors
        /// When the system refuses.
        pub fn correct(&self) -> io::Result<bool> {
            let on = self.is_on()?;
            if on {
                self.set(true)?;
            }
            Ok(on)
        }
    }
}
