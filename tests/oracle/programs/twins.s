# twins.s: several symbols at one address, and symbols of every kind that a profiler may drop.
# x86-64, never run. Each block is 16 bytes, so that addresses are easy to tell.

        .text
        .p2align 4
        .globl _start, zz_last
        .type _start, @function
_start: nop
        .p2align 4

# a local and a global function
        .type local_one, @function
local_one:
        .globl global_one
        .type global_one, @function
global_one: nop
        .p2align 4

# an untyped and a typed global
        .globl bare_two, typed_two
bare_two:
        .type typed_two, @function
typed_two: nop
        .p2align 4

# underscores, from most to least and the other way round
        .globl __three, _three, three
        .type __three, @function
        .type _three, @function
        .type three, @function
__three:
_three:
three:  nop
        .p2align 4
        .globl four, _four, __four
        .type four, @function
        .type _four, @function
        .type __four, @function
four:
_four:
__four: nop
        .p2align 4
        .globl __five, _five
        .type __five, @function
        .type _five, @function
__five:
_five:  nop
        .p2align 4

# two of equal right
        .globl six_b, six_a
        .type six_b, @function
        .type six_a, @function
six_b:
six_a:  nop
        .p2align 4

# a typed local against an untyped global
        .type local_seven, @function
local_seven:
        .globl bare_seven
bare_seven: nop
        .p2align 4

# a weak and a strong one
        .weak weak_eight
        .globl strong_eight
        .type weak_eight, @function
        .type strong_eight, @function
weak_eight:
strong_eight: nop
        .p2align 4

# labels without a type inside a function
        .globl nine
        .type nine, @function
nine:   nop
        .p2align 4
nine_local_label: nop
        .p2align 4
        .globl nine_global_label
nine_global_label: nop
        .p2align 4
        .size nine, .-nine

# names that are refused for local symbols and kept for global ones
        .type "pay$load", @function
"pay$load": nop
        .p2align 4
        .globl "glob$al"
        .type "glob$al", @function
"glob$al": nop
        .p2align 4
        .type __gnu_compiled_c, @function
__gnu_compiled_c: nop
        .p2align 4
        .globl global.part.7
        .type global.part.7, @function
global.part.7: nop
        .p2align 4

# data among the code, and a function that is resolved at run time
        .globl table
        .type table, @object
table:  .quad 1, 2
        .p2align 4
small_table:
        .type small_table, @object
        .quad 3, 4
        .globl chosen_late
        .type chosen_late, @gnu_indirect_function
chosen_late: nop
        .p2align 4
        .weak weak_bare
weak_bare: nop
        .p2align 4
        .globl ten
        .type ten, @function
ten:    nop
        .p2align 4

        .type zz_last, @function
zz_last: nop
        .p2align 4

# symbols outside .text
        .data
        .globl in_data
        .type in_data, @function
in_data: .quad 5
        .weak weak_data
weak_data: .quad 6
        .globl absolute
        .set absolute, 0x1234
