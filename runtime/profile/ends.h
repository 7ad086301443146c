/* The first constructor; process.c refers to it, so that a static program that only calls mcount
 * links it in. */
#ifndef MONARC_HOSTED_LIFE_H
#define MONARC_HOSTED_LIFE_H

void life_begin(void);

#endif
