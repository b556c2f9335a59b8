//! Terminals within JetBrains' editors: only the window.

use super::{FocusPlan, Program, Raise, Role, unknown_tab, vscode, window};
use crate::call::ProgramCall;
use crate::place::NestLevel;
use crate::windows::WindowHint;
use crate::world::Platform;

/// IDEA, PyCharm, WebStorm and so on.
pub const PROGRAM: Program = Program {
    kind: "jetbrains",
    name: "the JetBrains editor",
    // Editors started by a script run as `java`, which says nothing. For them the variable decides.
    processes: &[
        "idea",
        "pycharm",
        "webstorm",
        "goland",
        "clion",
        "rustrover",
        "rubymine",
        "phpstorm",
        "rider",
        "datagrip",
        "studio",
    ],
    role: Role::Terminal { plan, shown: unknown_tab },
};

fn plan(place: &NestLevel) -> FocusPlan {
    let raise = match place.platform {
        Platform::MacOs => {
            let application =
                place.above.iter().find(|process| PROGRAM.processes.contains(&process.name.as_str()));
            let name = application.map_or("idea", |process| process.name.as_str());
            Raise::Calls(vec![ProgramCall::new("open", ["-b", bundle(name)])])
        }
        _ => Raise::Window(WindowHint { titles: vscode::folders(place), ..window(place) }),
    };
    let lacking = "Editors do not let another program choose one of their terminals.";
    FocusPlan::of_window(lacking, raise)
}

fn bundle(name: &str) -> &'static str {
    match name {
        "pycharm" => "com.jetbrains.pycharm",
        "webstorm" => "com.jetbrains.WebStorm",
        "goland" => "com.jetbrains.goland",
        "clion" => "com.jetbrains.CLion",
        "rustrover" => "com.jetbrains.rustrover",
        "rubymine" => "com.jetbrains.rubymine",
        "phpstorm" => "com.jetbrains.PhpStorm",
        "rider" => "com.jetbrains.rider",
        "datagrip" => "com.jetbrains.datagrip",
        "studio" => "com.google.android.studio",
        _ => "com.jetbrains.intellij",
    }
}
