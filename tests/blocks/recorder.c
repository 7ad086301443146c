/* Counts basic blocks and leaves them as block records in gmon.out. For tests, on x86-64 Linux.
 *
 * Two ways to be called: GCC's -fsanitize-coverage=trace-pc, which only says that a block was
 * entered (those that never were are found by the calls that stand in the code), and clang's
 * -fsanitize-coverage=trace-pc-guard,pc-table,no-prune, which numbers the blocks and lists their
 * addresses. Compile this file without either. Addresses are written as linked. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counted {
    uintptr_t address;
    uint64_t count;
};

/* GCC: by address, open addressing. */
enum { SLOTS = 1 << 16 };
static struct counted slots[SLOTS];

/* clang: by number, from 1. */
static uint64_t counters[SLOTS];
static uint32_t guards;
static const uintptr_t *table, *table_end;

static struct counted *slot_of(uintptr_t address)
{
    size_t i = address * 0x9e3779b97f4a7c15u >> 48;
    while (slots[i].address && slots[i].address != address)
        i = (i + 1) % SLOTS;
    slots[i].address = address;
    return &slots[i];
}

/* The last byte of the call is in the block; what follows may be on the next line. */
void __sanitizer_cov_trace_pc(void)
{
    slot_of((uintptr_t)__builtin_return_address(0) - 1)->count++;
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end)
{
    for (; start < end; start++)
        if (!*start)
            *start = ++guards;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
    counters[*guard - 1]++;
}

/* Pairs of an address and flags. */
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end)
{
    table = start;
    table_end = end;
}

static int find_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uintptr_t *)bias = info->dlpi_addr;
    return 1; /* the executable is the first one */
}

/* Every `call __sanitizer_cov_trace_pc` in the executable's code, counted or not. */
static void find_calls(void)
{
    extern const uint8_t __executable_start[], etext[];
    for (const uint8_t *at = __executable_start; at + 5 <= etext; at++) {
        int32_t distance;
        memcpy(&distance, at + 1, sizeof distance);
        if (*at == 0xe8 && (uintptr_t)at + 5 + (uintptr_t)(intptr_t)distance ==
                               (uintptr_t)__sanitizer_cov_trace_pc)
            slot_of((uintptr_t)at + 4);
    }
}

static void put(FILE *file, uint64_t value, size_t bytes)
{
    fwrite(&value, bytes, 1, file); /* little-endian, as the machine is */
}

__attribute__((destructor)) static void write_gmon(void)
{
    uintptr_t bias = 0;
    uint32_t blocks = 0;
    FILE *file = fopen("gmon.out", "wb");
    if (!file)
        return;
    dl_iterate_phdr(find_bias, &bias);
    if (!table)
        find_calls();
    for (size_t i = 0; i < SLOTS; i++)
        blocks += slots[i].address != 0;
    blocks += (uint32_t)((table_end - table) / 2);
    fwrite("gmon\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, 1, file);
    put(file, 2, 1);
    put(file, blocks, 4);
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].address) {
            put(file, slots[i].address - bias, 8);
            put(file, slots[i].count, 8);
        }
    for (const uintptr_t *pair = table; pair < table_end; pair += 2) {
        put(file, *pair - bias, 8);
        put(file, counters[(pair - table) / 2], 8);
    }
    fclose(file);
}
