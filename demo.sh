#!/bin/sh
# demo.sh: builds monarc, profiles the example programs and shows what monarc says about them.
#
# usage: ./demo.sh
#
# On Debian 12 and later it needs a shell and apt; what is missing of compilers and libraries it installs. It
# writes into build/ alone and refuses to ask anything.
set -eu
exec </dev/null
cd "$(dirname "$0")"
. tools/setup.sh

heading() {
    printf '\n== %s\n\n' "$1"
}

# show LINES COMMAND...: the command as one would type it, and the start of what it says.
show() {
    lines=$1
    shift
    echo "\$ $*"
    status=0
    "$@" >said 2>&1 || status=$?
    head -n "$lines" said | cut -c 1-128
    more=$(($(wc -l <said) - lines))
    [ "$more" -le 0 ] || echo "... $more more lines"
    [ "$status" -eq 0 ] || echo "(exit status $status)"
    echo
}

need_packages build demo
build_monarc program # and no tests
PATH=$PWD/build:$PATH
rm -rf build/demo
examples/build.sh build/demo
cd build/demo

heading "Four programs, compiled with -pg; each run leaves a gmon.out"
for program in calc shapes heat mandel; do
    [ -x "$program" ] || continue
    "./$program" >"$program.txt"
    mv gmon.out "$program.gmon"
    echo "$program: $(wc -c <"$program.gmon") bytes of profile"
done

heading "Where the time went, in C, C++, Fortran and assembly"
for program in calc shapes heat mandel; do
    [ ! -f "$program.gmon" ] || show 16 monarc flat "$program" "$program.gmon"
done

heading "Any program, recorded from outside: nothing compiled anew, nothing loaded into it"
show 22 monarc run -o compiled.monarc "${CC:-cc}" -O2 -c ../../examples/calc/parser.c -o parser.o
show 24 monarc run ./calc

heading "Is it true? A program that measures its own parts, and what the recording says of each"
monarc run --no-report ./shares >expected.txt
monarc flat --csv shares.monarc >measured.csv
awk -F, 'BEGIN { printf "%-10s %10s %10s\n", "function", "expected %", "measured %" }
    FNR == 1 && NR > 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    NR == FNR { split($0, word, " "); expected[word[1]] = word[2]; next }
    { all += $column["self_samples"]; total[$column["name"]] = $column["total_samples"] }
    END { for (name in expected)
        printf "%-10s %10.2f %10.2f\n", name, expected[name], 100 * total[name] / all }' \
    expected.txt measured.csv
echo
show 14 monarc graph --callers mixed shares.monarc

heading "One function, two callers: measured, and what gprof would make of the calls (model)"
monarc run --no-report ./average >average.txt
show 18 monarc flat --model average.monarc

heading "Four threads and a shared library: not a call lost, and what each of them ran"
monarc run --no-report ./pipeline >pipeline.txt
show 12 monarc flat --by-object pipeline.monarc
show 26 monarc flat --by-thread --limit 3 pipeline.monarc
show 30 monarc graph --tree pipeline.monarc

heading "All processes of a command, and where threads wait"
monarc run --no-report --off-cpu -o shell.monarc sh -c './average 20; sleep 0.2' >shell.txt
show 12 monarc flat --by-process shell.monarc
show 18 monarc flat --limit 8 shell.monarc

heading "Who calls whom: a cycle of functions, and the way to one of them"
show 28 monarc graph calc calc.gmon
show 20 monarc graph --callers fibonacci calc calc.gmon

heading "Many runs, one profile"
show 10 monarc merge -o both.gmon calc.gmon calc.gmon
show 10 monarc info both.gmon

heading "What GNU gprof prints, byte for byte"
show 8 monarc gprof -b -p calc calc.gmon
if command -v gprof >/dev/null 2>&1; then
    gprof -b calc calc.gmon >gnu.txt
    monarc gprof -b calc calc.gmon >ours.txt
    cmp gnu.txt ours.txt && echo "gprof -b and monarc gprof -b: $(wc -l <ours.txt) equal lines"
fi

heading "When something is wrong"
head -c 300 calc.gmon >torn.gmon
show 20 monarc doctor calc torn.gmon
show 30 monarc doctor mandel calc.gmon

heading "Time, calls and counts of every line, from one run with -pg and --coverage"
mkdir counted
(cd counted && "${CC:-cc}" -pg --coverage -g -O0 ../../../examples/calc/*.c -o calc && ./calc >calc.txt)
show 4 monarc convert --to gmon --program counted/calc -o counted/blocks.gmon counted
show 24 monarc annotate --function fibonacci counted/calc counted/gmon.out counted/blocks.gmon
if command -v gprof >/dev/null 2>&1; then
    monarc merge -o counted/all.gmon counted/gmon.out counted/blocks.gmon
    gprof -l -A -z counted/calc counted/all.gmon >counted/gnu.txt
    show 6 grep -B 2 -A 3 'fibonacci(n - 1)' counted/gnu.txt
fi

heading "One page with all of it: time, calls and coverage, to look at in a browser"
show 4 monarc html --source-dir ../../examples -o report.html counted/calc counted/gmon.out counted
echo "Open it:  xdg-open $PWD/report.html"

heading "Your own program"
cat <<EOF
  cc -pg -g -O2 -o program program.c      compile and link with -pg
  ./program                               let it end by itself: it leaves gmon.out
  ${PWD%/demo}/monarc run ./program       or, after a plain run: flat, graph, doctor, gprof -b
EOF
