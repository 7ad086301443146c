/* Wire constants of the two files a hosted recorder writes besides gmon.out: the sidecar
 * (`monarc.side`) and the live tables (`monarc.live`). docs/formats/sidecar.md draws their bytes.
 *
 * All integers are in the byte order of the program; both files carry a byte-order mark. */
#ifndef MONARC_SIDECAR_H
#define MONARC_SIDECAR_H

#include <stdint.h>

#define MONARC_SIDE_MAGIC    0x4453524d /* "MRSD" read little-endian */
#define MONARC_LIVE_MAGIC    0x564c524d /* "MRLV" */
#define MONARC_EXTENT_MAGIC  0x5458524d /* "MRXT" */
#define MONARC_SIDE_VERSION  1
#define MONARC_LIVE_VERSION  2
#define MONARC_BYTE_ORDER    0x01020304
#define MONARC_LIVE_PAGE     4096 /* extents start at multiples of this */
#define MONARC_EXTENT_HEADER 64
#define MONARC_CELL_SIZE     32

/* Sidecar records: u32 tag, u32 payload bytes, payload, zeros up to a multiple of 8. */
enum monarc_side_tag {
    MONARC_SIDE_END = 0,     /* u64 FNV-1a of everything before this record */
    MONARC_SIDE_PROCESS = 1, /* fixed fields, see the page */
    MONARC_SIDE_TEXT = 2,    /* key NUL value NUL */
    MONARC_SIDE_OBJECT = 3,  /* one loaded object */
    MONARC_SIDE_ARCS = 4,    /* cells {from, self, count} whose ends lie in different objects */
    MONARC_SIDE_THREADS = 5, /* thread notes of 64 bytes */
    MONARC_SIDE_STACKS = 6,  /* nodes {id, parent, address, hits} */
    MONARC_SIDE_LOST = 7,    /* u32 reason, u32 zero, u64 count, text NUL */
    MONARC_SIDE_MARK = 8     /* a phase or region boundary */
};

enum monarc_extent_kind {
    MONARC_EXTENT_ARCS = 1,    /* cells {from, self, count, set aside} */
    MONARC_EXTENT_STACKS = 2,  /* cells {parent id, address, hits, set aside} */
    MONARC_EXTENT_BLOCKS = 3,  /* cells {1, return address, count, set aside}, {2, start, 0, 0} */
    MONARC_EXTENT_THREADS = 4, /* thread notes of 64 bytes */
    MONARC_EXTENT_NOTES = 5    /* sidecar records, ended by a zero tag */
};

/* In a cell's last word: not part of what was set aside. */
/* The reason of a LOST record that a reader of live tables adds itself. */
#define MONARC_LOST_CUT   18
#define MONARC_CELL_TAKEN ((uint64_t)1 << 63)

#define MONARC_ROOT_NODE 1 /* parent of an outermost frame */

#endif
