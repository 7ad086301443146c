/* What the constructors and destructors of covered objects call. */
#ifndef MONARC_COVER_GCC_H
#define MONARC_COVER_GCC_H

#include "export.h"

GCOV_API void __gcov_init(const void *info);
GCOV_API void __gcov_exit(void);

#endif
