/* Comma-separated values, RFC 4180: CRLF line ends, quotes where needed, a header line. Numbers are
 * written as JSON writes them; what is not known is an empty field. Control bytes in texts, line
 * ends among them, are shown as `?`: programs that read a table line by line take them for rows,
 * and terminals obey them. */
#ifndef MONARC_OUTPUT_CSV_H
#define MONARC_OUTPUT_CSV_H

#include "output/out.h"

struct csv {
    struct out *out;
    bool has_fields; /* on this line */
};

void csv_str(struct csv *c, const char *text); /* NULL: empty */
void csv_u64(struct csv *c, uint64_t value);
void csv_double(struct csv *c, double value); /* not finite: empty */
void csv_address(struct csv *c, uint64_t value);
void csv_none(struct csv *c);
void csv_end(struct csv *c);

/* Names separated by commas, as they are. */
void csv_header(struct csv *c, const char *names);

#endif
