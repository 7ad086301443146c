/* Field numbers of pprof's profile.proto, for what writes it (profile/export/pprof.c) and what
 * reads it (profile/import/pprof.c). A number that neither has a use for is left out.
 *
 *     Profile  { types, samples, mappings, locations, functions, texts, ... }
 *     Sample   { locations (innermost first), values (one a type), labels }
 *     Location { id, mapping, address, lines (innermost first) }
 *     Line     { function, line }
 *     Function { id, name, linkage name, file, line }
 *
 * Texts are numbers in the list of texts, whose first is empty. Source: google/pprof,
 * proto/profile.proto. */
#ifndef MONARC_PROFILE_MODEL_PPROF_FIELDS_H
#define MONARC_PROFILE_MODEL_PPROF_FIELDS_H

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRINGS,
    PROFILE_TIME = 9,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_DEFAULT_TYPE,
    PROFILE_LAST = 15
};

enum type_field { TYPE_TYPE = 1, TYPE_UNIT };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum label_field { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };

enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_START,
    MAPPING_LIMIT,
    MAPPING_OFFSET,
    MAPPING_FILE,
    MAPPING_BUILD_ID,
    MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILES,
    MAPPING_HAS_LINES
};

enum location_field { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum line_field { LINE_FUNCTION = 1, LINE_LINE };

enum function_field {
    FUNCTION_ID = 1,
    FUNCTION_NAME,
    FUNCTION_SYSTEM_NAME,
    FUNCTION_FILE,
    FUNCTION_LINE
};

#endif
