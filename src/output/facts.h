/* Facts of a report, each stated once and written as text or as JSON.
 *
 * A fact is its key in JSON, its value, and the piece of text that it has in the sentence: `*` in
 * the piece is where the value stands, `~` is the s of its plural. A report is one function that
 * goes through its facts in the order of the text; what only one of both has lacks the other's
 * part.
 *
 *     fact(w, "functions", field_u64(n->functions.len), "  * function~");
 *     fact(w, "blocks", field_u64(n->blocks), ", * blocks\n");
 *     FACT_ROWS(w, "objects", i, r->objects.len)
 *         fact(w, "path", field_text(r->objects.at[i].path), "    *\n");
 *
 *       12 functions, 40 blocks                     {"functions": 12, "blocks": 40,
 *         /usr/bin/ls                                "objects": [{"path": "/usr/bin/ls"}]}
 */
#ifndef MONARC_OUTPUT_FACTS_H
#define MONARC_OUTPUT_FACTS_H

#include "output/columns.h"

enum { FACT_ROWS_MOST = 100 }; /* of a list in text; JSON has all */

/* One of both is there: it is what is written. */
struct facts {
    struct out *out;
    struct json *json;
};

/* `key` NULL: text alone. `text` NULL, or a value that is absent or unknown: JSON alone. A `*` that
 * a digit follows has so many decimals; other amounts have six significant digits. */
void fact(struct facts *w, const char *key, struct field value, const char *text);

/* The same, and no text for 0. */
void fact_nonzero(struct facts *w, const char *key, uint64_t value, const char *text);

/* Nanoseconds, which are seconds with three decimals in text. */
void fact_ns(struct facts *w, const char *key, uint64_t ns, const char *text);

/* Text alone, without a value. */
void fact_text(struct facts *w, const char *text);

/* Facts that are an object in JSON. */
void facts_begin(struct facts *w, const char *key);
void facts_end(struct facts *w);

/* A list of objects, of which the body writes number `i`: text has the first rows, and says after
 * `indent` blanks how many more there are. The body may `continue`, but never `break`. */
#define FACT_ROWS(w, key, indent, i, len) \
    for (size_t i = facts_rows(w, key); facts_row_next(w, indent, i, len); i++)

size_t facts_rows(struct facts *w, const char *key); /* 0 */
bool facts_row_next(struct facts *w, size_t indent, size_t i, size_t len);

/* The same where only some of a loop's turns are rows. *len counts them, from facts_rows(); false:
 * the row is one that text does not show.
 *
 *     size_t len = facts_rows(w, "damaged");
 *     for (size_t i = 0; i < n->functions.len; i++)
 *         if (n->functions.at[i].defect && facts_row(w, &len))
 *             ...
 *     facts_rows_end(w, 2, len); */
bool facts_row(struct facts *w, size_t *len);
void facts_rows_end(struct facts *w, size_t indent, size_t len);

#endif
