/* Direct calls found in code: against capstone, against what compilers made of known programs, and
 * where a byte scan goes wrong. */
#include "arch/arch.h"
#include "arch/code.h"
#include "cases.h"
#include "objfile/object.h"
#include "objfile/workshop.h"

#include "base/bytes.h"

#include <capstone/capstone.h>
#include <elf.h>

/* --- lengths of x86 instructions
 * ------------------------------------------------------------------ */

static bool is_branch_under_66(const cs_insn *i)
{
    bool has_66 = memchr(i->bytes, 0x66, i->size < 4 ? i->size : 4);
    return has_66 && strchr("jc", i->mnemonic[0]);
}

/* Follows capstone through a section and compares every length that x86_length() is sure of. */
static void compare_lengths(const struct object *o, const struct bytes code, uint64_t address)
{
    bool is_64 = object_machine(o) == EM_X86_64;
    csh handle;
    assert_int_equal(cs_open(CS_ARCH_X86, is_64 ? CS_MODE_64 : CS_MODE_32, &handle), CS_ERR_OK);
    cs_insn *insn = cs_malloc(handle);
    const uint8_t *at = code.at;
    size_t left = code.len, all = 0, unsure = 0;
    while (left) {
        const uint8_t *start = at;
        size_t before = left, ours = x86_length(at, left, is_64);
        if (!cs_disasm_iter(handle, &at, &left, &address, insn)) {
            at++, left--, address++;
            continue;
        }
        all++;
        unsure += !ours;
        if (ours && ours != insn->size && !is_branch_under_66(insn)) {
            print_error("%s: %zu bytes, not %u, at %#zx: %02x %02x %02x %02x %02x %02x %s %s\n",
                        object_path(o), ours, insn->size, (size_t)insn->address, start[0], start[1],
                        start[2], start[3], start[4], start[5], insn->mnemonic, insn->op_str);
            fail();
        }
        assert_true(ours <= before);
    }
    print_message("# %s: %zu instructions, capstone needed for %zu\n", object_path(o), all, unsure);
    assert_true(unsure <= all / 100);
    cs_free(insn, 1);
    cs_close(&handle);
}

static struct bytes text_of(struct object *o, uint64_t *address)
{
    size_t len, i = 0;
    const struct object_section *s = object_sections(o, &len);
    while (i < len && strcmp(s[i].name, ".text"))
        i++;
    assert_true(i < len);
    *address = s[i].address;
    return object_code(o, s[i].address, s[i].size);
}

CASE(test_lengths)
{
    static const char *const LIBRARIES[] = {
        "/lib/x86_64-linux-gnu/libc.so.6",      "/lib/x86_64-linux-gnu/libm.so.6",
        "/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/i686-linux-gnu/lib/libc.so.6",
        "/usr/i686-linux-gnu/lib/libm.so.6",
    };
    size_t tried = 0;
    for (size_t i = 0; i < sizeof LIBRARIES / sizeof *LIBRARIES; i++) {
        if (access(LIBRARIES[i], R_OK))
            continue;
        struct object *o = opened(LIBRARIES[i], NULL);
        uint64_t address;
        struct bytes text = text_of(o, &address);
        compare_lengths(o, text, address);
        object_close(o);
        tried++;
    }
    if (!tried)
        SKIPPED("none of the compilers is installed");
}

/* --- branches of machines with simple lengths ---------------------------------------------------
 */

static const struct instruction_set *set_named(const char *name)
{
    for (size_t i = 0; i < ARCHS; i++)
        for (size_t k = 0; k < archs[i]->sets_len; k++)
            if (!strcmp(archs[i]->sets[k].name, name))
                return &archs[i]->sets[k];
    fail_msg("no instruction set '%s'", name);
    return NULL;
}

static void decode_as(const char *set, struct bytes code, uint64_t address, bool is_big_endian,
                      struct code_finding *f)
{
    struct code_stretch s = {code, address, set_named(set), is_big_endian};
    s.set->decode(&s, f);
    code_finding_deinit(f);
}

struct branch {
    bool is_call, is_jump;
    uint64_t to;
};

static struct branch by_decoder(const char *set, bool is_big_endian, const uint8_t *at, size_t len,
                                uint64_t address)
{
    struct code_calls calls = {0};
    struct code_finding f = {.calls = &calls, .mask = UINT64_MAX, .range = {address, address}};
    struct branch found = {0};
    decode_as(set, (struct bytes){at, len}, address, is_big_endian, &f);
    assert_true(calls.all.len < 2);
    if (calls.all.len) {
        assert_int_equal(calls.all.at[0].from, address);
        found.is_call = !calls.all.at[0].is_jump;
        found.is_jump = calls.all.at[0].is_jump;
        found.to = calls.all.at[0].to;
    }
    vec_free(&calls.all);
    return found;
}

/* What capstone calls the branches; 0 where it has one name for more than we look for. */
struct view {
    const char *name;
    const char *set;
    cs_arch arch;
    unsigned mode;
    size_t len;
    const char *calls, *jumps; /* mnemonics, each between spaces */
    uint32_t patterns[5];      /* the first four bytes, with random bits below the mask */
    uint32_t random[5];
};

static const struct view VIEWS[] = {
    {"aarch64",
     "aarch64",
     CS_ARCH_ARM64,
     0,
     4,
     " bl ",
     " b ",
     {0x94000000, 0x14000000, 0x54000000},
     {0x3ffffff, 0x3ffffff, 0xffffff}},
    {"arm",
     "arm",
     CS_ARCH_ARM,
     0,
     4,
     " bl blx bleq blne blhs bllo blmi blpl blvs blvc blhi blls blge bllt blgt blle ",
     " b ",
     {0xeb000000, 0xea000000, 0x0a000000, 0x0b000000, 0xfa000000},
     {0xffffff, 0xffffff, 0xf0ffffff, 0xf0ffffff, 0x1ffffff}},
    {"thumb",
     "thumb",
     CS_ARCH_ARM,
     CS_MODE_THUMB,
     4,
     " bl blx ",
     " b b.w ",
     {0xf000d000, 0xf000c000, 0xf0009000, 0xf0008000},
     {0x7ff2fff, 0x7ff2ffe, 0x7ff2fff, 0x7ff2fff}},
    {"mips",
     "mips",
     CS_ARCH_MIPS,
     CS_MODE_MIPS32 | CS_MODE_BIG_ENDIAN,
     4,
     " jal bal ",
     " j b ",
     {0x0c000000, 0x08000000, 0x04110000, 0x10000000},
     {0x3ffffff, 0x3ffffff, 0xffff, 0xffff}},
    {"power",
     "powerpc",
     CS_ARCH_PPC,
     CS_MODE_64 | CS_MODE_BIG_ENDIAN,
     4,
     " bl bla ",
     " b ba ",
     {0x48000000},
     {0x3ffffff}},
    {"sparc",
     "sparc",
     CS_ARCH_SPARC,
     CS_MODE_V9 | CS_MODE_BIG_ENDIAN,
     4,
     " call ",
     " b ba ba,a b,a ba,pt ba,pn ",
     {0x40000000, 0x10800000, 0x02800000},
     {0x3fffffff, 0x203fffff, 0x3c3fffff}},
    {"s390",
     "s390",
     CS_ARCH_SYSZ,
     CS_MODE_BIG_ENDIAN,
     6,
     " brasl bras ",
     " j jg ",
     {0xc0050000, 0xa7050000, 0xc0f40000, 0xa7f40000, 0xc0040000},
     {0x00f0ffff, 0x00f0ffff, 0xffff, 0xffff, 0x00f0ffff}},
};

static bool is_among(const char *names, const char *name)
{
    char padded[40];
    snprintf(padded, sizeof padded, " %s ", name);
    return strstr(names, padded) != NULL;
}

static struct branch by_capstone(const struct view *v, csh handle, const uint8_t *at,
                                 uint64_t address)
{
    struct branch found = {0};
    cs_insn *insn;
    if (!cs_disasm(handle, at, v->len, address, 1, &insn))
        return found;
    const char *target = strrchr(insn->op_str, ' ');
    target = target ? target + 1 : insn->op_str;
    target += *target == '#';
    bool is_direct = *target == '-' || (*target >= '0' && *target <= '9');
    found.is_call = is_direct && is_among(v->calls, insn->mnemonic);
    found.is_jump = is_direct && is_among(v->jumps, insn->mnemonic);
    found.to = found.is_call || found.is_jump ? strtoull(target, NULL, 0) : 0;
    cs_free(insn, 1);
    return found;
}

static void put(const struct view *v, uint32_t word, uint32_t rest, uint8_t *to)
{
    bool is_big = v->mode & CS_MODE_BIG_ENDIAN;
    uint32_t swapped = !strcmp(v->set, "thumb") ? word >> 16 | word << 16 : word;
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(is_big ? word >> (24 - 8 * i) : swapped >> (8 * i));
    to[4] = (uint8_t)rest, to[5] = (uint8_t)(rest >> 8);
}

static void compare_branches(const struct view *v, uint64_t *seed)
{
    csh handle;
    uint8_t bytes[6];
    size_t branches = 0, tries = 0;
    uint64_t mask = v->arch == CS_ARCH_ARM || v->arch == CS_ARCH_MIPS ? UINT32_MAX : UINT64_MAX;
    assert_int_equal(cs_open(v->arch, v->mode, &handle), CS_ERR_OK);
    for (size_t p = 0; p < 5 && v->patterns[p]; p++)
        for (size_t i = 0; i < 4000; i++, tries++) {
            *seed = *seed * 6364136223846793005u + 1442695040888963407u;
            uint32_t word = v->patterns[p] | ((uint32_t)(*seed >> 32) & v->random[p]);
            uint64_t address = 0x8000000 + (*seed >> 10 & 0xfffc);
            put(v, word, (uint32_t)(*seed >> 8), bytes);
            bool is_big = v->mode & CS_MODE_BIG_ENDIAN;
            struct branch ours = by_decoder(v->set, is_big, bytes, v->len, address);
            struct branch theirs = by_capstone(v, handle, bytes, address);
            if (ours.is_call != theirs.is_call || ours.is_jump != theirs.is_jump ||
                ((ours.to ^ theirs.to) & mask)) {
                print_error("%s: %08x at %#zx: %d %d %#zx, capstone %d %d %#zx\n", v->name, word,
                            (size_t)address, ours.is_call, ours.is_jump, (size_t)ours.to,
                            theirs.is_call, theirs.is_jump, (size_t)theirs.to);
                fail();
            }
            branches += ours.is_call || ours.is_jump;
        }
    assert_true(branches > tries / 3);
    cs_close(&handle);
}

CASE(test_branches)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof VIEWS / sizeof *VIEWS; i++)
        compare_branches(&VIEWS[i], &seed);
}

/* Capstone of today's distributions knows none of them. */
CASE(test_riscv_mips_r6_and_alpha)
{
    static const struct {
        const char *set;
        uint32_t word;
        size_t len;
        bool is_call, is_jump;
        uint64_t to;
    } CASES[] = {
        {"riscv64", 0x010000ef, 4, true, false, 0x1010},   /* jal ra,+16 */
        {"riscv64", 0xff1ff06f, 4, false, true, 0xff0},    /* j -16 */
        {"riscv64", 0x7ffff2ef, 4, true, false, 0x100ffe}, /* jal t0,+0xffffe */
        {"riscv64", 0x800000ef, 4, true, false, (uint64_t)0x1000 - 0x100000},
        {"riscv64", 0xa001, 2, false, true, 0x1000},     /* c.j 0 */
        {"riscv64", 0xbfe5, 2, false, true, 0xff8},      /* c.j -8 */
        {"riscv64", 0x2001, 2, false, false, 0},         /* c.addiw */
        {"riscv32", 0x2001, 2, true, false, 0x1000},     /* c.jal 0 */
        {"riscv64", 0x000080e7, 4, false, false, 0},     /* jalr ra */
        {"mips-r6", 0xe8000003, 4, true, false, 0x1010}, /* balc */
        {"mips-r6", 0xcbffffff, 4, false, true, 0x1000}, /* bc */
        {"mips-r6", 0x0c000400, 4, true, false, 0x1000}, /* jal */
        {"mips", 0xe8000003, 4, false, false, 0},        /* swc2 */
        {"alpha", 0xd34000a3, 4, true, false, 0x1290},   /* bsr ra,+163 */
        {"alpha", 0xc3fffffd, 4, false, true, 0xff8},    /* br -3 */
        {"alpha", 0x6b9d4ab0, 4, false, false, 0},       /* jsr at,(at) */
        {"alpha", 0xe43ffff0, 4, false, false, 0},       /* beq t0,-16 */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        uint8_t bytes[4];
        for (unsigned k = 0; k < 4; k++)
            bytes[k] = (uint8_t)(CASES[i].word >> (8 * k));
        struct branch b = by_decoder(CASES[i].set, false, bytes, CASES[i].len, 0x1000);
        assert_int_equal(b.is_call, CASES[i].is_call);
        assert_int_equal(b.is_jump, CASES[i].is_jump);
        assert_int_equal(b.to, CASES[i].to);
    }
}

/* --- where a scan for e8 goes wrong ------------------------------------------------------------
 */

static size_t decode_bytes(const char *set, const uint8_t *at, size_t len, struct code_calls *calls)
{
    struct code_finding f = {.calls = calls, .mask = UINT64_MAX, .range = {0x1000, 0x1000 + len}};
    calls->all.len = 0;
    decode_as(set, (struct bytes){at, len}, 0x1000, false, &f);
    return calls->all.len;
}

CASE(test_x86_operands)
{
    struct code_calls calls = {0};
    static const uint8_t IMMEDIATE[] = {0x48, 0xb8, 0xe8, 0,    0x10, 0,   0, 0, 0, 0, /* movabs */
                                        0xe8, 0xf1, 0xff, 0xff, 0xff, 0xc3}; /* call 0x1000 */
    assert_int_equal(decode_bytes("x86-64", IMMEDIATE, sizeof IMMEDIATE, &calls), 1);
    assert_int_equal(calls.all.at[0].from, 0x100a);
    assert_int_equal(calls.all.at[0].to, 0x1000);
    /* data16 data16 rex.W call, as before __tls_get_addr; and a call cut off */
    static const uint8_t PADDED[] = {0x66, 0x66, 0x48, 0xe8, 1, 0, 0, 0, 0xe8, 0, 0};
    assert_int_equal(decode_bytes("x86-64", PADDED, sizeof PADDED, &calls), 1);
    assert_int_equal(calls.all.at[0].to, 0x1009);
    /* A 16-bit displacement, which is capstone's to read: the target is cut to 16 bits. */
    static const uint8_t SHORT[] = {0x66, 0xe8, 0x10, 0x00};
    assert_int_equal(decode_bytes("i386", SHORT, sizeof SHORT, &calls), 1);
    assert_int_equal(calls.all.at[0].to, 0x1014);
    /* jmp within, jmp out, je out, call through memory */
    static const uint8_t JUMPS[] = {0xe9, 1, 0, 0,    0,    0x90, 0xe9, 0, 1, 0, 0, 0x0f,
                                    0x84, 0, 1, 0x00, 0x00, 0xff, 0x15, 1, 0, 0, 0};
    assert_int_equal(decode_bytes("x86-64", JUMPS, sizeof JUMPS, &calls), 1);
    assert_true(calls.all.at[0].is_jump);
    assert_int_equal(calls.all.at[0].to, 0x110b);
    vec_free(&calls.all);
}

/* --- programs ----------------------------------------------------------------------------------
 */

static const char PROGRAM[] =
    "#ifdef __clang__\n"
    "#define ALONE __attribute__((noinline))\n"
    "#else\n"
    "#define ALONE __attribute__((noipa))\n"
    "#endif\n"
    "int late(int x), far(int x);\n"
    "ALONE int early(int x) { return x * 3; }\n"
    "ALONE int again(int x) { return x ? again(x - 1) * early(x) : 1; }\n"
    "ALONE int tail(int x) { return late(x + 1); }\n"
    "ALONE int unused(int x) { return tail(x) + far(x) + 1; }\n"
    "ALONE int start(int x) { return early(x) + tail(x) + again(x) + late(1); }\n"
    "ALONE int late(int x) { return early(x) - 1; }\n"
    "ALONE int through(int (*f)(int)) { return f(1) + 1; }\n"
    "FAR int far(int x) { return early(x) + 2; }\n";

static const char EXPECTED[] =
    "again>again again>early tail~late unused>tail unused>far "
    "start>early start>tail start>again start>late late>early far>early ";

/* Clang turns the recursion into a loop, and makes no tail calls on MIPS. */
static const char BY_CLANG[] = "again>early tail>late unused>tail unused>far start>early "
                               "start>tail start>again start>late late>early far>early ";

static const struct {
    const char *command;
    const char *far; /* what distinguishes the last function */
} MACHINES[] = {
    {"x86_64-linux-gnu-gcc", ""},
    {"x86_64-linux-gnu-gcc -mx32", ""},
    {"i686-linux-gnu-gcc", ""},
    {"aarch64-linux-gnu-gcc", ""},
    {"aarch64-linux-gnu-gcc -mbig-endian", ""},
    {"arm-linux-gnueabihf-gcc -marm", "__attribute__((target(\"thumb\")))"},
    {"arm-linux-gnueabihf-gcc -mthumb", "__attribute__((target(\"arm\")))"},
    {"arm-linux-gnueabihf-gcc -mthumb -mbig-endian -Wl,--be8", ""},
    {"powerpc64-linux-gnu-gcc -mabi=elfv1", ""},
    {"powerpc64-linux-gnu-gcc -mabi=elfv2", ""},
    {"powerpc64-linux-gnu-gcc -m32", ""},
    {"riscv64-linux-gnu-gcc", ""},
    {"riscv64-linux-gnu-gcc -march=rv64g -mno-relax", ""},
    {"riscv64-linux-gnu-gcc -march=rv32gc -mabi=ilp32d", ""},
    {"s390x-linux-gnu-gcc", ""},
    {"s390x-linux-gnu-gcc -m31", ""},
    {"alpha-linux-gnu-gcc", ""},
    {"alpha-linux-gnu-gcc -msmall-data -msmall-text", ""},
    {"clang --target=mips-linux-gnu -fno-pic -mno-abicalls -fuse-ld=lld", ""},
    {"clang --target=mips64el-linux-gnuabi64 -fno-pic -mno-abicalls -fuse-ld=lld", ""},
    {"clang --target=mips64el-linux-gnuabi64 -march=mips64r6 -fno-pic -mno-abicalls -fuse-ld=lld",
     ""},
};

static const char *function_at(struct object *o, uint64_t address)
{
    size_t len;
    const struct object_symbol *s = object_symbols(o, &len, NULL);
    for (size_t i = 0; i < len; i++)
        if (s[i].type == SYMBOL_FUNC && s[i].address == address)
            return s[i].name;
    return NULL;
}

/* `caller>callee` and `caller~callee` for jumps, each once, in order of address. */
static char *list_of_calls(struct object *o)
{
    struct code *code = code_open(o);
    assert_non_null(code);
    char *text = calloc(1, 4096);
    assert_non_null(text);
    static const char *const FUNCTIONS[] = {"early", "again", "tail",    "unused",
                                            "start", "late",  "through", "far"};
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        struct code_calls calls = {0};
        const struct object_symbol *f = symbol_named(o, FUNCTIONS[i]);
        struct code_range range = {f->address, f->address + f->size};
        code_find_calls(code, &range, 1, &calls);
        for (size_t k = 0; k < calls.all.len; k++) {
            const char *callee = function_at(o, calls.all.at[k].to);
            char pair[64];
            snprintf(pair, sizeof pair, "%s%c%s ", f->name, calls.all.at[k].is_jump ? '~' : '>',
                     callee ? callee : "");
            if (callee && !strstr(text, pair))
                strcat(text, pair);
        }
        vec_free(&calls.all);
    }
    code_close(code);
    return text;
}

static bool build(const char *command, const char *far)
{
    return run("%s -O2 -fno-pie -ffreestanding -nostdlib -static -Wl,-e,start '-DFAR=ALONE %s' "
               "-o p p.c",
               command, far);
}

CASE(test_programs_slow)
{
    write_text("p.c", PROGRAM);
    size_t tried = 0;
    for (size_t i = 0; i < sizeof MACHINES / sizeof *MACHINES; i++) {
        if (!build(MACHINES[i].command, MACHINES[i].far)) {
            print_message("# skipped: %s does not work here\n", MACHINES[i].command);
            continue;
        }
        struct object *o = opened("p", NULL);
        char *calls = list_of_calls(o);
        const char *expected = strncmp(MACHINES[i].command, "clang", 5) ? EXPECTED : BY_CLANG;
        if (strcmp(calls, expected))
            print_error("%s\n", MACHINES[i].command);
        assert_string_equal(calls, expected);
        free(calls);
        object_close(o);
        tried++;
    }
    if (!tried)
        SKIPPED("none of the compilers is installed");
}

/* Words between instructions that would be calls of f. */
CASE(test_data_in_code)
{
    static const char SOURCE[] =
        ".text\n.globl f, start\n.type f, %function\n.type start, %function\n"
        "f: bl f\n.word CALL_BACK\nb f\n.size f, . - f\n"
        "start: nop\nbl f\n.word CALL_BACK\n.size start, . - start\n";
    static const char *const COMMANDS[] = {
        "arm-linux-gnueabihf-gcc -marm -DCALL_BACK=0xebfffffd",
        "aarch64-linux-gnu-gcc -DCALL_BACK=0x97ffffff",
    };
    write_text("p.S", SOURCE);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        if (!run("%s -nostdlib -static -Wl,-e,start -o p p.S", COMMANDS[i])) {
            print_message("# skipped: %s does not work here\n", COMMANDS[i]);
            continue;
        }
        struct object *o = opened("p", NULL);
        struct code *code = code_open(o);
        uint64_t f = symbol_named(o, "f")->address;
        struct code_range ranges[] = {{f, f + 12}, {f + 12, f + 24}, {0, UINT64_MAX}};
        struct code_calls calls = {0};
        code_find_calls(code, ranges, 2, &calls);
        assert_int_equal(calls.all.len, 3);
        for (uint32_t k = 0; k < 3; k++) {
            assert_int_equal(calls.all.at[k].from, f + 8 * k);
            assert_int_equal(calls.all.at[k].to, f);
            assert_int_equal(calls.all.at[k].is_jump, k == 1);
            assert_int_equal(calls.all.at[k].range, k == 2);
        }
        code_find_calls(code, &ranges[2], 1, &calls);
        assert_int_equal(calls.all.len, 5); /* the jump stays within this range */
        vec_free(&calls.all);
        code_close(code);
        object_close(o);
    }
}

CASE(test_unknown)
{
    need("x86_64-linux-gnu-gcc");
    write_text("p.c", "int f(void) { return 1; }\n");
    assert_true(run("x86_64-linux-gnu-gcc -c -o p.o p.c"));
    struct object *o = opened("p.o", NULL); /* no addresses yet */
    assert_null(code_open(o));
    object_close(o);
}

/* --- the table of architectures ----------------------------------------------------------------
 */

CASE(test_architectures)
{
    assert_null(arch_of(&(struct arch_target){EM_NONE})->name);
    assert_null(arch_named("vax"));
    assert_ptr_equal(arch_own()->name, arch_named(arch_own()->name)->name);
    for (size_t i = 0; i < ARCHS; i++) {
        const struct arch *a = archs[i];
        assert_non_null(a->name);
        assert_true(a->machines[0]);
        for (size_t k = 0; k < sizeof a->machines / sizeof *a->machines && a->machines[k]; k++)
            assert_ptr_equal(arch_of(&(struct arch_target){.machine = a->machines[k],
                                                           .word = a->word,
                                                           .is_big_endian = a->order == 'b'}),
                             a);
        assert_ptr_equal(arch_named(a->name), a);
        if (arch_has_stacks(a)) /* the numbers of registers are within what a walk keeps */
            for (size_t k = 0; k < 3; k++) {
                const struct register_map *m[] = {a->perf, a->regset, a->trampolines->map};
                assert_true(m[k] && m[k]->len <= sizeof m[k]->at);
                for (size_t n = 0; n < m[k]->len; n++)
                    assert_in_range(m[k]->at[n] + 2, 0, ARCH_REGISTERS + 1);
            }
        for (size_t k = 0; k < a->sets_len; k++)
            assert_ptr_equal(set_named(a->sets[k].name), &a->sets[k]);
    }
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
