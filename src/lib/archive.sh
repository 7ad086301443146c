#!/bin/sh
# Makes the static library of one object in which only monarc_* is visible, as in the shared one.
# usage: archive.sh OBJCOPY AR INPUT.a OUTPUT.a LINKER...     LINKER: the compiler and its options
set -eu
objcopy=$1 ar=$2 input=$3 output=$4
shift 4
"$@" -r -nostdlib -o "$output.o" -Wl,--whole-archive "$input" -Wl,--no-whole-archive
"$objcopy" --wildcard --keep-global-symbol='monarc_*' "$output.o"
rm -f "$output"
"$ar" rcsD "$output" "$output.o"
rm -f "$output.o"
