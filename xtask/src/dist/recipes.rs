//! The recipes of package managers, filled with the version, the address and the checksums of a release.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::archive::SUMS;
use super::package::{FOLDER, version};
use crate::tree::Tree;

/// Recipes with gaps: `{version}`, `{url}` and `{sha256 FILE}`.
const TEMPLATES: &str = "dist/recipes";

/// Fills the recipes of a release at `url`, whose checksums are in the folder of packages. A recipe for a file that the
/// release lacks is left out, and named.
pub fn write(tree: &Tree, url: &str) -> Result<()> {
    let folder = tree.target(FOLDER);
    let sums = read(&folder.join(SUMS))?;
    let sums = sums.lines().filter_map(|line| line.split_once("  ")).map(|(sum, file)| (file, sum)).collect();
    let to = folder.join("recipes");
    fs::create_dir_all(&to).with_context(|| format!("could not create {}", to.display()))?;
    for template in fs::read_dir(tree.path(TEMPLATES)).context(TEMPLATES)?.flatten() {
        let name = template.file_name();
        match filled(&read(&template.path())?, &version(tree)?, url.trim_end_matches('/'), &sums) {
            Ok(text) => {
                let path = to.join(&name);
                fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))?;
                println!("{}", path.display());
            }
            Err(missing) => println!("NOT WRITTEN: {}: the release has no {missing}", name.display()),
        }
    }
    Ok(())
}

/// The text without gaps, or the file whose checksum is missing.
fn filled(template: &str, version: &str, url: &str, sums: &HashMap<&str, &str>) -> Result<String, String> {
    let text = template.replace("{version}", version).replace("{url}", url);
    let mut parts = text.split("{sha256 ");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (file, rest) = part.split_once('}').ok_or_else(|| part.to_owned())?;
        filled.push_str(sums.get(file).ok_or_else(|| file.to_owned())?);
        filled.push_str(rest);
    }
    Ok(filled)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("could not read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_and_a_missing_file_is_named() {
        let sums = HashMap::from([("w-1.2.zip", "abc")]);
        let template = "{url}/w-{version}.zip {sha256 w-{version}.zip} ${brace}";
        assert_eq!(filled(template, "1.2", "u", &sums).unwrap(), "u/w-1.2.zip abc ${brace}");
        assert_eq!(filled(template, "1.3", "u", &sums).unwrap_err(), "w-1.3.zip");
    }

    #[test]
    fn every_recipe_can_be_filled_once_all_files_are_there() {
        let tree = Tree::find().unwrap();
        for template in fs::read_dir(tree.path(TEMPLATES)).unwrap().flatten() {
            let text = fs::read_to_string(template.path()).unwrap().replace("{version}", "1.0");
            let files = text.split("{sha256 ").skip(1).map(|part| part.split('}').next().unwrap());
            let sums = files.map(|file| (file, "0")).collect();
            let text = filled(&text, "1.0", "https://example.invalid", &sums).unwrap();
            assert!(text.contains("https://example.invalid/"), "{text}");
        }
    }
}
