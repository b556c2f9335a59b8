//! Pictures of prompts. Each lies once in a file of the session's folder, and its name stands in its place: in the log, in the
//! queue, and in the line for the agent until it is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use watchbill_agents::driver::Refusal;
use watchbill_platform::files::open_private;
use watchbill_protocol::own::command::{OwnCommand, OwnImage};

use crate::folder::{Folder, unique};

/// What stands before the data of a picture in a line.
const BEFORE: &[u8] = b"\"data\":\"";

/// What the name of a picture begins with. Base64 has no such character.
const NAME: char = '@';

/// Takes the pictures out of a line while it comes.
pub struct Taker<'a> {
    folder: &'a Folder,
    /// The bytes of the line that were looked at.
    seen: usize,
    in_string: bool,
    escaped: bool,
    /// The picture whose data comes.
    open: Option<File>,
    /// The names of those that were taken.
    taken: Vec<String>,
}

impl<'a> Taker<'a> {
    /// Before a line.
    pub fn new(folder: &'a Folder) -> Self {
        Self { folder, seen: 0, in_string: false, escaped: false, open: None, taken: Vec::new() }
    }

    /// Looks at what has come of the line since the last look.
    ///
    /// # Errors
    /// When a picture cannot be written, or is none.
    pub fn look(&mut self, line: &mut Vec<u8>) -> io::Result<()> {
        let new = line.split_off(self.seen);
        let mut rest = &new[..];
        while let Some(byte) = rest.first() {
            if let Some(file) = &mut self.open {
                let is_data = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
                let end = rest.iter().position(|byte| !is_data(byte)).unwrap_or(rest.len());
                file.write_all(&rest[..end])?;
                rest = &rest[end..];
                match rest.first() {
                    Some(b'"') => self.open = None,
                    Some(_) => {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, "a picture is not base64"));
                    }
                    None => {}
                }
                continue;
            }
            line.push(*byte);
            rest = &rest[1..];
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => {
                    self.in_string = !self.in_string;
                    if self.in_string && line.ends_with(BEFORE) {
                        self.begin(line)?;
                    }
                }
                _ => {}
            }
        }
        self.seen = line.len();
        Ok(())
    }

    fn begin(&mut self, line: &mut Vec<u8>) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = unique(&format!("{NAME}{:x}", now.as_nanos()));
        let mut options = OpenOptions::new();
        self.open = Some(open_private(options.write(true).create_new(true), &self.folder.picture(&name))?);
        line.extend_from_slice(name.as_bytes());
        self.taken.push(name);
        Ok(())
    }

    /// Whether the line is what may have them: a prompt, and each name in it is one of these.
    pub fn fits(&self, command: &OwnCommand) -> bool {
        match command {
            OwnCommand::Prompt { images, .. } => names(images).all(|name| self.taken.contains(name)),
            _ => self.taken.is_empty(),
        }
    }

    /// The line was refused: its pictures are removed.
    pub fn drop_files(&self) {
        for name in &self.taken {
            let _ = fs::remove_file(self.folder.picture(name));
        }
    }
}

fn names(images: &[OwnImage]) -> impl Iterator<Item = &String> {
    images.iter().map(|image| &image.data).filter(|data| data.starts_with(NAME))
}

/// Opens the pictures of a command, before anything of it is written to the agent.
///
/// # Errors
/// When one is gone.
pub fn open(folder: &Folder, command: &OwnCommand) -> Result<Vec<(String, File)>, Refusal> {
    let OwnCommand::Prompt { images, .. } = command else { return Ok(Vec::new()) };
    let open = |name: &String| {
        let path = folder.picture(name);
        let gone = |error| {
            Refusal::Gone(format!("a picture of the prompt cannot be read from {}: {error}", path.display()))
        };
        // A command in the log names files of this folder alone.
        let is_name = !name.contains('/');
        let file =
            is_name.then(|| File::open(&path)).unwrap_or_else(|| Err(io::ErrorKind::InvalidInput.into()));
        Ok((name.clone(), file.map_err(gone)?))
    };
    names(images).map(open).collect()
}

/// The first name of a picture in a line: what stands before it, its file, and what follows.
pub fn next<'a>(line: &'a str, pictures: &[(String, File)]) -> Option<(&'a str, File, &'a str)> {
    let places =
        pictures.iter().filter_map(|(name, file)| Some((line.find(&format!("{name}\""))?, name, file)));
    let (at, name, file) = places.min_by_key(|(at, _, _)| *at)?;
    Some((&line[..at], file.try_clone().ok()?, &line[at + name.len()..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn pictures_are_taken_whole_and_nothing_else(
            text in "[ -~ü\"\\\\]{0,40}",
            pictures in proptest::collection::vec("[A-Za-z0-9+/=]{0,50}", 0..4),
            part in 1_usize..20,
        ) {
            let data = tempfile::tempdir().unwrap();
            let folder = Folder::at(data.path());
            let images: Vec<_> = pictures.iter().map(|data| json!({ "media": "image/png", "data": data })).collect();
            let text = format!("{text}\"data\":\"AAAA\"");
            let line = json!({ "do": "prompt", "id": "1", "text": text, "images": images, "when": "queue" }).to_string();
            let (mut taker, mut kept) = (Taker::new(&folder), Vec::new());
            for part in line.as_bytes().chunks(part) {
                kept.extend_from_slice(part);
                taker.look(&mut kept).unwrap();
            }
            let command: OwnCommand = serde_json::from_slice(&kept).unwrap();
            prop_assert!(taker.fits(&command));
            let OwnCommand::Prompt { text: kept, images, .. } = &command else { unreachable!() };
            prop_assert_eq!(kept, &text);
            for (image, data) in images.iter().zip(&pictures) {
                prop_assert_eq!(&fs::read_to_string(folder.picture(&image.data)).unwrap(), data);
            }
            prop_assert_eq!(open(&folder, &command).unwrap().len(), pictures.len());
            taker.drop_files();
            prop_assert_eq!(open(&folder, &command).is_err(), !pictures.is_empty());
        }
    }

    #[test]
    fn no_name_leads_out_of_the_folder_and_what_is_no_picture_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let folder = Folder::at(&data.path().join("a"));
        fs::create_dir(folder.path()).unwrap();
        fs::write(data.path().join("@b"), "").unwrap();
        let prompt = |data: &str| OwnCommand::Prompt {
            id: String::new(),
            text: String::new(),
            images: vec![OwnImage { media: String::new(), data: data.to_owned() }],
            when: watchbill_protocol::own::command::PromptWhen::Queue,
        };
        assert!(open(&folder, &prompt("@/../../@b")).is_err());
        assert!(!Taker::new(&folder).fits(&prompt("@b")), "a name of a reader's own");
        assert!(Taker::new(&folder).fits(&prompt("AAAA")), "a small picture stays in its line");
        let mut taker = Taker::new(&folder);
        assert!(taker.look(&mut b"{\"data\":\"AA\\u0041\"".to_vec()).is_err());
    }
}
