#!/bin/sh
# Makes the seeds in corpus/split again: .dwo files of gcc and clang in both versions of DWARF, of
# either byte order, and packages. Needs gcc, clang, gcc-s390x-linux-gnu, dwp of binutils and
# llvm-dwp-14; the seeds are kept in the tree.
set -eu
out=$(cd "$(dirname "$0")" && pwd)/split
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
cd "$work"
cat > p.c <<'END'
static inline __attribute__((always_inline)) int leaf(int x) { __asm__ volatile("nop"); return x * 3; }
__attribute__((cold, noinline)) void rare(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) int top(int x) { if (x == 9) rare(); return leaf(x) + leaf(x ^ 1); }
void _start(void) { for (;;) top(7); }
END
# seed NAME COMPILER VERSION: the .dwo file, with the program as `whole`
seed() {
    rm -f ./*.dwo
    "$2" "-ffile-prefix-map=$work=/src" -O2 -gsplit-dwarf "-gdwarf-$3" -c p.c -o p.o
    "$2" -nostdlib -static p.o -o whole
    cp p.dwo "$out/$1"
}
seed gcc-5 gcc 5
seed big-5 s390x-linux-gnu-gcc 5
seed big-4 s390x-linux-gnu-gcc 4
seed gcc-4 gcc 4
dwp -e whole -o "$out/gcc-4-package"
seed clang-4 clang 4
llvm-dwp-14 p.dwo -o "$out/clang-4-package"
seed clang-5 clang 5
llvm-dwp-14 p.dwo -o "$out/clang-5-package"
ls "$out"
