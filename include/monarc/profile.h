/* Profiles: histograms of samples, call-graph arcs and basic-block counts, addresses as recorded.
 *
 *     struct monarc_error e;
 *     struct monarc_profile *p = monarc_profile_new(NULL, &e);
 *     struct monarc_source in = monarc_source_from_path("gmon.out");
 *     if (!p || !monarc_profile_read(p, &in, NULL, &e))
 *         fprintf(stderr, "%s\n", e.text);
 *     monarc_profile_free(p);
 *
 * Formats: MONARC_GMON to MONARC_BSD. Counts are 64 bits wide whatever the file's were. */
#ifndef MONARC_PROFILE_H
#define MONARC_PROFILE_H

#include <monarc/formats.h>

#ifdef __cplusplus
extern "C" {
#endif

struct monarc_profile;

/* Samples over [low, high): bin i counts hits in the i-th of `bins` equal parts of the range. */
struct monarc_histogram {
    uint64_t low, high;
    uint32_t bins;
    uint32_t rate;      /* samples a second (or other unit of the dimension); 0: not known */
    char dimension[16]; /* "seconds" */
    char abbreviation;  /* 's' */
};

struct monarc_arc {
    uint64_t from; /* an address in the caller, usually the return address; 0: not known */
    uint64_t self; /* an address in the callee, usually its entry */
    uint64_t count;
};

struct monarc_block {
    uint64_t address, count;
};

struct monarc_profile_facts {
    enum monarc_format format; /* MONARC_NO_FORMAT: made in memory */
    uint8_t pointer_bytes;     /* of the machine that was measured: 4 or 8; 0: nothing is there */
    uint8_t byte_order;
    size_t histograms, arcs, blocks;
    uint64_t samples, calls;                                /* sums, saturating */
    uint64_t histogram_records, arc_records, block_records; /* as they stood in the files */
    uint64_t trailing_bytes;                                /* after the last whole record */
};

struct monarc_profile *monarc_profile_new(const struct monarc_memory *memory,
                                          struct monarc_error *e);
void monarc_profile_free(struct monarc_profile *p);
void monarc_profile_clear(struct monarc_profile *p);

/* ---- files */

/* Replaces what is in `p`. After MONARC_BAD_INPUT it holds the records that were whole. */
bool monarc_profile_read(struct monarc_profile *p, const struct monarc_source *in,
                         const struct monarc_hint *hint, struct monarc_error *e);

/* Writes in any of the formats, with the pointer size and byte order of `p`; what a format cannot
 * hold is an error. MONARC_NO_FORMAT: the format it was read from, or MONARC_GMON. */
bool monarc_profile_write(const struct monarc_profile *p, enum monarc_format format,
                          struct monarc_target *to, struct monarc_error *e);

/* The machine that is written for. Fails, with all as it was, if addresses do not fit. */
bool monarc_profile_set_machine(struct monarc_profile *p, uint8_t pointer_bytes, uint8_t byte_order,
                                struct monarc_error *e);

/* Hands the records of a file to functions (any may be NULL), in its order, and keeps none: besides
 * the file's bytes, which are needed during the call if they are not in memory already, it takes
 * room for one histogram or some thousand arcs. A function that returns false ends the call with
 * MONARC_STOPPED. What a function gets is valid until it returns. */
struct monarc_profile_visitor {
    void *context;
    bool (*begin)(void *context, const struct monarc_profile_facts *facts); /* format, machine */
    bool (*histogram)(void *context, const struct monarc_histogram *h, const uint64_t *counts);
    bool (*arcs)(void *context, const struct monarc_arc *arcs, size_t len);
    bool (*blocks)(void *context, const struct monarc_block *blocks, size_t len);
};

bool monarc_profile_walk(const struct monarc_source *in, const struct monarc_hint *hint,
                         const struct monarc_memory *memory,
                         const struct monarc_profile_visitor *visitor, struct monarc_error *e);

/* ---- what is in one */

void monarc_profile_get_facts(const struct monarc_profile *p, struct monarc_profile_facts *out);

/* Histogram `i`, or false; and `len` of its counters from `first` on, as far as there are that
 * many. Returns how many that were. */
bool monarc_profile_get_histogram(const struct monarc_profile *p, size_t i,
                                  struct monarc_histogram *out);
size_t monarc_profile_get_counts(const struct monarc_profile *p, size_t i, size_t first, size_t len,
                                 uint64_t *out);

/* All arcs and blocks in the order of the file; the same may occur again. Valid until `p` changes.
 */
const struct monarc_arc *monarc_profile_get_arcs(const struct monarc_profile *p, size_t *len);
const struct monarc_block *monarc_profile_get_blocks(const struct monarc_profile *p, size_t *len);

/* ---- building. A profile that is made in memory has 8-byte pointers and this machine's order
 * unless set otherwise. Each leaves `p` as it was if it fails. */

/* `counters` are h->bins numbers of `width` bytes (1, 2, 4 or 8) in this machine's byte order; an
 * empty dimension is "seconds", 's'. A histogram of the same range, bins and rate is added to. */
bool monarc_profile_add_histogram(struct monarc_profile *p, const struct monarc_histogram *h,
                                  const void *counters, unsigned width, struct monarc_error *e);
bool monarc_profile_add_arcs(struct monarc_profile *p, const struct monarc_arc *arcs, size_t len,
                             struct monarc_error *e);
bool monarc_profile_add_blocks(struct monarc_profile *p, const struct monarc_block *blocks,
                               size_t len, struct monarc_error *e);

/* ---- merging and laws */

/* Adds `from` to `into`: histograms of one range bin by bin, arcs by both ends, blocks by address.
 * Histograms of other dimensions stand beside them. Fails with MONARC_UNFIT, leaving `into` as it
 * was, if histograms of one dimension overlap without being the same, or have other abbreviations
 * or rates, or machines differ. An empty `into` takes the identity of `from`. */
bool monarc_profile_merge(struct monarc_profile *into, const struct monarc_profile *from,
                          struct monarc_error *e);

/* Sorts, and sums what is there twice: equal measurements are equal then. */
bool monarc_profile_normalize(struct monarc_profile *p, struct monarc_error *e);

/* Whether two hold the same measurements, in whatever order and format; false with an error if that
 * is unknown. */
bool monarc_profile_is_same(const struct monarc_profile *a, const struct monarc_profile *b,
                            struct monarc_error *e);

/* Whether merging commutes, associates and keeps the sums for these three (or they do not merge).
 */
bool monarc_profile_check_laws(const struct monarc_profile *a, const struct monarc_profile *b,
                               const struct monarc_profile *c, struct monarc_error *e);

/* What is odd about a profile, as `monarc info` reports it. */
struct monarc_finding {
    const char *name;     /* "full-bins" */
    const char *sentence; /* for people; a count follows it if is_counted */
    uint64_t count;
    bool is_counted;
};

/* Stores up to `room` findings; returns how many there are, SIZE_MAX with an error on failure. */
size_t monarc_profile_get_findings(const struct monarc_profile *p, struct monarc_finding *out,
                                   size_t room, struct monarc_error *e);

#ifdef __cplusplus
}
#endif

#endif
