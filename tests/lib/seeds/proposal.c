/* A program's run-time as the proposal of 2002 describes it: proposal NAME writes NAME.bbg and
 * NAME.da, and reads them back item by item. */
#include <monarc/arc_profile.h>

static int64_t counts[] = {3, 4};
static struct function_info functions[] = {{"half", 0x12345678, 1}, {"whole", 0x87654321, 1}};
static struct coverage_info object = {
    ARC_PROFILE_VERSION_304, NULL, "halves.c", functions, 2, counts, 2};

/* Three blocks in a row; the first arc is counted; line 1 of the file. */
static int write_notes(FILE *to)
{
    int bad = write_int32(to, ARC_PROFILE_BBG_MAGIC) | write_int32(to, object.version);
    for (unsigned i = 0; i < object.n_functions; i++) {
        const struct function_info *f = &object.functions[i];
        bad |= write_record(to, ARC_PROFILE_TAG_FUNCTION, arc_profile_string_bytes(f->name) + 4) |
               write_string(to, f->name) | write_int32(to, f->checksum);
        bad |= write_record(to, ARC_PROFILE_TAG_BLOCKS, 12);
        for (int block = 0; block < 3; block++)
            bad |= write_int32(to, 0);
        for (uint32_t block = 0; block < 2; block++)
            bad |= write_record(to, ARC_PROFILE_TAG_ARCS, 8) | write_int32(to, block + 1) |
                   write_int32(to, block ? ARC_PROFILE_ARC_ON_TREE : 0);
        bad |=
            write_record(to, ARC_PROFILE_TAG_ARCS, 0) | write_record(to, ARC_PROFILE_TAG_LINES, 0) |
            write_record(to, ARC_PROFILE_TAG_LINES, 8 + arc_profile_string_bytes(object.filename)) |
            write_int32(to, 0) | write_string(to, object.filename) | write_int32(to, i + 1) |
            write_record(to, ARC_PROFILE_TAG_LINES, 0);
    }
    return bad;
}

static int write_summary(FILE *to, uint32_t tag)
{
    int64_t sum = 0, largest = 0;
    for (unsigned i = 0; i < object.n_arc_counts; i++) {
        sum += object.arc_counts[i];
        largest = object.arc_counts[i] > largest ? object.arc_counts[i] : largest;
    }
    return write_record(to, tag, 20) | write_int32(to, object.n_arc_counts) |
           write_int64(to, (uint64_t)sum) | write_int64(to, (uint64_t)largest);
}

static int write_counts(FILE *to)
{
    const int64_t *at = object.arc_counts;
    int bad = write_int32(to, ARC_PROFILE_DA_MAGIC) | write_int32(to, object.version);
    for (unsigned i = 0; i < object.n_functions; i++) {
        const struct function_info *f = &object.functions[i];
        bad |= write_record(to, ARC_PROFILE_TAG_FUNCTION, arc_profile_string_bytes(f->name) + 4) |
               write_string(to, f->name) | write_int32(to, f->checksum) |
               write_record(to, ARC_PROFILE_TAG_ARC_COUNTS, 8 * f->n_arc_counts);
        for (unsigned k = 0; k < f->n_arc_counts; k++)
            bad |= write_int64(to, (uint64_t)*at++);
    }
    return bad | write_summary(to, ARC_PROFILE_TAG_OBJECT_SUMMARY) |
           write_summary(to, ARC_PROFILE_TAG_PROGRAM_SUMMARY);
}

static int read_counts(FILE *from)
{
    uint32_t magic, version, tag, length, checksum;
    uint64_t value;
    char *name;
    if (read_int32(from, &magic) || read_int32(from, &version) || magic != ARC_PROFILE_DA_MAGIC)
        return 1;
    while (!read_record(from, &tag, &length))
        if (tag == ARC_PROFILE_TAG_FUNCTION) {
            if (read_string(from, &name) || read_int32(from, &checksum))
                return 1;
            printf("%s %x\n", name, checksum);
            free(name);
        } else if (tag == ARC_PROFILE_TAG_ARC_COUNTS) {
            for (uint32_t i = 0; i < length / 8; i++)
                if (!read_int64(from, &value))
                    printf("  %lu\n", (unsigned long)value);
        } else if (fseek(from, (long)length, SEEK_CUR)) {
            return 1;
        }
    return 0;
}

static int with(const char *name, const char *suffix, const char *mode, int (*work)(FILE *))
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", name, suffix);
    FILE *f = fopen(path, mode);
    int bad = !f || work(f);
    return (f && fclose(f)) || bad;
}

int main(int argc, char **argv)
{
    return argc != 2 || with(argv[1], ARC_PROFILE_BBG_SUFFIX, "wb", write_notes) ||
           with(argv[1], ARC_PROFILE_DA_SUFFIX, "wb", write_counts) ||
           with(argv[1], ARC_PROFILE_DA_SUFFIX, "rb", read_counts);
}
