#!/bin/sh
# standalone.sh: builds monarc as one static file, for this machine or, on Debian, for another one.
#
# usage: tools/standalone.sh [MACHINE [FOLDER [MESON-OPTION...]]]
#        tools/standalone.sh aarch64 build-aarch64
#
# MACHINE is x86_64 or aarch64, by default this one. The program is FOLDER/monarc (default:
# build-MACHINE). For another machine, the static libraries are Debian's for that machine, of this system's
# release: apt downloads them, with lists of packages of its own, and they are unpacked in FOLDER/root, so that nothing
# is installed and root is not needed. The compiler is Debian's, gcc-aarch64-linux-gnu or gcc-x86-64-linux-gnu.
# What cannot be downloaded ends it with status 77; SUITE=trixie takes the libraries of that release.
set -eu
exec </dev/null
top=$(cd "$(dirname "$0")/.." && pwd)
this=$(uname -m)
machine=${1:-$this}
build=${2:-build-$machine}
[ $# -lt 2 ] || shift
[ $# -lt 1 ] || shift
case $machine in
aarch64) architecture=arm64 triplet=aarch64-linux-gnu ;;
x86_64) architecture=amd64 triplet=x86_64-linux-gnu ;;
*)
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
    ;;
esac

# setup OPTION...: the same for both; recompiled is what has changed.
setup() {
    [ -f "$build/build.ninja" ] || meson setup "$build" "$top" -Dprefer_static=true -Dstandalone=true -Dtests=disabled "$@"
    ninja -C "$build" monarc
}
if [ "$machine" = "$this" ]; then
    setup "$@"
    exit
fi
for program in $triplet-gcc apt-get dpkg-deb pkg-config; do
    command -v "$program" >/dev/null || {
        echo "standalone: $program is missing" >&2
        exit 2
    }
done

mkdir -p "$build"
build=$(cd "$build" && pwd)
root=$build/root
if [ ! -e "$root/.complete" ]; then
    apt=$build/apt
    rm -rf "$root" "$apt"
    mkdir -p "$root" "$apt/state/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/state/status"
    cat >"$apt/apt.conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "$(id -un)";
Dir::State "$apt/state";
Dir::State::status "$apt/state/status";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
END
    suite=${SUITE:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$apt/sources.list"
    export APT_CONFIG="$apt/apt.conf"
    if ! apt-get -qq update || ! apt-get -qq install --download-only --no-install-recommends -y \
        libelf-dev libdw-dev zlib1g-dev liblzma-dev libzstd-dev libbz2-dev libdeflate-dev libiberty-dev libcapstone-dev \
        libncurses-dev; then
        echo "standalone: Debian's packages for $architecture cannot be downloaded" >&2
        exit 77
    fi
    for package in "$apt"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$root"
    done
    rm -rf "$apt"
    touch "$root/.complete"
fi

cat >"$build/cross.ini" <<END
[binaries]
c = ['$triplet-gcc', '--sysroot=$root']
ar = '$triplet-ar'
strip = '$triplet-strip'
objcopy = '$triplet-objcopy'
pkgconfig = 'pkg-config'

[properties]
sys_root = '$root'
pkg_config_libdir = '$root/usr/lib/$triplet/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = '$machine'
cpu = '$machine'
endian = 'little'
END
unset CC CFLAGS LDFLAGS
setup --cross-file "$build/cross.ini" "$@"
