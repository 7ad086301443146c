/* Values of LLVM's profiles as bytes: one layout in raw and indexed files, another one in text.
 *
 *     u32 size of all   u32 kinds
 *     { u32 kind  u32 sites  u8 values of each site, padded to 8   { u64 value  u64 count }* }*
 *
 * Only functions with sites have it in a raw file, after everything else, in the order of records.
 * A raw file has the addresses of called functions, which become references to their names when it
 * is read: 0 for functions that were not compiled for it, as llvm-profdata has it. When it is
 * written, functions get made-up addresses. Every number is compared with the bytes that are left
 * before anything is kept. Source: llvm/include/llvm/ProfileData/InstrProfData.inc. */
#include "coverage/format/llvm.h"

#include "base/sort.h"

#include <inttypes.h>

/* Of each kind: how many values each site has, then all of them. Kinds ascend. */
bool llvm_values_read(struct cursor *in, struct llvm_profile *p, struct llvm_function *f)
{
    uint32_t size = cursor_left(in) >= 8 ? bytes_u32(in->at, in->big_endian) : 0, next = 0;
    struct cursor at = *in;
    if (size < 8 || !cursor_take(in, size))
        return false;
    at.end = at.at + size;
    (void)cursor_u32(&at);
    f->first_site = p->sites.len;
    for (uint32_t kinds = cursor_u32(&at); kinds; kinds--) {
        uint32_t kind = cursor_u32(&at), sites = cursor_u32(&at);
        const uint8_t *counts = sites <= cursor_left(&at) ? cursor_take(&at, sites) : NULL;
        (void)cursor_take(&at, -(8 + (size_t)sites) & 7);
        if (!counts || at.failed || kind < next || kind >= VALUE_KINDS)
            return false;
        for (uint32_t i = 0; i < sites; i++) {
            if (counts[i] > cursor_left(&at) / 16)
                return false;
            llvm_site_push(p, counts[i]);
            for (uint8_t k = 0; k < counts[i]; k++) {
                uint64_t value = cursor_u64(&at), count = cursor_u64(&at);
                vec_push(&p->values, (struct llvm_value){value, count});
            }
        }
        f->sites[kind] = sites;
        next = kind + 1;
    }
    return true;
}

void llvm_values_name_targets(struct llvm_profile *p, struct keyed *addresses, size_t len)
{
    sort_keyed(addresses, len);
    for (size_t i = 0; i < p->functions.len; i++) {
        const struct llvm_function *f = &p->functions.at[i];
        for (uint32_t k = 0; k < f->sites[VALUES_TARGETS]; k++) {
            const struct llvm_site *s = &p->sites.at[f->first_site + k];
            for (uint32_t v = 0; v < s->len; v++) {
                uint64_t *value = &p->values.at[s->first + v].value;
                size_t at = PARTITION_POINT(len, n, addresses[n].key < *value);
                bool is_known = at < len && addresses[at].key == *value;
                *value = is_known ? p->functions.at[addresses[at].item].name_ref : 0;
            }
        }
    }
}

/* Where a function is said to be, by its place among those that are written. */
enum { FIRST_ADDRESS = 0x100000, ADDRESS_STEP = 16 };

uint64_t llvm_values_address(size_t place)
{
    return FIRST_ADDRESS + place * (uint64_t)ADDRESS_STEP;
}

/* Values of a site are as many as a byte counts: longer lists were cut off when they were read. */
void llvm_values_put(struct writer *w, const struct llvm_profile *p, const struct llvm_function *f,
                     const struct map *places)
{
    size_t begin = w->out.len;
    uint32_t kinds = 0;
    uint64_t first = f->first_site, size = 8;
    for (int kind = 0; kind < VALUE_KINDS; kind++) {
        kinds += f->sites[kind] > 0;
        size += f->sites[kind] ? (8 + (uint64_t)f->sites[kind] + 7) & ~UINT64_C(7) : 0;
        for (uint32_t i = 0; i < f->sites[kind]; i++)
            size += 16 * (uint64_t)p->sites.at[first++].len;
    }
    writer_u32(w, (uint32_t)size);
    writer_u32(w, kinds);
    first = f->first_site;
    for (uint32_t kind = 0; kind < VALUE_KINDS; first += f->sites[kind++]) {
        if (!f->sites[kind])
            continue;
        const struct llvm_site *sites = p->sites.at + first;
        writer_u32(w, kind);
        writer_u32(w, f->sites[kind]);
        for (uint32_t i = 0; i < f->sites[kind]; i++)
            writer_u8(w, (uint8_t)sites[i].len);
        while ((w->out.len - begin) % 8)
            writer_u8(w, 0);
        for (uint32_t i = 0; i < f->sites[kind]; i++)
            for (uint32_t k = 0; k < sites[i].len; k++) {
                const struct llvm_value *v = &p->values.at[sites[i].first + k];
                const uint32_t *place =
                    places && kind == VALUES_TARGETS ? map_find(places, v->value, 0) : NULL;
                bool is_address = places && kind == VALUES_TARGETS;
                writer_u64(w, !is_address ? v->value : place ? llvm_values_address(*place) : 0);
                writer_u64(w, v->count);
            }
    }
}

static const char *llvm_value_kind_name(int kind)
{
    static const char *const NAMES[] = {"IPVK_IndirectCallTarget", "IPVK_MemOPSize",
                                        "IPVK_VTableTarget"};
    return NAMES[kind];
}

/* Lines as llvm-profdata writes them. Called functions have their names, unless they are not in the
 * profile. */
void llvm_values_text(struct writer *w, const struct llvm_profile *p, const struct llvm_function *f,
                      const struct map *names)
{
    uint64_t first = f->first_site;
    uint32_t kinds = 0;
    for (int kind = 0; kind < VALUE_KINDS; kind++)
        kinds += f->sites[kind] > 0;
    writer_printf(w, "# Num Value Kinds:\n%" PRIu32 "\n", kinds);
    for (int kind = 0; kind < VALUE_KINDS; first += f->sites[kind++]) {
        if (!f->sites[kind])
            continue;
        writer_printf(w, "# ValueKind = %s:\n%d\n# NumValueSites:\n%" PRIu32 "\n",
                      llvm_value_kind_name(kind), kind, f->sites[kind]);
        for (uint32_t i = 0; i < f->sites[kind]; i++) {
            const struct llvm_site *s = &p->sites.at[first + i];
            writer_printf(w, "%" PRIu32 "\n", s->len);
            for (uint32_t k = 0; k < s->len; k++) {
                const struct llvm_value *v = &p->values.at[s->first + k];
                const uint32_t *name = map_find(names, v->value, 0);
                if (kind == VALUES_SIZES)
                    writer_printf(w, "%" PRIu64, v->value);
                else if (name)
                    writer_bytes(w, p->names.texts.at[*name], p->names.lengths.at[*name]);
                else
                    writer_printf(w, LLVM_EXTERNAL);
                writer_printf(w, ":%" PRIu64 "\n", v->count);
            }
        }
    }
}
