/* The proposal's items read with errors: arc_items FILE.da prints its records; the status is 1 if
 * the file ends within one or holds a string that is none. */
#include <monarc/arc_profile.h>

int main(int argc, char **argv)
{
    uint32_t magic, version, tag, length, checksum;
    FILE *from = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!from || arc_profile_read_int32(from, &magic) || magic != ARC_PROFILE_DA_MAGIC ||
        arc_profile_read_int32(from, &version))
        return 2;
    while (!arc_profile_read_record(from, &tag, &length)) {
        if (tag == ARC_PROFILE_TAG_FUNCTION) {
            char *name;
            uint32_t characters;
            if (arc_profile_read_string(from, &characters, &name))
                return 1;
            printf("%s %u of %u bytes\n", name, characters, arc_profile_string_bytes(name));
            free(name);
            if (arc_profile_read_int32(from, &checksum))
                return 1;
            continue;
        }
        uint64_t value;
        for (; length >= 8; length -= 8)
            if (arc_profile_read_int64(from, &value))
                return 1;
        if (length && arc_profile_read_int32(from, &checksum))
            return 1;
    }
    return !feof(from) || fclose(from);
}
