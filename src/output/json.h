/* JSON and CSV, written as they come: nothing is built in memory.
 *
 *     struct json j = {.out = out};
 *     json_begin(&j, '{');
 *     json_key(&j, "name"), json_str(&j, name);
 *     json_key(&j, "sizes"), json_begin(&j, '['), json_u64(&j, 7), json_end(&j);
 *     json_end(&j);
 *
 * Commas, indentation (two spaces) and the final newline are the writer's business; that keys and
 * values alternate is the caller's. Nesting is at most JSON_DEPTH. */
#ifndef MONARC_OUTPUT_JSON_H
#define MONARC_OUTPUT_JSON_H

#include "output/out.h"

enum { JSON_DEPTH = 32 };

struct json {
    struct out *out;
    bool is_compact; /* one line, no spaces */
    bool has_items;  /* in the innermost container */
    bool after_key;
    unsigned depth;
    char closers[JSON_DEPTH];
};

/* `bracket`: '{' or '['. */
void json_begin(struct json *j, char bracket);
void json_end(struct json *j);
void json_key(struct json *j, const char *key);

/* Bytes that are no UTF-8 become U+FFFD. NULL becomes null. */
void json_str(struct json *j, const char *text);
void json_str_n(struct json *j, const char *text, size_t len);

void json_u64(struct json *j, uint64_t value);
void json_i64(struct json *j, int64_t value);

/* The shortest decimal that reads back as the same double; null for what is not finite. */
void json_double(struct json *j, double value);

/* A number of millionths, with the decimals that it has: 2500000 is 2.5. */
void json_millionths(struct json *j, uint64_t value);
void json_bool(struct json *j, bool value);
void json_none(struct json *j); /* null; jansson has a json_null() */

/* An address as "0x401000": JSON numbers are doubles to most readers. */
void json_address(struct json *j, uint64_t value);

/* A key and its value. */
void json_pair_u64(struct json *j, const char *key, uint64_t value);
void json_pair_double(struct json *j, const char *key, double value);
void json_pair_str(struct json *j, const char *key, const char *value);
void json_pair_address(struct json *j, const char *key, uint64_t value);

/* What every document of ours begins with: its object, the schema's version, the report's name
 * (NULL: it has none). */
void json_document_begin(struct json *j, const char *report);

/* Comma-separated values, RFC 4180: CRLF line ends, quotes where needed, a header line. Numbers are
 * written as JSON writes them; what is not known is an empty field. Control bytes in texts, line
 * ends among them, are shown as `?` (see text_name()): programs that read a table line by line take
 * them for rows, and terminals obey them. A text that a spreadsheet would run as a formula, as it
 * begins with = + - or @, gets an apostrophe in front. */
struct csv {
    struct out *out;
    bool has_fields; /* on this line */
};

void csv_str(struct csv *c, const char *text); /* NULL: empty */
void csv_u64(struct csv *c, uint64_t value);
void csv_double(struct csv *c, double value); /* not finite: empty */
void csv_address(struct csv *c, uint64_t value);
void csv_none(struct csv *c);
/* Ends the line. */
void csv_end(struct csv *c);

/* Names separated by commas, as they are. */
void csv_header(struct csv *c, const char *names);

#endif
