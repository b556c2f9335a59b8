//! `cargo xtask dist`: the packages. First the programs, then the other files, then the bundles of this platform.

mod archive;
mod bundles;
mod clean_root;
mod deb;
mod notices;
mod package;
mod recipes;
mod remap_paths;
mod rpm;
mod staging;
mod windows;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::call::Call;
use crate::node;
use crate::options::DistOptions;
use crate::packages;
use crate::steps::Need;
use crate::test;
use crate::tree::Tree;
use package::{Build, FOLDER, sha256};

/// Builds the packages and reports them; with `check`, packs them twice and tries them.
pub fn dist(tree: &Tree, options: &DistOptions) -> Result<()> {
    if let Some(url) = &options.recipes {
        return recipes::write(tree, url);
    }
    let start = Instant::now();
    let mut made = Vec::new();
    if !options.check_only {
        packages::provide(tree, &[Need::Compile, Need::Node, Need::Packages])?;
        test::ui_install(tree)?;
        node::npm(tree).args(["--prefix", "ui", "run", "build"]).run()?;
        let build = Build { profile: if options.debug { "debug" } else { "release" }, epoch: epoch(tree)? };
        programs(tree, options.debug)?;
        println!("== programs: {:.0} s", start.elapsed().as_secs_f64());
        staging::stage(tree, &build)?;
        made = bundles::make(tree, &options.bundles, &build)?;
        archive::write_sums(tree, &made)?;
        report(&made)?;
        if options.check {
            pack_again(tree, options, &build, &made)?;
        }
    }
    if options.check || options.check_only {
        packages::provide(tree, &[Need::Packages, Need::CleanRoot])?;
        // Only the packages of this run; older ones in the folder belong to another tree.
        let packages = if options.check_only { existing_packages(tree)? } else { made };
        if let Some(rpm) = of_kind(&packages, "rpm") {
            rpm::check(tree, rpm)?;
        }
        if let Some(zip) = of_kind(&packages, "zip") {
            windows::check(tree, zip, if options.debug { "debug" } else { "release" })?;
        }
        match of_kind(&packages, "deb") {
            Some(deb) => clean_root::check(tree, deb)?,
            None if options.check_only => {
                bail!("there is no .deb in {}; run `cargo xtask dist` first", tree.target(FOLDER).display())
            }
            None => println!("NOT TRIED on a clean system: no .deb was made"),
        }
    }
    println!("== all: {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// The same programs, packed again, must give the same bytes.
fn pack_again(tree: &Tree, options: &DistOptions, build: &Build, made: &[PathBuf]) -> Result<()> {
    let before: Vec<Option<String>> = made.iter().map(|path| sha256(path)).collect();
    staging::stage(tree, build)?;
    for (path, before) in bundles::make(tree, &options.bundles, build)?.iter().zip(before) {
        if before.is_none() || sha256(path) != before {
            bail!("{} differs when it is packed a second time", path.display());
        }
    }
    println!("ok   packed a second time: the same bytes");
    Ok(())
}

/// All programs, in one call of cargo, so that shared crates are built once.
fn programs(tree: &Tree, debug: bool) -> Result<()> {
    let call = Call::new(tree.root(), "cargo").args(["build", "--locked"]);
    if debug {
        // The same selection as for the tests, so that little is built twice.
        return call.args(["--workspace", "--bins"]).run();
    }
    call.args(["--release", "--package", "watchbill", "--package", "watchbill-host"])
        .args(["--package", "watchbill-model-client", "--package", "watchbill-desktop"])
        .args(["--features", "watchbill-desktop/packaged"])
        .env(remap_paths::VARIABLE, remap_paths::flags(tree)?)
        .run()
}

/// The time of everything in a package: that of the commit, so that the same tree gives the same bytes. Seconds since
/// 1970; `SOURCE_DATE_EPOCH` wins (reproducible-builds.org).
fn epoch(tree: &Tree) -> Result<u64> {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok();
    let text = given.or_else(|| {
        Call::new(tree.root(), "git")
            .args(["-c", "safe.directory=*", "log", "-1", "--format=%ct"])
            .quiet_output()
    });
    let text = text.context("there is no commit to take the time from; set SOURCE_DATE_EPOCH")?;
    text.trim().parse().with_context(|| format!("`{}` is no time in seconds since 1970", text.trim()))
}

/// The package of this kind.
fn of_kind<'a>(packages: &'a [PathBuf], kind: &str) -> Option<&'a Path> {
    packages.iter().find(|path| path.extension().is_some_and(|e| e == kind)).map(PathBuf::as_path)
}

/// Every file of an earlier run, the newest first.
fn existing_packages(tree: &Tree) -> Result<Vec<PathBuf>> {
    let folder = tree.target(FOLDER);
    let entries = std::fs::read_dir(&folder)
        .with_context(|| format!("there is no {}; run `cargo xtask dist` first", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort_by_key(|path| Reverse(std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()));
    Ok(files)
}

/// Name, size and checksum of each package.
fn report(made: &[PathBuf]) -> Result<()> {
    if made.is_empty() {
        bail!("no package was made");
    }
    println!();
    for path in made {
        let size =
            std::fs::metadata(path).with_context(|| format!("could not find {}", path.display()))?.len();
        println!(
            "{}\n  {size} bytes, sha256 {}",
            path.display(),
            sha256(path).unwrap_or_else(|| "unknown".to_owned())
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_package_of_a_kind_is_found_and_no_other_kind() {
        let target = tempfile::tempdir().unwrap();
        let tree = Tree::building_into(target.path());
        assert!(format!("{:#}", existing_packages(&tree).unwrap_err()).contains("cargo xtask dist"));
        let folder = tree.target(FOLDER);
        std::fs::create_dir(&folder).unwrap();
        for (name, age) in [("old.deb", 2), ("new.deb", 1), ("other.rpm", 0)] {
            let file = std::fs::File::create(folder.join(name)).unwrap();
            let day = std::time::Duration::from_secs(24 * 3600);
            file.set_modified(std::time::SystemTime::now() - day * age).unwrap();
        }
        let packages = existing_packages(&tree).unwrap();
        assert_eq!(of_kind(&packages, "deb"), Some(&*folder.join("new.deb")));
        assert_eq!(of_kind(&packages, "AppImage"), None);
    }

    #[test]
    fn the_packages_have_the_version_of_the_crates() {
        assert_eq!(package::version(&Tree::find().unwrap()).unwrap(), env!("CARGO_PKG_VERSION"));
    }
}
