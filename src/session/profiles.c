/* Loading, summing and saving profiles for the commands, and the options that say how to read
 * them.
 *
 * Many files are cut into as many stretches as there are threads, at most four, as the disk is the
 * limit beyond that:
 *
 *    paths      0 1 2 3 4 5 6 7 8 9
 *    stretch    └──0──┘└─1─┘└──2──┘      one merger and one buffer each
 *
 * Each thread sums its stretch file by file, and the sums are merged in the order of the
 * stretches. Merging is associative, but the first file decides about format, word size and
 * dimension, and the first that fails is the one to be named; therefore the order matters. A
 * failure on several threads is not believed: everything is read again by one thread, whose first
 * error is the one that a plain loop would have met.
 *
 * Memory is that of one sum and one file for each thread, not of all files. */
#include "session/profiles.h"

#include "base/parallel.h"
#include "objfile/object.h"
#include "profile/model/profile.h"

#include <string.h>
#include <sys/stat.h>

enum { MOST_THREADS = 4, FILES_PER_THREAD = 2 };

/* --- options --------------------------------------------------------------------------------- */

bool parse_word(const char *option, const char *value, uint8_t *word, struct err *e)
{
    if (strcmp(value, "32") && strcmp(value, "64"))
        return err_set(e, "option '--%s' takes 32 or 64, not '%s'", option, value);
    *word = value[0] == '3' ? 4 : 8;
    return true;
}

bool parse_format(const char *option, const char *value, const struct format **format,
                  struct err *e)
{
    /* All that are known, as the table of formats has them. */
    struct out names;
    *format = format_named(value);
    if (*format)
        return true;
    out_init(&names, -1);
    for (size_t i = 0; i < formats_len; i++)
        out_printf(&names, "%s%s", i ? ", " : "", formats[i]->name);
    out_char(&names, '\0');
    err_set(e, "option '--%s' takes one of %s, not '%s'", option, names.at, value);
    out_deinit(&names);
    return false;
}

/* Old BSD files of Alphas are old BSD files with a longer header; those that are called plain have
 * the short one. */
bool parse_read_format(const char *option, const char *value, struct profile_options *o,
                       struct err *e)
{
    bool is_alpha = !strcmp(value, "bsd-alpha");
    if (!parse_format(option, is_alpha ? "bsd" : value, &o->format, e))
        return false;
    o->hint.bsd_header = is_alpha ? BSD_PADDED_HEADER : BSD_HEADER;
    return true;
}

/* What the user said goes before what the program says. */
struct profile_options profile_options_of(const struct profile_options *o,
                                          const struct object *program)
{
    struct profile_options hinted = *o;
    if (!hinted.hint.word)
        hinted.hint.word = object_word(program);
    if (hinted.hint.order == ORDER_UNKNOWN)
        hinted.hint.order = object_is_big_endian(program) ? ORDER_BIG : ORDER_LITTLE;
    return hinted;
}

/* --- reading --------------------------------------------------------------------------------- */

/* A file that begins like no profile at all is not read to its end: it may be a device, or a core
 * file of many gigabytes. */
bool profile_load(const struct profile_options *o, const char *path, struct file_buffer *b,
                  struct profile *out, struct err *e)
{
    const char *name = strcmp(path, "-") ? path : "(standard input)";
    if (!file_read_if(path, format_may_be, b, e))
        return false;
    struct err why = {0};
    bool ok = o->format ? o->format->read(file_bytes(b), name, &o->hint, out, e)
                        : format_read(file_bytes(b), name, &o->hint, out, e);
    return ok && (!o->dimension || profile_keep_dimension(out, o->dimension, &why) ||
                  err_in(e, name, "%s", why.line));
}

/* The work of one thread, and its result. */
struct stretch {
    const struct profile_options *options;
    char *const *paths;
    size_t len;
    struct merger merger;
    struct err e;
    bool ok;
};

/* Reads into `p`, whose memory is used again for each file, and adds it to the sum. */
static bool load_one(struct stretch *s, const char *path, struct file_buffer *b, struct profile *p)
{
    struct err why = {0};
    profile_clear(p);
    if (!profile_load(s->options, path, b, p, &s->e))
        return false;
    return merger_add(&s->merger, p, &why) || err_in(&s->e, path, "%s", why.line);
}

static void load_stretch(size_t i, void *context)
{
    struct stretch *s = (struct stretch *)context + i;
    struct file_buffer buffer = {0};
    struct profile file = {0};
    s->ok = true;
    for (size_t n = 0; n < s->len && s->ok; n++) {
        s->ok = load_one(s, s->paths[n], &buffer, &file);
        progress_step(s->options->progress);
    }
    profile_deinit(&file);
    file_buffer_deinit(&buffer);
}

/* What `len` files add up to, with the work on `threads`. */
static bool load_on(unsigned threads, const struct profile_options *o, char *const *paths,
                    size_t len, struct profile *sum, struct err *e)
{
    struct stretch stretches[MOST_THREADS] = {0};
    progress_phase(o->progress, "reading profiles", len > 1 ? len : 0);
    for (unsigned i = 0; i < threads; i++) {
        size_t first = len * i / threads, end = len * (i + 1) / threads;
        stretches[i].options = o;
        stretches[i].paths = paths + first;
        stretches[i].len = end - first;
    }
    parallel_for(threads, threads, load_stretch, stretches);
    bool ok = stretches[0].ok;
    if (!ok)
        *e = stretches[0].e;
    for (unsigned i = 1; i < threads; i++) {
        ok = ok && stretches[i].ok && merger_add(&stretches[0].merger, &stretches[i].merger.sum, e);
        merger_deinit(&stretches[i].merger);
    }
    if (ok)
        *sum = merger_take(&stretches[0].merger);
    merger_deinit(&stretches[0].merger);
    return ok;
}

/* A failed attempt on several threads is repeated on one, for which everything must be there to be
 * read again. */
static bool can_reread(char *const *paths, size_t len)
{
    struct stat st;
    for (size_t i = 0; i < len; i++)
        if (!strcmp(paths[i], "-") || stat(paths[i], &st) || !S_ISREG(st.st_mode))
            return false;
    return true;
}

bool profiles_load(const struct profile_options *o, char *const *paths, size_t len,
                   struct profile *sum, struct err *e)
{
    size_t threads = parallel_cpus();
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    /* A thread that reads one small file costs more than it saves. */
    threads = threads < len / FILES_PER_THREAD ? threads : len / FILES_PER_THREAD;
    if (threads > 1 && can_reread(paths, len) && load_on((unsigned)threads, o, paths, len, sum, e))
        return true;
    return load_on(1, o, paths, len, sum, e);
}

bool profile_save(const struct format *format, const struct profile *p, uint8_t word,
                  bool big_endian, const char *path, struct err *e)
{
    struct writer w = {.word = word, .big_endian = big_endian};
    struct err why = {0};
    bool ok = format->write(&w, p, &why)
                  ? file_replace(path, (struct bytes){w.out.at, w.out.len}, e)
                  : err_in(e, path, "cannot be written as %s: %s", format->name, why.line);
    writer_deinit(&w);
    return ok;
}
