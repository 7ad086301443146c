/* What 'perf script' prints: for each sample a line, and its stack below, innermost frame first:
 *
 *     COMMAND PID/TID [CPU] SECONDS: PERIOD EVENT:
 *             ADDRESS SYMBOL+0xOFFSET (OBJECT)
 *
 * The time may be missing (-F without it); then the line is one that ends in EVENT and a colon.
 * The command may be missing, as a thread may have an empty name, and a word of flags (-F +misc)
 * may stand in front of the time. Other fields that are not there by default are not known. Samples
 * without period count one each. A blank line ends a sample that has frames; one after the first
 * line does not. Lines that are neither a sample nor a frame are counted as lost, unless no sample
 * can be taken; records that perf shows among the samples (--show-mmap-events) are passed over.
 *
 * Refused: files with NUL bytes, and numbers whose sum exceeds 64 bits. Of a stack the innermost
 * 4,096 frames are kept. Cost: linear in the bytes; a sample's frames are kept until it ends,
 * because its callers follow it and nodes are made from the outermost inwards. Source:
 * tools/perf/builtin-script.c of Linux, whose fields by default these are. */
#include "profile/import/named_recording.h"

#include <inttypes.h>

enum { MOST_FRAMES = 4096 };

/* A sample's first line. */
struct script_head {
    struct text_span command, event, rest; /* rest: a stack of one frame, on the same line */
    uint64_t pid, tid, period;
};

/* "1234.567890:" */
static bool script_is_time(struct text_span word)
{
    uint64_t number;
    if (!text_take_u64(&word, &number) || word.at == word.end || *word.at != '.')
        return false;
    word.at++;
    return text_take_u64(&word, &number) && text_len(word) == 1 && *word.at == ':';
}

/* Takes the next word from the front. */
static struct text_span script_word(struct text_span *s)
{
    *s = text_trimmed(*s);
    struct text_span word = {s->at, s->at};
    while (word.end < s->end && *word.end != ' ' && *word.end != '\t')
        word.end++;
    s->at = word.end;
    return word;
}

/* PID or PID/TID, and perhaps [CPU] and flags after it; names of commands have blanks. */
static bool script_take_command(struct text_span s, struct script_head *out)
{
    struct text_span word = text_take_last_word(&s);
    if (word.at < word.end && (*word.at < '0' || *word.at > '9') && *word.at != '[')
        word = text_take_last_word(&s);
    if (word.at < word.end && *word.at == '[')
        word = text_take_last_word(&s);
    out->command = s;
    if (!text_take_u64(&word, &out->pid))
        return false;
    out->tid = out->pid;
    if (word.at < word.end && *word.at == '/') {
        word.at++;
        if (!text_take_u64(&word, &out->tid))
            return false;
    }
    return word.at == word.end && out->pid <= UINT32_MAX && out->tid <= UINT32_MAX;
}

/* "250000 cpu-clock:ppp: 55d0 main+0x10 (/bin/x)" after the time. */
static bool script_take_event(struct text_span s, struct script_head *out)
{
    struct text_span word = script_word(&s);
    out->period = 1;
    if (text_take_u64(&word, &out->period) && word.at == word.end)
        word = script_word(&s);
    else
        out->period = 1;
    if (text_len(word) < 2 || word.end[-1] != ':')
        return false;
    out->event = (struct text_span){word.at, word.end - 1};
    out->rest = text_trimmed(s);
    return true;
}

/* "COMMAND PID/TID [CPU] PERIOD EVENT:" to the line's end. A number in front of the event is the
 * period if a PID precedes it. */
static bool script_timeless(struct text_span line, struct script_head *out)
{
    struct text_span before = line, event = text_take_last_word(&before), front = before;
    struct text_span number = text_take_last_word(&front);
    if (text_len(event) < 2 || event.end[-1] != ':')
        return false;
    out->event = (struct text_span){event.at, event.end - 1};
    out->rest = (struct text_span){line.end, line.end};
    if (text_take_u64(&number, &out->period) && number.at == number.end &&
        script_take_command(front, out))
        return true;
    out->period = 1;
    return script_take_command(before, out);
}

/* A sample's first line. It does not begin with a tab, as frames do, and is recognised by the time,
 * or else from its end. Names of commands may hold anything, so the search goes on for as long as
 * no word is a time. */
static bool script_head(struct text_span line, struct script_head *out)
{
    struct text_span rest = line;
    if (line.at == line.end || *line.at == '\t')
        return false;
    while (rest.at < rest.end) {
        struct text_span word = script_word(&rest);
        if (script_is_time(word))
            return script_take_command((struct text_span){line.at, word.at}, out) &&
                   script_take_event(rest, out);
    }
    return script_timeless(line, out);
}

/* What happened beside the samples, which perf shows on request:
 *
 *     prog  123 100.000001: PERF_RECORD_COMM exec: prog:123/123
 *
 * Frames, which are indented by a tab, may have any name. */
static bool script_is_record(struct text_span line)
{
    static const char MARK[] = " PERF_RECORD_";
    return line.at < line.end && *line.at != '\t' &&
           memmem(line.at, text_len(line), MARK, sizeof MARK - 1);
}

/* The first line that is neither a comment nor a record must be a sample's. */
bool perf_script_probe(struct bytes first)
{
    struct text_lines lines = text_lines_over(first);
    struct text_span line;
    struct script_head head;
    if (!text_is_text(first))
        return false;
    while (text_lines_take(&lines, &line))
        if (line.at < line.end && *line.at != '#' && !script_is_record(line))
            return script_head(line, &head);
    return false;
}

/* --- frames ---------------------------------------------------------------------------------- */

struct script_frame {
    struct text_span name, object; /* name: empty if perf knew none */
};

/* The sample that is being read, and what is odd about the file. */
struct script {
    struct named_run n;
    struct script_head head;
    bool has_head, has_frames;
    VEC(struct script_frame) frames; /* innermost first */
    uint64_t cut, odd, first_odd;    /* frames; lines, and the first one's number */
    uint64_t lost;                   /* records that the kernel had no room for */
};

/* "SYMBOL+0x12 (OBJECT)" or "FUNCTION (inlined)", after the address. The object is what the last
 * brackets hold, with those that are in it: its name may have blanks and brackets of its own, as
 * `([JIT app cache])`, or say that its file is gone, as `(/bin/x (deleted))`. */
static bool script_take_frame(struct script *s, struct text_span line)
{
    struct script_frame f;
    struct text_span text = text_trimmed(line), address = script_word(&text);
    for (const char *c = address.at; c < address.end; c++)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f')))
            return false;
    text = text_trimmed(text);
    if (text.at == text.end || text.end[-1] != ')')
        return false;
    const char *open = text.end;
    size_t depth = 0;
    do {
        open--;
        depth += *open == ')';
        depth -= *open == '(';
    } while (depth && open > text.at);
    if (depth)
        return false;
    f.object = (struct text_span){open + 1, text.end - 1};
    text.end = open;
    text = text_trimmed(text);
    static const char DELETED[] = " (deleted)";
    size_t len = text_len(f.object), behind = sizeof DELETED - 1;
    if (len > behind && !memcmp(f.object.end - behind, DELETED, behind))
        f.object.end -= behind;
    f.name = text;
    for (const char *c = text.end; c - 3 > text.at; c--)
        if (!memcmp(c - 3, "+0x", 3)) {
            f.name.end = c - 3;
            break;
        }
    if (text_begins(f.name, "[unknown]"))
        f.name.end = f.name.at;
    if (s->frames.len == MOST_FRAMES)
        s->cut++;
    else
        vec_push(&s->frames, f);
    return true;
}

/* What was inlined is in the object of the frame around it, which follows it. */
static struct text_span script_object(const struct script *s, size_t i)
{
    while (i + 1 < s->frames.len && text_begins(s->frames.at[i].object, "inlined"))
        i++;
    return s->frames.at[i].object;
}

/* Adds the sample whose frames are complete, if there is one. A single frame has no callers because
 * none were recorded, and is cut off outside. false: the weights have no sum any more. */
static bool script_end_sample(struct script *s)
{
    const struct script_head *h = &s->head;
    uint32_t node =
        s->frames.len > 1 ? RECORDING_ROOT : named_run_cut(&s->n, RECORDING_CUT_NO_STACK);
    if (!s->has_head)
        return true;
    for (size_t i = s->frames.len; i-- > 0;) {
        struct text_span object = script_object(s, i), name = s->frames.at[i].name;
        uint32_t number = named_run_object(&s->n, object.at, text_len(object));
        node = named_run_frame(&s->n, node, number, name.at, text_len(name));
    }
    enum recording_event_unit unit =
        text_begins(h->event, "cpu-clock") || text_begins(h->event, "task-clock")
            ? RECORDING_UNIT_NS
            : RECORDING_UNIT_COUNT;
    uint32_t event = named_run_event(&s->n, h->event.at, text_len(h->event), unit);
    uint32_t thread = named_run_thread(&s->n, (uint32_t)h->pid, (uint32_t)h->tid, h->command.at,
                                       text_len(h->command));
    s->has_head = false;
    s->frames.len = 0;
    return named_run_sample(&s->n, thread, event, node, h->period, 1);
}

/* "PERF_RECORD_LOST lost 12". */
static void script_record(struct script *s, struct text_span line)
{
    struct text_span number = text_take_last_word(&line), word = text_take_last_word(&line);
    uint64_t lost;
    if (text_begins(word, "lost") && text_take_u64(&number, &lost))
        s->lost += lost;
}

/* false: the weights have no sum any more. */
static bool script_line(struct script *s, struct text_span line, uint64_t number)
{
    struct script_head head;
    if (line.at == line.end && s->has_head && !s->frames.len)
        return true;
    if (script_is_record(line))
        script_record(s, line);
    if (line.at == line.end || *line.at == '#' || script_is_record(line))
        return script_end_sample(s);
    if (script_head(line, &head)) {
        if (!script_end_sample(s))
            return false;
        s->head = head;
        s->has_head = true;
        if (head.rest.at == head.rest.end)
            return true;
        line = head.rest;
    }
    if (!s->has_head || !script_take_frame(s, line)) {
        s->first_odd = s->first_odd ? s->first_odd : number;
        s->odd++;
    }
    return true;
}

bool perf_script_read(struct bytes in, const char *name, struct recording *out, struct err *e)
{
    struct script s = {0};
    struct text_lines lines = text_lines_over(in);
    struct text_span line;
    struct err why = {0};
    bool ok = text_is_text(in) || err_in(e, name, NO_TEXT);
    named_run_begin(&s.n, out, false);
    while (ok && text_lines_take(&lines, &line))
        ok = script_line(&s, line, lines.number) || err_in(e, name, NO_SUM);
    ok = ok && (script_end_sample(&s) || err_in(e, name, NO_SUM));
    if (ok && s.odd && !out->samples.len)
        ok = err_in(e, name, "line %" PRIu64 " is neither a sample nor a frame", s.first_odd);
    if (s.odd)
        named_run_lose(&s.n, "lines that are neither a sample nor a frame", s.odd);
    if (s.lost)
        named_run_lose(&s.n, "records that the kernel had no room for", s.lost);
    if (s.cut)
        named_run_lose(&s.n, "frames of stacks that are deeper than 4,096", s.cut);
    named_run_finish(&s.n);
    vec_free(&s.frames);
    return ok && (recording_check(out, &why) || err_in(e, name, "%s", why.line));
}
