# Homebrew: the command line, built from source on macOS and Linux. Untried.
class Watchbill < Formula
  desc "Roster of the coding agents on this machine"
  homepage "{url}"
  url "{url}/watchbill-{version}-source.tar.gz"
  sha256 "{sha256 watchbill-{version}-source.tar.gz}"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "build", "--release", "--locked", "--package", "watchbill", "--package", "watchbill-host"
    bin.install "target/release/watchbill"
    (libexec/"watchbill").install "target/release/watchbill-host"
    generate_completions_from_executable(bin/"watchbill", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/watchbill --version")
  end
end
