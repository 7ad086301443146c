/* Lines of every kind of debug information that the compilers here write, against addr2line. */
#include "cases.h"
#include "objfile/workshop.h"

#include <inttypes.h>

static const char HEADER[] = "static inline __attribute__((always_inline)) int inlined(int x)\n"
                             "{\n"
                             "    return x * x\n"
                             "         + 3;\n"
                             "}\n";

static const char FIRST[] = "#include \"inc/inlined.h\"\n"
                            "#include <stdio.h>\n"
                            "extern int second(int x);\n"
                            "static __attribute__((noinline)) int loop(int n)\n"
                            "{\n"
                            "    int sum = 0;\n"
                            "    for (int i = 0; i < n; i++)\n"
                            "        sum += inlined(i) ^ second(sum);\n"
                            "    return sum;\n"
                            "}\n"
                            "__attribute__((cold, noinline)) void rare(void) { puts(\"rare\"); }\n"
                            "int main(int argc, char **argv)\n"
                            "{\n"
                            "    if (argc > 3 || !argv)\n"
                            "        rare();\n"
                            "    return loop(argc);\n"
                            "}\n";

static const char SECOND[] = "#include \"../inc/inlined.h\"\n"
                             "int second(int x);\n"
                             "int unused(int x) { return inlined(x) / 3; }\n"
                             "int second(int x)\n"
                             "{\n"
                             "#line 100 \"generated.y\"\n"
                             "    int y = inlined(x);\n"
                             "    return x > 3 ? y : x;\n"
                             "}\n";

static void write_sources(void)
{
    assert_true(run("mkdir -p inc sub"));
    write_text("inc/inlined.h", HEADER);
    write_text("first.c", FIRST);
    write_text("sub/second.c", SECOND);
}

/* What addr2line prints, without discriminators; what it knows only from the symbol table, or not
 * at all, is `unknown`. */
static char *their_lines(const char *prefix, const char *program)
{
    return output_of("%saddr2line -e %s <addresses 2>/dev/null | "
                     "sed 's/ (discriminator.*//; s/^[^/]*:[?]$/unknown/; s/^[?].*/unknown/'",
                     prefix, program);
}

static void write_addresses(const struct object *o)
{
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    FILE *to = fopen("addresses", "w");
    assert_non_null(to);
    for (size_t i = 0; i < len; i++)
        for (uint64_t at = 0; sections[i].is_code && at < sections[i].size; at++)
            fprintf(to, "%#" PRIx64 "\n", sections[i].address + at);
    fclose(to);
}

static char *our_lines(struct object *o, size_t *known)
{
    char *text, address[64];
    size_t size;
    FILE *to = open_memstream(&text, &size), *from = fopen("addresses", "r");
    assert_non_null(from);
    *known = 0;
    while (fgets(address, sizeof address, from)) {
        const char *file;
        uint32_t line;
        if (!object_line(o, strtoull(address, NULL, 16), &file, &line)) {
            fputs("unknown\n", to);
            continue;
        }
        *known += 1;
        fprintf(to, line ? "%s:%" PRIu32 "\n" : "%s:?\n", file, line);
    }
    fclose(from);
    fclose(to);
    return text;
}

static void compare(const char *prefix, const char *program)
{
    struct object *o = opened(program, NULL);
    write_addresses(o);
    size_t known;
    char *ours = our_lines(o, &known), *theirs = their_lines(prefix, program);
    assert_true(known > 50);
    if (strcmp(ours, theirs)) {
        write_text("ours", ours);
        write_text("theirs", theirs);
        char *difference = output_of("paste addresses theirs ours | awk '$2 != $3' | head -20");
        print_error("%s", difference);
        free(difference);
    }
    assert_string_equal(ours, theirs);
    free(ours);
    free(theirs);
    object_close(o);
}

static void compare_build(const char *prefix, const char *compiler, const char *flags)
{
    write_sources();
    assert_true(
        run("rm -f p *.dwo; %s%s -O2 %s -o p first.c sub/second.c", prefix, compiler, flags));
    print_message("# %s%s %s\n", prefix, compiler, flags);
    compare(prefix, "p");
}

/* Builds with each of these flags; NULL ends them. */
static void compare_builds(const char *compiler, const char *const flags[])
{
    need(compiler);
    need("addr2line");
    for (size_t i = 0; flags[i]; i++)
        compare_build("", compiler, flags[i]);
}

CASE(test_gcc)
{
    static const char *const FLAGS[] = {"-gdwarf-2", "-gdwarf-5 -gz",
                                        "-g -ffunction-sections -Wl,--gc-sections", NULL};
    compare_builds("gcc", FLAGS);
}

CASE(test_gcc_slow)
{
    static const char *const FLAGS[] = {"-gdwarf-3",
                                        "-gdwarf-4",
                                        "-gdwarf-5",
                                        "-g -static",
                                        "-g -fdebug-types-section",
                                        "-g -gno-as-loc-support -gdwarf-4",
                                        "-g3 -O0",
                                        NULL};
    compare_builds("gcc", FLAGS);
}

CASE(test_clang)
{
    static const char *const FLAGS[] = {"-gdwarf-5 -ffunction-sections -Wl,--gc-sections", NULL};
    compare_builds("clang", FLAGS);
}

CASE(test_clang_slow)
{
    static const char *const FLAGS[] = {"-gdwarf-2", "-gdwarf-4", "-gdwarf-5", "-gline-tables-only",
                                        NULL};
    compare_builds("clang", FLAGS);
    if (have("ld.lld"))
        compare_build("", "clang", "-g -ffunction-sections -fuse-ld=lld -Wl,--gc-sections");
}

static void compare_machines(const char *const prefixes[])
{
    for (size_t i = 0; prefixes[i]; i++) {
        if (run("command -v %sgcc", prefixes[i]))
            compare_build(prefixes[i], "gcc", "-g");
        else
            print_message("# %sgcc is not installed\n", prefixes[i]);
    }
}

/* Of the other word size, and of the other byte order. */
CASE(test_other_machines)
{
    static const char *const PREFIXES[] = {"i686-linux-gnu-", "s390x-linux-gnu-", NULL};
    compare_machines(PREFIXES);
}

CASE(test_other_machines_slow)
{
    static const char *const PREFIXES[] = {"aarch64-linux-gnu-", "arm-linux-gnueabihf-",
                                           "powerpc64-linux-gnu-", "riscv64-linux-gnu-", NULL};
    compare_machines(PREFIXES);
}

/* Compiled elsewhere, split off, and looked up through links. */
CASE(test_separate)
{
    need("gcc");
    need("addr2line");
    need("objcopy");
    write_sources();
    assert_true(run("gcc -g -O2 -o p first.c sub/second.c && objcopy --only-keep-debug p q.debug "
                    "&& objcopy -S --add-gnu-debuglink=q.debug p q"));
    compare("", "q");
}

static const char CPLUSPLUS[] =
    "#include <algorithm>\n#include <iostream>\n#include <map>\n#include <string>\n"
    "#include <vector>\n"
    "static std::map<std::string, std::vector<int>> m;\n"
    "static int f(int a)\n{\n"
    "    m[std::to_string(a)].push_back(a);\n"
    "    std::vector<int> v;\n"
    "    for (auto &x : m)\n        v.insert(v.end(), x.second.begin(), x.second.end());\n"
    "    std::sort(v.begin(), v.end(), [](int l, int r) { return l > r; });\n"
    "    return v.size();\n}\n"
    "int main(int argc, char **) { std::cout << f(argc) << '\\n'; }\n";

static void print_frames(FILE *to, const struct object_frame *frames, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        fprintf(to, " %s ", frames[i].function ? frames[i].function : "unknown");
        if (!frames[i].file)
            fputs("unknown", to);
        else if (!frames[i].line)
            fprintf(to, "%s:?", frames[i].file);
        else
            fprintf(to, "%s:%" PRIu32, frames[i].file, frames[i].line);
    }
    fputs(len ? "\n" : " unknown unknown\n", to);
}

static char *our_frames(struct object *o, size_t most)
{
    enum { MOST = 32 };
    char *text, address[64];
    size_t size;
    FILE *to = open_memstream(&text, &size), *from = fopen("addresses", "r");
    assert_non_null(from);
    while (fgets(address, sizeof address, from)) {
        struct object_frame frames[MOST];
        uint64_t at = strtoull(address, NULL, 16);
        size_t len = object_frames(o, at, frames, most < MOST ? most : MOST);
        assert_true(len <= 1 || object_may_inline(o, at));
        fprintf(to, "%#018" PRIx64, at);
        print_frames(to, frames, len);
    }
    fclose(from);
    fclose(to);
    return text;
}

/* Asks twice and takes the second answer, as gprof does: in C++ the first one is another. */
static void compare_frames(const char *flags, const struct object_options *options, size_t most)
{
    struct object *o = opened("p", options);
    write_addresses(o);
    char *ours = our_frames(o, most);
    char *theirs =
        output_of("cat addresses addresses | addr2line %s -a -f -e p 2>/dev/null | "
                  "sed 's/ (discriminator.*//; s/^[^/]*:[?]$/unknown/; s/^[?].*/unknown/' | "
                  "awk '/^0x/ { if (line) print line; line = $1; next } { line = line \" \" $0 } "
                  "END { print line }' | tail -n $(wc -l <addresses)",
                  flags);
    if (strcmp(ours, theirs)) {
        write_text("ours", ours);
        write_text("theirs", theirs);
        char *difference = output_of("diff theirs ours | head -20");
        print_error("%s", difference);
        free(difference);
    }
    assert_true(!strcmp(ours, theirs));
    free(ours);
    free(theirs);
    object_close(o);
}

/* Of the addr2line that is compared with: 240 is 2.40. */
static uint16_t bfd_version(void)
{
    char *text = output_of("addr2line --version | sed 's/.* //; s/[.]//; s/[^0-9].*//; q'");
    uint16_t version = (uint16_t)atoi(text);
    free(text);
    assert_in_range(version, 220, 400);
    return version;
}

static void compare_frames_of(const char *const flags[])
{
    need("gcc");
    need("addr2line");
    for (size_t i = 0; flags[i]; i++) {
        write_sources();
        assert_true(run("gcc -O2 %s -o p first.c sub/second.c", flags[i]));
        compare_frames(
            "-i", &(struct object_options){.has_symtab_only = true, .bfd_version = bfd_version()},
            SIZE_MAX);
        compare_frames(
            "", &(struct object_options){.has_symtab_only = true, .bfd_version = bfd_version()}, 1);
    }
}

CASE(test_frames)
{
    static const char *const FLAGS[] = {"-gdwarf-5", NULL};
    compare_frames_of(FLAGS);
}

CASE(test_frames_slow)
{
    static const char *const FLAGS[] = {"-gdwarf-2", "-gdwarf-4", "-g -flto -O2", NULL};
    compare_frames_of(FLAGS);
}

/* With BFD's misreadings: of the first file in DWARF 5, and of clang's lists of ranges there. */
static void compare_as_bfd(const char *const compilers[])
{
    need("g++");
    need("addr2line");
    write_text("p.cc", CPLUSPLUS);
    for (size_t i = 0; compilers[i]; i++) {
        if (compilers[i][0] == 'c' && !have("clang++"))
            break;
        print_message("# %s\n", compilers[i]);
        assert_true(run("%s -O1 -o p p.cc", compilers[i]));
        compare_frames(
            "", &(struct object_options){.has_symtab_only = true, .bfd_version = bfd_version()}, 1);
    }
}

CASE(test_frames_as_bfd)
{
    static const char *const COMPILERS[] = {"g++ -gdwarf-5", NULL};
    compare_as_bfd(COMPILERS);
}

CASE(test_frames_as_bfd_slow)
{
    static const char *const COMPILERS[] = {"g++ -gdwarf-4", "clang++ -gdwarf-4",
                                            "clang++ -gdwarf-5", NULL};
    compare_as_bfd(COMPILERS);
}

/* Members of a class in a function have their code in that class's entry, and so do lambdas. */
static void compare_local_classes(const char *const compilers[])
{
    need("g++");
    need("addr2line");
    write_text("p.cc",
               "static inline __attribute__((always_inline)) int twice(int x)\n"
               "{\n    volatile int y = x;\n    return 2 * y;\n}\n"
               "template <class T> int outer(T x)\n{\n"
               "    struct local {\n        int v;\n"
               "        local(int y) : v(y)\n        {\n            v += twice(y);\n        }\n"
               "        ~local() { v = twice(v); }\n    };\n"
               "    local l(x);\n"
               "    auto lambda = [&](int y) { return twice(y) + l.v; };\n"
               "    return lambda(x);\n}\n"
               "int main(int argc, char **)\n{\n    return outer(argc);\n}\n");
    for (size_t i = 0; compilers[i]; i++) {
        if (compilers[i][0] == 'c' && !have("clang++"))
            break;
        assert_true(run("%s -O0 -o p p.cc", compilers[i]));
        struct object_options as_bfd = {.has_symtab_only = true, .bfd_version = bfd_version()};
        compare_frames("-i", &as_bfd, SIZE_MAX);
        compare_frames("", &as_bfd, 1);
    }
}

CASE(test_frames_of_local_classes)
{
    static const char *const COMPILERS[] = {"g++ -gdwarf-5", NULL};
    compare_local_classes(COMPILERS);
}

CASE(test_frames_of_local_classes_slow)
{
    static const char *const COMPILERS[] = {"g++ -gdwarf-4", "clang++ -gdwarf-4", NULL};
    compare_local_classes(COMPILERS);
}

static void print_place(const struct object_place *p, void *context)
{
    assert_true(p->start < p->end);
    for (uint64_t at = p->start; at < p->end; at++) {
        struct object_frame frame = {p->function, p->file, p->line};
        fprintf(context, "%#018" PRIx64, at);
        print_frames(context, &frame, 1);
    }
}

/* The walk says of every byte what a question about that byte says. */
static void compare_walk(const char *command)
{
    print_message("# %s\n", command);
    assert_true(run("%s", command));
    struct object *o = opened("p", NULL);
    write_addresses(o);
    char *asked = our_frames(o, 1), *walked;
    size_t size;
    FILE *to = open_memstream(&walked, &size);
    object_each_place(o, 0, UINT64_MAX, print_place, to);
    fclose(to);
    write_text("asked", asked);
    write_text("walked", walked);
    assert_true(run("grep -v ' unknown$' asked | cmp - walked"));
    assert_true(size > 100);
    free(asked);
    free(walked);
    object_close(o);
}

CASE(test_walk)
{
    need("gcc");
    write_sources();
    compare_walk("gcc -g -O2 -o p first.c sub/second.c");
    compare_walk("gcc -g -O2 -ffunction-sections -gsplit-dwarf -o p first.c sub/second.c");
}

CASE(test_walk_slow)
{
    need("gcc");
    write_sources();
    write_text("p.cc", CPLUSPLUS);
    compare_walk("gcc -g -O2 -flto -o p first.c sub/second.c");
    if (have("g++"))
        compare_walk("g++ -g -O2 -o p p.cc");
    if (have("clang"))
        compare_walk("clang -g -O2 -o p first.c sub/second.c");
}

/* Units whose ranges lie within each other, as some compilers write them: the first unit that has a
 * line counts. */
CASE(test_overlap)
{
    need("gcc");
    write_text("a.s", ".text\n.globl _start\n_start:\n.Ls:\n.file 1 \"a.c\"\n.loc 1 1\nnop\n"
                      ".section .text.z,\"ax\"\n.Lend: nop\n"
                      ".section .debug_info,\"\"\n.long .Lb-.La\n.La: .short 4\n"
                      ".long .debug_abbrev\n.byte 8\n.uleb128 1\n.quad .Ls\n.quad .Ls+100\n"
                      ".long .Lline\n.byte 0\n.Lb:\n"
                      ".section .debug_abbrev,\"\"\n.uleb128 1,0x11\n.byte 0\n"
                      ".uleb128 0x11,1,0x12,1,0x10,0x17,0,0,0\n"
                      ".section .debug_line,\"\"\n.Lline:\n");
    write_text("b.s", ".text\n.globl b\nb:\nnop\nnop\nnop\n");
    assert_true(run("gcc -c a.s && gcc -c -g b.s && gcc -nostdlib -static -o p a.o b.o"));
    struct object *o = opened("p", NULL);
    const char *file;
    uint32_t line;
    assert_true(object_line(o, symbol_named(o, "_start")->address, &file, &line));
    assert_string_equal(strrchr(file, '/') ? strrchr(file, '/') + 1 : file, "a.c");
    assert_true(object_line(o, symbol_named(o, "b")->address, &file, &line));
    assert_non_null(strstr(file, "b."));
    object_close(o);
    compare_walk("true");
}

/* A function whose first row is in the unit's file 1 where that is not its file 0. */
CASE(test_first_file_slow)
{
    need("g++");
    write_text("p.cc", CPLUSPLUS);
    assert_true(run("g++ -gdwarf-5 -O1 -o p p.cc && "
                    "readelf --debug-dump=decodedline p | grep -c stl_ >log"));
    if (!run("readelf --debug-dump=rawline p | grep -q 'Version: *5'")) {
        SKIPPED("g++ -gdwarf-5 makes line tables of an older version");
    }
    struct object *o = opened("p", NULL);
    struct object *as_bfd =
        opened("p", &(struct object_options){.has_symtab_only = true, .bfd_version = 240});
    write_addresses(o);
    size_t known;
    char *right = our_lines(o, &known), *wrong = our_lines(as_bfd, &known);
    assert_string_not_equal(right, wrong);
    /* p.cc has 16 lines, so none beyond is its own */
    write_text("right", right);
    assert_false(run("grep 'p[.]cc:[1-9][0-9][0-9]' right"));
    free(right);
    free(wrong);
    object_close(as_bfd);
    object_close(o);
}

/* addr2line 2.40 finds no lines in these; the line tables are in the program all the same. */
static void check_beyond_addr2line(const char *const flags[])
{
    need("gcc");
    for (size_t i = 0; flags[i]; i++) {
        if (!run("gcc %s -E -xc /dev/null >log 2>&1", flags[i])) { /* -gdwarf64 is of gcc 11 */
            printf("# gcc does not know %s\n", flags[i]);
            continue;
        }
        write_sources();
        assert_true(run("gcc -g -O0 %s -o p first.c sub/second.c", flags[i]));
        struct object *o = opened("p", NULL);
        const char *file;
        uint32_t line;
        assert_true(object_line(o, symbol_named(o, "unused")->address, &file, &line));
        assert_string_equal(strstr(file, "/sub/"), "/sub/second.c");
        assert_int_equal(line, 3);
        object_close(o);
    }
}

CASE(test_beyond_addr2line)
{
    static const char *const FLAGS[] = {"-gz=zlib-gnu -gdwarf-4", "-gdwarf64", NULL};
    check_beyond_addr2line(FLAGS);
}

CASE(test_beyond_addr2line_slow)
{
    static const char *const FLAGS[] = {"-gsplit-dwarf", "-gsplit-dwarf -gdwarf-4",
                                        "-gz=zlib-gnu -gdwarf-5", NULL};
    check_beyond_addr2line(FLAGS);
}

CASE(test_no_lines)
{
    need("gcc");
    write_sources();
    const char *file;
    uint32_t line;
    assert_true(run("gcc -O2 -o p first.c sub/second.c && gcc -g -c first.c"));
    struct object *o = opened("p", NULL);
    assert_false(object_has_debug_info(o));
    assert_false(object_line(o, symbol_named(o, "second")->address, &file, &line));
    object_close(o);
    o = opened("first.o", NULL); /* relocatable: every section starts at 0 */
    assert_true(object_has_debug_info(o));
    assert_false(object_line(o, 0, &file, &line));
    assert_null(file);
    assert_int_equal(line, 0);
    object_close(o);
}

/* That it is true wherever something was inlined, compare_frames() sees. */
CASE(test_may_inline)
{
    need("gcc");
    write_sources();
    write_text("plain.c", "int plain(int x);\nint plain(int x)\n{\n    return x + 1;\n}\n");
    assert_true(run("gcc -g -O0 -c plain.c && gcc -g -O2 -o p first.c sub/second.c plain.o"));
    struct object *o = opened("p", NULL);
    assert_true(object_may_inline(o, symbol_named(o, "second")->address));
    assert_false(object_may_inline(o, symbol_named(o, "plain")->address));
    assert_false(object_may_inline(o, 1)); /* in no unit */
    object_close(o);
}

static void print_position(const struct object_position *p, void *context)
{
    fprintf(context, "%" PRIu32 ".%" PRIu32 " ", p->frames[0].line, p->frames[0].discriminator);
}

/* A row that takes the place of one with a discriminator has none itself, and so have those behind
 * it; of two that have one, the last counts. */
CASE(test_discriminators)
{
    need("gcc");
    write_text("rows.s",
               ".file 1 \"rows.c\"\n.text\n.globl _start\n.type _start, %function\n_start:\n"
               ".loc 1 5 discriminator 3\n.loc 1 6\nnop\n.loc 1 7\nnop\n"
               ".loc 1 8 discriminator 2\nnop\n.loc 1 9\nnop\n"
               ".loc 1 10 discriminator 4\n.loc 1 11 discriminator 5\nnop\n.loc 1 12\nnop\n"
               ".size _start, . - _start\n");
    assert_true(run("gcc -nostdlib -static -o rows rows.s"));
    struct object *o = opened("rows", NULL);
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    const struct object_range all = {0, UINT64_MAX};
    object_each_position_within(o, &all, 1, NULL, print_position, to);
    fclose(to);
    assert_string_equal(text, "6.0 7.0 8.2 9.0 11.5 12.0 ");
    free(text);
    object_close(o);
}

int main(void)
{
    return run_cases(workshop_open, workshop_close);
}
