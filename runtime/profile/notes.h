/* The sidecar's facts about the program, as records: losses, command line, load map. They stand in
 * the live file from the moment they are known, for the recovery of a program that is killed, and
 * go into the sidecar at the end (sidecar.h). Specification: docs/formats/sidecar.md. */
#ifndef MONARC_PROFILE_NOTES_H
#define MONARC_PROFILE_NOTES_H

#include "objects.h"

/* Command line and environment into memory, once, before the program can change them. */
void notes_read_command(void);
/* One of their pairs "key NUL value NUL", of which the first is at 0, the next after it. Returns
 * its size, 0 after the last. */
size_t notes_command(size_t at, const char **pair);

/* Losses, command line and load map as known so far, into a new live file. Lock held. */
void notes_put_all(struct process *p);
/* Puts, or rewrites, the object's record in the live file. Lock held. */
void notes_put_object(struct process *p, struct object *o);

/* Records built in p->record; their sizes. */
uint32_t notes_lost(struct process *p, uint32_t reason);
uint32_t notes_object(struct process *p, const struct object *o);
/* The file name of an object's gmon.out. Built in p->other. */
const char *notes_gmon_name(struct process *p, const struct object *o);

#endif
