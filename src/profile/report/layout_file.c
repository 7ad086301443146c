/* Order files for linkers.
 *
 * lld orders by symbol. gold and GNU ld order by section: compilers name the section of a function
 * after it (-ffunction-sections), with a word between when they know it to be hot, rarely run, or
 * run at start or end; what is split off of a function as NAME.cold is in the rarely run section of
 * NAME, which then has nothing else. A pattern that no section matches does no harm. */
#include "profile/report/layout.h"

#include <string.h>

const char *const layout_format_names[] = {[LAYOUT_LLD] = "lld",
                                           [LAYOUT_GOLD] = "gold",
                                           [LAYOUT_LD] = "ld",
                                           [LAYOUT_MOLD] = "mold",
                                           [LAYOUT_NAMES] = "names"};

enum { RARELY_RUN }; /* place in the following */
static const char *const section_prefixes[] = {".text.unlikely.", ".text.", ".text.hot.",
                                               ".text.startup.", ".text.exit."};
static const char *const cold_prefixes[] = {".text.unlikely.", ".text.split."};

static bool is_script(enum layout_format format)
{
    return format == LAYOUT_LD || format == LAYOUT_MOLD;
}

/* Without a symbol version (`f@@V2`), which objects do not have. */
static size_t length_of(const char *name)
{
    const char *version = name[0] ? strchr(name + 1, '@') : NULL;
    return version ? (size_t)(version - name) : strlen(name);
}

static void section(struct out *out, const char *prefix, const char *name, size_t len,
                    enum layout_format format)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
    bool is_quoted = is_script(format) && strspn(name, plain) < len;
    out_str(out, format == LAYOUT_GOLD ? "" : is_quoted ? " \"" : " ");
    out_str(out, prefix);
    out_bytes(out, name, len);
    out_str(out, format == LAYOUT_GOLD ? "\n" : is_quoted ? "\"" : "");
}

static void sections(struct out *out, const char *name, bool has_cold_part,
                     enum layout_format format)
{
    size_t len = length_of(name);
    for (size_t i = has_cold_part ? RARELY_RUN + 1 : 0;
         i < sizeof section_prefixes / sizeof *section_prefixes; i++)
        section(out, section_prefixes[i], name, len, format);
    if (len <= 5 || strncmp(name + len - 5, ".cold", 5))
        return;
    for (size_t i = 0; i < sizeof cold_prefixes / sizeof *cold_prefixes; i++)
        section(out, cold_prefixes[i], name, len - 5, format);
}

static void place(struct out *out, const struct layout_place *p, enum layout_format format)
{
    if (format == LAYOUT_LLD || format == LAYOUT_NAMES) {
        out_bytes(out, p->names[0], length_of(p->names[0]));
        out_char(out, '\n');
        return;
    }
    out_str(out, is_script(format) ? "    *(" : "");
    for (uint32_t i = 0; i < p->names_len; i++)
        sections(out, p->names[i], p->has_cold_part, format);
    out_str(out, is_script(format) ? " )\n" : "");
}

static void head(struct out *out, const struct layout *t, const struct layout_gain *gain,
                 enum layout_format format)
{
    static const char *const use[LAYOUT_FORMATS] = {
        [LAYOUT_LLD] = "-fuse-ld=lld -Wl,--symbol-ordering-file=FILE",
        [LAYOUT_GOLD] = "-fuse-ld=gold -Wl,--section-ordering-file=FILE",
        [LAYOUT_LD] = "-Wl,-T,FILE",
        [LAYOUT_MOLD] =
            "ld -r --force-group-allocation -T FILE -o all.o OBJECT..., then mold all.o",
    };
    const char *prefix = is_script(format) ? "" : "# ";
    out_printf(out, "%sOrder of functions, made by monarc order. Compile with\n",
               is_script(format) ? "/* " : prefix);
    out_printf(out, "%s-ffunction-sections; link: %s\n", prefix, use[format]);
    layout_gain_rows(out, t, gain, prefix);
    out_str(out, is_script(format) ? "*/\n" : "");
}

void layout_file(struct out *out, const struct layout *t, const struct layout_gain *gain,
                 enum layout_format format)
{
    if (format != LAYOUT_NAMES)
        head(out, t, gain, format);
    if (is_script(format))
        out_printf(out, "SECTIONS\n{\n  %s :\n  {\n",
                   format == LAYOUT_LD ? ".text.ordered" : ".text 0");
    for (uint32_t i = 0; i < t->len; i++)
        if (t->places[i].is_named)
            place(out, &t->places[i], format);
    if (format == LAYOUT_LD)
        out_str(out, "  }\n}\nINSERT AFTER .text;\n");
    if (format == LAYOUT_MOLD)
        out_str(out, "    *(.text .text.*)\n  }\n}\n");
}
