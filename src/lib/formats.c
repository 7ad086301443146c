/* The formats by number, name and what their bytes look like. */
#include "lib/call.h"

#include "coverage/format/bbg.h"
#include "coverage/format/gcov.h"
#include "coverage/format/lcov.h"
#include "lib/profile.h"
#include "profile/format/recording_file.h"
#include "profile/format/sidecar.h"

#include <string.h>

struct format_row {
    const char *name, *title;
    bool (*probe)(struct bytes in); /* NULL: profiles, which are asked for with a hint */
};

static const struct format_row ROWS[MONARC_FORMATS] = {
    [MONARC_NO_FORMAT] = {"none", "no known format", NULL},
    [MONARC_GMON] = {"gmon", "GNU gmon.out, version 1", NULL},
    [MONARC_GMON0] = {"gmon0", "GNU gmon.out, version 0", NULL},
    [MONARC_SPROF] = {"sprof", "glibc profile of a shared object", NULL},
    [MONARC_BSD44] = {"bsd44", "4.4BSD gmon.out", NULL},
    [MONARC_BSD] = {"bsd", "BSD gmon.out", NULL},
    [MONARC_RECORDING] = {"recording", "recording of monarc run", recording_probe},
    [MONARC_SIDECAR] = {"sidecar", "recording of one process", sidecar_probe},
    [MONARC_GCNO] = {"gcno", "notes of gcc or clang", gcno_probe},
    [MONARC_GCDA] = {"gcda", "counters of gcc or clang", gcda_probe},
    [MONARC_BBG] = {"bbg", "notes of the proposal of 2002", bbg_probe},
    [MONARC_DA] = {"da", "counters of the proposal of 2002", da_probe},
    [MONARC_GCFN] = {"gcfn", "stream of names and counters", gcfn_probe},
    [MONARC_LCOV] = {"lcov", "lcov tracefile", lcov_probe},
};

static bool is_format(enum monarc_format format)
{
    return (unsigned)format < MONARC_FORMATS;
}

const char *monarc_format_name(enum monarc_format format)
{
    return ROWS[is_format(format) ? format : MONARC_NO_FORMAT].name;
}

const char *monarc_format_title(enum monarc_format format)
{
    const struct format *profile = profile_format_of(format);
    return profile ? profile->title : ROWS[is_format(format) ? format : MONARC_NO_FORMAT].title;
}

enum monarc_format monarc_format_named(const char *name)
{
    for (int i = 1; i < MONARC_FORMATS; i++)
        if (name && !strcmp(ROWS[i].name, name))
            return (enum monarc_format)i;
    return MONARC_NO_FORMAT;
}

struct detecting {
    struct call_input in;
    struct format_hint hint;
    enum monarc_format found;
    struct err why;
};

/* Those with a magic first: the first BSD files have none and are known by consistency alone. */
static bool detect(void *context)
{
    struct detecting *d = context;
    for (int i = 1; i < MONARC_FORMATS && !d->found; i++)
        if (i != MONARC_LCOV && ROWS[i].probe && ROWS[i].probe(d->in.bytes))
            d->found = (enum monarc_format)i;
    const struct format *profile =
        d->found ? NULL : format_probe(d->in.bytes, d->in.name, &d->hint, &d->why);
    if (profile)
        d->found = profile_format_number(profile);
    if (!d->found && lcov_probe(d->in.bytes))
        d->found = MONARC_LCOV;
    return d->found;
}

enum monarc_format monarc_detect(const struct monarc_source *in, const struct monarc_hint *hint,
                                 struct monarc_error *e)
{
    struct heap scratch;
    struct detecting d = {.hint = profile_hint(hint)};
    heap_init(&scratch, NULL);
    if (call_read(in, &scratch, &d.in, e)) {
        enum heap_outcome outcome = heap_run(&scratch, detect, &d);
        if (!call_result(outcome, MONARC_UNKNOWN_FORMAT, &d.why, e))
            d.found = MONARC_NO_FORMAT;
    }
    heap_release(&scratch);
    return d.found;
}

const char *monarc_status_name(enum monarc_status status)
{
    static const char *const NAMES[] = {
        [MONARC_OK] = "ok",
        [MONARC_CANNOT_READ] = "cannot-read",
        [MONARC_CANNOT_WRITE] = "cannot-write",
        [MONARC_UNKNOWN_FORMAT] = "unknown-format",
        [MONARC_BAD_INPUT] = "bad-input",
        [MONARC_UNFIT] = "unfit",
        [MONARC_NO_MEMORY] = "no-memory",
        [MONARC_MISUSE] = "misuse",
        [MONARC_STOPPED] = "stopped",
    };
    return (unsigned)status < sizeof NAMES / sizeof *NAMES ? NAMES[status] : "unknown";
}

const char *monarc_version(void)
{
    return MONARC_VERSION;
}
