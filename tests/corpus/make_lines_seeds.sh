#!/bin/sh
# Makes the seeds in corpus/lines again: small programs with inlined calls, in every version of DWARF,
# whole and with single debug sections removed; before each a byte that fuzz_lines.c reads (odd: as
# GNU gprof). Needs gcc and binutils for x86-64; the seeds are kept in the tree.
set -eu
out=$(cd "$(dirname "$0")" && pwd)/lines
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
cd "$work"
cat > p.c <<'END'
static inline __attribute__((always_inline)) int leaf(int x) { __asm__ volatile("nop"); return x * 3; }
static inline __attribute__((always_inline)) int middle(int x)
{
    if (x > 4)
        return leaf(x) + leaf(x + 1);
    return leaf(x);
}
__attribute__((noinline)) int top(int x) { return middle(x) + middle(x ^ 1); }
void _start(void) { for (;;) top(7); }
END
flags='-nostdlib -fno-asynchronous-unwind-tables -Wl,-z,noseparate-code -Wl,-N -Wl,-w -O2 -static'
seed() { { printf "$1"; cat "$2"; } > "$out/$3"; }
for v in 2 3 4 5; do
    # shellcheck disable=SC2086
    gcc "-ffile-prefix-map=$work=/src" $flags "-gdwarf-$v" -o whole p.c
    seed 0 whole "dwarf$v"
    seed 1 whole "dwarf$v-as-gnu"
    for section in debug_info debug_abbrev debug_line debug_str debug_ranges debug_rnglists debug_line_str; do
        objcopy "--remove-section=.$section" whole cut
        cmp -s whole cut || [ "$v" = 2 ] || [ "$v" = 3 ] || seed 0 cut "dwarf$v-no-$section"
    done
done
for way in zlib zlib-gnu zstd; do
    objcopy "--compress-debug-sections=$way" whole packed
    seed 0 packed "dwarf5-$way"
done
ls "$out"
