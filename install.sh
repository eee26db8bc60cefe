#!/bin/sh
# Installs SIA's program from a release, after its checksum was compared:
#
#	curl -fsSL https://github.com/sia-bot/sia/releases/latest/download/install.sh | sh
#
# SIA_VERSION=v1.2.3 takes another release than the latest, SIA_PREFIX=/usr/local another place than ~/.local, and
# SIA_RELEASES another address than GitHub's, such as a mirror's.
set -eu

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

releases=${SIA_RELEASES:-https://github.com/sia-bot/sia/releases}
prefix=${SIA_PREFIX:-${HOME:?is not set}/.local}
case ${SIA_VERSION:-latest} in
latest) from=$releases/latest/download ;;
v[0-9]*) from=$releases/download/$SIA_VERSION ;;
*) fail "SIA_VERSION=$SIA_VERSION is no version, such as v1.2.3" ;;
esac

case $(uname -s) in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) fail "there is no release for $(uname -s); build it with Go: go install github.com/sia-bot/sia/cmd/sia@latest" ;;
esac
case $(uname -m) in
x86_64 | amd64) processor=amd64 ;;
aarch64 | arm64) processor=arm64 ;;
*) fail "there is no release for $(uname -m); build it with Go: go install github.com/sia-bot/sia/cmd/sia@latest" ;;
esac

if command -v sha256sum > /dev/null; then
	sum() { sha256sum "$1"; }
elif command -v shasum > /dev/null; then
	sum() { shasum -a 256 "$1"; }
else
	fail "neither sha256sum nor shasum is here to compare the checksum with"
fi
command -v curl > /dev/null || fail "curl is missing"
get() { curl --fail --silent --show-error --location --retry 3 --connect-timeout 20 --max-time 600 --output "$2" "$1"; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
get "$from/checksums.txt" "$folder/checksums.txt" || fail "there is no $from/checksums.txt"
# A line is "<sum>  ./sia_v1.2.3_linux_amd64.tar.gz".
line=$(grep -E "^[0-9a-f]{64}  (\./)?sia_v[0-9A-Za-z.-]+_${system}_${processor}\.tar\.gz\$" "$folder/checksums.txt") ||
	fail "the release has nothing for $system on $processor"
[ "$(echo "$line" | wc -l)" -eq 1 ] || fail "checksums.txt names several archives for $system on $processor"
want=${line%% *}
archive=${line##*[ /]}
get "$from/$archive" "$folder/$archive" || fail "$from/$archive can't be fetched"
got=$(sum "$folder/$archive")
[ "${got%% *}" = "$want" ] || fail "$archive has the checksum ${got%% *} and should have $want; nothing was installed"

name=${archive%.tar.gz}
tar -C "$folder" -xzf "$folder/$archive" "$name/sia"
mkdir -p "$prefix/bin"
# Into place all at once: a program that runs is not overwritten.
cp "$folder/$name/sia" "$prefix/bin/.sia.new"
chmod 755 "$prefix/bin/.sia.new"
mv "$prefix/bin/.sia.new" "$prefix/bin/sia"
echo "$name is installed as $prefix/bin/sia"
case :${PATH:-}: in
*:"$prefix/bin":*) ;;
*) echo "$prefix/bin is not in PATH: add it, or call the program by its whole name" ;;
esac
