//! Pictures of prompts. Each lies in a file of the session's folder, and its name stands in its place: in the call to the host, the
//! log and the queue. The line for the agent gets the picture when it is written.

use std::fs::File;
use std::io;

use watchbill_agents::driver::Refusal;
use watchbill_core::ids::stable_hash;
use watchbill_protocol::own::command::{OwnCommand, OwnImage};

use crate::folder::{Folder, replace_private};

/// What the name of a picture begins with. Base64 has no such character.
const NAME: char = '@';

/// The command with its pictures in files. The same picture has the same name.
///
/// # Errors
/// When a file cannot be written.
pub fn in_files(folder: &Folder, command: &OwnCommand) -> io::Result<OwnCommand> {
    let mut command = command.clone();
    let OwnCommand::Prompt { images, .. } = &mut command else { return Ok(command) };
    for OwnImage { data, .. } in images {
        let name = format!("{NAME}{:016x}-{}", stable_hash(data.as_bytes()), data.len());
        replace_private(&folder.path().join(&name), data.as_bytes())?;
        *data = name;
    }
    Ok(command)
}

/// Opens the pictures of a command, before anything of it is written to the agent.
///
/// # Errors
/// When one is gone.
pub fn open(folder: &Folder, command: &OwnCommand) -> Result<Vec<(String, File)>, Refusal> {
    let OwnCommand::Prompt { images, .. } = command else { return Ok(Vec::new()) };
    let names = images.iter().map(|image| &image.data).filter(|data| data.starts_with(NAME));
    let open = |name: &String| {
        // A name is of a file in this folder.
        let file = match name.contains('/') {
            true => Err(io::ErrorKind::InvalidInput.into()),
            false => File::open(folder.path().join(name)),
        };
        let gone = |error| Refusal::Gone(format!("a picture of the prompt cannot be read: {error}"));
        Ok((name.clone(), file.map_err(gone)?))
    };
    names.map(open).collect()
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
    #![allow(clippy::unwrap_used, reason = "a folder that cannot be made is a failure")]

    use std::io::Read as _;

    use watchbill_protocol::own::command::PromptWhen;

    use super::*;

    fn prompt(pictures: &[&str]) -> OwnCommand {
        let image = |data: &&str| OwnImage { media: "image/png".to_owned(), data: (*data).to_owned() };
        let images = pictures.iter().map(image).collect();
        OwnCommand::Prompt { id: "1".to_owned(), text: "look".to_owned(), images, when: PromptWhen::Queue }
    }

    #[test]
    fn a_line_gets_its_pictures_back_and_no_name_leads_out_of_the_folder() {
        let data = tempfile::tempdir().unwrap();
        let folder = Folder::at(&data.path().join("a"));
        std::fs::create_dir(folder.path()).unwrap();
        std::fs::write(data.path().join("@b"), "secret").unwrap();
        for pictures in [&["AB+/", "CD==", "AB+/"][..], &[""], &[]] {
            let named = in_files(&folder, &prompt(pictures)).unwrap();
            let line = serde_json::to_string(&named).unwrap();
            let (files, mut whole, mut rest) = (open(&folder, &named).unwrap(), String::new(), &line[..]);
            while let Some((before, mut file, after)) = next(rest, &files) {
                whole.push_str(before);
                io::Seek::rewind(&mut file).unwrap();
                file.read_to_string(&mut whole).unwrap();
                rest = after;
            }
            assert_eq!(whole + rest, serde_json::to_string(&prompt(pictures)).unwrap());
        }
        for name in ["@../@b", "@gone", "@/etc/hostname"] {
            assert!(open(&folder, &prompt(&[name])).is_err(), "{name}");
        }
    }
}
