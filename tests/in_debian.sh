#!/bin/sh
# in_debian.sh: runs a command of this tree, by default ./test.sh, in another release of Debian.
#
# usage: tests/in_debian.sh [--systems DIR] [--cache DIR] [--patience SECONDS] RELEASE [COMMAND [ARGUMENT...]]
#        tests/in_debian.sh trixie ./demo.sh
#        tests/in_debian.sh sid ./test.sh -k compat
#
# debootstrap makes the system in DIR/RELEASE (default: build-systems/), once; it stays there with what the
# command installs and builds, so the next command starts at once. The tree is copied to where it is here, without
# what was built here. What debootstrap, apt and npm fetch stays in the folder of --cache, if one is
# given, for other systems and the next time. It needs root, debootstrap and Debian's archive; where
# one of them is missing, or debootstrap takes longer than it may, it says so in one line and ends with
# status 77. It refuses to change anything outside DIR: whatever is mounted, also by debootstrap, is
# mounted in a mount namespace that ends with the last process in it, however that ends.
set -eu
exec </dev/null
top=$(cd "$(dirname "$0")/.." && pwd)
systems=$top/build-systems
patience=3600 cache=''
while :; do
    case ${1:-} in
    --systems) systems=$2 ;;
    --patience) patience=$2 ;;
    --cache) cache=$2 ;;
    *) break ;;
    esac
    shift 2
done
[ $# -ge 1 ] || {
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
}
release=$1
shift
[ $# -gt 0 ] || set -- ./test.sh

skip() {
    echo "in_debian: no $release here: $1"
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "it takes root"
command -v debootstrap >/dev/null 2>&1 || skip "debootstrap is not installed"
unshare --mount true 2>/dev/null || skip "mounting is not permitted"

mkdir -p "$systems"
if [ -n "$cache" ]; then
    mkdir -p "$cache/debootstrap" "$cache/archives/partial" "$cache/npm"
    cache=$(cd "$cache" && pwd)
fi
systems=$(cd "$systems" && pwd)
system=$systems/$release
if [ ! -e "$system/.complete" ]; then
    rm -rf --one-file-system "$system"
    status=0
    DPKG_FORCE=unsafe-io unshare --mount timeout -k 10 "$patience" debootstrap --variant=minbase \
        ${cache:+--cache-dir="$cache/debootstrap"} --include=ca-certificates,git "$release" "$system" >"$system.log" 2>&1 || status=$?
    case $status in
    0) ;;
    124 | 137) skip "debootstrap took more than $patience s" ;;
    *) skip "debootstrap: $(grep -a '^E:' "$system.log" | tail -n 1)" ;;
    esac
    # No documentation but manual pages is unpacked, and no file waited for until it is on the disk.
    printf 'path-exclude=/usr/share/doc/*\nforce-unsafe-io\n' >"$system/etc/dpkg/dpkg.cfg.d/small"
    # A mirror may serve a state that is older than the archive's signature says is fresh.
    echo 'Acquire::Check-Valid-Until "false";' >"$system/etc/apt/apt.conf.d/90old"
    touch "$system/.complete"
fi

# The tree anew, with its times, so that Ninja builds what has changed; what git does not have yet
# comes along, what it ignores stays here. `build` is the system's own.
mkdir -p "$system$top"
find "$system$top" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
cd "$top"
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard |
        tar -c --null --no-recursion --ignore-failed-read -T - 2>/dev/null
else
    tar -c --exclude='./build*' .
fi | tar -x --no-same-owner -C "$system$top"

# apt and npm ask as they do here: by which proxy and registry, and whom npm trusts. The certificates
# are the system's own and those that Node.js, OpenSSL and npm have been told of here.
npm=$(npm config get cafile https-proxy registry 2>/dev/null) || npm=
npm_says() {
    printf '%s\n' "$npm" | sed -n "s/^$1=//p" | grep -vx null || true
}
for file in "$system/etc/ssl/certs/ca-certificates.crt" "${NODE_EXTRA_CA_CERTS:-}" "${SSL_CERT_FILE:-}" \
    "$(npm_says cafile)"; do
    [ ! -r "$file" ] || cat "$file"
done >"$system/etc/ssl/site.pem"
https_proxy=${https_proxy:-$(npm_says https-proxy)}
registry=$(npm_says registry)
export http_proxy="${http_proxy:-}" https_proxy no_proxy="${no_proxy:-}" registry

# shellcheck disable=SC2016
exec unshare --mount sh -euc '
    system=$1 cache=$2 top=$3
    shift 3
    mount --bind "$system" "$system" # a root that is a mount can be made private by what mounts there
    for folder in proc sys dev dev/pts; do
        mount --rbind "/$folder" "$system/$folder" 2>/dev/null || true
    done
    if [ -n "$cache" ]; then
        mkdir -p "$system/var/cache/apt/archives" "$system/var/cache/npm"
        mount --bind "$cache/archives" "$system/var/cache/apt/archives"
        mount --bind "$cache/npm" "$system/var/cache/npm"
    fi
    exec chroot "$system" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" ${CC:+CC="$CC"} ${MONARC_PART:+MONARC_PART="$MONARC_PART"} ${SETUP_OPTIONS:+SETUP_OPTIONS="$SETUP_OPTIONS"} \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        ${no_proxy:+no_proxy="$no_proxy"} ${registry:+npm_config_registry="$registry"} \
        ${cache:+npm_config_cache=/var/cache/npm} NODE_EXTRA_CA_CERTS=/etc/ssl/site.pem npm_config_cafile=/etc/ssl/site.pem \
        sh -c "cd \"\$0\" && exec \"\$@\"" "$top" "$@"' sh "$system" "$cache" "$top" "$@"
