/* Writing the file of a recording. The bytes: docs/formats/recording.md.
 *
 * Numbers are LEB128, in the order of the recording's lists; what repeats or grows slowly is
 * written as a difference to the one before: a million samples of one thread take about three bytes
 * each. Texts are interned while the records are written, and STRINGS, which readers need first, is
 * put in front at the end; so the body is built apart and copied once. A list may take any number
 * of bytes: lengths of records have 64 bits. The same recording gives the same bytes, whatever made
 * it, which the fuzz targets check by reading and writing again. */
#include "profile/format/recording_file.h"

#include "base/map.h"
#include "wire/sidecar.h"

/* `w` is the body while lists are written, and then the file. */
struct recording_writer {
    struct writer *w;
    const struct recording *recording;
    struct intern strings;
};

/* A number in LEB128: seven bits a byte, the lowest first. */
static void write_put(struct recording_writer *to, uint64_t value)
{
    writer_leb128(to->w, value);
}

/* Modulo 2^64, as the reader adds it up again: no order of values can overflow. */
static void write_put_difference(struct recording_writer *to, uint64_t value, uint64_t before)
{
    write_put(to, zigzag((int64_t)(value - before)));
}

/* Texts count from 1. 0 is no text at all, which is not the same as an empty one. */
static void write_put_text(struct recording_writer *to, const char *text)
{
    write_put(to, text ? intern(&to->strings, text, strlen(text)) + UINT64_C(1) : 0);
}

/* An index or RECORDING_NONE. */
static void write_put_index(struct recording_writer *to, uint32_t index)
{
    write_put(to, index == RECORDING_NONE ? 0 : index + UINT64_C(1));
}

/* Starts a record; write_end_record() fills in its length. */
static size_t write_begin_record(struct recording_writer *to, uint32_t tag)
{
    writer_u32(to->w, tag);
    writer_u64(to->w, 0);
    return to->w->out.len;
}

static void write_end_record(struct recording_writer *to, size_t start)
{
    /* Over the zero in front of the payload, in the machine's order, which is the file's. */
    uint64_t n = to->w->out.len - start;
    memcpy(to->w->out.at + start - sizeof n, &n, sizeof n);
}

/* These facts and no others: a reader refuses a record with a rest. What comes later gets a record
 * of its own, as peaks have, which older readers pass over. */
static void write_facts(struct recording_writer *to)
{
    const struct recording *r = to->recording;
    size_t start = write_begin_record(to, RECORDING_TAG_RUN);
    const uint64_t facts[] = {r->machine,       r->method,    r->rate,       r->cpus,
                              r->start_real_ns, r->length_ns, r->slice_ns,   r->user_ns,
                              r->system_ns,     r->cpu_ns,    r->monitor_ns, r->cost_ns,
                              r->stacks,        r->whole};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        write_put(to, facts[i]);
    write_end_record(to, start);
}

static void write_text(struct recording_writer *to, size_t i)
{
    write_put_text(to, to->recording->texts.at[i].key);
    write_put_text(to, to->recording->texts.at[i].value);
}

/*     kind │ bits │ path │ process + 1 │ low │ high - low │ n │ n bytes of build-id
 *
 * Objects are few and their ranges far apart: differences would gain nothing. */
static void write_object(struct recording_writer *to, size_t i)
{
    const struct recording_object *o = &to->recording->objects.at[i];
    write_put(to, o->kind);
    write_put(to, (o->is_deleted ? RECORDING_OBJECT_DELETED : 0) |
                      (o->has_unwind ? RECORDING_OBJECT_HAS_UNWIND : 0) |
                      (o->is_listed ? RECORDING_OBJECT_LISTED : 0) |
                      (o->is_read ? RECORDING_OBJECT_READ : 0));
    write_put_text(to, o->path);
    write_put_index(to, o->process);
    write_put(to, o->low);
    write_put(to, o->high - o->low);
    write_put(to, o->build_id_bytes);
    writer_bytes(to->w, o->build_id, o->build_id_bytes);
}

/* Starts go by differences within an object. */
static void write_symbol(struct recording_writer *to, size_t i)
{
    const struct recording_symbol *s = &to->recording->symbols.at[i];
    static const struct recording_symbol none;
    const struct recording_symbol *before = i ? s - 1 : &none;
    write_put(to, s->object - before->object);
    write_put(to, s->object == before->object ? s->start - before->start : s->start);
    write_put(to, s->size);
    write_put_text(to, s->name);
}

/* The bytes go as they are: what an excerpt says is of no concern here. */
static void write_excerpt(struct recording_writer *to, size_t i)
{
    const struct recording_excerpt *x = &to->recording->excerpts.at[i];
    write_put(to, x->object);
    write_put(to, x->bytes.len);
    writer_bytes(to->w, x->bytes.at, x->bytes.len);
}

/* What few processes have (peaks, arguments) is in records of its own, so that it costs the others
 * no byte. */
static void write_process(struct recording_writer *to, size_t i)
{
    const struct recording_process *p = &to->recording->processes.at[i];
    write_put(to, p->pid);
    write_put(to, p->parent_pid);
    write_put_index(to, p->program);
    write_put(to, p->start_ns);
    write_put(to, p->end_ns);
    write_put(to, p->user_ns);
    write_put(to, p->system_ns);
    write_put(to, (p->has_cpu ? RECORDING_PROCESS_HAS_CPU : 0) |
                      (p->has_ended ? RECORDING_PROCESS_HAS_ENDED : 0));
    write_put(to, zigzag(p->status));
    write_put_text(to, p->name);
    write_put_text(to, p->why_unseen);
}

/* Times are since the run's start, which keeps them shorter than those of a clock. */
static void write_thread(struct recording_writer *to, size_t i)
{
    const struct recording_thread *t = &to->recording->threads.at[i];
    write_put(to, t->process);
    write_put(to, t->tid);
    write_put(to, t->start_ns);
    write_put(to, t->end_ns);
    write_put(to, t->has_cpu);
    write_put(to, t->cpu_ns);
    write_put_text(to, t->name);
}

static void write_event(struct recording_writer *to, size_t i)
{
    const struct recording_event *event = &to->recording->events.at[i];
    write_put_text(to, event->name);
    write_put(to, event->unit);
    write_put(to, event->period);
    write_put(to, event->user_only);
}

/*     at │ kind │ process + 1 │ tid │ name */
static void write_mark(struct recording_writer *to, size_t i)
{
    const struct recording_mark *m = &to->recording->marks.at[i];
    write_put(to, m->at_ns);
    write_put(to, m->kind);
    write_put_index(to, m->process);
    write_put(to, m->tid);
    write_put_text(to, m->name);
}

/*     kind │ count │ ns │ text */
static void write_loss(struct recording_writer *to, size_t i)
{
    const struct recording_loss *l = &to->recording->losses.at[i];
    write_put(to, l->kind);
    write_put(to, l->count);
    write_put(to, l->ns);
    write_put_text(to, l->text);
}

/* A status has a sign, and seeds have all 64 bits: ten bytes in LEB128, once a run. */
static void write_part(struct recording_writer *to, size_t i)
{
    const struct recording_part *part = &to->recording->parts.at[i];
    write_put(to, part->process);
    write_put(to, part->number);
    write_put(to, zigzag(part->status));
    write_put(to, part->padding);
    write_put(to, part->seed);
    write_put(to, part->elapsed_ns);
    write_put(to, part->cpu_ns);
}

/* The host is "" where it is not known, and the local rank missing: RECORDING_NONE is 0. */
static void write_rank(struct recording_writer *to, size_t i)
{
    const struct recording_rank *rank = &to->recording->ranks.at[i];
    write_put(to, rank->process);
    write_put(to, rank->rank);
    write_put(to, rank->size);
    write_put_index(to, rank->local);
    write_put_text(to, rank->launcher);
    write_put_text(to, rank->host);
}

/*     kind │ process + 1 │ address │ name
 *
 * Addresses of mutexes are scattered over a process's memory: they are written whole. */
static void write_resource(struct recording_writer *to, size_t i)
{
    const struct recording_resource *one = &to->recording->resources.at[i];
    write_put(to, one->kind);
    write_put_index(to, one->process);
    write_put(to, one->address);
    write_put_text(to, one->name);
}

/* Links are a tree as nodes are: chains of waiting threads that begin alike share steps. */
static void write_link(struct recording_writer *to, size_t i)
{
    const struct recording_link *wait = &to->recording->links.at[i];
    write_put_index(to, wait->parent);
    write_put_index(to, wait->thread);
    write_put(to, wait->node);
    write_put_index(to, wait->resource);
    write_put(to, wait->doing);
    write_put(to, wait->waits);
    write_put(to, wait->ns);
}

static void write_link_error(struct recording_writer *to, size_t i)
{
    write_put(to, to->recording->links.at[i].error);
    write_put(to, to->recording->links.at[i].single);
}

static void write_transfer_error(struct recording_writer *to, size_t i)
{
    write_put(to, to->recording->transfers.at[i].squares);
}

static void write_transfer(struct recording_writer *to, size_t i)
{
    const struct recording_transfer *one = &to->recording->transfers.at[i];
    write_put(to, one->thread);
    write_put_index(to, one->resource);
    write_put(to, one->node);
    write_put(to, one->is_write);
    write_put(to, one->calls);
    write_put(to, one->bytes);
    write_put(to, one->disk_bytes);
}

static void write_transferred(struct recording_writer *to, size_t i)
{
    const struct recording_transferred *all = &to->recording->transferred.at[i];
    write_put(to, all->read);
    write_put(to, all->written);
    write_put(to, all->read_calls);
    write_put(to, all->write_calls);
    write_put(to, all->disk_read);
    write_put(to, all->disk_written);
}

/*     n │ {key │ value} │ has a span │ [16 + 8 bytes] */
static void write_label_set(struct recording_writer *to, size_t i)
{
    const struct recording *r = to->recording;
    const struct recording_label_set *set = &r->label_sets.at[i + 1];
    write_put(to, set->len);
    for (uint32_t k = 0; k < set->len; k++) {
        write_put_text(to, r->labels.at[set->first + k].key);
        write_put_text(to, r->labels.at[set->first + k].value);
    }
    write_put(to, set->has_span);
    if (set->has_span) {
        writer_bytes(to->w, set->trace, sizeof set->trace);
        writer_bytes(to->w, set->span, sizeof set->span);
    }
}

/* Which set each sample has, as stretches of samples that follow each other and have one: a request
 * is mostly longer than the distance of samples.
 *
 *     samples without any before it │ length │ set */
static void write_labelled(struct recording_writer *to)
{
    const struct recording *r = to->recording;
    size_t runs = 0, passed = 0;
    for (size_t i = 0; i < r->samples.len; i++)
        runs += r->samples.at[i].labels &&
                (!i || r->samples.at[i - 1].labels != r->samples.at[i].labels);
    size_t start = write_begin_record(to, RECORDING_TAG_LABELLED);
    write_put(to, runs);
    for (size_t i = 0, end; i < r->samples.len; i = end) {
        uint32_t set = r->samples.at[i].labels;
        for (end = i + 1; end < r->samples.len && r->samples.at[end].labels == set;)
            end++;
        if (!set)
            continue;
        write_put(to, i - passed);
        write_put(to, end - i);
        write_put(to, set);
        passed = end;
    }
    write_end_record(to, start);
}

/* Arcs and blocks mostly come in the order of addresses. */
static void write_arc(struct recording_writer *to, size_t i)
{
    const struct recording_arc *arc = &to->recording->arcs.at[i];
    static const struct recording_arc none;
    const struct recording_arc *before = i ? arc - 1 : &none;
    write_put_index(to, arc->from_object);
    write_put_difference(to, arc->from, before->from);
    write_put_index(to, arc->self_object);
    write_put_difference(to, arc->self, before->self);
    write_put(to, arc->count);
}

static void write_block(struct recording_writer *to, size_t i)
{
    const struct recording_block *block = &to->recording->blocks.at[i];
    write_put(to, block->object);
    write_put_difference(to, block->address, i ? block[-1].address : 0);
    write_put(to, block->count);
}

/* Likewise. The code that ran after a branch is short, so that its length is written. */
static void write_branch(struct recording_writer *to, size_t i)
{
    const struct recording_branch *branch = &to->recording->branches.at[i];
    static const struct recording_branch none;
    const struct recording_branch *before = i ? branch - 1 : &none;
    write_put_index(to, branch->from_object);
    write_put_difference(to, branch->from, before->from);
    write_put_index(to, branch->to_object);
    write_put_difference(to, branch->to, before->to);
    write_put(to, branch->end ? branch->end + 1 - branch->to : 0);
    write_put(to, branch->count);
    write_put(to, branch->missed);
}

/* A record of `len` items, each written by `write`. */
static void write_list(struct recording_writer *to, uint32_t tag, size_t len,
                       void (*write)(struct recording_writer *, size_t))
{
    size_t start = write_begin_record(to, tag);
    write_put(to, len);
    for (size_t i = 0; i < len; i++)
        write(to, i);
    write_end_record(to, start);
}

/* The processes whose peak is known: those that monarc itself waited for. */
static void write_peaks(struct recording_writer *to)
{
    const struct recording *r = to->recording;
    size_t known = 0;
    for (size_t i = 0; i < r->processes.len; i++)
        known += r->processes.at[i].peak_bytes > 0;
    if (!known)
        return;
    size_t start = write_begin_record(to, RECORDING_TAG_PEAKS);
    write_put(to, known);
    for (size_t i = 0; i < r->processes.len; i++)
        if (r->processes.at[i].peak_bytes) {
            write_put(to, i);
            write_put(to, r->processes.at[i].peak_bytes);
        }
    write_end_record(to, start);
}

/* Likewise: a program that was over before its arguments could be read has none here. */
static void write_commands(struct recording_writer *to)
{
    const struct recording *r = to->recording;
    size_t known = 0;
    for (size_t i = 0; i < r->processes.len; i++)
        known += r->processes.at[i].command != NULL;
    if (!known)
        return;
    size_t start = write_begin_record(to, RECORDING_TAG_COMMANDS);
    write_put(to, known);
    for (size_t i = 0; i < r->processes.len; i++)
        if (r->processes.at[i].command) {
            write_put(to, i);
            write_put_text(to, r->processes.at[i].command);
        }
    write_end_record(to, start);
}

/* A node is mostly the child of the one before it and in the same object as its parent; addresses
 * go by differences to the one written last for the object. */
static void write_nodes(struct recording_writer *to)
{
    const struct recording *r = to->recording;
    struct arena scratch = {0};
    /* By object: code jumps between libraries, and within each it stays near. */
    uint64_t *last = ARENA_NEW(&scratch, uint64_t, r->objects.len + 1);
    size_t start = write_begin_record(to, RECORDING_TAG_NODES);
    /* Without the root, which every recording has. */
    write_put(to, r->nodes.len - 1);
    for (uint32_t i = 1; i < r->nodes.len; i++) {
        const struct recording_node *n = &r->nodes.at[i];
        uint32_t expected = n->parent ? r->nodes.at[n->parent].object : 0;
        /* Parents precede their children, so the distance is never negative. */
        write_put(to, (uint64_t)(i - 1 - n->parent) << 1 | (n->object != expected));
        if (n->object != expected)
            write_put(to, n->object);
        write_put_difference(to, n->address, last[n->object]);
        last[n->object] = n->address;
    }
    write_end_record(to, start);
    arena_deinit(&scratch);
}

/* Samples come by slice, thread and event, so that mostly these are as before, the count is 1, the
 * weight nominal: then a sample is its node's difference alone. */
static void write_sample(struct recording_writer *to, size_t i)
{
    const struct recording_sample *s = &to->recording->samples.at[i];
    static const struct recording_sample none;
    const struct recording_sample *before = i ? s - 1 : &none;
    /* What the reader assumes when no weight is written; both must compute it the same way. */
    uint64_t nominal = s->count * to->recording->events.at[s->event].period;
    bool is_moved =
        s->slice != before->slice || s->thread != before->thread || s->event != before->event;
    write_put(to, zigzag((int64_t)s->node - before->node) << RECORDING_SAMPLE_BITS |
                      (is_moved ? RECORDING_SAMPLE_MOVED : 0) |
                      (s->weight != nominal ? RECORDING_SAMPLE_WEIGHTED : 0) |
                      (s->count != 1 ? RECORDING_SAMPLE_MANY : 0));
    if (is_moved) {
        write_put_difference(to, s->slice, before->slice);
        write_put_difference(to, s->thread, before->thread);
        write_put(to, s->event);
    }
    if (s->count != 1)
        write_put(to, s->count);
    if (s->weight != nominal)
        write_put_difference(to, s->weight, nominal);
}

/* Sorted by slice and thread, so that the slice's difference is mostly 0. */
static void write_turn(struct recording_writer *to, size_t i)
{
    const struct recording_turn *t = &to->recording->turns.at[i];
    static const struct recording_turn none;
    const struct recording_turn *before = i ? t - 1 : &none;
    write_put_difference(to, t->slice, before->slice);
    write_put_difference(to, t->thread, before->thread);
    write_put(to, t->ran_ns);
    write_put(to, t->shared_ns);
}

/*     z slice │ threads │ ns */
static void write_parallel(struct recording_writer *to, size_t i)
{
    const struct recording_parallel *p = &to->recording->parallel.at[i];
    write_put_difference(to, p->slice, i ? p[-1].slice : 0);
    write_put(to, p->threads);
    write_put(to, p->ns);
}

/* Sorted by thread and time. With the next thread the time jumps back: the difference has a
 * sign. */
static void write_wait(struct recording_writer *to, size_t i)
{
    const struct recording_wait *w = &to->recording->waits.at[i];
    static const struct recording_wait none;
    const struct recording_wait *before = i ? w - 1 : &none;
    write_put_difference(to, w->thread, before->thread);
    write_put_difference(to, w->from_ns, before->from_ns);
    write_put(to, w->length_ns);
    write_put_index(to, w->node);
}

static void write_waker(struct recording_writer *to, size_t i)
{
    const struct recording_wait *w = &to->recording->waits.at[i];
    write_put(to, w->woken);
    if (w->woken >= RECORDING_WAKER_SOFT)
        write_put(to, w->waker);
    if (w->woken)
        write_put(to, w->woke_ns);
}

static bool write_has_wakers(const struct recording *r)
{
    for (size_t i = 0; i < r->waits.len; i++)
        if (r->waits.at[i].woken)
            return true;
    return false;
}

/* Mostly a thread of the one before. */
static void write_creator(struct recording_writer *to, size_t i)
{
    const struct recording_creator *c = &to->recording->creators.at[i];
    write_put(to, c->thread - (i ? c[-1].thread : 0));
    write_put_difference(to, c->creator, c->thread);
}

/* All lists but the strings, which are known only then. */
static void write_lists(struct recording_writer *to)
{
    /* The order counts: processes before their peaks and commands, objects before nodes, events
     * before samples, whose nominal weight needs the period. Lists that most recordings lack are
     * left out when they are empty. */
    const struct recording *r = to->recording;
    write_facts(to);
    write_list(to, RECORDING_TAG_TEXTS, r->texts.len, write_text);
    write_list(to, RECORDING_TAG_PROCESSES, r->processes.len, write_process);
    write_peaks(to);
    write_commands(to);
    write_list(to, RECORDING_TAG_OBJECTS, r->objects.len, write_object);
    write_list(to, RECORDING_TAG_SYMBOLS, r->symbols.len, write_symbol);
    write_list(to, RECORDING_TAG_THREADS, r->threads.len, write_thread);
    write_list(to, RECORDING_TAG_EVENTS, r->events.len, write_event);
    write_list(to, RECORDING_TAG_MARKS, r->marks.len, write_mark);
    write_list(to, RECORDING_TAG_LOSSES, r->losses.len, write_loss);
    if (r->parts.len)
        write_list(to, RECORDING_TAG_PARTS, r->parts.len, write_part);
    if (r->ranks.len)
        write_list(to, RECORDING_TAG_RANKS, r->ranks.len, write_rank);
    if (r->arcs.len)
        write_list(to, RECORDING_TAG_ARCS, r->arcs.len, write_arc);
    if (r->blocks.len)
        write_list(to, RECORDING_TAG_BLOCKS, r->blocks.len, write_block);
    if (r->branches.len)
        write_list(to, RECORDING_TAG_BRANCHES, r->branches.len, write_branch);
    if (r->excerpts.len)
        write_list(to, RECORDING_TAG_EXCERPTS, r->excerpts.len, write_excerpt);
    write_nodes(to);
    if (r->resources.len)
        write_list(to, RECORDING_TAG_RESOURCES, r->resources.len, write_resource);
    if (r->links.len)
        write_list(to, RECORDING_TAG_LINKS, r->links.len, write_link);
    if (r->links.len)
        write_list(to, RECORDING_TAG_LINK_ERRORS, r->links.len, write_link_error);
    if (r->transfers.len)
        write_list(to, RECORDING_TAG_TRANSFERS, r->transfers.len, write_transfer);
    if (r->transfers.len)
        write_list(to, RECORDING_TAG_TRANSFER_ERRORS, r->transfers.len, write_transfer_error);
    if (r->transferred.len)
        write_list(to, RECORDING_TAG_TRANSFERRED, r->transferred.len, write_transferred);
    write_list(to, RECORDING_TAG_SAMPLES, r->samples.len, write_sample);
    if (r->label_sets.len > 1) {
        write_list(to, RECORDING_TAG_LABELS, r->label_sets.len - 1, write_label_set);
        write_labelled(to);
    }
    if (r->turns.len)
        write_list(to, RECORDING_TAG_TURNS, r->turns.len, write_turn);
    if (r->parallel.len)
        write_list(to, RECORDING_TAG_PARALLEL, r->parallel.len, write_parallel);
    if (r->waits.len)
        write_list(to, RECORDING_TAG_WAITS, r->waits.len, write_wait);
    if (write_has_wakers(r))
        write_list(to, RECORDING_TAG_WAKERS, r->waits.len, write_waker);
    if (r->creators.len)
        write_list(to, RECORDING_TAG_CREATORS, r->creators.len, write_creator);
}

static void write_string(struct recording_writer *to, size_t i)
{
    write_put(to, to->strings.lengths.at[i]);
    writer_bytes(to->w, to->strings.texts.at[i], to->strings.lengths.at[i]);
}

/* Body first, into memory of its own: which texts there are is known only then. */
void recording_write(struct writer *w, const struct recording *r)
{
    struct writer body = {0};
    struct recording_writer to = {.w = &body, .recording = r};
    size_t file_start = w->out.len;
    write_lists(&to);
    /* From here on into the file. `body` refers to texts by number, and their list is complete. */
    to.w = w;
    w->big_endian = false;
    writer_u32(w, MONARC_SIDE_MAGIC);
    writer_u32(w, RECORDING_FILE_VERSION);
    writer_u32(w, MONARC_BYTE_ORDER);
    write_list(&to, RECORDING_TAG_STRINGS, to.strings.texts.len, write_string);
    writer_bytes(w, body.out.at, body.out.len);
    /* Over all that precedes the record of the sum, the magic included. */
    uint64_t sum =
        recording_checksum((struct bytes){w->out.at + file_start, w->out.len - file_start});
    size_t start = write_begin_record(&to, RECORDING_TAG_END);
    writer_u64(w, sum);
    write_end_record(&to, start);
    writer_deinit(&body);
    intern_deinit(&to.strings);
}
