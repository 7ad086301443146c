/* Finds rows in the table of versions. */
#include "coverage/model/dialect.h"

#include "monarc/gcov_dialects.h"

const struct gcov_dialect *dialect_of_word(uint32_t version)
{
    return gcov_dialect_numbered(gcov_version_number(version));
}

/* The proposal's own version, "304e", names no release whose gcov would show its files. They state
 * every block's lines, as gcc's have done from version 8 on: they are counted as gcc 12's, and so
 * are those of gcc before 3.4. */
enum { PROPOSAL_VERSION = 0x65343033, SHOWN_AS = 1202 };

const struct gcov_dialect *dialect_of(const struct arcs_origin *origin)
{
    bool is_rfc = origin->family == ARCS_RFC;
    bool is_proposal = is_rfc && origin->version == PROPOSAL_VERSION;
    const struct gcov_dialect *found =
        gcov_dialect_numbered(is_proposal ? SHOWN_AS : origin->number);
    if (!found && is_rfc)
        return gcov_dialect_numbered(SHOWN_AS);
    return found ? found : gcov_dialects;
}
