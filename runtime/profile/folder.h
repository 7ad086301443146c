/* The output folder: each process has one to itself, whatever else runs. */
#ifndef MONARC_PROFILE_FOLDER_H
#define MONARC_PROFILE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

struct process;

/* Recordings hold command lines: only their owner may read them. */
#define FOLDER_MODE 0700

/* Claims p->folder by creating the live file in it, open in *fd. False if it cannot be. */
bool folder_claim(struct process *p, long *fd);
/* "<folder>/<name>" in `to`, of PATH_MAX bytes; false if it does not fit. */
bool folder_path(const char *folder, const char *name, char *to);

#endif
