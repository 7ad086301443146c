/* Wire constants of gmon.out, shared by the recorders that write it and the reader.
 *
 * A file is a 20-byte header (magic, u32 version, 12 spare bytes) followed by records, each opened
 * by one tag byte. Integers are in the byte order of the program, addresses in its pointer size.
 * Layouts only; no code. */
#ifndef MONARC_GMON_OUT_H
#define MONARC_GMON_OUT_H

#define GMON_MAGIC       "gmon"
#define GMON_VERSION     1
#define GMON_HEADER_SIZE 20

#define GMON_TAG_TIME_HIST 0 /* low, high, u32 bins, u32 rate, char[15], char, u16[bins] */
#define GMON_TAG_CG_ARC    1 /* from, self, u32 count */
#define GMON_TAG_BB_COUNT  2 /* u32 blocks, then blocks times (address, count), pointer sized */

#define GMON_DIMENSION_SIZE 15

#endif
