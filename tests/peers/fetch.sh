#!/bin/sh
# fetch.sh: gets the test suites of other projects that tests/peers/run.py runs.
#
# usage: fetch.sh [DIR]        (default: build/peers/source)
#
# Source packages of Debian 12, 240 MB, of which the suites are unpacked: 30 MB. apt keeps its lists in
# DIR, so that the system's own sources are not touched; nothing is installed. What is there already
# is not fetched again.
set -eu

here=$(cd "$(dirname "$0")/../.." && pwd)
into=${1:-$here/build/peers/source}
mkdir -p "$into/apt/lists/partial" "$into/apt/cache" "$into/packages"
into=$(cd "$into" && pwd)

cat >"$into/apt/sources.list" <<END
deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main
END

apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$into/apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$into/apt/lists" -o Dir::Cache="$into/apt/cache" \
        -o APT::Sandbox::User=root "$@"
}

# fetch PACKAGE ARCHIVE: the upstream archive, checked by apt.
fetch() {
    [ -e "$into/packages/$2" ] && return 0
    [ -e "$into/apt/is_updated" ] || apt update
    : >"$into/apt/is_updated"
    (cd "$into/packages" && apt source --download-only "$1")
}

# unpack ARCHIVE DIR PATTERN...: those members, below DIR without the archive's first folder.
unpack() {
    archive=$1
    to=$into/$2
    shift 2
    [ -e "$to" ] && return 0
    mkdir -p "$to.part"
    tar -xf "$archive" -C "$to.part" --strip-components=1 --wildcards "$@"
    mv "$to.part" "$to"
}

packages=$into/packages
fetch gcc-12 gcc-12_12.2.0.orig.tar.gz
unpack "$packages/gcc-12_12.2.0.orig.tar.gz" gcc-archive '*/gcc-*-dfsg.tar.xz'
unpack "$into/gcc-archive/gcc-12.2.0-dfsg.tar.xz" gcc '*/gcc/testsuite/lib/*' \
    '*/gcc/testsuite/config/*' '*/gcc/testsuite/gcc.misc-tests/gcov*' '*/gcc/testsuite/g++.dg/gcov/*'
rm -f "$into/gcc-archive/gcc-12.2.0-dfsg.tar.xz"
fetch lcov lcov_1.16.orig.tar.xz
unpack "$packages/lcov_1.16.orig.tar.xz" lcov '*/tests/*' '*/example/*'
fetch llvm-toolchain-14 llvm-toolchain-14_14.0.6.orig.tar.xz
unpack "$packages/llvm-toolchain-14_14.0.6.orig.tar.xz" llvm '*/llvm/test/tools/llvm-cov/*'
echo "$into"
