/* What handles of notes and counters have in common. */
#include "lib/coverage.h"

#include "coverage/format/arcs_convert.h"
#include "coverage/model/coverage.h"

#include <string.h>

bool coverage_read_own(const struct monarc_source *in, struct heap *h, struct call_input *out,
                       struct monarc_error *e)
{
    if (!call_read(in, h, out, e))
        return false;
    if (out->bytes.at != in->bytes)
        return true;
    uint8_t *copy = heap_take(h, out->bytes.len);
    if (!copy)
        return call_fail_memory(e);
    memcpy(copy, out->bytes.at, out->bytes.len);
    out->bytes.at = copy;
    return true;
}

void coverage_facts(const struct arcs_origin *origin, bool is_notes, struct monarc_arcs_facts *out)
{
    bool is_rfc = origin->family == ARCS_RFC;
    *out = (struct monarc_arcs_facts){
        .gcc_version = origin->number,
        .is_clang = origin->is_llvm,
        .byte_order = origin->big_endian ? MONARC_BIG_ENDIAN : MONARC_LITTLE_ENDIAN,
        .stamp = origin->stamp,
        .checksum = origin->checksum,
    };
    if (origin->version)
        out->format =
            is_notes ? (is_rfc ? MONARC_BBG : MONARC_GCNO) : (is_rfc ? MONARC_DA : MONARC_GCDA);
}

bool coverage_version(const struct arcs_origin *origin, const struct monarc_arcs_form *form,
                      uint32_t *word, struct monarc_error *e)
{
    unsigned number = form ? form->gcc_version : 0;
    *word =
        origin->family == ARCS_GCOV && origin->version ? origin->version : arcs_version_word(12, 2);
    if (form && form->byte_order > MONARC_BIG_ENDIAN)
        return call_fail(e, MONARC_MISUSE, "there is no such byte order");
    if (number)
        *word = arcs_version_word(number / 100, number % 100);
    return dialect_of_word(*word) ||
           call_fail(e, MONARC_MISUSE, "gcc %u.%u is not a version whose files are known",
                     number / 100, number % 100);
}

const char *coverage_defect(uint8_t defect)
{
    return defect ? arcs_defect_text((enum arcs_defect)defect) : NULL;
}
