/* Reading XML 1.0 tag by tag, without a tree of it in memory.
 *
 * Tags must match. Comments, processing instructions, CDATA sections and the
 * document type are passed; entities are the
 * five that XML has and characters by number: what a document type defines is an error where it
 * is used. Bytes are taken as they are: the file is UTF-8, or says something else and is refused.
 */
#ifndef MONARC_BASE_XML_READ_H
#define MONARC_BASE_XML_READ_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

enum { XML_MOST_DEPTH = 256 };

enum xml_event { XML_OPEN, XML_CLOSE, XML_TEXT, XML_END };

struct xml_span {
    const char *at, *end;
};

struct xml_reader {
    const char *at, *end, *start;
    const char *name; /* of the input */
    struct err *e;
    struct xml_span tag;        /* the name of what was opened or closed */
    struct xml_span attributes; /* of what was opened, as they are written */
    struct xml_span text;       /* as it is written */
    struct xml_span open[XML_MOST_DEPTH];
    unsigned depth; /* of what is open */
    bool is_empty;  /* <a/>: its end comes next */
    bool failed;
};

void xml_reader_init(struct xml_reader *r, struct bytes in, const char *name, struct err *e);

/* Says what is wrong here, and returns false. */
bool xml_read_fail(struct xml_reader *r, const char *what);

/* The next tag or text; XML_END after the last one and after a failure. */
enum xml_event xml_read(struct xml_reader *r);

bool xml_tag_is(const struct xml_reader *r, const char *name);

/* The tag that is open around the current one is of this name. */
bool xml_is_within(const struct xml_reader *r, const char *name);

/* The value of an attribute of the tag that was just opened, as it is written; false: it has none.
 */
bool xml_attribute_span(const struct xml_reader *r, const char *key, struct xml_span *out);

/* A value or text without entities, in `a`; "" after a failure. It holds no NUL. */
const char *xml_decoded(struct xml_reader *r, struct xml_span s, struct arena *a);

#endif
