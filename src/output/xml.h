/* Texts in XML 1.0. Names may hold any byte; what XML cannot is written as U+FFFD. */
#ifndef MONARC_OUTPUT_XML_H
#define MONARC_OUTPUT_XML_H

#include "output/out.h"

void xml_text(struct out *out, const char *value);

/* A space, the key, and the value in quotes. */
void xml_attribute(struct out *out, const char *key, const char *value);

#endif
