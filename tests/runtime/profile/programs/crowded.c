/* Arcs whose places are one and the same, more than a table looks through: each has a cell all the
 * same, in tables in proportion to their number. Linked with the recorder's own objects. */
#include "counting.h"

#include "start.h"
#include "table.h"

enum { KEYS = 20000, SLOTS = 512, MOST_SLOTS_A_KEY = 100 };

int main(void)
{
    static struct cell *cells[KEYS];
    struct process *p = process_get();
    struct table table = {0};
    uint64_t slots = 0, found = 0;
    for (uint64_t i = 0; p && i < KEYS; i++)
        cells[i] = table_claim(p, &table, MONARC_EXTENT_ARCS, SLOTS, 1, i + 1, false);
    for (struct segment *s = table.newest; s; s = s->older) {
        struct cell *c = segment_cells(s);
        slots += s->slots;
        for (uint64_t i = 0; i < segment_room(s); i++)
            found += c[i].a == 1 && cells[c[i].b - 1] == c + i;
    }
    struct cell *again =
        p ? table_claim(p, &table, MONARC_EXTENT_ARCS, SLOTS, 1, KEYS, false) : NULL;
    printf("%s, %s, %s\n", found == KEYS ? "all have cells" : "some have none",
           again == cells[KEYS - 1] ? "found again" : "made again",
           slots < MOST_SLOTS_A_KEY * KEYS ? "in proportion" : "without end");
    return 0;
}
