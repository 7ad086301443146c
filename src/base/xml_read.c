/* XML 1.0 from front to back, one tag or text at a time.
 *
 * The names of open tags are on a stack of fixed size (256), as spans of the input: tags must
 * match, and nothing is copied. Texts and attributes are returned as written, and decoded on
 * request; most never are.
 *
 * What could make a small file large, or reach outside of it, is not there: entities that a
 * document type defines are errors where they are used, nothing external is read, and the only
 * encodings are those whose bytes are UTF-8's. */
#include "base/xml_read.h"

#include "base/bytes.h"

#include <string.h>

void xml_reader_init(struct xml_reader *r, struct bytes in, const char *name, struct err *e)
{
    const char *at = in.len ? (const char *)in.at : "";
    *r = (struct xml_reader){.at = at, .end = at + in.len, .start = at, .name = name, .e = e};
}

bool xml_read_fail(struct xml_reader *r, const char *what)
{
    if (!r->failed)
        err_in(r->e, r->name, "at offset %zu: %s", (size_t)(r->at - r->start), what);
    r->failed = true;
    return false;
}

static bool xml_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool xml_begins(const struct xml_reader *r, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(r->end - r->at) >= len && !memcmp(r->at, word, len);
}

/* Passes everything up to and with `word`. */
static bool xml_past(struct xml_reader *r, const char *word)
{
    size_t len = strlen(word);
    const char *found = memmem(r->at, (size_t)(r->end - r->at), word, len);
    if (!found)
        return xml_read_fail(r, "unterminated comment, instruction or section");
    r->at = found + len;
    return true;
}

/* The end of a tag that begins here: its `>` outside of quotes. Attributes may hold `>` between
 * quotes. */
static const char *xml_tag_end(const struct xml_reader *r)
{
    char quote = 0;
    for (const char *c = r->at; c < r->end; c++) {
        if (quote)
            quote = *c == quote ? 0 : quote;
        else if (*c == '"' || *c == '\'')
            quote = *c;
        else if (*c == '>')
            return c;
    }
    return NULL;
}

/* As far as a name can go: which characters XML allows in it is not asked. */
static struct xml_span xml_name(const char *at, const char *end)
{
    const char *c = at;
    while (c < end && !xml_is_blank(*c) && *c != '/' && *c != '=' && *c != '>')
        c++;
    return (struct xml_span){at, c};
}

static bool xml_same(struct xml_span a, struct xml_span b)
{
    size_t len = (size_t)(a.end - a.at);
    return (size_t)(b.end - b.at) == len && !memcmp(a.at, b.at, len);
}

static bool xml_is(struct xml_span a, const char *name)
{
    return xml_same(a, (struct xml_span){name, name + strlen(name)});
}

static enum xml_event xml_close(struct xml_reader *r, struct xml_span name)
{
    if (!r->depth || !xml_same(r->open[r->depth - 1], name)) {
        xml_read_fail(r, "this closing tag matches no open tag");
        return XML_END;
    }
    r->tag = r->open[--r->depth];
    return XML_CLOSE;
}

/* </name> or <name key="value" ...> or <name ... />; `at` is at the `<`. */
static enum xml_event xml_take_tag(struct xml_reader *r)
{
    const char *end = xml_tag_end(r), *at = r->at + 1;
    if (!end) {
        xml_read_fail(r, "unterminated tag");
        return XML_END;
    }
    bool closes = at < end && *at == '/';
    struct xml_span name = xml_name(at + closes, end);
    if (name.at == name.end || (!closes && r->depth == XML_MOST_DEPTH)) {
        xml_read_fail(r,
                      name.at == name.end ? "a tag has no name" : "is nested more than 256 deep");
        return XML_END;
    }
    if (closes) {
        enum xml_event event = xml_close(r, name);
        r->at = r->failed ? r->at : end + 1;
        return event;
    }
    r->is_empty = end[-1] == '/';
    r->attributes = (struct xml_span){name.end, end - r->is_empty};
    r->tag = r->open[r->depth++] = name;
    r->at = end + 1;
    return XML_OPEN;
}

static enum xml_event xml_take_text(struct xml_reader *r)
{
    const char *end = memchr(r->at, '<', (size_t)(r->end - r->at));
    r->text = (struct xml_span){r->at, end ? end : r->end};
    r->at = r->text.end;
    return XML_TEXT;
}

/* Passes what is neither tag nor text; false: there is none of that here. Comments, instructions,
 * sections and the document type. */
static bool xml_past_other(struct xml_reader *r)
{
    if (xml_begins(r, "<!--"))
        return xml_past(r, "-->");
    if (xml_begins(r, "<?")) {
        /* The encoding that <?xml ... ?> names is one whose bytes are UTF-8's. */
        static const char *const FINE[] = {"utf-8", "UTF-8", "us-ascii", "US-ASCII", "ASCII"};
        bool is_declaration = xml_begins(r, "<?xml ");
        r->attributes.at = r->at + strlen(is_declaration ? "<?xml" : "<?");
        if (!xml_past(r, "?>"))
            return false;
        r->attributes.end = r->at - strlen("?>");
        struct xml_span encoding;
        if (!is_declaration || !xml_attribute_span(r, "encoding", &encoding))
            return true;
        for (size_t i = 0; i < sizeof FINE / sizeof *FINE; i++)
            if (xml_is(encoding, FINE[i]))
                return true;
        return xml_read_fail(r, "is not in UTF-8; other encodings are not supported");
    }
    if (xml_begins(r, "<![CDATA["))
        return xml_past(r, "]]>");
    if (!xml_begins(r, "<!DOCTYPE"))
        return false;
    /* <!DOCTYPE ... [ ... ]>: with quoted texts in it, and what stands between brackets. */
    char quote = 0;
    unsigned brackets = 0;
    for (; r->at < r->end; r->at++) {
        char c = *r->at;
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '[' || c == ']')
            brackets = c == '[';
        else if (c == '>' && !brackets)
            return r->at++, true;
    }
    return xml_read_fail(r, "unterminated document type");
}

/* An empty tag is two events. */
enum xml_event xml_read(struct xml_reader *r)
{
    if (r->is_empty) {
        r->is_empty = false;
        return xml_close(r, r->tag);
    }
    while (!r->failed && xml_past_other(r))
        ;
    if (!r->failed && r->at == r->end && r->depth)
        xml_read_fail(r, "the file ends while a tag is still open");
    if (r->failed || r->at == r->end)
        return XML_END;
    return *r->at == '<' ? xml_take_tag(r) : xml_take_text(r);
}

bool xml_tag_is(const struct xml_reader *r, const char *name)
{
    return xml_is(r->tag, name);
}

bool xml_is_within(const struct xml_reader *r, const char *name)
{
    return r->depth > 1 && xml_is(r->open[r->depth - 2], name);
}

/* Takes ` key="value"` from the front. */
static bool xml_take_attribute(struct xml_span *rest, struct xml_span *key, struct xml_span *value)
{
    while (rest->at < rest->end && xml_is_blank(*rest->at))
        rest->at++;
    *key = xml_name(rest->at, rest->end);
    const char *c = key->end;
    while (c < rest->end && (xml_is_blank(*c) || *c == '='))
        c++;
    if (c == rest->end || (*c != '"' && *c != '\''))
        return false;
    const char *end = memchr(c + 1, *c, (size_t)(rest->end - c - 1));
    *value = (struct xml_span){c + 1, end};
    rest->at = end ? end + 1 : rest->end;
    return end != NULL;
}

bool xml_attribute_span(const struct xml_reader *r, const char *key, struct xml_span *out)
{
    struct xml_span rest = r->attributes, name;
    while (xml_take_attribute(&rest, &name, out))
        if (xml_is(name, key))
            return true;
    return false;
}

/* &#65; and &#x41; between `at` and `end`, which are after the `&` and before the `;`. */
static uint32_t xml_character(const char *at, const char *end)
{
    uint32_t value = 0, base = at + 1 < end && at[1] == 'x' ? 16 : 10;
    for (at += base == 16 ? 2 : 1; at < end; at++) {
        char c = *at | 0x20;
        uint32_t digit = *at >= '0' && *at <= '9' ? (uint32_t)(*at - '0')
                         : c >= 'a' && c <= 'f'   ? (uint32_t)(c - 'a' + 10)
                                                  : UINT32_MAX;
        if (digit >= base || value > 0x10ffff)
            return 0;
        value = value * base + digit;
    }
    return value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff) ? 0 : value;
}

/* What stands for an entity; 0: it is none that XML has. */
static uint32_t xml_entity(const char *at, const char *end)
{
    static const struct {
        const char *name;
        char c;
    } ROWS[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    if (at < end && *at == '#')
        return xml_character(at, end);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (xml_is((struct xml_span){at, end}, ROWS[i].name))
            return (uint32_t)ROWS[i].c;
    return 0;
}

/* No entity of XML is shorter than the character that it stands for: one allocation is enough. */
const char *xml_decoded(struct xml_reader *r, struct xml_span s, struct arena *a)
{
    char *text = arena_alloc_text(a, (size_t)(s.end - s.at) + 1), *to = text;
    for (const char *c = s.at; c < s.end; c++) {
        const char *end = *c == '&' ? memchr(c, ';', (size_t)(s.end - c)) : NULL;
        uint32_t entity = end ? xml_entity(c + 1, end) : 0;
        if (!*c || (*c == '&' && !entity)) {
            xml_read_fail(r, "unknown entity, or NUL, in the text before");
            return "";
        }
        if (*c != '&') {
            *to++ = *c;
            continue;
        }
        to = utf8_put(to, entity);
        c = end;
    }
    *to = 0;
    return text;
}
