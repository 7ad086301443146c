/* Coverage of clang's and rustc's own: profiles and the programs that left them.
 *
 * Profiles are read on several threads and summed while they are: a sum for each program that they
 * name by its build-id, one for those that name none or many. There is no merging step, and memory
 * is that of the sums, one a thread, and of a file for each thread.
 *
 *     profiles ──► sum of build-id a  ──────────► program a: regions counted ─┐
 *              ──► sum of build-id b  ──────────► program b                   ├─► one table
 *              ──► sum of the others  ─ by name ► all programs                ┘
 *
 * So functions of one name in two programs, as main() is, keep their counts apart, which a merged
 * profile cannot. What names no program is looked up by name and hash, once for each function that
 * several programs share. A sum whose program is not there goes to the only program that has none,
 * which then is another build; otherwise it is lost, and said to be.
 *
 * A program without counters did not run: its lines count as missed, unless --ran-only. */
#include "session/coverage.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/path.h"
#include "coverage/analysis/llvm_coverage.h"
#include "coverage/format/llvm.h"
#include "coverage/model/coverage.h"
#include "objfile/object.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NONE ((uint32_t)NO_INDEX)

/* --- programs -------------------------------------------------------------------------------- */

/* A program, or a part of one, with a mapping. */
struct program {
    const char *path;
    struct object *object;
    struct llvm_mapping mapping;
    struct bytes id;   /* build-id; empty: none */
    uint32_t scope;    /* in the sums; NONE: no profile names it */
    uint32_t *sources; /* by file of the mapping: in the table */
    size_t mapping_bytes;
    bool has_run;
};

/* Profiles of one build-id, or of none. */
struct scope {
    struct llvm_profile sum;
    const char *example; /* one of the files */
    bool has_old_bitmap;
    bool is_taken;  /* a program has it */
    bool is_merged; /* files of llvm-profdata are in it */
};

/* What was read so far. Two profiles have the same key if they may be added function by function.
 */
struct sums {
    struct intern keys; /* a byte that says how the bitmap is numbered, then the build-id */
    VEC(struct scope) scopes;
};

/* Files that were read, by inode and device. */
struct met_files {
    pthread_mutex_t lock;
    struct map at;
};

/* All that is kept while reading. */
struct llvm_reading {
    const struct coverage_files *found;
    const struct read_rules *rules;
    VEC(struct program) programs;
    struct coverage_table table;
    struct source_names names;
    struct llvm_coverage coverage;
    struct llvm_regions regions;
    struct map shared; /* functions that have taken the counts of the sum without build-id */
    VEC(uint64_t) counts;
    VEC(uint8_t) bits;
    struct met_files met;
    struct problems *problems;
    struct coverage_reading *out;
    struct arena arena;
};

/* By name: ELF's names, and those of Windows. A relocatable file has a section for each function.
 */
static bool program_read_sections(struct object *o, struct llvm_sections *s, struct arena *a)
{
    size_t len;
    const struct object_section *sections = object_sections(o, &len);
    struct bytes *functions = ARENA_NEW(a, struct bytes, len + 1);
    s->functions = functions;
    for (uint32_t i = 1; i < len; i++) {
        const char *name = sections[i].name;
        if (!strcmp(name, "__llvm_covfun") || !strcmp(name, ".lcovfun"))
            functions[s->functions_len++] = object_section_bytes_at(o, i);
        if (!strcmp(name, "__llvm_covmap") || !strcmp(name, ".lcovmap"))
            s->units = object_section_bytes_at(o, i);
        if (!strcmp(name, "__llvm_prf_names") || !strcmp(name, ".lprfn"))
            s->names = object_section_bytes_at(o, i);
    }
    s->word = object_word(o);
    s->is_big_endian = object_is_big_endian(o);
    return s->units.len > 0;
}

/* A number followed by blanks, as in the heads of an archive. */
static bool decimal(const char *at, size_t len, uint64_t *value)
{
    size_t i = 0;
    for (*value = 0; i < len && at[i] >= '0' && at[i] <= '9'; i++)
        *value = 10 * *value + (uint64_t)(at[i] - '0');
    return i > 0 && (i == len || at[i] == ' ');
}

/* Takes the object over, which stays open while its mapping is used: functions are decoded from its
 * sections, pages of the file that are mapped, and given back when they are not needed. False: it
 * has no mapping. */
static bool take_object(struct llvm_reading *r, struct object *object, const char *path,
                        int64_t date)
{
    struct program p = {.path = path, .object = object, .scope = NONE};
    struct llvm_sections sections = {0};
    struct err e = {0};
    if (!program_read_sections(p.object, &sections, &r->arena)) {
        object_close(p.object);
        return false;
    }
    if (!llvm_mapping_read(&sections, path, &p.mapping, &e))
        problem_add(r->problems, p.mapping.functions.len ? PROBLEM_PARTIAL : PROBLEM_LOST, "%s",
                    e.line);
    if (p.mapping.without_a_unit)
        problem_add(r->problems, PROBLEM_PARTIAL,
                    "%s: left out: %" PRIu64 " functions whose list of files is not there", path,
                    p.mapping.without_a_unit);
    p.id = object_build_id(p.object);
    p.mapping_bytes = sections.units.len;
    for (size_t i = 0; i < sections.functions_len; i++)
        p.mapping_bytes += sections.functions[i].len;
    p.sources = ARENA_NEW(&r->arena, uint32_t, p.mapping.filenames.len + 1);
    for (size_t i = 0; i < p.mapping.filenames.len; i++) {
        p.sources[i] = source_names_number(&r->names, p.mapping.filenames.at[i], NULL, p.path);
        coverage_table_date(&r->table, p.sources[i], date);
    }
    vec_push(&r->programs, p);
    r->out->objects++;
    return true;
}

/* A member of an archive: itself, or where a thin one says that it is.
 *
 *     lib/f.a    f.o        lib/f.a(f.o)     bytes of the archive, copied
 *     lib/t.a    ../f.o     lib/../f.o       a file, from the folder of the archive
 *     lib/t.a    /o/f.o     /o/f.o           a file
 *
 * *shown is what messages call it. */
static struct object *open_member(struct llvm_reading *r, const char *archive, struct bytes member,
                                  const char *name, size_t len, const char **shown,
                                  enum object_failure *why, struct err *e)
{
    if (!member.at) {
        size_t folder = *name == '/' ? 0 : path_folder_length(archive);
        *shown =
            arena_printf(&r->arena, "%.*s%s%.*s", (int)folder, archive,
                         folder || (*archive == '/' && *name != '/') ? "/" : "", (int)len, name);
        return object_open(*shown, NULL, why, e);
    }
    *shown = arena_printf(&r->arena, "%s(%.*s)", archive, (int)len, name);
    /* libelf wants its headers where the machine can read them. */
    uint64_t *copy = ARENA_NEW(&r->arena, uint64_t, member.len / 8 + 1);
    memcpy(copy, member.at, member.len);
    struct bytes image = {(const uint8_t *)copy, member.len};
    return object_open_memory(image, *shown, why, e);
}

/* The objects in an archive, each a program by itself. Members begin at even places:
 *
 *     "!<arch>\n"  { name 16, 32 bytes of no use here, size 10 in decimal, "`\n", the member }*
 *
 * Names end with a slash; "/" and "//" are tables, and "/123" is a place in the second, where a
 * name ends with a slash and a newline. A thin one, "!<thin>\n", has heads and tables alone: its
 * names are paths from its folder. False: none has a mapping. */
static bool read_archive(struct llvm_reading *r, const char *path, struct bytes all, int64_t date)
{
    enum { MAGIC = 8, HEAD = 60, NAME = 16, SIZE = 48, END = 58 };
    struct bytes names = {0};
    bool has_any = false, is_thin = all.len >= MAGIC && !memcmp(all.at, "!<thin>\n", MAGIC);
    for (size_t at = MAGIC; at < all.len;) {
        const char *head = (const char *)all.at + at;
        uint64_t size = 0, place = 0;
        bool is_whole = all.len - at >= HEAD && !memcmp(head + END, "`\n", 2) &&
                        decimal(head + SIZE, END - SIZE, &size);
        bool is_table = is_whole && (!memcmp(head, "/ ", 2) || !memcmp(head, "// ", 3) ||
                                     !memcmp(head, "/SYM64/ ", 8));
        bool is_elsewhere = is_thin && !is_table;
        if (!is_whole || (!is_elsewhere && size > all.len - at - HEAD)) {
            problem_add(r->problems, PROBLEM_PARTIAL, "%s: breaks off at byte %zu", path, at);
            break;
        }
        struct bytes member = {is_elsewhere ? NULL : all.at + at + HEAD, size};
        at += HEAD + (is_elsewhere ? 0 : size + (size & 1));
        if (!memcmp(head, "// ", 3))
            names = member;
        if (is_table || (member.at && (size < 4 || memcmp(member.at, "\177ELF", 4) != 0)))
            continue;
        const char *name = head, *end = head + NAME;
        bool is_long = *head == '/' && decimal(head + 1, NAME - 1, &place) && place < names.len;
        if (is_long) {
            name = (const char *)names.at + place;
            end = (const char *)names.at + names.len;
        }
        size_t len = 0;
        while (name + len < end && name[len] != '\n' && (is_long || !strchr("/ ", name[len])))
            len++;
        len -= is_long && len && name[len - 1] == '/';
        struct err e = {0};
        enum object_failure why;
        const char *shown;
        struct object *object = open_member(r, path, member, name, len, &shown, &why, &e);
        if (object)
            has_any |= take_object(r, object, shown, is_elsewhere ? file_changed(shown) : date);
        else if (why != OBJECT_NOT_ELF)
            problem_add(r->problems, PROBLEM_LOST, "%s", e.line);
    }
    return has_any;
}

/* What is no program at all is met in folders and passed over; what was named must be one. */
static void read_program(struct llvm_reading *r, const struct llvm_program *file)
{
    enum object_failure why;
    struct err e = {0};
    int64_t date = file_changed(file->path);
    bool has_mapping;
    if (file->is_archive) {
        struct file_map map = {0};
        has_mapping = !file_map(file->path, &map, &e) ||
                      read_archive(r, file->path, file_map_bytes(&map), date);
        if (e.line[0])
            problem_add(r->problems, PROBLEM_LOST, "%s", e.line);
        file_map_deinit(&map);
    } else {
        struct object *object = object_open(file->path, NULL, &why, &e);
        if (!object) {
            if (file->is_named || why == OBJECT_BROKEN)
                problem_add(r->problems, PROBLEM_LOST, "%s", e.line);
            return;
        }
        has_mapping = take_object(r, object, file->path, date);
    }
    if (!has_mapping && file->is_named)
        problem_add(r->problems, PROBLEM_LOST,
                    "%s: has no coverage mapping; was it compiled with "
                    "-fprofile-instr-generate -fcoverage-mapping (clang) or "
                    "-Cinstrument-coverage (rustc)?",
                    file->path);
}

/* --- sums of profiles ------------------------------------------------------------------------ */

/* The sum of that key, made if it is new; `example` is then what its problems are called by. */
static struct scope *sums_scope(struct sums *s, const char *key, size_t len, const char *example)
{
    uint32_t number = intern(&s->keys, key, len);
    if (number == s->scopes.len)
        vec_push(&s->scopes, (struct scope){.example = example, .has_old_bitmap = key[0]});
    return &s->scopes.at[number];
}

/* A profile that names one program is that program's; one that was merged of several names all of
 * them, and has no single owner. LLVM 18 numbered test vectors another way: bits of the two are
 * never united, but are sums of their own. */
static void sums_add(struct sums *s, const struct llvm_profile *p, const char *path)
{
    char key[256];
    size_t len = 1;
    key[0] = (char)p->has_old_bits;
    if (p->ids.texts.len == 1 && p->ids.lengths.at[0] < sizeof key - 1) {
        memcpy(key + 1, p->ids.texts.at[0], p->ids.lengths.at[0]);
        len += p->ids.lengths.at[0];
    }
    struct scope *scope = sums_scope(s, key, len, path);
    scope->is_merged |= p->container != LLVM_RAW;
    llvm_profile_add(&scope->sum, p);
}

/* All but the texts, which are the caller's. */
static void sums_deinit(struct sums *s)
{
    for (size_t i = 0; i < s->scopes.len; i++)
        llvm_profile_deinit(&s->scopes.at[i].sum);
    vec_free(&s->scopes);
    intern_deinit(&s->keys);
}

/* Threads share nothing while they read: each has a sum of every build-id that it met, and these
 * are added up at the end. That takes the memory of one sum for each thread, and no lock. One
 * thread's. */
struct summing {
    struct sums sums;
    struct llvm_profile profile;
    struct file_map file;
    struct problems problems;
    uint64_t profiles;
    bool has_begun;
};

/* What the threads share; but for the files that were met it does not change while they run. */
struct summing_job {
    const struct llvm_profile_file *const *files;
    struct summing *workers;
    struct progress *progress;
    struct met_files *met;
};

/* Whether the file is met for the first time, whatever names and links lead to it. What is no
 * regular file cannot be read twice. Asked here and not when folders are walked, because a file
 * that is open need not be looked up by its name again: of files of a few KB that is a tenth of the
 * time. The lock is held for one look-up, some 20 ns beside 5 us that a file takes at least. */
static bool is_first_of_file(struct met_files *met, const struct file_map *file)
{
    bool is_new = true;
    if (!file->inode)
        return true;
    pthread_mutex_lock(&met->lock);
    map_at(&met->at, file->inode, file->device, 0, &is_new);
    pthread_mutex_unlock(&met->lock);
    return is_new;
}

/* The intact part of a file that breaks off is kept: profiles in it are complete or not there.
 * An item of the parallel loop: one file, which may hold several profiles.
 *
 *     file ─► profile, in the thread's memory ─► the thread's sum of its build-id
 *
 * Profiles of the optimiser's counters are refused, as no line belongs to them. */
static void read_profile(size_t i, unsigned worker, void *context)
{
    struct summing_job *job = context;
    struct summing *w = &job->workers[worker];
    const char *path = job->files[i]->path;
    struct err e = {0};
    if (!w->has_begun)
        memory_keep_of_thread();
    w->has_begun = true;
    bool ok = file_map(path, &w->file, &e);
    bool is_end = ok && !is_first_of_file(job->met, &w->file);
    struct llvm_reader reader = llvm_reader_over(file_map_bytes(&w->file), path);
    uint64_t whole = 0;
    while (ok && !is_end) {
        ok = llvm_profile_next(&reader, &w->profile, &is_end, &e);
        if (ok && !is_end && w->profile.variants & LLVM_IR_LEVEL) {
            ok = err_set(&e,
                         "%s: is of the optimiser's counters (-fprofile-generate), which no "
                         "mapping to lines belongs to",
                         path);
        } else if (ok && !is_end) {
            sums_add(&w->sums, &w->profile, path);
            whole++;
        }
    }
    w->profiles += whole;
    if (!ok)
        problem_add(&w->problems, whole ? PROBLEM_PARTIAL : PROBLEM_LOST, "%s", e.line);
    file_map_close(&w->file);
    progress_step(job->progress);
}

/* Of one test, or of all (NONE), into a zeroed *out. */
static void read_profiles(struct llvm_reading *r, uint32_t test, struct sums *out)
{
    const struct coverage_files *found = r->found;
    const char *only = r->rules->only;
    VEC(const struct llvm_profile_file *) files = {0};
    for (size_t i = 0; i < found->profiles.len; i++) {
        const struct llvm_profile_file *f = &found->profiles.at[i];
        if ((test == NONE || f->test == test) && (!only || !strcmp(only, found->tests.at[f->test])))
            vec_push(&files, f);
    }
    unsigned workers = parallel_workers(files.len, r->rules->threads);
    struct summing_job job = {.files = files.at, .progress = r->rules->progress, .met = &r->met};
    job.workers = ARENA_NEW(&r->arena, struct summing, workers + 1);
    parallel_for_workers(files.len, workers, read_profile, &job);
    for (unsigned i = 0; i < workers; i++) {
        struct summing *w = &job.workers[i];
        for (uint32_t k = 0; k < w->sums.scopes.len; k++) {
            struct scope *part = &w->sums.scopes.at[k];
            struct scope *sum = sums_scope(out, intern_text(&w->sums.keys, k),
                                           w->sums.keys.lengths.at[k], part->example);
            sum->is_merged |= part->is_merged;
            llvm_profile_add(&sum->sum, &part->sum);
        }
        r->out->counters += w->profiles;
        problems_merge(r->problems, &w->problems);
        problems_deinit(&w->problems);
        llvm_profile_deinit(&w->profile);
        file_map_deinit(&w->file);
        sums_deinit(&w->sums);
    }
    vec_free(&files);
    for (size_t i = 0; i < out->scopes.len; i++) {
        struct scope *s = &out->scopes.at[i];
        uint64_t misfits = llvm_profile_join(&s->sum);
        if (misfits)
            problem_add(r->problems, PROBLEM_PARTIAL,
                        "%s: left out: counters of %" PRIu64
                        " functions that other files have with another number of counters",
                        s->example, misfits);
    }
}

/* --- who left what --------------------------------------------------------------------------- */

/* As `file` and linkers print it. */
static const char *hex_of(struct bytes id, struct arena *a)
{
    char *text = arena_alloc_text(a, 2 * id.len + 1);
    bytes_hex(text, id.at, id.len);
    return text;
}

/* Empty: of no program, or of several. */
static struct bytes scope_id(const struct sums *s, uint32_t scope)
{
    const char *key = intern_text(&s->keys, scope);
    return (struct bytes){(const uint8_t *)key + 1, s->keys.lengths.at[scope] - 1};
}

/* llvm-profdata 15 and 16 keep one build-id of those that they merge: what else is in such a sum is
 * another program's, and goes to the sum of none.
 *
 *     sum of b, merged of a and b ──► functions that b has   stay
 *                                 └─► others                 sum of none: by name */
static void part_others(struct sums *s, uint32_t scope, const struct program *owner)
{
    struct map own = {0};
    struct llvm_profile *sum = &s->scopes.at[scope].sum;
    struct llvm_profile others = {.variants = sum->variants, .has_old_bits = sum->has_old_bits};
    for (size_t i = 0; i < owner->mapping.functions.len; i++)
        map_at(&own, owner->mapping.functions.at[i].name_ref, 0, 0, NULL);
    for (size_t i = 0; i < sum->functions.len; i++)
        if (!map_find(&own, sum->functions.at[i].name_ref, 0))
            llvm_profile_add_function(&others, sum, i);
    const char key = intern_text(&s->keys, scope)[0];
    if (others.functions.len) {
        struct scope *none = sums_scope(s, &key, 1, s->scopes.at[scope].example);
        llvm_profile_add(&none->sum, &others);
    }
    llvm_profile_deinit(&others);
    map_deinit(&own);
}

/* Object files have no build-id, only what is linked of them has: where nothing else without
 * counters is left, the sum of an unknown program is looked up by name, as one that names none. */
static void give_to_objects(struct sums *s, uint32_t scope)
{
    struct scope *from = &s->scopes.at[scope];
    const char key = intern_text(&s->keys, scope)[0];
    struct llvm_profile sum = from->sum;
    from->sum = (struct llvm_profile){0};
    from->is_taken = true;
    struct scope *none = sums_scope(s, &key, 1, from->example);
    llvm_profile_add(&none->sum, &sum);
    llvm_profile_deinit(&sum);
}

/* By build-id. The rest goes to the only program that has nothing, or to object files.
 * A build-id is that of a program or of none: copies of a program share its sum, as they are looked
 * up by the same id. */
static void find_scopes(struct llvm_reading *r, struct sums *s)
{
    uint32_t without = 0, last = NONE, without_id = 0;
    for (uint32_t i = 0; i < r->programs.len; i++) {
        struct program *p = &r->programs.at[i];
        p->scope = NONE;
        for (uint32_t k = 0; k < s->scopes.len && p->scope == NONE; k++) {
            struct bytes id = scope_id(s, k);
            if (id.len && id.len == p->id.len && !memcmp(id.at, p->id.at, id.len))
                p->scope = k;
        }
        if (p->scope != NONE)
            s->scopes.at[p->scope].is_taken = true;
        else
            without++, without_id += !p->id.len, last = i;
    }
    for (uint32_t i = 0; i < r->programs.len && without; i++) {
        const struct program *p = &r->programs.at[i];
        if (p->scope == NONE || !s->scopes.at[p->scope].is_merged)
            continue;
        part_others(s, p->scope, p);
        s->scopes.at[p->scope].is_merged = false; /* not again for a copy of the program */
    }
    for (uint32_t k = 0; k < s->scopes.len; k++) {
        struct scope *scope = &s->scopes.at[k];
        struct bytes id = scope_id(s, k);
        if (scope->is_taken || !id.len)
            continue;
        struct program *p = without == 1 ? &r->programs.at[last] : NULL;
        if (p && p->scope == NONE) {
            p->scope = k;
            scope->is_taken = true;
            if (p->id.len)
                problem_add(r->problems, PROBLEM_PARTIAL,
                            "%s: was left by another build of %s (build-id %s); functions with the "
                            "same control flow are used",
                            scope->example, p->path, hex_of(id, &r->arena));
            continue;
        }
        if (without > 1 && without == without_id) {
            give_to_objects(s, k);
            continue;
        }
        problem_add(r->problems, PROBLEM_LOST,
                    "%s: the program that left it is not here: name the one with build-id %s, or "
                    "its folder",
                    scope->example, hex_of(id, &r->arena));
    }
}

/* --- counting -------------------------------------------------------------------------------- */

/* Adds the function's counters of a sum to what was gathered for it.
 * A function may have counters in two sums, as when some files name their program and some do not:
 * both are added. Memory grows to that of the largest function. */
static void gather(struct llvm_reading *r, struct scope *scope, const struct llvm_mapped *f,
                   bool *has_other, struct llvm_counters *out)
{
    bool has_name;
    const struct llvm_function *found =
        llvm_profile_find(&scope->sum, f->name_ref, f->hash, &has_name);
    *has_other |= has_name && !found;
    if (!found)
        return;
    out->is_single_byte |= (scope->sum.variants & LLVM_SINGLE_BYTE) != 0;
    out->has_old_bitmap |= scope->has_old_bitmap;
    const uint64_t *counts = scope->sum.counts.at + found->first_count;
    const uint8_t *bits = scope->sum.bits.at + found->first_bit;
    while (r->counts.len < found->counts)
        vec_push(&r->counts, 0);
    while (r->bits.len < found->bits)
        vec_push(&r->bits, 0);
    for (uint32_t i = 0; i < found->counts; i++)
        r->counts.at[i] = add_saturating(r->counts.at[i], counts[i]);
    for (uint32_t i = 0; i < found->bits; i++)
        r->bits.at[i] |= bits[i];
    vec_reserve(&r->counts, 1);
    vec_reserve(&r->bits, 1);
    out->counts = r->counts.at;
    out->counts_len = (uint32_t)r->counts.len;
    out->bits = r->bits.at;
    out->bits_len = (uint32_t)r->bits.len;
}

/* The counters of a function in its program: those that are surely its own, and once those of its
 * name. A sum that has the name under other hashes only is of another build.
 * Looked up in this order:
 *
 *     the sum of the program's own build-id     always
 *     sums of no build-id                       by the first program that has the function, and by
 *                                               those that map it to other places
 *
 * Inline functions of a header are in several programs under one name: were each of them given the
 * counts of a sum that names none, a line would be counted once for each. Variants by #if of one
 * control flow look alike: counts of all of them are better than none. */
static struct llvm_counters counters_of(struct llvm_reading *r, struct sums *s,
                                        const struct program *p, const struct llvm_mapped *f)
{
    struct llvm_counters out = {0};
    bool has_other = false, is_first;
    r->counts.len = r->bits.len = 0;
    if (p->scope != NONE)
        gather(r, &s->scopes.at[p->scope], f, &has_other, &out);
    uint64_t mapping = p->mapping.units.at[f->filenames].ref ^ hash_bytes(f->code.at, f->code.len);
    map_at(&r->shared, f->name_ref, f->hash ^ mapping, 0, &is_first);
    for (uint32_t k = 0; k < s->scopes.len; k++)
        if (!scope_id(s, k).len) {
            bool ignored = false;
            if (is_first)
                gather(r, &s->scopes.at[k], f, p->scope == NONE ? &has_other : &ignored, &out);
        }
    out.is_unknown = has_other && !out.counts;
    return out;
}

/* Of many functions with the same flaw the first are named, and the others are counted: a program
 * that was compiled anew has thousands.
 *
 *     prog: left out: function f: its counters are of another build (hash mismatch)
 *     ...
 *     prog: left out: 1204 more functions whose counters are of another build */
enum { NAMED = 20 }; /* functions that are named for what is wrong with them */

/* A problem of a function; of many the first are named. */
static void say(struct llvm_reading *r, const struct program *p, uint64_t *number, const char *name,
                const char *what)
{
    if ((*number)++ < NAMED)
        problem_add(r->problems, PROBLEM_PARTIAL, "%s: left out: function %s: %s", p->path, name,
                    what);
}

/* Function after function. What is wrong with one is said, and the others are counted. */
static void count_program(struct llvm_reading *r, struct sums *s, struct program *p)
{
    uint64_t malformed = 0, mismatched = 0, nameless = 0;
    for (size_t i = 0; i < p->mapping.functions.len; i++) {
        const struct llvm_mapped *f = &p->mapping.functions.at[i];
        const char *why, *name = llvm_mapping_name(&p->mapping, f->name_ref);
        if (!name) {
            nameless++;
            continue;
        }
        struct llvm_counters counters = counters_of(r, s, p, f);
        if (!llvm_regions_read(&p->mapping, i, &r->regions, &why) ||
            !llvm_coverage_add(&r->coverage, &r->regions, name, &counters, p->sources, &r->table,
                               &why)) {
            say(r, p, &malformed, name, why);
            continue;
        }
        p->has_run |= counters.counts != NULL;
        if (counters.is_unknown)
            say(r, p, &mismatched, name, "its counters are of another build (hash mismatch)");
    }
    if (malformed > NAMED)
        problem_add(r->problems, PROBLEM_PARTIAL,
                    "%s: left out: %" PRIu64 " more functions whose mapping is damaged", p->path,
                    malformed - NAMED);
    if (mismatched > NAMED)
        problem_add(r->problems, PROBLEM_PARTIAL,
                    "%s: left out: %" PRIu64 " more functions whose counters are of another build",
                    p->path, mismatched - NAMED);
    if (nameless)
        problem_add(r->problems, PROBLEM_PARTIAL,
                    "%s: left out: %" PRIu64 " functions whose names are not in the program",
                    p->path, nameless);
    r->out->unknown_functions += mismatched;
}

/* Whether any counters are the program's: a sum of its own, or the name of one of its functions in
 * those of none.
 * A name is enough: with another hash it did run, but was another build then. */
static bool program_has_counters(const struct llvm_reading *r, struct sums *s,
                                 const struct program *p)
{
    (void)r;
    if (p->scope != NONE)
        return true;
    bool has_name = false;
    for (uint32_t k = 0; k < s->scopes.len; k++)
        for (size_t i = 0; i < p->mapping.functions.len && !scope_id(s, k).len && !has_name; i++)
            llvm_profile_find(&s->scopes.at[k].sum, p->mapping.functions.at[i].name_ref,
                              p->mapping.functions.at[i].hash, &has_name);
    return has_name;
}

/* All programs, by the sums of one test or of all. Programs that did not run are reported once. */
static void count_all(struct llvm_reading *r, struct sums *s, bool is_first)
{
    uint64_t met = 0;
    find_scopes(r, s);
    for (size_t i = 0; i < r->programs.len; i++) {
        struct program *p = &r->programs.at[i];
        bool has_counters = program_has_counters(r, s, p);
        met += has_counters;
        if (!has_counters && is_first) {
            r->out->unrun++;
            if (r->rules->leaves_unrun)
                continue;
            problem_add(r->problems, PROBLEM_NOTE, "%s: has no counters", p->path);
        }
        r->coverage.room += 16 * p->mapping_bytes;
        r->coverage.program = (uint32_t)i;
        if (r->rules->by_build)
            coverage_table_begin_test(&r->table, p->path);
        count_program(r, s, p);
        if (r->rules->by_build) {
            llvm_coverage_finish(&r->coverage, &r->table);
            coverage_table_begin_test(&r->table, NULL);
        }
    }
    for (uint32_t k = 0; k < s->scopes.len && !met; k++)
        if (!scope_id(s, k).len)
            problem_add(r->problems, PROBLEM_LOST,
                        "%s: no function of it is in the programs that were found; name the "
                        "program that left it",
                        s->scopes.at[k].example);
    llvm_coverage_finish(&r->coverage, &r->table);
    map_deinit(&r->shared);
}

/* What is wrong with counts, by number.
 * These have no function to be named by: they are counted over all of them. */
static void say_losses(struct llvm_reading *r)
{
    const struct llvm_coverage *c = &r->coverage;
    if (c->contradictory)
        problem_add(r->problems, PROBLEM_PARTIAL,
                    "%" PRIu64 " regions have counts below 0, and are unknown: threads raced; "
                    "-fprofile-update=atomic avoids it",
                    c->contradictory);
    if (c->large_decisions)
        problem_add(r->problems, PROBLEM_NOTE,
                    "left out: %" PRIu64 " decisions (MC/DC) of more than %d conditions, or with "
                    "too many test vectors",
                    c->large_decisions, MCDC_TERMS);
    if (c->broken_decisions)
        problem_add(r->problems, PROBLEM_PARTIAL,
                    "left out: %" PRIu64 " decisions (MC/DC) whose conditions do not fit together",
                    c->broken_decisions);
    if (c->lines_without_room)
        problem_add(r->problems, PROBLEM_PARTIAL,
                    "left out: %" PRIu64
                    " lines: regions span more than a program of this size has",
                    c->lines_without_room);
}

/* Programs first, then for each test its profiles; without tests there is one round. Memory of the
 * mappings stays to the end, that of sums to the end of a round. */
void coverage_read_llvm(const struct coverage_files *found, const struct source_filter *filter,
                        const struct read_rules *rules, struct coverage_reading *out)
{
    struct llvm_reading r = {.found = found,
                             .rules = rules,
                             .met.lock = PTHREAD_MUTEX_INITIALIZER,
                             .problems = &out->problems,
                             .out = out};
    if (!found->profiles.len && !found->programs.len)
        return;
    r.names.filter = filter;
    r.names.table = &r.table;
    r.coverage.room = 1 << 20;
    r.coverage.rule = (enum instance_rule)rules->instances;
    progress_phase(rules->progress, "reading profiles", found->profiles.len);
    for (size_t i = 0; i < found->programs.len; i++)
        read_program(&r, &found->programs.at[i]);
    for (uint32_t test = 0; test < found->tests.len; test++) {
        struct sums sums = {0};
        if (!rules->by_test && test)
            break;
        read_profiles(&r, rules->by_test ? test : NONE, &sums);
        if (rules->by_test && sums.scopes.len)
            coverage_table_begin_test(&r.table, found->tests.at[test]);
        if (!rules->by_test || sums.scopes.len)
            count_all(&r, &sums, !rules->by_test);
        coverage_table_begin_test(&r.table, NULL);
        sums_deinit(&sums);
    }
    say_losses(&r);
    vec_push(&out->tables, r.table);
    out->system_sources += r.names.system_sources;
    out->unwanted_sources += r.names.unwanted_sources;
    for (size_t i = 0; i < r.programs.len; i++) {
        llvm_mapping_deinit(&r.programs.at[i].mapping);
        object_close(r.programs.at[i].object);
    }
    vec_free(&r.programs);
    source_names_deinit(&r.names);
    out->llvm = r.coverage; /* what it explains names paths of the table, which does not move */
    llvm_regions_deinit(&r.regions);
    vec_free(&r.counts);
    vec_free(&r.bits);
    map_deinit(&r.met.at);
    arena_deinit(&r.arena);
}
