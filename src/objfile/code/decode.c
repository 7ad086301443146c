/* What decoders leave behind. */
#include "objfile/code/decode.h"

#include "objfile/code/late_capstone.h"

void finding_deinit(struct finding *f)
{
    capstone_close(f->capstone);
}
