#!/bin/sh
# Makes the seeds in corpus/calls again: code of each machine behind a byte that names its instruction
# set (src/arch/code.h), 128 added for big-endian order. Needs gcc and objcopy for all machines
# named below; the seeds are kept in the tree.
set -eu
out=$(cd "$(dirname "$0")" && pwd)/calls
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
cd "$work"
cat > p.c <<'END'
#define ALONE __attribute__((noipa))
int late(double x);
ALONE int early(int x) { return x * 3; }
ALONE int again(int x) { return x ? again(x - 1) * early(x) : 1; }
ALONE int tail(int x) { return late(x + 1); }
ALONE int choose(int x, int (*f)(int)) { return x > 1000000 ? f(x) + 1 : x & 255; }
ALONE int late(double x) { return early((int)(x * 1.5)) - 1; }
END
seed() {
    name=$1 set=$2 prefix=$3
    shift 3
    "$prefix"gcc -O2 -fno-pie -ffreestanding -fno-asynchronous-unwind-tables -fno-unwind-tables \
        -nostdlib -static -Wl,-e,early -Wl,-w "$@" -o p p.c -lgcc
    "$prefix"objcopy -O binary -j .text p text
    {
        # shellcheck disable=SC2059
        printf "\\$(printf %o "$set")"
        head -c 700 text
    } > "$out/$name"
}
seed i386 0 i686-linux-gnu-
seed x86_64 1 x86_64-linux-gnu-
seed arm 2 arm-linux-gnueabihf- -marm
seed thumb 3 arm-linux-gnueabihf- -mthumb
seed aarch64 4 aarch64-linux-gnu-
seed power 135 powerpc64-linux-gnu-
seed riscv64 9 riscv64-linux-gnu-
seed s390 139 s390x-linux-gnu-
printf '\205\014\000\004\000\000\000\000\000\004\021\377\376\020\000\000\003\003\340\000\010' > "$out/mips"
printf '\006\003\000\000\350\377\377\377\313' > "$out/mips-r6"
printf '\212\100\000\000\004\020\277\377\377\020\157\377\376\201\303\340\010' > "$out/sparc"
printf '\001\142\361\174\110\130\301\304\342\175\030\300\305\370\167\146\146\110\350\001\000\000\000' \
    > "$out/x86_64-vectors"
ls -l "$out"
