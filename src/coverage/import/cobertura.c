/* <coverage> <sources>, <packages> of <classes> of <methods> and <lines>.
 *
 * A class is a section. Its own lines count; those of a method say where the method begins and how
 * often it was called. condition-coverage="50% (1/2)" says how many branches were taken, not which
 * or how often: so many get a count of 1.
 *
 *     <coverage line-rate=...>
 *       <sources><source>/src</source></sources>             the folder, if there is only one
 *       <packages><package><classes>
 *         <class filename="a.c">                             a section
 *           <methods><method name signature><lines><line number hits/></lines></method></methods>
 *           <lines><line number hits condition-coverage="50% (1/2)"/></lines>
 *         </class></classes></package></packages></coverage>
 *
 * Elements of other names are passed over. Several folders are ambiguous: the first is taken and
 * the others are reported as lost. Linear in the file; a number of branches takes room. Document
 * type: cobertura.sourceforge.net, coverage-04.dtd. */
#include "coverage/import/import_private.h"

#include "base/xml_read.h"
#include "coverage/format/format.h"

#include <string.h>

/* State between events of the XML reader, which holds the tags that are open. */
struct reading {
    struct xml_reader xml;
    struct source_builder build;
    const char *folder; /* the folder of file names, "" or ending in a slash */
    uint64_t folders;
    struct trace_function function; /* of the method that is open */
    bool is_in_source, is_in_method;
};

/* Clover's root is `coverage` too, and has no line-rate. */
bool cobertura_probe(struct bytes first)
{
    const char *at = (const char *)first.at;
    size_t i = 0;
    while (i < first.len && (at[i] == ' ' || at[i] == '\n' || at[i] == '\r' || at[i] == '\t'))
        i++;
    return i < first.len && at[i] == '<' && memmem(at, first.len, "<coverage", 9) &&
           memmem(at, first.len, "line-rate", 9);
}

/* Empty where the attribute is not there. Lives as long as the tracefile. */
static const char *cobertura_text(struct reading *r, const char *key)
{
    struct xml_span s;
    return xml_attribute_span(&r->xml, key, &s) ? xml_decoded(&r->xml, s, &r->build.out->arena)
                                                : "";
}

/* A line without either is an error: it would count as never run. */
static uint64_t cobertura_number(struct reading *r, const char *key)
{
    struct xml_span s;
    uint64_t value = 0;
    if (!xml_attribute_span(&r->xml, key, &s) ||
        !count_read(s.at, s.end, &value, &r->build.out->negative))
        xml_read_fail(&r->xml, "the line before lacks a valid number or valid hits");
    return value;
}

/* The folder of all files, as long as there is one. `.` is no folder: paths are relative as they
 * are. */
static void cobertura_folder(struct reading *r)
{
    struct arena *a = &r->build.out->arena;
    const char *name = xml_decoded(&r->xml, r->xml.text, a);
    size_t len = strlen(name);
    if (r->folders++ || !len || !strcmp(name, "."))
        return;
    r->folder = arena_printf(a, "%s%s", name, name[len - 1] == '/' ? "" : "/");
}

/* Absolute names stay as they are. */
static void cobertura_class(struct reading *r)
{
    const char *name = cobertura_text(r, "filename");
    if (!*name) {
        xml_read_fail(&r->xml, "the class before has no filename");
        return;
    }
    const char *folder = *name == '/' ? "" : r->folder;
    source_begin(&r->build, arena_printf(&r->build.out->arena, "%s%s", folder, name));
}

/* "50% (1/2)"; false: it says no numbers. */
static bool cobertura_fraction(struct xml_span s, uint64_t *taken, uint64_t *all)
{
    uint64_t negative = 0;
    size_t len = (size_t)(s.end - s.at);
    const char *open = memchr(s.at, '(', len), *slash = memchr(s.at, '/', len);
    const char *close = memchr(s.at, ')', len);
    return open && slash > open && close > slash && count_read(open + 1, slash, taken, &negative) &&
           count_read(slash + 1, close, all, &negative) && *taken <= *all;
}

/* Lost is which of them were taken, and how often; a file that says more branches than it could
 * measure is refused. */
static void cobertura_branches(struct reading *r, uint32_t line)
{
    struct tracefile *out = r->build.out;
    struct xml_span s;
    uint64_t taken, all;
    if (!xml_attribute_span(&r->xml, "condition-coverage", &s))
        return;
    if (!cobertura_fraction(s, &taken, &all)) {
        tracefile_lose(out, "branches without numbers", 1);
        return;
    }
    if (!source_take_room(&r->build, all)) {
        xml_read_fail(&r->xml,
                      "the line before has more branches than fit into a file of this size");
        return;
    }
    for (uint32_t i = 0; i < all; i++)
        vec_push(&out->branches, (struct trace_branch){line, 0, i, i < taken, false});
    tracefile_lose(out, "counts of branches", all);
}

/* Methods' lines repeat those of the class and are not counted again: the lowest is where the
 * method begins. */
static void cobertura_line(struct reading *r)
{
    uint64_t number = cobertura_number(r, "number"), hits = cobertura_number(r, "hits");
    if (number > UINT32_MAX)
        xml_read_fail(&r->xml, "the line before has no valid number");
    if (r->xml.failed || !number)
        return;
    struct trace_line line = {(uint32_t)number, hits};
    struct trace_function *f = &r->function;
    if (!r->is_in_method) {
        vec_push(&r->build.out->lines, line);
        cobertura_branches(r, line.line);
    } else if (!f->start_line || line.line < f->start_line) {
        f->start_line = line.line;
        f->count = hits;
    }
}

/* Java's methods have signatures, without which they are not one by name. */
static void cobertura_method(struct reading *r)
{
    const char *name = cobertura_text(r, "name"), *signature = cobertura_text(r, "signature");
    bool is_bare = !*signature || !strcmp(signature, "()");
    r->function = (struct trace_function){
        .name = is_bare ? name : arena_printf(&r->build.out->arena, "%s%s", name, signature)};
    r->is_in_method = true;
}

/* Lines count within <lines> alone: other elements of that name may come. */
static void cobertura_open(struct reading *r)
{
    bool is_in_class = r->build.is_open;
    if (xml_tag_is(&r->xml, "source"))
        r->is_in_source = true;
    else if (xml_tag_is(&r->xml, "class"))
        cobertura_class(r);
    else if (is_in_class && xml_tag_is(&r->xml, "method"))
        cobertura_method(r);
    else if (is_in_class && xml_tag_is(&r->xml, "line") && xml_is_within(&r->xml, "lines"))
        cobertura_line(r);
}

/* A method without a name or line is dropped. */
static void cobertura_close(struct reading *r)
{
    if (xml_tag_is(&r->xml, "source"))
        r->is_in_source = false;
    else if (xml_tag_is(&r->xml, "class"))
        source_end(&r->build, false);
    if (!xml_tag_is(&r->xml, "method") || !r->is_in_method)
        return;
    r->is_in_method = false;
    if (r->build.is_open && *r->function.name && r->function.start_line)
        vec_push(&r->build.out->functions, r->function);
}

/* Well-formed XML of another kind is refused at the end: <coverage> was never seen. */
bool cobertura_read(struct bytes in, const char *name, struct tracefile *out, struct err *e)
{
    struct reading r = {.build = source_builder_over(in, out), .folder = ""};
    bool is_cobertura = false;
    xml_reader_init(&r.xml, in, name, e);
    for (enum xml_event event; (event = xml_read(&r.xml)) != XML_END;) {
        if (event == XML_OPEN) {
            is_cobertura |= xml_tag_is(&r.xml, "coverage");
            cobertura_open(&r);
        } else if (event == XML_CLOSE) {
            cobertura_close(&r);
        } else if (r.is_in_source) {
            cobertura_folder(&r);
        }
    }
    source_end(&r.build, r.xml.failed);
    if (r.folders > 1)
        tracefile_lose(out, "further folders of sources", r.folders - 1);
    return !r.xml.failed && (is_cobertura || xml_read_fail(&r.xml, "has no <coverage>"));
}
