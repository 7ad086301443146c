/* Drawing by Graphviz' library, loaded when a picture is drawn: it brings a dozen libraries, for
 * which no other command should wait.
 *
 * It stays loaded, since its plugins leave state in threads and libraries. Each name is looked up
 * before any is called, so that an older or broken library is one message. */
#include "output/formats.h"

#ifdef HAVE_GRAPHVIZ

#include "base/late.h"

#include <graphviz/gvc.h>
#include <string.h>

struct graphviz {
    void *library;
    __typeof__(gvContext) *context;
    __typeof__(gvFreeContext) *free_context;
    __typeof__(agmemread) *read;
    __typeof__(agclose) *close;
    __typeof__(gvLayout) *lay_out;
    __typeof__(gvFreeLayout) *free_layout;
    __typeof__(gvRenderData) *render;
    __typeof__(gvFreeRenderData) *free_data;
};

/* Version 7 of the library has the length of a picture as a size_t, version 6 as an unsigned int.
 */
typedef int render_of_6(GVC_t *, Agraph_t *, const char *, char **, unsigned int *);
#define OF_VERSION(six, seven) _Generic(&gvRenderData, render_of_6 * : (six), default : (seven))
static const char library_name[] = OF_VERSION("libgvc.so.6", "libgvc.so.7");
typedef __typeof__(OF_VERSION(0U, (size_t)0)) picture_length;

/* Pointers to all functions that are called, or false where the library lacks one. */
static bool find_all(struct graphviz *v)
{
    void *l = v->library;
    return late_find(l, "gvContext", &v->context) &&
           late_find(l, "gvFreeContext", &v->free_context) && late_find(l, "agmemread", &v->read) &&
           late_find(l, "agclose", &v->close) && late_find(l, "gvLayout", &v->lay_out) &&
           late_find(l, "gvFreeLayout", &v->free_layout) &&
           late_find(l, "gvRenderData", &v->render) &&
           late_find(l, "gvFreeRenderData", &v->free_data);
}

/* Heads of thick arrows end where their lines do, and labels have a rim against arrows beside them.
 * In the dark, the ground and what stands on it alone: boxes keep their colours and their text. */
static const char STYLE[] =
    "\n<style>.edge polygon{stroke-width:4}"
    ".edge text{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}"
    "@media (prefers-color-scheme:dark){svg{background:#17171b}.edge text{stroke:#17171b}"
    ".graph>polygon{fill:#17171b}.graph>text,.cluster>text,.edge text{fill:#e8e8ee}"
    ".edge path,.edge polygon{stroke:#a2a2ae}.edge polygon{fill:#a2a2ae}"
    ".cluster>path,.cluster>polygon{stroke:#a2a2ae;fill:#212127}}</style>";

/* The part of an SVG before its element is removed: a document type that names a file of another
 * host, and a comment with the version of Graphviz, which would differ from machine to machine. */
static void put_picture(struct out *out, const char *data, size_t len, const char *format)
{
    const char *from = strcmp(format, "svg") ? NULL : strstr(data, "<svg");
    const char *end =
        from ? strchr(from, '>') : NULL; /* of the tag: its attributes are numbers and names */
    if (end) {
        out_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        out_bytes(out, from, (size_t)(end + 1 - from));
        out_str(out, STYLE);
        len -= (size_t)(end + 1 - data);
        data = end + 1;
    }
    out_bytes(out, data, len);
}

/* Reads, lays out and renders; gives back what was had, in reverse order, whatever failed. */
static bool draw(const struct graphviz *v, struct out *out, const char *dot, const char *format,
                 struct err *e)
{
    char *data = NULL;
    picture_length len = 0;
    GVC_t *context = v->context();
    Agraph_t *graph = context ? v->read(dot) : NULL;
    bool is_laid_out = graph && !v->lay_out(context, graph, "dot");
    bool ok = is_laid_out && !v->render(context, graph, format, &data, &len) && data && len;
    if (ok)
        put_picture(out, data, len, format);
    else if (graph && !is_laid_out)
        /* From Debian unstable's version 14 on, its library comes without the list of its plugins.
         */
        err_set(e, "Graphviz could not lay the graph out; if it does not know the layout dot, also "
                   "install its programs (package graphviz); --dot writes what it would draw");
    else
        err_set(e, "Graphviz could not draw the graph as %s", format);
    if (data)
        v->free_data(data);
    if (is_laid_out)
        v->free_layout(context, graph);
    if (graph)
        v->close(graph);
    if (context)
        v->free_context(context);
    return ok;
}

/* The library stays loaded: its plugins leave state in threads and libraries. */
bool graphviz_draw(struct out *out, const char *dot, const char *format, struct err *e)
{
    struct graphviz v = {.library = late_open(library_name)};
    if (!v.library || !find_all(&v))
        return err_set(e,
                       "drawing needs Graphviz' library: %s " LATE_MISSING "; --dot writes what it "
                       "would draw",
                       library_name);
    return draw(&v, out, dot, format, e);
}

#else

bool graphviz_draw(struct out *out, const char *dot, const char *format, struct err *e)
{
    (void)out, (void)dot;
    return err_set(e,
                   "this monarc was built without Graphviz and cannot draw %s; --dot writes "
                   "what 'dot -T%s' draws",
                   format, format);
}

#endif
