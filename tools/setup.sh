# setup.sh: what demo.sh, test.sh and .ci/run share: Debian packages, and the build of monarc.
#
# It is read with `.`, from the top of the tree, and is POSIX sh. It looks first and installs only
# what is missing, on Debian 12 and later. It refuses to touch anything else of the system: no other source of
# packages, no upgrade, no removal.
#
#     need_packages GROUP...   build, demo, test, release (what .ci/run tests on another release), ci, browser
#     need_browser             Chromium, Node.js and what drives it, for tests of pages; DuckDB and speedscope, for those of exports
#     need_clickhouse          ClickHouse, for tests of queries
#     build_monarc [TARGET...] build/monarc, a release build; all of it, or what the targets are

# Packages of a group. This is the only list.
packages_of() {
    case $1 in
    build) echo gcc libc6-dev meson ninja-build dpkg-dev pkgconf \
        libelf-dev libdw-dev zlib1g-dev libdeflate-dev liblzma-dev libzstd-dev libjansson-dev libiberty-dev libcapstone-dev libcmocka-dev libncurses-dev libgraphviz-dev libsqlite3-dev ;;
    demo) echo g++ gfortran graphviz ;; # newer libraries of Graphviz draw only with its programs beside them
    release) echo g++ binutils lcov gcovr libxml2-utils python3 python3-jsonschema xz-utils strace procps ;;
    test) echo g++ gfortran lcov gcovr libxml2-utils curl binutils lld mold python3 python3-jsonschema clang-format \
        git mandoc groff-base xz-utils strace dwz tmux procps libc-devtools libcap2-bin musl-tools graphviz protobuf-compiler valgrind debuginfod libdebuginfod1 openmpi-bin libopenmpi-dev mpich libmpich-dev \
        zsh fish clang libclang-rt-dev llvm linux-perf shellcheck pyflakes3 gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
        gcc-powerpc64-linux-gnu libc6-dev-ppc64-cross \
        gcc-s390x-linux-gnu libc6-dev-s390x-cross \
        gcc-riscv64-linux-gnu libc6-dev-riscv64-cross \
        gcc-i686-linux-gnu libc6-dev-i386-cross \
        gcc-arm-linux-gnueabihf libc6-dev-armhf-cross ;;
    ci) echo clang-tidy clang-22 llvm-22 libclang-rt-22-dev bolt-22 autofdo golang-go gcc-mingw-w64-x86-64-win32 rustc-web cargo-web csmith libcsmith-dev qemu-user gcc-alpha-linux-gnu \
        gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross \
        gcc-arm-none-eabi gcc-riscv64-unknown-elf gdb-multiarch qemu-system-arm qemu-system-misc \
        dpkg-dev debhelper fakeroot lintian debootstrap ;;
    browser) echo chromium ;;
    node) echo nodejs npm ;;
    esac
}

# Prints those of the packages that are not installed.
missing_packages() {
    for package in "$@"; do
        case $(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null) in
        installed*) ;; # `not-installed` is one that others only mention
        *) printf '%s ' "$package" ;;
        esac
    done
}

# Waits for another apt to end, as it is at work on a machine that has just started.
apt_get() {
    attempts=0
    until $as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >"$log" 2>&1; do
        attempts=$((attempts + 1))
        if [ "$attempts" -ge 60 ] || ! grep -qE 'Could not get lock|Unable to acquire the dpkg frontend lock' "$log"; then
            return 1
        fi
        sleep 5
    done
}

need_packages() {
    wanted=$(for group in "$@"; do packages_of "$group"; done | tr '\n' ' ')
    if ! command -v dpkg-query >/dev/null 2>&1; then
        echo "setup: not Debian; going on as if these were here: $wanted" >&2
        return 0
    fi
    # shellcheck disable=SC2086
    missing=$(missing_packages $wanted)
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        if ! command -v sudo >/dev/null 2>&1 || ! sudo -n true 2>/dev/null; then
            echo "setup: needs root to install these Debian packages: $missing" >&2
            return 1
        fi
    fi
    echo "Installing $missing"
    log=$(mktemp)
    # shellcheck disable=SC2086
    if apt_get update && apt_get install -y --no-install-recommends $missing; then
        rm -f "$log"
        installed=yes
        return 0
    fi
    tail -n 15 "$log" >&2
    rm -f "$log"
    echo "setup: apt-get could not install these Debian packages: $missing" >&2
    return 1
}

# Node.js may be Debian's or another one. The modules are those of these versions, in build/npm.
need_browser() {
    need_packages browser || return 1
    if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
        need_packages node || return 1
    fi
    [ -d build/npm/node_modules/speedscope ] && [ -d build/npm/node_modules/axe-core ] && return 0
    mkdir -p build/npm
    if npm install --prefix build/npm --engine-strict --no-audit --no-fund playwright-core@1.60.0 axe-core@4.14.1 \
        @duckdb/node-api@1.5.6-r.1 speedscope@1.25.0 >build/npm/install.log 2>&1; then
        return 0
    fi
    tail -n 15 build/npm/install.log >&2
    echo "setup: npm could not install playwright-core, axe-core, DuckDB and speedscope" >&2
    return 1
}

# ClickHouse inside Node.js, 550 MB: for tests of queries alone.
need_clickhouse() {
    command -v npm >/dev/null 2>&1 || need_packages node || return 1
    [ -d build/npm/node_modules/chdb ] && return 0
    mkdir -p build/npm
    npm install --prefix build/npm --engine-strict --no-audit --no-fund chdb@3.4.0 >build/npm/clickhouse.log 2>&1 && return 0
    tail -n 15 build/npm/clickhouse.log >&2
    echo "setup: npm could not install chdb" >&2
    return 1
}

# Quiet unless it fails. With targets of Meson's, only these. What was installed since the last time may change what
# there is to build. SETUP_OPTIONS are Meson's.
build_monarc() {
    mkdir -p build
    again=
    [ ! -f build/build.ninja ] || again=--reconfigure
    # shellcheck disable=SC2086
    if { [ -n "$again" ] && [ -z "${installed:-}" ] || meson setup $again ${SETUP_OPTIONS:-} build; } >build/setup.log 2>&1 &&
        ninja -C build "$@" >build/build.log 2>&1; then
        return 0
    fi
    cat build/setup.log build/build.log 2>/dev/null | tail -n 40 >&2
    echo "setup: monarc could not be built" >&2
    return 1
}
