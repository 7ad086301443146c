# clones.s: the names that GCC gives to parts and copies of functions. x86-64, never run.
#
# GNU gprof, after a name that ends in digits behind a dot, goes on to judge the string that follows
# in the string table. So each such name is followed by a plain one; programs.py checks that.

        .text
        .globl _start, zz_last
        .macro clone name
        .p2align 4
        .type "\name", @function
"\name": nop
        nop
        .endm
        .macro plain name
        .globl \name
        clone \name
        .endm

        plain _start
        plain work
        clone work.constprop.0
        clone aplain
        clone work.constprop.1.constprop.2
        clone bplain
        clone work.isra.0
        clone cplain
        clone work.part.0
        clone dplain
        clone work.cold
        clone eplain
        clone work.clone.3
        clone fplain
        clone inner.1234
        clone gplain
        clone inner.12.34
        clone hplain
        clone work.lto_priv.0
        clone iplain
        clone work.isra.0.cold
        clone jplain
        clone inner.7b
        clone kplain
        clone work.llvm.99
        clone lplain
        clone inner.5.constprop.6
        clone mplain
        plain trailing
        plain zz_last
        .p2align 4
