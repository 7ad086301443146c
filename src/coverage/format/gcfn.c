/* Reads and writes gcfn streams. The bytes: docs/formats/gcda.md. */
#include "coverage/format/gcfn.h"

#include "coverage/format/arcfile.h"
#include "coverage/format/arcfile_write.h"
#include "coverage/format/gcda.h"

static bool magic_is(struct bytes in, uint32_t magic, bool *big_endian)
{
    for (unsigned order = 0; order < 2 && in.len >= 4; order++)
        if (bytes_u32(in.at, order) == magic) {
            *big_endian = order;
            return true;
        }
    return false;
}

bool gcfn_probe(struct bytes in)
{
    bool big_endian;
    return magic_is(in, GCOV_MAGIC_NAME, &big_endian);
}

static bool read_name(struct cursor *in, const char **name, struct err *e)
{
    struct cursor where = *in;
    struct bytes rest = {in->at, cursor_left(in)};
    if (!magic_is(rest, GCOV_MAGIC_NAME, &in->big_endian))
        return err_at(e, &where, "expected a gcfn record");
    in->at += 4;
    const struct gcov_dialect *dialect = dialect_of_word(cursor_u32(in));
    if (in->failed || !dialect)
        return err_at(e, &where, "the version of this gcfn record is no compiler's");
    *name = arcfile_text(in, dialect->has_byte_lengths);
    if (in->failed || !*name)
        return err_at(e, &where, "this gcfn record has no whole file name");
    return true;
}

bool gcfn_next(struct cursor *in, const char **name, struct counters *out, struct err *e)
{
    if (!read_name(in, name, e))
        return false;
    struct bytes rest = {in->at, cursor_left(in)};
    if (!gcda_read(rest, *name, out, e))
        return false;
    in->at += out->size_bytes;
    return true;
}

bool gcfn_write(struct writer *w, const char *name, const struct counters *c, struct err *e)
{
    const struct gcov_dialect *dialect = dialect_of_word(c->origin.version);
    if (!dialect || c->origin.family != ARCS_GCOV)
        return err_set(e, "these counters have no gcc version to be written as");
    w->big_endian = c->origin.big_endian;
    writer_u32(w, GCOV_MAGIC_NAME);
    writer_u32(w, c->origin.version);
    arcfile_write_text(w, name, dialect->has_byte_lengths);
    return gcda_write(w, c, e);
}
