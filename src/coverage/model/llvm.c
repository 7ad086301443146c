/* Sums of LLVM's profiles.
 *
 * Files that one program left list the same functions in the same order, so a sum first compares
 * function by function and then adds the counters as two arrays: that is a pass over memory. Only
 * where the lists differ is each function looked up, by name and hash, in a map that is made then.
 *
 * Counts stop at the largest number, as llvm-profdata's do; bits of MC/DC unite. A function that
 * has another number of counters under the same name and hash is of another compiler's making: the
 * one with more stays and is marked. Whichever came first would depend on which thread read it. */
#include "coverage/model/llvm.h"

#include "base/path.h"
#include "coverage/model/coverage.h"

#include <string.h>

/* Maps and names go, as the next file has others; arrays and ids keep their memory. */
void llvm_profile_clear(struct llvm_profile *p)
{
    struct llvm_profile kept = {0};
    kept.functions = p->functions;
    kept.counts = p->counts;
    kept.bits = p->bits;
    memcpy(&kept.sites, &p->sites, sizeof kept.sites);
    memcpy(&kept.values, &p->values, sizeof kept.values);
    kept.functions.len = kept.counts.len = kept.bits.len = kept.sites.len = kept.values.len = 0;
    intern_deinit(&p->names);
    intern_clear(&p->ids);
    kept.ids = p->ids;
    map_deinit(&p->by_name);
    map_deinit(&p->has_name);
    *p = kept;
}

void llvm_profile_deinit(struct llvm_profile *p)
{
    llvm_profile_clear(p);
    intern_deinit(&p->ids);
    vec_free(&p->functions);
    vec_free(&p->counts);
    vec_free(&p->bits);
    vec_free(&p->sites);
    vec_free(&p->values);
}

uint64_t llvm_name_ref(const char *name, size_t len)
{
    uint8_t digest[16];
    md5((struct bytes){(const uint8_t *)name, len}, digest);
    return bytes_u64(digest, false);
}

/* Of functions that are the same the first is found. Names have a map of their own, so that a
 * search can distinguish another hash from another name. */
static void profile_map(struct llvm_profile *p)
{
    for (; p->mapped < p->functions.len; p->mapped++) {
        const struct llvm_function *f = &p->functions.at[p->mapped];
        map_at(&p->by_name, f->name_ref, f->hash, (uint32_t)p->mapped, NULL);
        map_at(&p->has_name, f->name_ref, 0, (uint32_t)p->mapped, NULL);
    }
}

const struct llvm_function *llvm_profile_find(struct llvm_profile *p, uint64_t name_ref,
                                              uint64_t hash, bool *has_name)
{
    profile_map(p);
    const uint32_t *place = map_find(&p->by_name, name_ref, hash);
    *has_name = place || map_find(&p->has_name, name_ref, 0);
    return place ? &p->functions.at[*place] : NULL;
}

/* ---- sums */

static bool profile_has_same_layout(const struct llvm_profile *a, const struct llvm_profile *b)
{
    if (a->functions.len != b->functions.len || a->counts.len != b->counts.len ||
        a->bits.len != b->bits.len)
        return false;
    for (size_t i = 0; i < a->functions.len; i++) {
        const struct llvm_function *f = &a->functions.at[i], *g = &b->functions.at[i];
        if (f->name_ref != g->name_ref || f->hash != g->hash || f->counts != g->counts ||
            f->first_count != g->first_count || f->bits != g->bits || f->first_bit != g->first_bit)
            return false;
    }
    return true;
}

static void profile_add_counts(uint64_t *into, const uint64_t *from, size_t len)
{
    for (size_t i = 0; i < len; i++)
        into[i] = add_saturating(into[i], from[i]);
}

static void profile_unite_bits(uint8_t *into, const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i++)
        into[i] |= from[i];
}

/* A function whose counters go to the end. */
static struct llvm_function profile_copy(struct llvm_profile *into, const struct llvm_profile *from,
                                         const struct llvm_function *f)
{
    struct llvm_function copy = *f;
    copy.first_count = into->counts.len;
    copy.first_bit = into->bits.len;
    if (f->name != LLVM_NO_NAME)
        copy.name =
            intern(&into->names, from->names.texts.at[f->name], from->names.lengths.at[f->name]);
    vec_reserve(&into->counts, into->counts.len + f->counts + 1);
    vec_reserve(&into->bits, into->bits.len + f->bits + 1);
    if (f->counts)
        memcpy(into->counts.at + into->counts.len, from->counts.at + f->first_count,
               f->counts * sizeof *into->counts.at);
    if (f->bits)
        memcpy(into->bits.at + into->bits.len, from->bits.at + f->first_bit, f->bits);
    into->counts.len += f->counts;
    into->bits.len += f->bits;
    llvm_values_copy(into, &copy, from, f);
    return copy;
}

/* Whether two that are called the same have as many counters; if not both are marked. */
static bool functions_fit(struct llvm_function *a, const struct llvm_function *b)
{
    bool fits = a->counts == b->counts && a->bits == b->bits;
    a->is_misfit |= b->is_misfit || !fits;
    return fits;
}

static void function_add(struct llvm_profile *into, struct llvm_function *own,
                         const struct llvm_profile *from, const struct llvm_function *f)
{
    if (f->counts)
        profile_add_counts(into->counts.at + own->first_count, from->counts.at + f->first_count,
                           f->counts);
    if (f->bits)
        profile_unite_bits(into->bits.at + own->first_bit, from->bits.at + f->first_bit, f->bits);
    if (llvm_function_sites(f))
        llvm_values_add(into, own, from, f);
}

static bool function_is_larger(const struct llvm_function *a, const struct llvm_function *b)
{
    return a->counts != b->counts ? a->counts > b->counts : a->bits > b->bits;
}

/* Function by function, where the lists differ. */
static void profile_add_each(struct llvm_profile *into, const struct llvm_profile *from)
{
    for (size_t i = 0; i < from->functions.len; i++) {
        const struct llvm_function *f = &from->functions.at[i];
        profile_map(into);
        const uint32_t *place = map_find(&into->by_name, f->name_ref, f->hash);
        if (!place) {
            struct llvm_function copy = profile_copy(into, from, f);
            vec_push(&into->functions, copy);
            continue;
        }
        struct llvm_function *own = &into->functions.at[*place];
        uint32_t name = own->name;
        if (functions_fit(own, f)) {
            function_add(into, own, from, f);
        } else if (function_is_larger(f, own)) {
            *own = profile_copy(into, from, f);
            own->is_misfit = true;
            own->name = name;
        }
        if (own->name == LLVM_NO_NAME && f->name != LLVM_NO_NAME)
            own->name = intern(&into->names, from->names.texts.at[f->name],
                               from->names.lengths.at[f->name]);
    }
}

void llvm_profile_add_function(struct llvm_profile *into, const struct llvm_profile *from, size_t i)
{
    struct llvm_function copy = profile_copy(into, from, &from->functions.at[i]);
    vec_push(&into->functions, copy);
}

void llvm_profile_add(struct llvm_profile *into, const struct llvm_profile *from)
{
    if (!into->runs && !into->functions.len) {
        into->container = from->container;
        into->version = from->version;
        into->word = from->word;
        into->is_big_endian = from->is_big_endian;
        into->variants = from->variants;
    }
    into->variants |= from->variants;
    into->keeps_values |= from->keeps_values;
    into->has_old_bits |= from->has_old_bits;
    into->version = from->version > into->version ? from->version : into->version;
    for (uint32_t i = 0; i < from->ids.texts.len; i++)
        intern(&into->ids, from->ids.texts.at[i], from->ids.lengths.at[i]);
    if (!into->functions.len) {
        for (size_t i = 0; i < from->functions.len; i++)
            llvm_profile_add_function(into, from, i);
    } else if (profile_has_same_layout(into, from)) {
        profile_add_counts(into->counts.at, from->counts.at, from->counts.len);
        profile_unite_bits(into->bits.at, from->bits.at, from->bits.len);
        for (size_t i = 0; i < from->functions.len; i++) {
            into->functions.at[i].is_misfit |= from->functions.at[i].is_misfit;
            into->functions.at[i].has_unlike_sites |= from->functions.at[i].has_unlike_sites;
            if (llvm_function_sites(&from->functions.at[i]))
                llvm_values_add(into, &into->functions.at[i], from, &from->functions.at[i]);
        }
    } else {
        profile_add_each(into, from);
    }
    into->value_records += from->value_records;
    into->traces += from->traces;
    into->runs += from->runs ? from->runs : 1;
}

/* By name_ref and hash. */
void llvm_profile_name(struct llvm_profile *p, const struct llvm_profile *named)
{
    profile_map(p);
    for (size_t i = 0; i < named->functions.len; i++) {
        const struct llvm_function *f = &named->functions.at[i];
        const uint32_t *place = map_find(&p->by_name, f->name_ref, f->hash);
        struct llvm_function *own = place ? &p->functions.at[*place] : NULL;
        if (own && own->name == LLVM_NO_NAME && f->name != LLVM_NO_NAME)
            own->name =
                intern(&p->names, named->names.texts.at[f->name], named->names.lengths.at[f->name]);
    }
}

/* Equal functions become one. The list is walked once; folded ones leave it, and their counters
 * stay in the arrays without an owner. */
uint64_t llvm_profile_join(struct llvm_profile *p)
{
    map_deinit(&p->by_name);
    map_deinit(&p->has_name);
    p->mapped = 0;
    uint64_t misfits = 0;
    size_t kept = 0;
    for (size_t i = 0; i < p->functions.len; i++) {
        const struct llvm_function f = p->functions.at[i];
        bool is_new;
        uint32_t place = map_index(&p->by_name, f.name_ref, f.hash, kept, &is_new);
        struct llvm_function *first = &p->functions.at[place];
        if (is_new) {
            p->functions.at[kept++] = f;
            continue;
        }
        uint32_t name = first->name == LLVM_NO_NAME ? f.name : first->name;
        if (functions_fit(first, &f)) {
            function_add(p, first, p, &f);
        } else if (function_is_larger(&f, first)) {
            *first = f;
            first->is_misfit = true;
        }
        first->name = name;
    }
    p->functions.len = kept;
    for (size_t i = 0; i < kept; i++)
        misfits += p->functions.at[i].is_misfit;
    return misfits;
}

/* ---- names */

/* Static functions are named "FILE:NAME" or, since LLVM 17, "FILE;NAME"; Objective-C has colons of
 * its own, and so have C++ names of clang-cl, which begin with `?`. */
const char *llvm_bare_name(const char *name)
{
    const char *colon = strrchr(name, ':'), *semicolon = strrchr(name, ';');
    const char *last = semicolon && (!colon || semicolon > colon) ? semicolon : colon;
    return last && last[1] && *name != '-' && *name != '+' ? last + 1 : name;
}

const char *llvm_mapping_name(const struct llvm_mapping *m, uint64_t name_ref)
{
    const uint32_t *name = map_find(&m->name_of, name_ref, 0);
    return name ? intern_text(&m->names, *name) : NULL;
}

void llvm_mapping_deinit(struct llvm_mapping *m)
{
    vec_free(&m->filenames);
    vec_free(&m->units);
    vec_free(&m->functions);
    intern_deinit(&m->names);
    map_deinit(&m->name_of);
    map_deinit(&m->by_name);
    arena_deinit(&m->arena);
    *m = (struct llvm_mapping){0};
}

void llvm_regions_deinit(struct llvm_regions *r)
{
    vec_free(&r->files);
    vec_free(&r->expressions);
    vec_free(&r->expression_tags);
    vec_free(&r->at);
    vec_free(&r->expanded_at);
}
