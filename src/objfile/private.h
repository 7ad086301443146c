/* What the files of this room share about an opened object. */
#ifndef MONARC_OBJFILE_PRIVATE_H
#define MONARC_OBJFILE_PRIVATE_H

#include "base/arena.h"
#include "objfile/image.h"

struct object {
    const char *path;
    const char *debug_dir;
    bool no_separate_debug;
    struct arena arena;
    struct image self;
    struct image debug; /* separate debug file, once sought and found */
    struct image mini;  /* decoded .gnu_debugdata, once sought and found */
    bool debug_sought;
    struct object_section *sections;
    struct object_symbol *symbols;
    size_t sections_len, symbols_len;
    enum object_symbol_source symbols_source;
    bool symbols_read;
};

/* symbols.c: fills o->symbols from the best table there is. */
void symbols_read(struct object *o);

#endif
