/* Demangled names as people say them: std::vector<int>::push_back for
 * std::vector<int, std::allocator<int> >::push_back(int&&). */
#ifndef MONARC_PROFILE_ANALYSIS_RECORDING_SHORT_NAMES_H
#define MONARC_PROFILE_ANALYSIS_RECORDING_SHORT_NAMES_H

#include "base/arena.h"

/* The short form of a demangled C++ or Rust name: without return type, parameters, qualifiers of
 * the function, template arguments that are the standard library's defaults, its inline namespaces,
 * ABI tags and Rust's hashes; std::string and its like by their names; what stands in templates
 * more than two deep as `<...>`. Operators, conversions, lambdas, anonymous namespaces and `[clone
 * ...]` stay. It is never longer than the name, and is the name itself where nothing is to be
 * shortened or the name's brackets do not match. Takes time linear in the length. */
const char *names_short(const char *demangled, struct arena *a);

/* The same with the parameters, for functions that differ in nothing else. */
const char *names_short_call(const char *demangled, struct arena *a);

#endif
