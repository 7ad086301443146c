/* What importers share: a tracefile from what reports list, and the numbers of JSON.
 *
 * Sections are dropped if the file breaks within them. Records that stand for more than the bytes
 * they are made of (a range of lines, a number of branches) take room from a budget that goes by
 * the size of the file, so that a small file cannot ask for much memory. */
#include "coverage/format/format.h"
#include "coverage/import/import_private.h"

#include <string.h>

/* A file of a few bytes may speak of a large source, one of many bytes of many. */
enum { ROOM_AT_LEAST = 1 << 20, ROOM_PER_BYTE = 16 };

struct source_builder source_builder_over(struct bytes in, struct tracefile *out)
{
    return (struct source_builder){.out = out,
                                   .room = ROOM_AT_LEAST + ROOM_PER_BYTE * (uint64_t)in.len};
}

void source_begin(struct source_builder *b, const char *source)
{
    source_end(b, false);
    tracefile_begin(b->out, source, "");
    b->is_open = true;
}

void source_end(struct source_builder *b, bool is_broken)
{
    if (!b->is_open)
        return;
    is_broken ? tracefile_drop(b->out) : tracefile_end(b->out);
    b->is_open = false;
}

/* Once it is used up the file is refused: a file that claims so much is broken or hostile. */
bool source_take_room(struct source_builder *b, uint64_t number)
{
    if (number > b->room)
        return false;
    b->room -= number;
    return true;
}

/* Any form of number that count_read() takes: some tools write counts as decimals. */
uint64_t json_read_count(struct json_reader *r, uint64_t *negative)
{
    uint64_t value = 0;
    struct json_span s = json_read_number(r);
    if (!r->failed && !count_read(s.at, s.end, &value, negative))
        json_read_fail(r, "the number before is invalid");
    return r->failed ? 0 : value;
}

/* A number below 0 is not cut to 0 here: it would name another line. */
uint32_t json_read_line(struct json_reader *r)
{
    uint64_t negative = 0, line = json_read_count(r, &negative);
    if (line > UINT32_MAX || negative)
        json_read_fail(r, "the number before is not a line number");
    return r->failed ? 0 : (uint32_t)line;
}

uint64_t json_read_past_all(struct json_reader *r)
{
    uint64_t number = 0;
    if (!json_read_is(r, '[')) {
        json_read_past(r);
        return 0;
    }
    for (json_read_array(r); json_read_element(r); number++)
        json_read_past(r);
    return number;
}

bool json_may_have(struct bytes first, const char *text)
{
    const char *at = (const char *)first.at;
    size_t i = 0;
    while (i < first.len && (at[i] == ' ' || at[i] == '\n' || at[i] == '\r' || at[i] == '\t'))
        i++;
    return i < first.len && at[i] == '{' && memmem(at, first.len, text, strlen(text));
}
