//! The RPM, with the same files as the .deb: `rpmbuild` reads the linked libraries from the programs, and the package
//! owns the folders that only it uses. The bundler's own RPM names no library, and contains the time of its making.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use super::deb;
use super::package::{FOLDER, version};
use crate::call::Call;
use crate::tree::Tree;

/// zsh's folders for completions, on Debian and elsewhere.
const ZSH: [&str; 2] = ["usr/share/zsh/vendor-completions", "usr/share/zsh/site-functions"];

/// Packs the files that [`deb::lay_out`] has laid out; returns the package.
pub fn pack(tree: &Tree, root: &Path, epoch: u64) -> Result<PathBuf> {
    let top = tree.target(FOLDER).join("rpm");
    if top.exists() {
        fs::remove_dir_all(&top).with_context(|| format!("could not empty {}", top.display()))?;
    }
    let files: Vec<PathBuf> = deb::files_below(root, root)?.iter().map(|file| rpm_path(file)).collect();
    let spec = top.join("watchbill.spec");
    let version = version(tree)?;
    fs::create_dir_all(&top)
        .and_then(|()| fs::write(&spec, spec_text(&version, root, &files)))
        .with_context(|| format!("could not write {}", spec.display()))?;
    Call::new(tree.root(), "rpmbuild")
        .args(["-bb", "--quiet"])
        .args(defines(&top))
        .args([&spec])
        .env("SOURCE_DATE_EPOCH", epoch.to_string())
        .run()?;
    let architecture = std::env::consts::ARCH;
    let name = format!("watchbill-{version}-1.{architecture}.rpm");
    let (made, package) = (top.join("RPMS").join(architecture).join(&name), tree.target(FOLDER).join(name));
    fs::rename(&made, &package).with_context(|| format!("rpmbuild has made no {}", made.display()))?;
    Ok(package)
}

/// The script that checks the package in an empty root; it prints a line for each check.
const SCRIPT: &str = "tests/package/rpm";

/// Installs the package into an empty root, verifies it there and removes it again (as root). Its libraries are not
/// there, since this machine is no RPM system.
pub fn check(tree: &Tree, package: &Path) -> Result<()> {
    let root = tree.target(FOLDER).join("rpm-root");
    let files = tree.target(FOLDER).join("deb-root");
    let call = Call::new(tree.root(), "sh")
        .args([tree.path(SCRIPT).into_os_string()])
        .args([package, &root, &files]);
    call.run().context("the RPM failed its checks")
}

/// Settings that keep names and times of this machine out of the package, and stop programs of this system that
/// change packed files.
fn defines(top: &Path) -> impl Iterator<Item = String> {
    let all = [
        format!("_topdir {}", top.display()),
        "_buildhost watchbill".to_owned(),
        "use_source_date_epoch_as_buildtime 1".to_owned(),
        "clamp_mtime_to_source_date_epoch 1".to_owned(),
        "_binary_payload w6.xzdio".to_owned(),
        "_build_id_links none".to_owned(),
        "__os_install_post %{nil}".to_owned(),
        "debug_package %{nil}".to_owned(),
    ];
    all.into_iter().flat_map(|define| ["--define".to_owned(), define])
}

fn spec_text(version: &str, root: &Path, files: &[PathBuf]) -> String {
    let (debian, usual) = (ZSH[0], ZSH[1]);
    let folders: String =
        own_folders(files).iter().map(|folder| format!("%dir \"/{}\"\n", folder.display())).collect();
    let files: String = files.iter().map(|file| format!("\"/{}\"\n", file.display())).collect();
    format!(
        "Name: watchbill\nVersion: {version}\nRelease: 1\nSummary: Roster of the coding agents on this machine\n\
         License: MIT OR Apache-2.0\n\n%description\n\
         Shows every session of your coding agents in one small window and in\n\
         the tray: what each one is doing, since when, and which one needs you. The\n\
         command line \"watchbill\" tells the same to scripts and status bars.\n\n\
         Everything stays on the machine: there is no account and no telemetry.\n\n%install\n\
         mkdir -p %{{buildroot}}\ncp -a '{root}/usr' %{{buildroot}}/\n\
         mv %{{buildroot}}/{debian} %{{buildroot}}/{usual}\n\n%files\n\
         %defattr(-,root,root,-)\n{folders}{files}",
        root = root.display()
    )
}

/// The path in the RPM of a file of the .deb.
fn rpm_path(file: &Path) -> PathBuf {
    file.strip_prefix(ZSH[0]).map_or_else(|_| file.to_owned(), |name| Path::new(ZSH[1]).join(name))
}

/// Folders with the program's name in their path: no other package would remove them.
fn own_folders(files: &[PathBuf]) -> BTreeSet<&Path> {
    let is_own =
        |folder: &Path| folder.components().any(|part| part == Component::Normal("watchbill".as_ref()));
    files.iter().flat_map(|file| file.ancestors().skip(1)).filter(|folder| is_own(folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_lists_its_files_and_its_own_folders() {
        let files = [
            "usr/bin/watchbill",
            "usr/share/watchbill/plugin/hooks.json",
            "usr/share/zsh/vendor-completions/_watchbill",
        ];
        let files: Vec<PathBuf> = files.iter().map(|file| rpm_path(Path::new(file))).collect();
        let text = spec_text("1.0", Path::new("/build/root"), &files);
        let (_, listed) = text.split_once("%files\n").unwrap();
        assert_eq!(
            listed.lines().collect::<Vec<_>>(),
            [
                "%defattr(-,root,root,-)",
                "%dir \"/usr/share/watchbill\"",
                "%dir \"/usr/share/watchbill/plugin\"",
                "\"/usr/bin/watchbill\"",
                "\"/usr/share/watchbill/plugin/hooks.json\"",
                "\"/usr/share/zsh/site-functions/_watchbill\"",
            ]
        );
    }
}
