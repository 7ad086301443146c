#!/bin/sh
# Makes the seeds in corpus/object again: small ELF files, one for each thing src/objfile reads.
# Needs gcc and binutils for all machines named below; the seeds are kept in the tree.
set -eu
out=$(cd "$(dirname "$0")" && pwd)/object
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > p.c <<'END'
static int twice(int x) { return 2 * x; }
__attribute__((weak, noinline)) int f(int x) { return twice(x) + 1; }
int alias(int x) __attribute__((alias("f")));
int common_data, data = 1;
void _start(void) { data = f(data); }
END
map="-ffile-prefix-map=$work=/src"
link='-nostdlib -fno-asynchronous-unwind-tables -Wl,-z,noseparate-code -Wl,-N -Wl,-w -O1'
cc_for() { machine=$1; shift; "$machine"-gcc "$map" "$@"; }
for v in 2 4 5; do
    cc_for x86_64-linux-gnu $link -static -gdwarf-$v -o "$out/x86_64-dwarf$v" p.c
done
cc_for x86_64-linux-gnu $link -static -g -gz -o "$out/x86_64-compressed" p.c
cc_for x86_64-linux-gnu $link -static -g -gz=zlib-gnu -gdwarf-4 -o "$out/x86_64-zdebug" p.c
cc_for x86_64-linux-gnu $link -shared -fPIC -Wl,-soname,p.so -s -o "$out/x86_64-dynsym" p.c
cc_for x86_64-linux-gnu -c -g -o "$out/x86_64-relocatable" p.c
cc_for i686-linux-gnu $link -static -g -o "$out/i386" p.c
cc_for aarch64-linux-gnu $link -static -o "$out/aarch64" p.c
cc_for arm-linux-gnueabihf $link -static -mthumb -o "$out/arm-thumb" p.c
cc_for powerpc64-linux-gnu $link -static -mabi=elfv1 -g -o "$out/ppc64-descriptors" p.c
cc_for s390x-linux-gnu $link -static -g -o "$out/s390x" p.c
cc_for riscv64-linux-gnu $link -static -o "$out/riscv64" p.c
cc_for x86_64-linux-gnu $link -static -o whole p.c
objcopy -S --keep-symbol f whole mini
xz --lzma2=dict=4KiB -C crc32 mini
objcopy --add-section .gnu_debugdata=mini.xz -S whole "$out/x86_64-debugdata"
objcopy --only-keep-debug whole whole.debug
objcopy -S --add-gnu-debuglink=whole.debug whole "$out/x86_64-debuglink"
cc_for x86_64-linux-gnu $link -static -no-pie -g -o whole p.c
objcopy -O pei-x86-64 whole "$out/pe64"
cc_for i686-linux-gnu $link -static -no-pie -g -o whole p.c
objcopy -O pei-i386 whole "$out/pe32"
printf '#!/bin/sh\n' > "$out/script"
ls -l "$out"
