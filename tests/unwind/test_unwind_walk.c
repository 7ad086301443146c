/* Walks over stacks made by hand: what ends them and why, frame pointers, generated code, calls
 * through bad pointers, leaves, signed return addresses, registers that only some frames need. */
#include "cases.h"
#include "table_maker.h"

enum {
    BARE = 0x50000, /* code without tables */
    GENERATED = 0x60000,
    STACK = 0x7000000,
    WORDS = 64,
    MOST = 16,
    TEXT_BYTES = 1024,
};

struct scene {
    struct table_maker m;
    struct unwind_tables *tables;
    struct unwind_stack stack;
    struct unwind_registers r;
    const struct arch *arch;
    uint64_t words[WORDS], frames[MOST];
    const uint8_t *code; /* 8 bytes at BARE; NULL: code cannot be read */
    const uint8_t *text; /* TEXT_BYTES at CODE; NULL: as above */
    enum unwind_end end;
};

static bool module_at(void *context, uint64_t pc, struct unwind_module *out)
{
    struct scene *s = context;
    if (pc >= CODE && pc < CODE + CODE_BYTES) {
        *out = (struct unwind_module){.tables = s->tables};
        return true;
    }
    *out = (struct unwind_module){.is_generated = pc >= GENERATED};
    return (pc >= BARE && pc < BARE + 0x100) || (pc >= GENERATED && pc < GENERATED + 0x100);
}

static bool read_code(void *context, uint64_t address, uint64_t *word)
{
    struct scene *s = context;
    if (s->text && address >= CODE && address <= CODE + TEXT_BYTES - sizeof *word) {
        memcpy(word, s->text + (address - CODE), sizeof *word);
        return true;
    }
    if (address != BARE || !s->code)
        return false;
    memcpy(word, s->code, sizeof *word);
    return true;
}

/* Functions of 16 bytes each: leaf (CFA = sp + 8), pushed rbp (sp + 16), by rbp, by rbx with rbx
 * saved, outermost, broken, and one whose CFA is further in than its stack pointer. */
enum {
    LEAF = CODE,
    PUSHED = CODE + 16,
    BY_RBP = CODE + 32,
    BY_RBX = CODE + 48,
    LAST = CODE + 64,
    SAVES_RBX = CODE + 80,
    BROKEN = CODE + 96,
    INWARD = CODE + 112,
    /* By rbp, too, and longer. */
    WAITS = CODE + 256,
    CALLER = CODE + 384,
    LINKER = CODE + 448
};

static void make_x86(struct table_maker *m)
{
    maker_init(m);
    maker_plain_cie(m);
    maker_plain_fde(m, LEAF, 16, BYTES(0));
    maker_plain_fde(m, PUSHED, 16, BYTES(0x0e, 16, 0x86, 2));
    maker_plain_fde(m, BY_RBP, 16, BYTES(0x0c, 6, 16, 0x86, 2));
    maker_plain_fde(m, BY_RBX, 16, BYTES(0x0c, 3, 16));
    maker_plain_fde(m, LAST, 16, BYTES(0x07, 16));
    maker_plain_fde(m, SAVES_RBX, 16, BYTES(0x0e, 16, 0x83, 2));
    maker_plain_fde(m, BROKEN, 16, BYTES(0x3f));
    maker_plain_fde(m, INWARD, 16, BYTES(0x0e, 0));
    maker_plain_fde(m, WAITS, 128, BYTES(0x0c, 6, 16, 0x86, 2));
    maker_plain_fde(m, CALLER, 64, BYTES(0x0c, 6, 16, 0x86, 2));
    maker_plain_fde(m, LINKER, 64, BYTES(0x0c, 6, 16, 0x86, 2));
}

static void make_lr(struct table_maker *m, uint8_t sp, uint8_t fp, uint8_t ra)
{
    maker_init(m);
    maker_cie(m, 1, "zR", BYTES(0), ra, BYTES(0x0c, sp, 0));
    maker_plain_fde(m, LEAF, 16, BYTES(0));
    maker_plain_fde(m, PUSHED, 16,
                    BYTES(0x0e, 16, (uint8_t)(0x80 | ra), 1, (uint8_t)(0x80 | fp), 2));
    maker_plain_fde(m, LAST, 16, BYTES(0x07, ra));
}

static void scene_open(struct scene *s, const struct arch *arch)
{
    *s = (struct scene){.arch = arch};
    if (arch == &arch_x86_64)
        make_x86(&s->m);
    else if (arch == &arch_aarch64)
        make_lr(&s->m, 31, 29, 30);
    else
        make_lr(&s->m, 2, 8, 1);
    struct unwind_sections sections = {.arch = arch, .eh_frame = maker_bytes(&s->m)};
    s->tables = unwind_tables_new(&sections);
    s->stack = (struct unwind_stack){.address = STACK,
                                     .bytes = {(const uint8_t *)s->words, sizeof s->words},
                                     .module_at = module_at,
                                     .read = read_code,
                                     .context = s};
    s->r.known = UINT32_MAX;
    s->r.at[arch->sp] = STACK;
}

static void scene_close(struct scene *s)
{
    unwind_tables_free(s->tables);
    writer_deinit(&s->m.w);
}

#define FRAMES(...) \
    (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

/* Twice: by fresh rules and by cached ones. */
static void expect(struct scene *s, enum unwind_end end, const uint64_t *frames, size_t len)
{
    for (int i = 0; i < 2; i++) {
        uint32_t found = unwind_walk(&s->stack, s->arch, &s->r, s->frames, MOST, &s->end);
        if (s->end != end || found != len || memcmp(s->frames, frames, len * sizeof *frames))
            fail_msg("walk %d: end %d for %d, %u frames for %zu: %#lx %#lx %#lx", i, s->end, end,
                     found, len, s->frames[0], s->frames[1], s->frames[2]);
    }
}

static void set_words(struct scene *s, const uint64_t *words, size_t len)
{
    memset(s->words, 0, sizeof s->words);
    memcpy(s->words, words, len * sizeof *words);
}

CASE(test_ends)
{
    struct scene s;
    scene_open(&s, &arch_x86_64);
    s.r.pc = LEAF;
    set_words(&s, FRAMES(PUSHED + 5, STACK + 256, LAST + 1));
    expect(&s, UNWIND_WHOLE, FRAMES(LEAF, PUSHED + 4, LAST));
    set_words(&s, FRAMES(PUSHED + 5, STACK + 256, 0)); /* a thread's start */
    expect(&s, UNWIND_WHOLE, FRAMES(LEAF, PUSHED + 4));
    set_words(&s, FRAMES(PUSHED + 5, STACK + 256, 0x999)); /* nothing is mapped there */
    expect(&s, UNWIND_BROKEN, FRAMES(LEAF, PUSHED + 4));
    set_words(&s, FRAMES(BROKEN + 1));
    expect(&s, UNWIND_BROKEN, FRAMES(LEAF, BROKEN));
    set_words(&s, FRAMES(INWARD + 1, LAST + 1)); /* its CFA is no progress */
    expect(&s, UNWIND_BROKEN, FRAMES(LEAF, INWARD));
    set_words(&s, FRAMES(BY_RBP + 1));
    s.r.at[6] = STACK + sizeof s.words; /* what is there was not copied */
    expect(&s, UNWIND_DEEP, FRAMES(LEAF, BY_RBP));
    s.r.at[6] = 8; /* no stack at all */
    expect(&s, UNWIND_BROKEN, FRAMES(LEAF, BY_RBP));
    for (size_t i = 0; i < WORDS; i++)
        s.words[i] = LEAF + 1; /* a recursion without end */
    uint32_t found = unwind_walk(&s.stack, s.arch, &s.r, s.frames, MOST, &s.end);
    assert_true(found == MOST && s.end == UNWIND_TOO_MANY);
    found = unwind_walk(&s.stack, s.arch, &s.r, s.frames, 0, &s.end);
    assert_true(found == 0 && s.end == UNWIND_TOO_MANY);
    scene_close(&s);
}

/* rbx is followed only once a frame turns out to need it. */
CASE(test_other_registers)
{
    struct scene s;
    scene_open(&s, &arch_x86_64);
    s.r.pc = LEAF;
    set_words(&s, FRAMES(SAVES_RBX + 1, STACK + 40, BY_RBX + 1, 7, 7, 7, LAST + 1));
    expect(&s, UNWIND_WHOLE, FRAMES(LEAF, SAVES_RBX, BY_RBX, LAST));
    set_words(&s, FRAMES(BY_RBX + 1, 7, 7, 7, LAST + 1));
    s.r.at[3] = STACK + 24;
    expect(&s, UNWIND_WHOLE, FRAMES(LEAF, BY_RBX, LAST));
    s.r.known &= ~(1U << 3);
    expect(&s, UNWIND_BROKEN, FRAMES(LEAF, BY_RBX));
    scene_close(&s);
}

CASE(test_frame_pointers)
{
    struct scene s;
    scene_open(&s, &arch_x86_64);
    for (int i = 0; i < 2; i++) {
        uint64_t here = i ? GENERATED : BARE;
        enum unwind_end none = i ? UNWIND_GENERATED : UNWIND_NO_TABLE;
        s.r.pc = here;
        s.r.at[6] = STACK + 8;
        set_words(&s, FRAMES(7, STACK + 32, here + 9, 7, 0, LAST + 1));
        expect(&s, UNWIND_WHOLE, FRAMES(here, here + 8, LAST));
        set_words(&s, FRAMES(7, STACK + 32, here + 9, 7, 0, 0)); /* the mark of the last frame */
        expect(&s, UNWIND_WHOLE, FRAMES(here, here + 8));
        set_words(&s, FRAMES(7, STACK + 32, 0x999)); /* returns to no code */
        expect(&s, none, FRAMES(here));
        set_words(&s, FRAMES(7, STACK + 32, 0)); /* nor is that a thread's start */
        expect(&s, none, FRAMES(here));
        set_words(&s,
                  FRAMES(7, 7, PUSHED + 5, 7, 0)); /* nor is it behind a frame that is a guess */
        expect(&s, none, FRAMES(here, PUSHED + 4));
        set_words(&s, FRAMES(7, 7, PUSHED + 5, 7, 0x999)); /* of which nothing is broken */
        expect(&s, none, FRAMES(here, PUSHED + 4));
        s.r.at[6] = STACK + 3; /* not aligned */
        expect(&s, none, FRAMES(here));
        s.r.at[6] = STACK - 8; /* further in */
        expect(&s, none, FRAMES(here));
        s.r.at[6] = STACK + sizeof s.words + 8; /* who knows */
        expect(&s, none, FRAMES(here));
    }
    scene_close(&s);
}

/* Where a function has just begun or is about to return, its frame pointer is its caller's. */
CASE(test_code_around_frames)
{
    static const struct {
        uint8_t code[8];
        int pushed;
    } CASES[] = {{{0x55}, 0},
                 {{0xf3, 0x0f, 0x1e, 0xfa}, 0},
                 {{0xc3}, 0},
                 {{0xff, 0x25}, 0},
                 {{0x48, 0x89, 0xe5}, 1}};
    struct scene s;
    scene_open(&s, &arch_x86_64);
    s.r.pc = BARE;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        s.code = CASES[i].code;
        s.r.at[6] = CASES[i].pushed ? 7 : STACK + 24;
        if (CASES[i].pushed)
            set_words(&s, FRAMES(STACK + 24, BY_RBP + 1, 7, 0, LAST + 1));
        else
            set_words(&s, FRAMES(BY_RBP + 1, 7, 7, 0, LAST + 1));
        expect(&s, UNWIND_WHOLE, FRAMES(BARE, BY_RBP, LAST));
    }
    scene_close(&s);
}

static void put_call(uint8_t *text, uint64_t at, uint64_t target)
{
    int32_t distance = (int32_t)(target - at);
    text[at - 5 - CODE] = 0xe8;
    memcpy(text + at - 4 - CODE, &distance, sizeof distance);
}

/* A function that waits, whose frame pointer is not known. Where its first instructions say that
 * its frame is, a call has left its own, of a function that it did not call: that is a caller that
 * jumped to it, unless the function has an array of variable length there. */
CASE(test_left_over_frames)
{
    enum { OF_LAST = LAST + 8, OF_CALLER = CALLER + 8, OF_LINKER = LINKER + 8, HERE = WAITS + 100 };
    static const uint8_t begin[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10};
    static const uint8_t takes[][3] = {{0x90, 0x90, 0x90}, /* nops: it takes nothing */
                                       {0x48, 0x89, 0xec}, /* mov %rbp, %rsp: nor does it here */
                                       {0x48, 0x29, 0xc4}, {0x4c, 0x29, 0xcc}, {0x48, 0x89, 0xcc},
                                       {0x49, 0x2b, 0xe1}, {0x48, 0x8b, 0xe1}};
    struct scene s;
    scene_open(&s, &arch_x86_64);
    s.r.pc = HERE;
    s.r.known = ~(uint32_t)(1 << 6);
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        uint8_t text[TEXT_BYTES] = {0};
        memcpy(text + (WAITS - CODE), begin, sizeof begin);
        memcpy(text + (WAITS + 54 - CODE), takes[i], sizeof takes[i]);
        memcpy(text + (OF_CALLER - 2 - CODE), (uint8_t[]){0xff, 0xd0}, 2); /* call *%rax */
        put_call(text, OF_LINKER, LEAF);
        put_call(text, OF_LAST, i < 2 ? LINKER : CALLER);
        s.text = text;
        set_words(&s, FRAMES(7, 7, STACK + 48, OF_LINKER, 7, 7, 0, OF_LAST, 7, 7, STACK + 112,
                             OF_CALLER, 7, 7, 0, OF_LAST));
        if (i < 2)
            expect(&s, UNWIND_WHOLE, FRAMES(HERE, OF_LINKER - 1, OF_LAST - 1));
        else
            expect(&s, UNWIND_WHOLE, FRAMES(HERE, OF_CALLER - 1, OF_LAST - 1));
    }
    s.text = NULL;
    scene_close(&s);
}

CASE(test_from_nowhere)
{
    static const struct arch *const MACHINES[] = {&arch_x86_64, &arch_aarch64, &arch_riscv64};
    for (size_t i = 0; i < 3; i++) {
        struct scene s;
        scene_open(&s, MACHINES[i]);
        s.r.pc = i == 1 ? 0x999 : 0; /* a call through a bad pointer */
        set_words(&s, FRAMES(LAST + 1));
        s.r.at[30] = s.r.at[1] = LAST + 1;
        expect(&s, UNWIND_WHOLE, FRAMES(s.r.pc, LAST));
        set_words(&s, FRAMES(0x999));
        s.r.at[30] = s.r.at[1] = 0x999;
        expect(&s, UNWIND_BROKEN, FRAMES(s.r.pc));
        scene_close(&s);
    }
}

CASE(test_return_register)
{
    static const struct arch *const MACHINES[] = {&arch_aarch64, &arch_riscv64};
    for (size_t i = 0; i < 2; i++) {
        struct scene s;
        scene_open(&s, MACHINES[i]);
        uint64_t *ra = &s.r.at[i ? 1 : 30];
        s.r.pc = LEAF;
        *ra = PUSHED + 5;
        set_words(&s, FRAMES(STACK + 256, LAST + 1));
        expect(&s, UNWIND_WHOLE, FRAMES(LEAF, PUSHED + 4, LAST));
        set_words(&s, FRAMES(STACK + 256, LEAF + 1)); /* a caller cannot have it in a register */
        expect(&s, UNWIND_BROKEN, FRAMES(LEAF, PUSHED + 4, LEAF));
        s.r.pc = BARE; /* a leaf without tables */
        s.r.at[i ? 8 : 29] = 7;
        *ra = LAST + 1;
        expect(&s, UNWIND_WHOLE, FRAMES(BARE, LAST));
        *ra = PUSHED + 5; /* of which nobody knows what it took of the stack */
        expect(&s, UNWIND_NO_TABLE, FRAMES(BARE, PUSHED + 4));
        static const uint8_t RET[2][8] = {{0xc0, 0x03, 0x5f, 0xd6}, {0x82, 0x80}};
        s.code = RET[i];
        set_words(&s, FRAMES(STACK + 256, LAST + 1));
        expect(&s, UNWIND_WHOLE, FRAMES(BARE, PUSHED + 4, LAST));
        scene_close(&s);
    }
}

CASE(test_signed_addresses)
{
    struct scene s;
    scene_open(&s, &arch_aarch64);
    s.r.pc = LEAF;
    s.r.at[30] = (PUSHED + 5) | UINT64_C(0x2a) << 48;
    set_words(&s, FRAMES(STACK + 256, (LAST + 1) | UINT64_C(0x7fabc) << 36)); /* 36 bits */
    expect(&s, UNWIND_WHOLE, FRAMES(LEAF, PUSHED + 4, LAST));
    scene_close(&s);
}

/* The first code of a process has no tables, but the kernel's arguments on its stack. */
CASE(test_process_start)
{
    struct scene s;
    scene_open(&s, &arch_x86_64);
    s.r.pc = LEAF;
    set_words(&s, FRAMES(BARE + 5, 2, STACK + 300, STACK + 310, 0, STACK + 320));
    expect(&s, UNWIND_WHOLE, FRAMES(LEAF, BARE + 4));
    s.words[4] = 1; /* more arguments than are said */
    expect(&s, UNWIND_NO_TABLE, FRAMES(LEAF, BARE + 4));
    s.words[4] = 0, s.words[2] = 1; /* that are no pointers */
    expect(&s, UNWIND_NO_TABLE, FRAMES(LEAF, BARE + 4));
    scene_close(&s);
}

/* Stacks are changed a few times, not for ever. */
CASE(test_other_stacks)
{
    struct scene s;
    scene_open(&s, &arch_x86_64);
    s.r.pc = BY_RBP;
    s.r.at[6] = STACK - 0x10000; /* further in, and not in the copy */
    expect(&s, UNWIND_DEEP, FRAMES(BY_RBP));
    s.r.at[7] = STACK + 64;
    s.r.at[6] = STACK + 32; /* further in, in the copy: that is no other stack */
    expect(&s, UNWIND_BROKEN, FRAMES(BY_RBP));
    scene_close(&s);
}
