#!/bin/sh
# Installs the portable archive of Watchbill for one person. It says what it does before it does it, and compares checksums.
#
#   sh install.sh FROM [--prefix DIR] [--yes]      FROM: the address of a release, or a folder with its files
#   sh install.sh --remove [--prefix DIR] [--yes]
set -eu

stop() { echo "install.sh: $*" >&2; exit 1; }

from='' prefix="${HOME:-}/.local" yes='' remove=''
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || stop "--prefix wants a folder"; prefix=$2; shift ;;
    --yes) yes=1 ;;
    --remove) remove=1 ;;
    -*) stop "there is no option $1; the head of this file names all" ;;
    *) from=$1 ;;
  esac
  shift
done
case $prefix in /.local) stop "HOME is not set; --prefix names the folder" ;; /*) ;; *) stop "--prefix wants a whole path" ;; esac
# The names of all installed files, so that the next installation and --remove take away these and no others.
list="$prefix/share/watchbill/installed-files"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ask() {
  [ -z "$yes" ] || return 0
  [ -t 0 ] || stop "there is no terminal to ask at; --yes goes on without a question"
  printf 'Go on? [y/N] '
  read -r answer
  case $answer in y | Y | yes) ;; *) stop "nothing was changed" ;; esac
}

take_away() {
  cp "$list" "$work/old"
  while IFS= read -r file; do
    rm -f "$prefix/$file"
    folder=$(dirname "$file")
    while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
  done <"$work/old"
}

fetch() {
  case $from in
    https://*) curl --fail --silent --show-error --location --output "$work/$1" "$from/$1" ;;
    *://*) stop "$from does not begin with https://" ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || stop "$from has no $1"
}

sum_of() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

if [ -n "$remove" ]; then
  [ -f "$list" ] || stop "$list is missing, so this script installed nothing below $prefix"
  echo "This removes the $(wc -l <"$list") files that it installed below $prefix. Your history and settings stay."
  echo "If you have installed hooks, run \`watchbill hooks uninstall\` before."
  ask
  take_away
  exit
fi

[ -n "$from" ] || stop "say where the release is: an address, or a folder"
fetch SHA256SUMS
system=$(uname -s | sed 's/Darwin/macos/; s/Linux/linux/') machine=$(uname -m | sed 's/arm64/aarch64/')
archive=$(sed -n "s/^[0-9a-f]*  \(watchbill-[0-9][0-9A-Za-z.-]*-$system-$machine\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
[ -n "$archive" ] || stop "the release has no archive for $system on $machine"

echo "This fetches $archive from $from, compares its SHA-256, and puts its files below $prefix:"
echo "programs into bin and libexec, the menu entry, icons, man pages and completions into share."
[ ! -f "$list" ] || echo "It replaces the files that it installed there before. Your history and settings stay."
echo "It starts nothing, and changes no other file."
ask
fetch "$archive"
wanted=$(sed -n "s/^\([0-9a-f]*\)  $archive\$/\1/p" "$work/SHA256SUMS")
[ "$(sum_of "$work/$archive")" = "$wanted" ] || stop "$archive is not the file that SHA256SUMS names; nothing was installed"
mkdir "$work/files"
tar -xzf "$work/$archive" -C "$work/files" --strip-components=1

(cd "$work/files" && find . -type f | sed 's,^\./,,' | sort && echo share/watchbill/installed-files) >"$work/new"
while IFS= read -r file; do
  [ ! -e "$prefix/$file" ] || grep -qxF "$file" "$list" 2>/dev/null || stop "$prefix/$file is there already, and not by this script"
done <"$work/new"
[ ! -f "$list" ] || take_away
# Before the files, so that --remove finds what an installation that failed has left.
mkdir -p "$prefix/share/watchbill"
cp "$work/new" "$list"
(cd "$work/files" && find . -type d) | while IFS= read -r folder; do mkdir -p "$prefix/$folder"; done
(cd "$work/files" && find . -type f) | while IFS= read -r file; do
  # A program that runs keeps its old file.
  rm -f "$prefix/$file"
  cp -p "$work/files/$file" "$prefix/$file"
done
echo "Installed. \`$prefix/bin/watchbill doctor\` says what it finds."
case :$PATH: in *":$prefix/bin:"*) ;; *) echo "Your PATH does not name $prefix/bin." ;; esac
