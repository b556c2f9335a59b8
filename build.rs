//! Gives the program its icon, its version and its manifest on Windows.

#![forbid(unsafe_code)]

/// The sixth version of the common controls: without it the program does not start, since the dialogs that it links are there
/// alone.
const MANIFEST: &str = r#"<assembly xmlns="urn:schemas-microsoft-com:asm.v1" manifestVersion="1.0">
  <dependency>
    <dependentAssembly>
      <assemblyIdentity type="win32" name="Microsoft.Windows.Common-Controls" version="6.0.0.0"
        processorArchitecture="*" publicKeyToken="6595b64144ccf1df" language="*"/>
    </dependentAssembly>
  </dependency>
</assembly>"#;

/// Where the icon lies.
const ICON: &str = "src-tauri/icons/icon.ico";

fn main() {
    println!("cargo::rerun-if-changed={ICON}");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("windows") {
        return;
    }
    let mut resource = tauri_winres::WindowsResource::new();
    resource.set("ProductName", "Watchbill").set("FileDescription", "Watchbill");
    // The number under which Tauri looks for the icon of its windows.
    resource.set_icon_with_id(ICON, "32512").set_manifest(MANIFEST);
    if let Err(error) = resource.compile() {
        println!("cargo::error=the program's icon and manifest: {error}");
    }
}
