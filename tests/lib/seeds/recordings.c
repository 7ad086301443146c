/* recordings build OUT PROFILE: a recording that is made up, and what of it is a gmon.out.
 * recordings read SIDECAR: what is in one, read from its path and from memory. */
#include <monarc/profile.h>
#include <monarc/recording.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int say(const struct monarc_error *e)
{
    fprintf(stderr, "%s\n", e->text);
    return 1;
}

/* main calls work: 7 ms in work, 3 ms in main, of a program without a file. */
static bool build(struct monarc_recording *r, struct monarc_error *e)
{
    struct monarc_recording_facts facts;
    struct monarc_object program = {MONARC_OBJECT_FILE, "/made/up", 0x1000, 0x3000,
                                    MONARC_NONE,        NULL,       0,      false};
    struct monarc_process process = {42,      1,    0,    0, 10000000, 9000000,
                                     1000000, true, true, 0, "up",     NULL};
    struct monarc_thread thread = {0, 42, 0, 10000000, 10000000, true, "main"};
    struct monarc_event event = {"cpu", true, 1000000, false};
    struct monarc_symbol names[] = {{0, 0x1000, 0x100, "main"}, {0, 0x2000, 0x100, "work"}};
    struct monarc_frame frames[] = {{0, 0x2010}, {0, 0x1020}};
    struct monarc_recorded_call call = {0, 0, 0x1021, 0x2000, 5};
    struct monarc_recorded_block block = {0, 0x2000, 5};
    struct monarc_loss loss = {2, 0, "samples, to show that losses are kept"};
    memset(&facts, 0, sizeof facts);
    facts.length_ns = 10000000;
    facts.slice_ns = 10000000;
    facts.user_ns = 9000000;
    facts.system_ns = 1000000;
    facts.rate = 1000;
    facts.cpus = 1;
    facts.machine = 62;
    if (!monarc_recording_set_facts(r, &facts, e) ||
        monarc_recording_add_object(r, &program, e) == MONARC_NONE ||
        monarc_recording_add_process(r, &process, e) == MONARC_NONE ||
        monarc_recording_add_thread(r, &thread, e) == MONARC_NONE ||
        monarc_recording_add_event(r, &event, e) == MONARC_NONE ||
        !monarc_recording_add_text(r, "argument", "/made/up", e) ||
        !monarc_recording_add_symbol(r, &names[0], e) ||
        !monarc_recording_add_symbol(r, &names[1], e))
        return false;
    struct monarc_sample inner = {0, 0, 0, monarc_recording_add_stack(r, frames, 2, e), 7000000, 7};
    struct monarc_sample outer = {0,       0, 0, monarc_recording_add_stack(r, frames + 1, 1, e),
                                  3000000, 3};
    return inner.node == monarc_recording_add_stack(r, frames, 2, e) && outer.node != inner.node &&
           monarc_recording_add_sample(r, &inner, e) && monarc_recording_add_sample(r, &outer, e) &&
           monarc_recording_add_call(r, &call, e) && monarc_recording_add_block(r, &block, e) &&
           monarc_recording_add_loss(r, &loss, e);
}

/* Each is refused, and changes nothing. */
static bool misuse(struct monarc_recording *r)
{
    struct monarc_error e;
    struct monarc_object file = {MONARC_OBJECT_FILE, NULL, 0, 1, MONARC_NONE, NULL, 0, false};
    struct monarc_symbol early = {0, 0, 1, "early"};
    struct monarc_sample far = {0, 9, 0, 0, 1, 1};
    struct monarc_frame frame = {9, 0};
    struct monarc_recorded_call call = {9, 0, 0, 0, 1};
    struct monarc_thread thread = {0, 1, 0, 0, 0, false, "a name that is too long"};
    return monarc_recording_add_object(r, &file, &e) == MONARC_NONE && e.status == MONARC_MISUSE &&
           !monarc_recording_add_symbol(r, &early, &e) && e.status == MONARC_MISUSE &&
           !monarc_recording_add_sample(r, &far, &e) && e.status == MONARC_MISUSE &&
           monarc_recording_add_stack(r, &frame, 1, &e) == MONARC_NONE &&
           !monarc_recording_add_call(r, &call, &e) && e.status == MONARC_MISUSE &&
           monarc_recording_add_thread(r, &thread, &e) == MONARC_NONE && e.status == MONARC_MISUSE;
}

static int built(const char *out, const char *profile)
{
    struct monarc_error e = {MONARC_OK, "what must be refused is not"};
    struct monarc_target to = monarc_target_to_path(out),
                         to_profile = monarc_target_to_path(profile);
    struct monarc_recording *r = monarc_recording_new(NULL, &e);
    struct monarc_profile *p = monarc_profile_new(NULL, &e);
    bool ok = r && p && !monarc_recording_to_profile(r, p, &e) && e.status == MONARC_UNFIT &&
              build(r, &e) && misuse(r) && monarc_recording_check_laws(r, r, r, &e) &&
              monarc_recording_write(r, &to, &e) && monarc_recording_to_profile(r, p, &e) &&
              monarc_profile_write(p, MONARC_GMON, &to_profile, &e);
    monarc_profile_free(p);
    monarc_recording_free(r);
    return ok ? 0 : say(&e);
}

static void show(const struct monarc_recording *r)
{
    struct monarc_recording_facts f;
    struct monarc_recorded_call call;
    struct monarc_loss loss;
    monarc_recording_get_facts(r, &f);
    printf("%s: %zu processes, %zu threads, %zu samples, %zu calls, %zu blocks\n",
           monarc_format_name(f.format), f.processes, f.threads, f.samples, f.calls, f.blocks);
    for (size_t i = 0; monarc_recording_get_call(r, i, &call); i++)
        printf("%d %" PRIx64 " -> %d %" PRIx64 ": %" PRIu64 "\n", (int)call.from_object, call.from,
               (int)call.self_object, call.self, call.count);
    for (size_t i = 0; monarc_recording_get_loss(r, i, &loss); i++)
        printf("lost %" PRIu64 " %s\n", loss.count, loss.text);
}

static int read_both(const char *path)
{
    static char bytes[1 << 16];
    struct monarc_error e;
    struct monarc_source in = monarc_source_from_path(path);
    struct monarc_recording *r = monarc_recording_new(NULL, &e);
    FILE *f = fopen(path, "rb");
    size_t len = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    struct monarc_source memory = monarc_source_from_bytes(bytes, len);
    bool ok = r && monarc_recording_read(r, &in, &e);
    if (ok)
        show(r);
    ok = ok && monarc_recording_read(r, &memory, &e);
    if (ok)
        show(r);
    if (f)
        fclose(f);
    monarc_recording_free(r);
    return ok ? 0 : say(&e);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "build"))
        return built(argv[2], argv[3]);
    return argc == 3 ? read_both(argv[2]) : 2;
}
