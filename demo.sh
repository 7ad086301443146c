#!/bin/sh
# demo.sh: builds monarc, profiles the example programs and shows what monarc says about them.
#
# usage: ./demo.sh
#
# On Debian 12 it needs a shell and apt; what is missing of compilers and libraries it installs. It
# writes into build/ alone and refuses to ask anything.
set -eu
exec </dev/null
cd "$(dirname "$0")"
. tools/setup.sh

heading() {
    printf '\n== %s\n\n' "$1"
}

# Prints a command as one would type it, then what it says, up to LINES lines.
show() {
    lines=$1
    shift
    echo "\$ $*"
    if "$@" >"$work/said" 2>&1; then status=0; else status=$?; fi
    head -n "$lines" "$work/said"
    more=$(($(wc -l <"$work/said") - lines))
    [ "$more" -le 0 ] || echo "... $more more lines"
    [ "$status" -eq 0 ] || echo "(exit status $status)"
    echo
}

# has COMMAND: monarc knows it.
has() {
    monarc --help | grep -q "^  $1 "
}

need_packages build demo
build_monarc
PATH=$PWD/build:$PATH
export PATH
work=$PWD/build/demo
rm -rf "$work"
mkdir -p "$work/profiles"

heading "Four programs, compiled with -pg, run and leave a gmon.out each"
examples/build.sh "$work"
cd "$work"
for program in calc shapes heat mandel; do
    [ -x "$program" ] || continue
    "./$program" >"$program.txt"
    mv gmon.out "profiles/$program.out"
    echo "$program: $(wc -c <"profiles/$program.out") bytes of profile"
done

heading "Where the time went: the flat profile"
if has flat; then
    show 14 monarc flat ./shapes profiles/shapes.out
    show 14 monarc flat ./heat profiles/heat.out
    show 14 monarc flat ./mandel profiles/mandel.out
else
    show 14 monarc gprof -b -p ./shapes profiles/shapes.out
    show 14 monarc gprof -b -p ./heat profiles/heat.out
    show 14 monarc gprof -b -p ./mandel profiles/mandel.out
fi

heading "Who called whom: the call graph, with a cycle of functions"
if has graph; then
    show 30 monarc graph ./calc profiles/calc.out
else
    show 30 monarc gprof -b -q ./calc profiles/calc.out
fi

heading "Profiles as files: what is in one, two added up"
if has merge; then
    show 12 monarc info profiles/calc.out
    show 3 monarc merge -o profiles/twice.out profiles/calc.out profiles/calc.out
    show 6 monarc gprof -b -p ./calc profiles/twice.out
fi

heading "When something is wrong"
head -c 300 profiles/calc.out >profiles/torn.out
if has doctor; then
    show 12 monarc doctor ./calc profiles/torn.out
    strip -o stripped calc
    show 12 monarc doctor ./stripped profiles/calc.out
else
    show 3 monarc gprof -b ./calc profiles/torn.out
fi

heading "Your own program"
cat <<EOF
  cc -pg -g -O2 ... -o program       compile and link with -pg
  ./program                          let it end by itself; it leaves gmon.out
  $work/../monarc gprof -b ./program gmon.out
EOF
