# Homebrew: the window for macOS. Untried.
cask "watchbill" do
  version "{version}"
  sha256 "{sha256 Watchbill_{version}_aarch64.dmg}"
  url "{url}/Watchbill_{version}_aarch64.dmg"
  name "Watchbill"
  desc "Roster of the coding agents on this machine"
  homepage "{url}"
  depends_on arch: :arm64
  app "Watchbill.app"
end
