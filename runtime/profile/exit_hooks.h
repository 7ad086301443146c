/* Has the files written when the process ends: by exit, by quick_exit, in a static program by
 * _exit, and by a fatal signal that the program left alone. wrap/exit.c has the other ways out. */
#ifndef MONARC_PROFILE_EXIT_HOOKS_H
#define MONARC_PROFILE_EXIT_HOOKS_H

void ends_watch(void);

#endif
