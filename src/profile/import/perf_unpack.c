/* Unpacking with libzstd. What a piece unpacks to is bounded, because a few kilobytes of zstd can
 * stand for gigabytes. Without libzstd such files are refused. */
#include "profile/import/perf_unpack.h"

#ifdef HAVE_ZSTD

#include <string.h>
#include <zstd.h>

enum { MOST_RATIO = 1032, OUT_BYTES = 1 << 18, SLACK_BYTES = 1 << 20 };

void perf_unpack_deinit(struct perf_unpack *u)
{
    ZSTD_freeDStream(u->stream);
    vec_free(&u->left_over);
}

/* Room behind what was left over, which stands first. */
static struct perf_block *unpack_block(const struct perf_unpack *u)
{
    struct perf_block *block = malloc(sizeof *block);
    if (!block || !(block->at = malloc(u->left_over.len + OUT_BYTES)))
        memory_exhausted(u->left_over.len + OUT_BYTES);
    block->users = 1;
    if (u->left_over.len)
        memcpy(block->at, u->left_over.at, u->left_over.len);
    return block;
}

static void unpack_keep(struct perf_unpack *u, const uint8_t *at, size_t len)
{
    u->left_over.len = 0;
    vec_reserve(&u->left_over, len + 1);
    memcpy(u->left_over.at, at, len);
    u->left_over.len = len;
}

static bool unpack_step(struct perf_unpack *u, ZSTD_inBuffer *in, bool *is_full,
                        perf_unpacked *take, void *context, struct err *e)
{
    struct perf_block *block = unpack_block(u);
    size_t start = u->left_over.len, taken = 0;
    ZSTD_outBuffer out = {block->at, start + OUT_BYTES, start};
    size_t status = ZSTD_decompressStream(u->stream, &out, in);
    bool ok = !ZSTD_isError(status) ||
              err_set(e, "packed records are damaged: %s", ZSTD_getErrorName(status));
    u->unpacked += out.pos - start;
    if (ok && u->unpacked > SLACK_BYTES && u->unpacked / MOST_RATIO > u->packed)
        ok = err_set(e, "packed records claim to be more than %d times their size", MOST_RATIO);
    *is_full = out.pos == out.size;
    ok = ok && take(context, block, out.pos, &taken, e);
    if (ok)
        unpack_keep(u, block->at + taken, out.pos - taken);
    perf_block_release(block);
    return ok;
}

bool perf_unpack(struct perf_unpack *u, struct bytes piece, perf_unpacked *take, void *context,
                 struct err *e)
{
    ZSTD_inBuffer in = {piece.at, piece.len, 0};
    bool is_full = false, ok = true;
    if (!u->stream && !(u->stream = ZSTD_createDStream()))
        memory_exhausted(1);
    u->packed += piece.len;
    while (ok && (in.pos < in.size || is_full))
        ok = unpack_step(u, &in, &is_full, take, context, e);
    return ok;
}

#else

void perf_unpack_deinit(struct perf_unpack *u)
{
    vec_free(&u->left_over);
}

bool perf_unpack(struct perf_unpack *u, struct bytes piece, perf_unpacked *take, void *context,
                 struct err *e)
{
    (void)u, (void)piece, (void)take, (void)context;
    return err_set(e, "its records are packed with zstd, which this monarc was built without");
}

#endif
