/* The objects of this very process, with their unwind tables as they are mapped: what a test needs
 * to unwind itself. */
#ifndef MONARC_TESTS_OWN_MODULES_H
#define MONARC_TESTS_OWN_MODULES_H

#include "unwind/unwind.h"

#include <link.h>
#include <string.h>

/* Sanitizers keep frames elsewhere and intercept what is stepped over. */
#if defined __SANITIZE_ADDRESS__
#define IS_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

enum { MOST_MODULES = 64 };

struct own_module {
    uint64_t low, high, bias; /* of executable code */
    struct unwind_tables *tables;
};

struct own_modules {
    struct own_module at[MOST_MODULES];
    size_t len;
    const struct arch *arch;
    bool without_headers;
};

/* `.eh_frame` as its header points to it, up to the end of its segment. */
static inline struct bytes own_eh_frame(const struct dl_phdr_info *info, uint64_t hdr)
{
    const uint8_t *p = (const uint8_t *)(info->dlpi_addr + hdr);
    int32_t distance;
    memcpy(&distance, p + 4, 4);
    if (p[1] != 0x1b)
        return (struct bytes){0};
    uint64_t start = hdr + 4 + (uint64_t)(int64_t)distance;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && start >= h->p_vaddr && start < h->p_vaddr + h->p_filesz)
            return (struct bytes){(const uint8_t *)(info->dlpi_addr + start),
                                  h->p_vaddr + h->p_filesz - start};
    }
    return (struct bytes){0};
}

static inline int own_add(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct own_modules *all = context;
    struct unwind_sections s = {.arch = all->arch};
    struct own_module m = {.low = UINT64_MAX, .bias = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && h->p_flags & PF_X) {
            m.low = m.low < info->dlpi_addr + h->p_vaddr ? m.low : info->dlpi_addr + h->p_vaddr;
            m.high = info->dlpi_addr + h->p_vaddr + h->p_memsz;
        }
        if (h->p_type != PT_GNU_EH_FRAME)
            continue;
        s.eh_frame_hdr_address = h->p_vaddr;
        s.eh_frame_hdr =
            (struct bytes){(const uint8_t *)(info->dlpi_addr + h->p_vaddr), h->p_memsz};
        s.eh_frame = own_eh_frame(info, h->p_vaddr);
        s.eh_frame_address = (uint64_t)s.eh_frame.at - info->dlpi_addr;
    }
    if (all->without_headers)
        s.eh_frame_hdr = (struct bytes){0};
    if (s.eh_frame.len)
        m.tables = unwind_tables_new(&s);
    if (all->len < MOST_MODULES && m.high)
        all->at[all->len++] = m;
    return 0;
}

static inline bool own_module_at(void *context, uint64_t pc, struct unwind_module *out)
{
    const struct own_modules *all = context;
    for (size_t i = 0; i < all->len; i++)
        if (pc >= all->at[i].low && pc < all->at[i].high) {
            *out = (struct unwind_module){.tables = all->at[i].tables, .bias = all->at[i].bias};
            return true;
        }
    return false;
}

static inline void own_modules_init(struct own_modules *all, const struct arch *arch,
                                    bool without_headers)
{
    *all = (struct own_modules){.arch = arch, .without_headers = without_headers};
    dl_iterate_phdr(own_add, all);
}

static inline void own_modules_deinit(struct own_modules *all)
{
    for (size_t i = 0; i < all->len; i++)
        unwind_tables_free(all->at[i].tables);
}

#endif
