/* Reading JSON (RFC 8259) value by value, without a tree of it in memory.
 *
 * The first error goes to `e`; from then on nothing is read: requests for another member or element
 * return false, requests for a value return 0. Callers test `failed` once.
 *
 *     json_read_object(&r);
 *     while (json_read_member(&r, &key))
 *         if (json_key_is(key, "count"))
 *             count = ...
 *         else
 *             json_read_past(&r);
 */
#ifndef MONARC_BASE_JSON_READ_H
#define MONARC_BASE_JSON_READ_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct json_reader {
    const char *at, *end, *start;
    const char *name; /* of the input */
    struct err *e;
    bool is_first; /* an object or array was just begun */
    bool failed;
};

/* As it is written: between the quotes, or a number's digits. */
struct json_span {
    const char *at, *end;
};

struct json_reader json_reader_over(struct bytes in, const char *name, struct err *e);

/* Says what is wrong here, and returns false. */
bool json_read_fail(struct json_reader *r, const char *what);

void json_read_object(struct json_reader *r); /* `{` */
void json_read_array(struct json_reader *r);  /* `[` */

/* Whether another member, whose value is next, or another element follows; passes the end. */
bool json_read_member(struct json_reader *r, struct json_span *key);
bool json_read_element(struct json_reader *r);

bool json_key_is(struct json_span key, const char *name);

/* The text in UTF-8, in `a`; "" after a failure. It holds no NUL: that is refused. */
const char *json_read_text(struct json_reader *r, struct arena *a);

/* The text of a number. */
struct json_span json_read_number(struct json_reader *r);

bool json_read_bool(struct json_reader *r);

/* Whether the value that is next is of the kind that begins with `first`: `{`, `[`, `"`, `n`. */
bool json_read_is(struct json_reader *r, char first);

/* Passes any value, however deep. */
void json_read_past(struct json_reader *r);

/* Whether nothing follows but blanks; a failure, if not. */
bool json_read_end(struct json_reader *r);

#endif
