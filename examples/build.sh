#!/bin/sh
# build.sh: builds the example programs into a folder.
#
# usage: examples/build.sh OUTDIR [CFLAGS...]
#
# The flags are the arguments after OUTDIR, else the environment's CFLAGS, else "-pg -g -O0".
# CC, CXX and FC choose the compilers. A language without a compiler is left out, and said so.
# ONLY, if set, is the one program to build.
# It refuses to run the programs and writes nowhere but into OUTDIR.
set -eu

if [ $# -lt 1 ]; then
    echo "usage: $0 OUTDIR [CFLAGS...]" >&2
    exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
flags=${*:-${CFLAGS:--pg -g -O0}}
cd "$(dirname "$0")"

# Assembly counts its calls only where the compiler is told to.
case " $flags " in
*" -pg "*) profiled=-DPROFILED ;;
*) profiled= ;;
esac

# build NAME COMPILER ARGUMENT...: one program; $flags and "ccache cc" are split into words on purpose.
build() {
    name=$1 compiler=$2
    shift 2
    [ "${ONLY:-$name}" = "$name" ] || return 0
    if ! command -v "${compiler%% *}" >/dev/null 2>&1; then
        echo "build.sh: $name left out: no $compiler here" >&2
        return 0
    fi
    # shellcheck disable=SC2086
    $compiler $flags "$@" -o "$out/$name"
}

build calc "${CC:-cc}" calc/main.c calc/lexer.c calc/parser.c calc/variables.c calc/functions.c
build average "${CC:-cc}" average/average.c
build libwords.so "${CC:-cc}" -fPIC -shared -Wl,-soname,libwords.so pipeline/words.c
# shellcheck disable=SC2016 # $ORIGIN is for the loader
build pipeline "${CC:-cc}" -pthread pipeline/pipeline.c "-L$out" -lwords '-Wl,-rpath,$ORIGIN'
build shares "${CC:-cc}" -O2 shares/shares.c
build shapes "${CXX:-c++}" -std=c++17 shapes/main.cpp shapes/shapes.cpp
build heat "${FC:-gfortran}" "-J$out" heat/grid.f90 heat/heat.f90
rm -f "$out/grid.mod"
build mandel "${CC:-cc}" $profiled mandel/main.c mandel/escape.c mandel/escape.S
