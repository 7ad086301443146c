/* Work in shared objects: linked, loaded and unloaded at the same address, in a namespace of its
 * own, deleted while it runs. The libraries are beside the program: lib_a.so, lib_b.so. */
#include "truth.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>

TRUTH_WORK(of_program)

static char folder[PATH_MAX];

static void *load(const char *name, bool is_apart)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    void *library = is_apart ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(94);
    }
    return library;
}

static double spend_in(void *library, double seconds)
{
    double (*spend)(double);
    *(void **)&spend = dlsym(library, "plugin_spend");
    return spend(seconds);
}

/* The next library comes to lie where the last one was: an address means one thing now and
 * another then. */
static void in_turn(void)
{
    static const char *const NAMES[] = {"lib_a.so", "lib_b.so"};
    static const char *const ROWS[] = {"in_a", "in_b"};
    for (int i = 0; i < 20; i++) {
        void *library = load(NAMES[i % 2], false);
        truth_say("self", ROWS[i % 2], spend_in(library, i % 2 ? 0.03 : 0.01));
        dlclose(library);
    }
}

static void once(const char *name, bool is_apart)
{
    void *library = load(name, is_apart);
    for (int i = 0; i < 4; i++) {
        truth_self("of_program", of_program, 0.03);
        truth_say("self", "in_a", spend_in(library, 0.09));
    }
}

/* By a name that is true in this folder alone. */
static void relative(void)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here) || chdir(folder))
        exit(93);
    void *library = dlopen("./lib_a.so", RTLD_NOW);
    if (!library || chdir(here))
        exit(93);
    truth_self("of_program", of_program, 0.12);
    truth_say("self", "in_a", spend_in(library, 0.36));
}

static void deleted(void)
{
    char path[PATH_MAX + 32];
    void *library = load("lib_a.so", false);
    snprintf(path, sizeof path, "%s/lib_a.so", folder);
    unlink(path);
    truth_self("of_program", of_program, 0.12);
    truth_say("self", "in_a", spend_in(library, 0.36));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "once";
    if (!realpath(argv[0], folder))
        return 92;
    *strrchr(folder, '/') = 0;
    if (!strcmp(how, "turn"))
        in_turn();
    else if (!strcmp(how, "apart"))
        once("lib_a.so", true);
    else if (!strcmp(how, "relative"))
        relative();
    else if (!strcmp(how, "deleted"))
        deleted();
    else
        once("lib_a.so", false);
    truth_end();
    return 0;
}
