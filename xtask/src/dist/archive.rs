//! The portable archive: the files of the .deb below one folder, for systems without packages of ours, and the
//! checksums that `dist/install.sh` and the recipes of package managers compare.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::package::{FOLDER, sha256, version};
use crate::call::Call;
use crate::tree::Tree;

/// The file with the checksums, as `sha256sum` writes it.
pub const SUMS: &str = "SHA256SUMS";

/// Packs the files that [`super::deb::lay_out`] has laid out, and the sources; returns both archives.
pub fn pack(tree: &Tree, root: &Path, epoch: u64) -> Result<[PathBuf; 2]> {
    let (folder, version) = (tree.target(FOLDER), version(tree)?);
    let name = format!("watchbill-{version}-{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let archive = folder.join(format!("{name}.tar.gz"));
    // Names in order, one owner, and no time of packing, so that the same files give the same bytes.
    Call::new(root, "tar")
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--use-compress-program=gzip -9n"])
        .args([format!("--mtime=@{epoch}"), format!("--transform=s,^usr,{name},"), "--create".into()])
        .args(["--file".as_ref(), archive.as_os_str(), "usr".as_ref()])
        .run()?;
    let source = folder.join(format!("watchbill-{version}-source.tar.gz"));
    Call::new(tree.root(), "git")
        .args(["-c", "safe.directory=*", "archive", "--format=tar.gz", "-9", "HEAD"])
        .args([format!("--prefix=watchbill-{version}/")])
        .args(["--output".as_ref(), source.as_os_str()])
        .run()?;
    Ok([archive, source])
}

/// Writes the checksums of these files beside them.
pub fn write_sums(tree: &Tree, made: &[PathBuf]) -> Result<()> {
    let mut lines = Vec::new();
    for file in made.iter().filter(|file| file.is_file()) {
        let name = file.file_name().context("a package has a name")?.to_string_lossy();
        let sum = sha256(file).with_context(|| format!("no checksum of {}", file.display()))?;
        lines.push(format!("{sum}  {name}\n"));
    }
    let path = tree.target(FOLDER).join(SUMS);
    fs::write(&path, lines.concat()).with_context(|| format!("could not write {}", path.display()))
}
