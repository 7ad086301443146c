/* glibc's names that the recorder takes over, declared for the compiler's sake. */
#ifndef MONARC_PROFILE_API_H
#define MONARC_PROFILE_API_H

#pragma GCC visibility push(default)
void __monstartup(unsigned long low, unsigned long high);
void monstartup(unsigned long low, unsigned long high);
void moncontrol(int on);
void _mcleanup(void);
#pragma GCC visibility pop

#endif
