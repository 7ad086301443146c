/* What other objects may see. In the archive, names of libgcov are hidden, as they are in
 * libgcov.a: a library and a program that are both linked with the archive each have their own
 * copy. */
#ifndef MONARC_COVER_EXPORT_H
#define MONARC_COVER_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

#ifdef MONARC_STATIC
#define GCOV_API __attribute__((visibility("hidden")))
#else
#define GCOV_API EXPORT
#endif

#endif
