//! Embeds the icon, the version and the manifest into the Windows program.

#![forbid(unsafe_code)]

/// Asks Windows for version 6 of the common controls. The program links dialogs that exist only there; without it, the
/// program does not start.
const MANIFEST: &str = r#"<assembly xmlns="urn:schemas-microsoft-com:asm.v1" manifestVersion="1.0">
  <dependency>
    <dependentAssembly>
      <assemblyIdentity type="win32" name="Microsoft.Windows.Common-Controls" version="6.0.0.0"
        processorArchitecture="*" publicKeyToken="6595b64144ccf1df" language="*"/>
    </dependentAssembly>
  </dependency>
</assembly>"#;

/// Path of the icon.
const ICON: &str = "src-tauri/icons/icon.ico";

fn main() {
    println!("cargo::rerun-if-changed={ICON}");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("windows") {
        return;
    }
    let mut resource = tauri_winres::WindowsResource::new();
    resource.set("ProductName", "Watchbill").set("FileDescription", "Watchbill");
    // Tauri loads the icon of its windows by this resource number.
    resource.set_icon_with_id(ICON, "32512").set_manifest(MANIFEST);
    if let Err(error) = resource.compile() {
        println!("cargo::error=the program's icon and manifest: {error}");
    }
}
