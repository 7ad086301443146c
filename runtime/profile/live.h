/* The live file: tables in shared, file-backed pages, so that they outlive the process however it
 * ends. `monarc recover` reads what is left. Specification: docs/formats/sidecar.md. */
#ifndef MONARC_PROFILE_LIVE_H
#define MONARC_PROFILE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;

/* What is to be done once in each new file, before anything else is put there. Lock held. */
void live_on_new_file(void (*told)(struct process *p));

/* Zeroed memory for `cells` cells after an extent header, from the live file, or, counted as
 * LOST_LIVE, from anonymous memory that a forked child finds empty. NULL without memory. Lock
 * held. */
void *live_extent(struct process *p, uint32_t kind, uint64_t cells, uint64_t first_id);

/* Adds one sidecar record to the notes in the live file, for the recovery. Returns its payload,
 * which stays where it is, or NULL. Lock held. */
void *live_note(struct process *p, uint32_t tag, const void *payload, uint32_t bytes);

/* Makes the folder of this process if there is none yet. Takes the lock. */
bool live_folder(struct process *p);

/* Counts it as lost if another program cut the live file short. Lock held. */
void live_check(struct process *p);

/* The final files are complete: the live file is not needed any more. Lock held. */
void live_remove(struct process *p);

/* The same, and there is no folder from now on: nothing is written any more. */
void live_discard(struct process *p);

#endif
