/* What the native commands on a profile work with: a program and its profiles, or a recording,
 * opened, read and analysed. A program and a profile that do not belong together are refused.
 *
 * session_operands() says what the names are, session_open() does the rest; both need the options
 * to outlive the session. All tables are the session's arena's, but for the profile, the recording
 * and the object files, which session_close() frees. */
#ifndef MONARC_SESSION_SESSION_H
#define MONARC_SESSION_SESSION_H

#include "profile/analysis/diagnosis.h"
#include "profile/analysis/graph/graph.h"
#include "profile/analysis/names.h"
#include "profile/analysis/summary.h"
#include "session/profiles.h"
#include "session/recorded.h"

#include <stdbool.h>

/* What becomes of other dimensions of a profile than the first, and other events of a recording. */
enum session_others {
    OTHERS_REFUSED, /* a profile with several is; of a recording they are passed over */
    OTHERS_SELF,    /* what functions have themselves stands beside */
    OTHERS_TOTAL,   /* and what they have with callees */
};

/* Zeroed means: one profile, by bins and arcs alone, with functions as the symbol table has
 * them. */
struct session_options {
    struct profile_options read;
    const char *debug_dir;
    const char *symbols; /* a folder or file that knows recorded objects; or NULL */
    bool wants_files;    /* of recordings, the objects' files themselves, where they are there */
    bool wants_code;     /* of recordings, their machine code */
    struct recorded_filter recorded;
    bool is_forced, no_demangle;
    bool is_verbose;     /* heads of reports say how it was measured */
    bool takes_counters; /* counters of arc profiling in place of profiles */
    bool takes_counts;   /* coverage beside profiles, as counts of lines */
    bool adds_static;    /* calls that stand in the code join the graph */
    bool measures_graph; /* times of the graph come from stacks, if there are */
    enum session_others others;
    bool keeps_pieces;   /* .cold and .part as functions of their own */
    bool names_inlined;  /* of recordings: inlined functions have times of their own */
    bool has_hosts;      /* requested: they are part of the functions that they are in */
    bool places_samples; /* of recordings, into the profile: for reports that go by address */
    bool shows_labels;   /* of recordings: values of a label are rows, not frames */
    bool no_errors;      /* of recordings: how sure times are is not asked, which takes a third */

    /* session_operands() fills these. */
    const char *program;
    bool is_recording; /* the profiles are folders */
    bool are_counters; /* the profiles are counters, notes, or folders of them */
    bool are_counts;   /* there are only counts: the profiles are those */
    char **counts;     /* coverage whose counts are wanted, too */
    size_t counts_len;
    char **profiles; /* at least one */
    size_t profiles_len;
    char newest[128]; /* which of two profiles that were not named it is; "" otherwise */
    char default_path[300], *default_paths[1];
};

/* Takes PROGRAM [PROFILE...] or folders of recordings; at least one name. */
MUST_CHECK bool session_operands(struct session_options *o, char **names, size_t len,
                                 struct err *e);

/* Everything about one program and its profiles, or about a recording. */
struct session {
    struct arena arena;
    struct object *object; /* NULL for a recording */
    struct recorded recorded;
    const char *program; /* as it was named: what errors are about */
    const char *folder;  /* of the (first) recording, or NULL */
    struct functions functions;
    struct profile profile;
    struct attribution time;
    struct sharing sharing;    /* of a profile's bins */
    struct static_calls calls; /* where requested */
    struct graph graph;
    struct names names;
    struct fit fit;
    struct summary summary;
    const char *unplaced; /* of counts of lines: what the program has no place for; or NULL */
    const char *notes[6]; /* of a profile that is not a recording */
};

/* Opens, reads, judges and analyses into a zeroed *s. session_close() after failure, too. The
 * summary names point into `o`. */
MUST_CHECK bool session_open(struct session *s, struct session_options *o, struct err *e);
void session_close(struct session *s);

/* The object files by number, as the table of functions counts them; NULL: not to be had. */
uint32_t session_objects_len(const struct session *s);
struct object *session_object(const struct session *s, uint32_t number);
struct object **session_objects(struct session *s);

/* False, with the reason, if debug information of one of them was refused or found damaged: what
 * was reported is less than the files promise. */
MUST_CHECK bool session_debug_is_whole(const struct session *s, struct err *e);

/* The same of files that are there but could not be read because of trouble with the system: a
 * result from the rest must not replace a file. */
MUST_CHECK bool session_is_read(const struct session *s, struct err *e);

/* Whether any of them has line numbers. */
bool session_has_debug_info(const struct session *s);

/* What is meant where nothing is named: the newest recording NAME.monarc in the current folder, or
 * the program a.out if gmon.out is newer, as for GNU gprof. Fails if there is neither. `command` is
 * for the error. Valid as long as *n. */
struct session_newest {
    char name[256]; /* longer than names of files are */
    char *operand;  /* of one: `name` */
};
MUST_CHECK bool session_find_newest(struct session_newest *n, const char *command, struct err *e);

/* What an operand of a command is, by its name and its first bytes. */

/* Whether the file is one that could have been profiled: it begins as ELF files do. */
bool is_program(const char *path);

/* Whether an operand is about coverage: a folder without a recording, notes, counters, a tracefile,
 * or a profile of clang's or rustc's own coverage. */
bool is_coverage_operand(const char *name);

/* What there is among operands. Programs are a profile's or coverage's by what stands beside them.
 */
struct operand_mix {
    bool has_llvm;    /* profiles of clang's or rustc's coverage, to which programs belong */
    bool has_profile; /* gmon.out or the like, which needs a program */
    const char *first_program;
    size_t programs;
};
struct operand_mix operand_mix_of(char *const *names, size_t len);

/* Whether the operand, one of those inspected, is coverage's; whether it is a profile's:
 *
 *     prog a.profraw                   coverage
 *     prog gmon.out a.profraw          both are of prog
 *     prog gmon.out other a.profraw    other is the build that was covered
 *     prog.monarc prog a.profraw       recordings need no program */
bool operand_is_of_coverage(const struct operand_mix *mix, const char *name);
bool operand_is_of_profile(const struct operand_mix *mix, const char *name);

#endif
