/* Finding FDEs where no table helps: by an index made of the whole section, once; where there is no
 * room for one, by reading the section each time. */
#include "base/search.h"
#include "unwind/tables.h"

static void sink(struct index_entry *at, size_t i, size_t len)
{
    struct index_entry moving = at[i];
    for (size_t child; (child = 2 * i + 1) < len; i = child) {
        if (child + 1 < len && at[child + 1].start > at[child].start)
            child++;
        if (at[child].start <= moving.start)
            break;
        at[i] = at[child];
    }
    at[i] = moving;
}

/* Heap sort: in place, and no input makes it slow. */
static void sort(struct index_entry *at, size_t len)
{
    for (size_t i = len / 2; i-- > 0;)
        sink(at, i, len);
    for (size_t left = len; left-- > 1;) {
        struct index_entry largest = at[0];
        at[0] = at[left];
        at[left] = largest;
        sink(at, 0, left);
    }
}

static void build(const struct unwind_tables *t, const struct frame_section *f,
                  struct frame_index *index)
{
    struct fde fde;
    uint64_t offset = 0;
    index->is_built = true;
    do {
        uint64_t here = offset;
        if (fde_read(t, f, here, &fde, &offset) && index->len < index->cap)
            index->at[index->len++] = (struct index_entry){fde.start, (uint32_t)here};
    } while (offset);
    sort(index->at, index->len);
}

/* The last entry that starts at or before an address, counted from 1; 0: none does. */
static size_t bisect(const struct frame_index *index, uint64_t address)
{
    return PARTITION_POINT(index->len, i, index->at[i].start <= address);
}

static bool find_by_reading(const struct unwind_tables *t, const struct frame_section *f,
                            uint64_t address, struct fde *out)
{
    uint64_t offset = 0;
    do
        if (fde_read(t, f, offset, out, &offset) && address >= out->start && address < out->end)
            return true;
    while (offset);
    return false;
}

bool index_find(struct unwind_tables *t, const struct frame_section *f, struct frame_index *index,
                uint64_t address, struct fde *out)
{
    if (!index->cap)
        return find_by_reading(t, f, address, out);
    if (!index->is_built)
        build(t, f, index);
    size_t i = bisect(index, address);
    return i && fde_read(t, f, index->at[i - 1].offset, out, NULL) && address >= out->start &&
           address < out->end;
}
