/* Prints what is in a gmon.out of any dialect: print_gmon FILE
 *
 * Builds as C99 and as C++: cc print_gmon.c $(pkg-config --cflags --libs monarc) */
#include <monarc/profile.h>

#include <inttypes.h>
#include <stdio.h>

static bool print_machine(void *context, const struct monarc_profile_facts *facts)
{
    (void)context;
    printf("%s, %u-byte pointers, %s-endian\n", monarc_format_title(facts->format),
           facts->pointer_bytes, facts->byte_order == MONARC_BIG_ENDIAN ? "big" : "little");
    return true;
}

static bool print_histogram(void *context, const struct monarc_histogram *h, const uint64_t *counts)
{
    uint64_t samples = 0;
    (void)context;
    for (uint32_t i = 0; i < h->bins; i++)
        samples += counts[i];
    printf("histogram 0x%" PRIx64 "-0x%" PRIx64 ": %" PRIu64 " samples in %" PRIu32
           " bins, %" PRIu32 " a unit of %s\n",
           h->low, h->high, samples, h->bins, h->rate, h->dimension);
    return true;
}

static bool print_arcs(void *context, const struct monarc_arc *arcs, size_t len)
{
    (void)context;
    for (size_t i = 0; i < len; i++)
        printf("arc 0x%" PRIx64 " -> 0x%" PRIx64 ": %" PRIu64 "\n", arcs[i].from, arcs[i].self,
               arcs[i].count);
    return true;
}

static bool print_blocks(void *context, const struct monarc_block *blocks, size_t len)
{
    (void)context;
    for (size_t i = 0; i < len; i++)
        printf("block 0x%" PRIx64 ": %" PRIu64 "\n", blocks[i].address, blocks[i].count);
    return true;
}

int main(int argc, char **argv)
{
    struct monarc_profile_visitor visitor = {NULL, print_machine, print_histogram, print_arcs,
                                             print_blocks};
    struct monarc_error e;
    if (argc != 2) {
        fprintf(stderr, "usage: print_gmon FILE\n");
        return 2;
    }
    struct monarc_source in = monarc_source_from_path(argv[1]);
    if (monarc_profile_walk(&in, NULL, NULL, &visitor, &e))
        return 0;
    fprintf(stderr, "%s\n", e.text);
    return 1;
}
