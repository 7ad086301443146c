/* The folder of a recording while it is made: under a name of its own, so that runs at the same
 * time do not meet, and an older recording stays whole until the new one is.
 *
 * The last recording of that name is kept once, as NAME.old. */
#ifndef MONARC_SESSION_RECORDING_FOLDER_H
#define MONARC_SESSION_RECORDING_FOLDER_H

#include "base/arena.h"
#include "base/err.h"

#include <sys/types.h>

/* Texts are in the arena that the folder was made with. */
struct recording_folder {
    const char *name;      /* as the user will call it */
    const char *working;   /* absolute; where it is made */
    ino_t seen;            /* what had the name when this was begun; 0: nothing */
    const char *elsewhere; /* after keeping: why `name` is not the requested one, or NULL */
    const char *left;      /* a working folder of that name that a killed run left, or NULL */
    size_t left_len;       /* how many there are */
    int lock;              /* on the working folder while it is one; or -1 */
};

/* Makes a working folder beside `name`. Fails if `name` exists and holds anything but a recording.
 */
MUST_CHECK bool recording_folder_make(struct recording_folder *f, const char *name, struct arena *a,
                                      struct err *e);

/* Gives it its name, after what has that name has become NAME.old; or another name, which is
 * f->name then, with the reason in f->elsewhere. False if no name is to be had at all: the
 * recording is in f->working then, and stays there. */
MUST_CHECK bool recording_folder_keep(struct recording_folder *f, struct arena *a, struct err *e);

/* Removes a recording, and the folder if nothing else is in it: false if it is still there. */
bool recording_folder_remove(const char *path);

/* Removes the working folder with what a recording consists of. */
void recording_folder_drop(struct recording_folder *f);

/* Finds out about a folder that may be the working folder of a killed run. If it holds a whole
 * recording, it gets its name as recording_folder_keep() gives it: f->name is not f->working then.
 * Fails if a run still holds it. */
MUST_CHECK bool recording_folder_adopt(struct recording_folder *f, const char *path,
                                       struct arena *a, struct err *e);

#endif
