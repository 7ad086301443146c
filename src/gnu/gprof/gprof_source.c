/* GNU gprof's annotated source (-A) and execution counts (-C): the table for both, their layouts,
 * and which files are read and written.
 *
 * GNU knows two kinds of counts. Functions (with -l: lines) were entered so many times, as the
 * calls say; basic blocks, which gcc 2 could count and convert still makes of arc profiles, stand
 * at addresses. A line's count is that of what begins on it:
 *
 *   function f, called 12 times, on line 7       12 -> int f(int i)
 *   blocks 3, 9 on line 8                      3,9 -> if (i) g(); else h();
 *   a line without a block of its own, with -x  9 -> }
 *
 * A file's place in the list is that of its first function in the symbol table, from the last to
 * the first. That order is GNU's linked list; with it, and with blocks in the order of the
 * profile, output agrees byte for byte.
 *
 * Sources are found by the rules of -I. With -y each goes into FILE-ann; nothing that is a source
 * of the program is ever written to. What is missing is named on standard error and passed over.
 */
#include "base/file.h"
#include "base/map.h"
#include "base/path.h"
#include "base/sort.h"
#include "gnu/gnu_compat.h"
#include "gnu/gprof/gprof.h"
#include "output/out.h"
#include "source/source.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One line of a file with at least one function that the selection admits. */
struct gnu_line {
    uint32_t line;
    uint32_t function; /* the first by address: its blocks and its kind stand for all */
    bool is_shared;    /* there are more */
    uint64_t calls;    /* of all of them */
};

/* A file with its lines; those of all files lie in one array, file by file. */
struct gnu_source {
    const char *path;
    struct gnu_line *lines; /* ascending */
    uint32_t len;
    uint64_t calls; /* of all lines */
};

struct gnu_sources {
    struct gnu_source *files; /* in the order in which GNU gprof prints them */
    uint32_t len;
};

/* Options of -A; numbers are GNU's defaults unless they were given. */
struct gprof_source_style {
    uint64_t min_count;    /* -m */
    uint32_t table_length; /* -t */
    bool all_lines;        /* -x */
};

/* --- basic blocks ---------------------------------------------------------------------------- */

/* Blocks that some function owns, summed by address, with the owner as key. `b->at` has one entry
 * for each address, in the order in which it came first. */
static struct keyed *sum_blocks(struct gnu_blocks *b, uint32_t *len, const struct profile *p,
                                const struct functions *f, struct arena *a)
{
    struct keyed *order = ARENA_NEW(a, struct keyed, p->blocks.len);
    struct map seen = {0};
    b->at = ARENA_NEW(a, struct block, p->blocks.len);
    for (size_t i = 0; i < p->blocks.len; i++) {
        const struct block *block = &p->blocks.at[i];
        uint32_t owner = functions_find(f, block->address);
        if (owner == NO_FUNCTION)
            continue;
        bool is_new;
        uint32_t place = *map_at(&seen, block->address, 0, *len, &is_new);
        if (is_new) {
            order[*len] = (struct keyed){owner, *len};
            b->at[(*len)++] = *block;
        } else {
            b->at[place].count = add_saturating(b->at[place].count, block->count);
        }
    }
    map_deinit(&seen);
    return order;
}

/* Counting sort: sizes first, then running sums are the starts. */
void gnu_blocks_make(struct gnu_blocks *b, const struct profile *p, const struct functions *f,
                     struct arena *a)
{
    uint32_t len = 0;
    if (!p->blocks.len)
        return;
    /* Sorting by owner is stable: of one function, blocks stay in the order of the profile. */
    struct keyed *order = sum_blocks(b, &len, p, f, a);
    sort_keyed(order, len);
    struct block *sorted = ARENA_NEW(a, struct block, len);
    b->start = ARENA_NEW(a, uint32_t, f->len + 1);
    for (uint32_t i = 0; i < len; i++) {
        sorted[i] = b->at[order[i].item];
        b->start[order[i].key + 1]++;
    }
    for (uint32_t i = 0; i < f->len; i++)
        b->start[i + 1] += b->start[i];
    b->at = sorted;
}

/* --- files and their lines ------------------------------------------------------------------- */

/* Numbers the files and notes the first function of each; file_of[function] counts from 1. First in
 * the symbol table, not by address: `created` says which. */
static uint32_t *number_files(struct path_numbers *paths, struct keyed **firsts,
                              const struct functions *f, const struct gnu_symbol *symbols,
                              struct arena *a)
{
    VEC(struct keyed) found = {0};
    uint32_t *file_of = ARENA_NEW(a, uint32_t, f->len);
    for (uint32_t i = 0; i < f->len; i++) {
        if (!f->at[i].file || !f->at[i].line)
            continue;
        uint32_t file = path_number(paths, f->at[i].file);
        uint64_t created = symbols[i].created;
        if (file == found.len)
            vec_push(&found, ((struct keyed){created, file}));
        else if (created < found.at[file].key)
            found.at[file].key = created;
        file_of[i] = file + 1;
    }
    *firsts = ARENA_NEW(a, struct keyed, found.len);
    if (found.len)
        memcpy(*firsts, found.at, found.len * sizeof **firsts);
    vec_free(&found);
    return file_of;
}

/* Adds a function that stands on a line of the file. Functions come sorted by line, so the last
 * line is the only one that can be meant. */
static void add_line(struct gnu_source *s, const struct functions *f, uint32_t function,
                     uint64_t calls)
{
    struct gnu_line *last = s->len ? &s->lines[s->len - 1] : NULL;
    s->calls = add_saturating(s->calls, calls);
    if (last && last->line == f->at[function].line) {
        last->is_shared = true;
        last->calls = add_saturating(last->calls, calls);
        return;
    }
    s->lines[s->len++] = (struct gnu_line){f->at[function].line, function, false, calls};
}

/* Files are listed backwards by their first symbols: GNU's list has the newest in front.
 * O(functions). */
static void gnu_sources_make(struct gnu_sources *s, const struct functions *f,
                             const struct gnu_symbol *symbols, const struct graph *g,
                             const struct selection *selection, struct arena *a)
{
    struct path_numbers paths = {0};
    struct keyed *firsts;
    uint32_t *file_of = number_files(&paths, &firsts, f, symbols, a), len = 0;
    uint32_t files = (uint32_t)paths.paths.texts.len;
    /* Functions by file, line and address: the addresses ascend already. */
    struct keyed *order = ARENA_NEW(a, struct keyed, f->len);
    for (uint32_t i = 0; i < f->len; i++)
        if (file_of[i] && selection_admits(selection, ASK_ANNOTATE, i))
            order[len++] = (struct keyed){(uint64_t)file_of[i] << 32 | f->at[i].line, i};
    sort_keyed(order, len);
    struct gnu_line *lines = ARENA_NEW(a, struct gnu_line, len);
    struct gnu_source *by_number = ARENA_NEW(a, struct gnu_source, files);
    for (uint32_t i = 0; i < len; i++) {
        uint32_t function = order[i].item;
        struct gnu_source *file = &by_number[file_of[function] - 1];
        if (!file->lines)
            file->lines = lines + i;
        add_line(file, f, function, g ? g->nodes[function].calls : 0);
    }
    sort_keyed(firsts, files);
    s->files = ARENA_NEW(a, struct gnu_source, files);
    for (uint32_t i = 0; i < files; i++) {
        s->files[i] = by_number[firsts[files - 1 - i].item];
        s->files[i].path = intern_text(&paths.paths, firsts[files - 1 - i].item);
    }
    s->len = files;
    path_numbers_deinit(&paths);
}

/* --- execution counts (-C) ------------------------------------------------------------------- */

/* No strict order: what has no file is compared by address alone. A sort with such an order depends
 * on its algorithm: sort_u32() is a merge sort as glibc's qsort() is. */
static int by_place(uint32_t left, uint32_t right, const void *context)
{
    const struct function *at = context, *l = &at[left], *r = &at[right];
    if (l->file && r->file) {
        int files = l->file == r->file ? 0 : strcmp(l->file, r->file);
        if (files)
            return files;
        if (l->line != r->line)
            return l->line < r->line ? -1 : 1;
    }
    return l->start < r->start ? -1 : l->start > r->start;
}

/* By file, line and address. */
uint32_t *gnu_counts_order(const struct functions *f, const struct selection *selection,
                           uint32_t *len, struct arena *a)
{
    uint32_t *order = ARENA_NEW(a, uint32_t, f->len);
    *len = 0;
    for (uint32_t i = 0; i < f->len; i++)
        if (selection_admits(selection, ASK_COUNTS, i))
            order[(*len)++] = i;
    sort_u32(order, *len, by_place, f->at);
    return order;
}

/* One line of -C. */
static void gprof_count_line(const struct function *f, uint64_t address, uint64_t count,
                             struct out *out)
{
    out_str(out, f->file ? f->file : "<unknown>");
    out_char(out, ':');
    out_u64(out, f->line, 0);
    out_str(out, ": (");
    out_str(out, f->name);
    out_printf(out, ":0x%" PRIx64 ") %" PRIu64 " executions\n", address, count);
}

/* A function's calls, then its blocks. With -z what was never executed has a line, too. */
void gprof_counts(struct gprof_report *r, const uint32_t *order, uint32_t len, struct out *out)
{
    const struct gnu_blocks *b = r->blocks;
    gprof_new_page(r, out);
    for (uint32_t i = 0; i < len; i++) {
        const struct function *f = &r->functions->at[order[i]];
        uint64_t calls = r->graph ? r->graph->nodes[order[i]].calls : 0;
        if (calls || r->show_all)
            gprof_count_line(f, f->start, calls, out);
        for (uint32_t k = b->start ? b->start[order[i]] : 0; b->start && k < b->start[order[i] + 1];
             k++)
            if (b->at[k].count || r->show_all)
                gprof_count_line(f, b->at[k].address, b->at[k].count, out);
    }
}

/* --- annotated source (-A) ------------------------------------------------------------------- */

/* Columns before the text, arrow included. GNU's buffer has that many columns; numbers beyond are
 * cut. */
enum { MARGIN = 16 };

/* The state of a walk over one file's lines. */
struct annotation {
    const struct gprof_report *report;
    const struct gprof_source_style *style;
    uint64_t last_count; /* of the block that was last passed, in whatever file */
    uint64_t executable, executed;
};

/* Numbers separated by commas; once MARGIN is full, only the arithmetic goes on. */
struct margin {
    char text[MARGIN + 32], *end;
    uint64_t sum, last;
    bool has_sum, has_last;
};

/* GNU's buffer ends there: later numbers are summed, but not shown. */
static void gprof_margin_add(struct margin *m, uint64_t count)
{
    m->last = count;
    m->has_last = true;
    if (m->end - m->text >= MARGIN)
        return;
    if (m->end > m->text)
        *m->end++ = ',';
    m->end = digits_u64(m->end, count, 0);
}

/* Whether the line goes on from the block before it: the first of its own blocks begins later. */
static bool gprof_line_runs_on(const struct gprof_report *r, const struct gnu_line *l)
{
    const struct gnu_blocks *b = r->blocks;
    if (!b->start || b->start[l->function] == b->start[l->function + 1])
        return false;
    return l->is_shared ||
           b->at[b->start[l->function]].address > r->functions->at[l->function].start;
}

/* Collects the counts of a line; false: it has none. m->sum decides whether the line is marked as
 * never executed; m->text is what is shown. With -x a count that is that of the number before it is
 * not repeated. */
static bool gprof_margin_fill(struct margin *m, struct annotation *t, const struct gnu_line *l)
{
    if (t->report->functions->at[l->function].is_function) {
        t->last_count = l->calls;
        gprof_margin_add(m, l->calls);
    } else if (t->style->all_lines && gprof_line_runs_on(t->report, l)) {
        gprof_margin_add(m, t->last_count);
    }
    m->sum = m->last;
    m->has_sum = m->has_last;
    const struct gnu_blocks *b = t->report->blocks;
    for (uint32_t i = b->start ? b->start[l->function] : 0;
         b->start && i < b->start[l->function + 1]; i++) {
        t->last_count = b->at[i].count;
        m->sum = (m->has_sum ? m->sum : 0) + t->last_count;
        m->has_sum = true;
        if (!t->style->all_lines || !m->has_last || m->last != t->last_count)
            gprof_margin_add(m, t->last_count);
    }
    if (t->style->all_lines && m->end == m->text) {
        gprof_margin_add(m, t->last_count);
        m->sum = t->last_count;
        m->has_sum = true;
    }
    return m->has_sum;
}

/* The margin before one line, exactly MARGIN columns. */
static void gprof_print_margin(struct annotation *t, const struct gnu_line *l, struct out *out)
{
    struct margin m = {.end = m.text};
    t->executable++;
    if (!gprof_margin_fill(&m, t, l)) {
        out_spaces(out, MARGIN);
        return;
    }
    t->executed++;
    if (m.sum < t->style->min_count) {
        memcpy(m.text, "#####", 5);
        m.end = m.text + 5;
    }
    memcpy(m.end, " -> ", 4);
    size_t len = (size_t)(m.end + 4 - m.text);
    if (len < MARGIN)
        out_spaces(out, MARGIN - len);
    out_bytes(out, m.text, len < MARGIN ? len : MARGIN);
}

/* Busiest first, equal ones by line. */
static int gprof_by_calls(uint32_t left, uint32_t right, const void *context)
{
    const struct gnu_line *lines = context;
    uint64_t l = lines[left].calls, r = lines[right].calls;
    if (l != r)
        return l < r ? 1 : -1;
    return left < right ? -1 : 1;
}

/* One file: each line after its counts, the busiest lines (-t), and a summary. A last line without
 * a newline stays without. */
static void gprof_annotated(struct gprof_report *r, const struct gnu_source *s, struct bytes text,
                            const struct gprof_source_style *style, struct out *out)
{
    struct annotation t = {.report = r, .style = style, .last_count = r->last_count};
    const char *at = text.len ? (const char *)text.at : "", *end = at + text.len;
    uint64_t number = 1;
    for (uint32_t next = 0; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline + 1 : end;
        /* Lines past the end of the file, and line 0 in notes, are skipped. */
        while (next < s->len && s->lines[next].line < number)
            next++;
        if (next < s->len && s->lines[next].line == number)
            gprof_print_margin(&t, &s->lines[next], out);
        else
            out_bytes(out, "                ", MARGIN);
        out_bytes(out, at, (size_t)(stop - at));
        at = stop;
    }
    if (style->table_length) {
        struct arena scratch = {0};
        uint32_t *order = ARENA_NEW(&scratch, uint32_t, s->len);
        for (uint32_t i = 0; i < s->len; i++)
            order[i] = i;
        sort_u32(order, s->len, gprof_by_calls, s->lines);
        out_printf(out, "\n\nTop %" PRIu32 " Lines:\n\n     Line      Count\n\n",
                   style->table_length);
        for (uint32_t i = 0; i < style->table_length && i < s->len && s->lines[order[i]].calls;
             i++) {
            out_u64(out, s->lines[order[i]].line, 9);
            out_char(out, ' ');
            out_u64(out, s->lines[order[i]].calls, 10);
            out_char(out, '\n');
        }
        arena_deinit(&scratch);
    }
    double executable = (double)t.executable;
    out_printf(out, "\nExecution Summary:\n\n%9" PRIu64 "   Executable lines in this file\n",
               t.executable);
    out_printf(out, "%9" PRIu64 "   Lines executed\n", t.executed);
    out_printf(out, "%9.2f   Percent of the file executed\n",
               t.executable ? 100 * (double)t.executed / executable : 100.0);
    out_printf(out, "\n%9" PRIu64 "   Total number of line executions\n", s->calls);
    out_printf(out, "%9.2f   Average executions per line\n",
               t.executable ? (double)s->calls / executable : 0.0);
    r->last_count = t.last_count;
}

/* --- finding and writing files --------------------------------------------------------------- */

/* One call of -A. */
struct annotating {
    const struct gprof_options *options;
    struct gprof_report *report;
    struct gprof_source_style style;
    struct gnu_sources sources;
    const char **found; /* where each file is, or NULL */
    struct map inodes;  /* of all that were found */
    struct map written; /* likewise, of results */
    struct source_text text;
    bool was_refused;
};

/* Files in which nothing was called are left out, but for -z. */
static bool is_printed(const struct annotating *t, const struct gnu_source *s)
{
    return s->len && (s->calls || t->report->show_all);
}

/* Directories are empty files, as for GNU gprof; pipes and devices are not read. The names in
 * messages are those recorded by the compiler where the file was not found. */
static bool read_source(struct annotating *t, const char *recorded, const char *path)
{
    struct err why;
    if (!path && access(recorded, F_OK) == 0)
        lookalike_say("%s: Permission denied\n", recorded);
    else if (!path)
        lookalike_say("%s: could not locate `%s'\n", t->options->whoami, recorded);
    if (!path)
        return false;
    if (source_text_read(&t->text, path, &why) || path_is_folder(path))
        return true;
    lookalike_say("%s\n", why.line);
    t->was_refused |= errno_is_trouble(why.system);
    return false;
}

/* By device and inode: another name for a source is no other file. */
static bool replaces_source(struct annotating *t, const char *target)
{
    struct stat st;
    return !stat(target, &st) && map_find(&t->inodes, st.st_dev, st.st_ino);
}

/* FILE-ann in the current folder. The result is made in memory and replaces the file in one step,
 * so a full disk leaves the old one. */
static void write_beside(struct annotating *t, uint32_t file, struct arena *a)
{
    const struct gnu_source *s = &t->sources.files[file];
    const char *target = arena_printf(a, "%s-ann", path_base_name(s->path));
    struct out text;
    struct err why;
    if (replaces_source(t, target)) {
        lookalike_say("%s: %s: is a source file of the program; not overwritten\n",
                      t->options->whoami, target);
        t->was_refused = true;
        return;
    }
    out_init(&text, -1);
    gprof_annotated(t->report, s, t->text.bytes, &t->style, &text);
    /* Two sources of one name share one result, in which the last one stays, as with GNU gprof; not
     * without a word. */
    struct stat st;
    if (!stat(target, &st) && map_find(&t->written, st.st_dev, st.st_ino))
        lookalike_say("%s: warning: %s held another source of that name; now it is %s\n",
                      t->options->whoami, target, s->path);
    if (file_replace(target, (struct bytes){(const uint8_t *)text.at, text.len}, &why)) {
        if (!stat(target, &st))
            map_at(&t->written, st.st_dev, st.st_ino, file, NULL);
    } else {
        lookalike_say("%s\n", why.line);
        t->was_refused = true;
    }
    out_deinit(&text);
}

/* In the order of the table; all files are looked for first, so that no result can be taken for a
 * source. */
bool gprof_annotate(const struct gprof_options *o, struct gprof_report *r, struct arena *a,
                    struct out *out)
{
    struct annotating t = {
        .options = o, .report = r, .style = {o->min_count, o->table_length, o->all_lines}};
    gnu_sources_make(&t.sources, r->functions, r->symbols, r->graph, r->selection, a);
    /* Finds all files before the first result is written. */
    t.found = ARENA_NEW(a, const char *, t.sources.len);
    for (uint32_t i = 0; i < t.sources.len; i++) {
        struct stat st;
        bool is_wanted = is_printed(&t, &t.sources.files[i]) || t.options->separate_files;
        if (is_wanted)
            t.found[i] = source_find_gnu(&t.options->search, t.sources.files[i].path);
        if (t.found[i] && t.options->separate_files && !stat(t.found[i], &st))
            map_at(&t.inodes, st.st_dev, st.st_ino, i, NULL);
    }
    for (uint32_t i = 0; i < t.sources.len; i++) {
        const struct gnu_source *s = &t.sources.files[i];
        if (!is_printed(&t, s) || !read_source(&t, s->path, t.found[i]))
            continue;
        if (o->separate_files) {
            write_beside(&t, i, a);
            continue;
        }
        if (r->has_annotated)
            out_char(out, '\n');
        r->has_annotated = true;
        gprof_new_page(r, out);
        out_printf(out, "*** File %s:\n", s->path);
        gprof_annotated(r, s, t.text.bytes, &t.style, out);
    }
    source_text_deinit(&t.text);
    map_deinit(&t.inodes);
    map_deinit(&t.written);
    return !t.was_refused;
}
