/* A program's run-time as the proposal of 2002 describes it, in the proposal's own names alone:
 * proposal NAME writes NAME.bbg and NAME.da, and reads the latter back item by item. Nothing here
 * is from our headers: it must compile as it is. */
#include <monarc/arc_profile.h>
#ifndef GCC_COVERAGE_H
#error "not under the guard of the text"
#endif

#define VERSION 0x65343033 /* "304e" */

static gcov_type counts[] = {3, 4};
static struct function_info functions[2];
static struct coverage_info object;

/* The interface, as its text has it. */
static void (*const put32)(FILE *, unsigned long) = write_int32;
static void (*const put64)(FILE *, gcov_type) = write_int64;
static void (*const put_string)(FILE *, unsigned, const char *) = write_string;
static unsigned long (*const get32)(FILE *) = read_int32;
static gcov_type (*const get64)(FILE *) = read_int64;
static char *(*const get_string)(FILE *, unsigned *) = read_string;

static void describe(void)
{
    gcov_type *first = counts;
    unsigned long *version = &object.version;
    long *checksum = &functions[0].checksum, *n_functions = &object.n_functions;
    long *n_arc_counts = &object.n_arc_counts;
    int *n_of_function = &functions[0].n_arc_counts;
    functions[0].name = "half";
    *checksum = 0x12345678;
    *n_of_function = 1;
    functions[1].name = "whole";
    functions[1].checksum = 0x87654321;
    functions[1].n_arc_counts = 1;
    *version = VERSION;
    object.next = NULL;
    object.filename = "halves.c";
    object.functions = functions;
    *n_functions = sizeof functions / sizeof functions[0];
    object.arc_counts = first;
    *n_arc_counts = sizeof counts / sizeof counts[0];
}

static void put_header(FILE *to, unsigned long tag, unsigned long length)
{
    put32(to, tag);
    put32(to, length);
}

/* The length, the characters and 1 to 4 NULs. */
static unsigned string_bytes(const char *text)
{
    return 4 + (unsigned)(strlen(text) / 4 + 1) * 4;
}

static void put_function(FILE *to, const struct function_info *f)
{
    put_header(to, COVERAGE_FUNCTION, string_bytes(f->name) + 4);
    put_string(to, (unsigned)strlen(f->name), f->name);
    put32(to, (unsigned long)f->checksum);
}

/* Three blocks in a row; the first arc is counted; a line of the file in the second block. */
static void write_notes(FILE *to)
{
    put32(to, GBBG_MAGIC);
    put32(to, object.version);
    for (long i = 0; i < object.n_functions; i++) {
        put_function(to, &object.functions[i]);
        put_header(to, COVERAGE_BLOCKS, 12);
        for (int block = 0; block < 3; block++)
            put32(to, 0);
        put_header(to, COVERAGE_ARCS, 8);
        put32(to, 1);
        put32(to, 0);
        put_header(to, COVERAGE_ARCS, 8);
        put32(to, 2);
        put32(to, COVERAGE_ARC_ON_TREE & ~COVERAGE_ARC_FAKE);
        put_header(to, COVERAGE_ARCS, 0);
        put_header(to, COVERAGE_LINES, 0);
        put_header(to, COVERAGE_LINES, 8 + string_bytes(object.filename));
        put32(to, 0);
        put_string(to, (unsigned)strlen(object.filename), object.filename);
        put32(to, (unsigned long)i + 1);
        put_header(to, COVERAGE_LINES, 0);
    }
}

static void put_summary(FILE *to, unsigned tag)
{
    gcov_type sum = 0, largest = 0;
    for (long i = 0; i < object.n_arc_counts; i++) {
        sum += object.arc_counts[i];
        largest = object.arc_counts[i] > largest ? object.arc_counts[i] : largest;
    }
    put_header(to, tag, 20);
    put32(to, (unsigned long)object.n_arc_counts);
    put64(to, sum);
    put64(to, largest);
}

static void write_counts(FILE *to)
{
    const gcov_type *at = object.arc_counts;
    put32(to, GCOV_MAGIC);
    put32(to, object.version);
    for (long i = 0; i < object.n_functions; i++) {
        const struct function_info *f = &object.functions[i];
        put_function(to, f);
        put_header(to, COVERAGE_ARC_COUNTS, 8 * (unsigned)f->n_arc_counts);
        for (int k = 0; k < f->n_arc_counts; k++)
            put64(to, *at++);
    }
    put_summary(to, COVERAGE_OBJECT_SUMMARY);
    put_summary(to, COVERAGE_OBJECT_SUMMARY + 1);
}

static int read_counts(FILE *from)
{
    if (get32(from) != GCOV_MAGIC || get32(from) != VERSION)
        return 1;
    for (;;) {
        unsigned long tag = get32(from), length = get32(from);
        unsigned characters;
        if (feof(from))
            return 0;
        if (tag == COVERAGE_FUNCTION) {
            char *name = get_string(from, &characters);
            unsigned long checksum = get32(from);
            printf("%s (%u) %lx\n", name, characters, checksum);
            free(name);
        } else if (tag == COVERAGE_ARC_COUNTS) {
            for (unsigned long i = 0; i < length / 8; i++)
                printf("  %lu\n", (unsigned long)get64(from));
        } else if (fseek(from, (long)length, SEEK_CUR)) {
            return 1;
        }
    }
}

static FILE *opened(const char *name, const char *suffix, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", name, suffix);
    return fopen(path, mode);
}

int main(int argc, char **argv)
{
    FILE *f;
    if (argc != 2)
        return 2;
    describe();
    if (!(f = opened(argv[1], GBBG_SUFFIC, "wb")))
        return 2;
    write_notes(f);
    if (fclose(f) || !(f = opened(argv[1], GCOV_SUFFIX, "wb")))
        return 2;
    write_counts(f);
    if (fclose(f) || !(f = opened(argv[1], GCOV_SUFFIX, "rb")))
        return 2;
    int bad = read_counts(f);
    return fclose(f) || bad;
}
