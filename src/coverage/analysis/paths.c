/* Texts are told apart by 128 bits of hash, not compared: two paths that agree in all of them would
 * have to be made on purpose, and would share one listing. */
#include "coverage/analysis/paths.h"

static uint64_t text_hash(const char *text, uint64_t hash)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

uint32_t path_number(struct paths *p, const char *path)
{
    bool is_new;
    uint32_t *known = map_at(&p->by_pointer, (uint64_t)(uintptr_t)path, 0, 0, &is_new);
    if (!is_new)
        return *known;
    uint32_t fresh = (uint32_t)p->at.len;
    *known = *map_at(&p->by_text, text_hash(path, 0xcbf29ce484222325u),
                     text_hash(path, 0x9e3779b97f4a7c15u), fresh, &is_new);
    if (is_new)
        vec_push(&p->at, path);
    return *known;
}

void paths_deinit(struct paths *p)
{
    vec_free(&p->at);
    map_deinit(&p->by_pointer);
    map_deinit(&p->by_text);
}
