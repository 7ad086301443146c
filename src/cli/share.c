/* One command shared by the ranks of a job: `mpirun -n N monarc merge`.
 *
 * No MPI is needed, and no locks, which shared file systems often lack: ranks work through files
 * that are renamed into place, in a folder beside the output that is named after the command line.
 * Each rank merges a slice of the inputs; the lowest rank that lives merges these parts, in their
 * order. Merging gives the same in any grouping of neighbours, so the output is that of one
 * process.
 *
 *     inputs     a b c | d e f | g h i         OUT.sharing-HASH/part-0 part-1 part-2
 *     ranks        0   |   1   |   2                            alive-0 alive-1 alive-2
 *     output     part-0 + part-1 + part-2      OUT, then the folder is removed: all are done
 *
 * A rank that lives says so twice a second in its file; whoever waits for one that has said nothing
 * new for PATIENCE seconds does its part. If that rank was only slow, it makes the same part again,
 * which changes nothing. Parts of an earlier command, which was killed as a whole, are not taken:
 * who has made them has not been seen to begin in this one. The output must not be among the
 * inputs, as a rank that comes late would add it again. */
#include "cli/share.h"

#include "base/path.h"
#include "record/ranks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Seconds: PATIENCE without news of a rank, which then counts as gone; GRACE by which the clocks of
 * two machines may differ, and ranks may be started one after the other. */
enum { PATIENCE = 10, GRACE = 60, WORD_BYTES = 64, BEAT_MS = 500 };
static const char ENDED[] = "ended";

/* How often to look: rarer and rarer, since a job of many ranks looks at one file system. */
enum { LOOK_MS = 50, MOST_LOOK_MS = 400 };

/* Jobs that are larger, if there are any, share nothing: the number is the environment's, and
 * memory is in proportion to it. */
enum { MOST_RANKS = 1 << 20 };

/* What is known of another rank. */
struct share_peer {
    uint64_t word; /* hash of what it said last; 0: nothing */
    int64_t began; /* as it said */
    int64_t heard; /* when that was new, in our own seconds */
    bool has_ended;
};

/* This rank's view of the shared command. Of other ranks it knows files alone. */
struct share {
    struct arena arena;
    const char *folder, *alive, *suffix;
    uint32_t rank, ranks, parts;
    uint32_t leader; /* the lowest rank that lived when we looked at all */
    size_t inputs;
    int64_t began_real;
    struct share_peer *peers;
    bool *is_made, *is_there; /* parts: that we made; that somebody did */
    uint64_t ahead;           /* inputs' worth of work that the first rank has at the end */
    pthread_t beat;
    bool has_beat;
    pthread_mutex_t ending;
    pthread_cond_t ends;
    bool is_ending; /* by `ending`: set by us, read by the beat */
};

static int64_t share_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec;
}

static void share_sleep(unsigned ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

/* --- being alive ------------------------------------------------------------------------------ */

/* Errors are no reason to stop: a rank that cannot say that it lives loses its turn, not its work.
 */
static void share_say(const struct share *s, const char *word, int flags)
{
    int fd = open(s->alive, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0)
        return; /* the folder is gone: all is done */
    if (pwrite(fd, word, WORD_BYTES, 0) != WORD_BYTES)
        errno = 0; /* others will think that we have ended, and do our part */
    close(fd);
}

/* A text of fixed length, so that no reader sees the end of an older one. */
static void share_say_alive(const struct share *s, unsigned beat, int flags)
{
    char word[WORD_BYTES] = {0};
    snprintf(word, sizeof word, "%" PRId64 " %u", s->began_real, beat);
    share_say(s, word, flags);
}

/* A thread of its own, since merging a large input may take longer than the others' patience. It
 * ends when it is told to, not half a second later. */
static void *share_beat(void *argument)
{
    struct share *s = argument;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&s->ending);
    for (unsigned beat = 1; !s->is_ending; beat++) {
        share_say_alive(s, beat, 0);
        next.tv_nsec += BEAT_MS * 1000000L;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        while (!s->is_ending && !pthread_cond_timedwait(&s->ends, &s->ending, &next))
            ;
    }
    pthread_mutex_unlock(&s->ending);
    return NULL;
}

/* Moments of the clock that nobody sets. */
static void share_start_beat(struct share *s)
{
    pthread_condattr_t how;
    pthread_mutex_init(&s->ending, NULL);
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&s->ends, &how);
    pthread_condattr_destroy(&how);
    s->has_beat = pthread_create(&s->beat, NULL, share_beat, s) == 0;
}

static void share_end_beat(struct share *s)
{
    if (s->has_beat) {
        pthread_mutex_lock(&s->ending);
        s->is_ending = true;
        pthread_cond_signal(&s->ends);
        pthread_mutex_unlock(&s->ending);
        pthread_join(s->beat, NULL);
    }
    s->has_beat = false;
}

/* Reads what a rank says now; it lives if that is new, or was not long ago. */
static bool share_is_alive(struct share *s, uint32_t rank)
{
    struct share_peer *p = &s->peers[rank];
    char word[WORD_BYTES] = {0}, path[4400];
    snprintf(path, sizeof path, "%s/alive-%" PRIu32, s->folder, rank);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t now = share_seconds(CLOCK_MONOTONIC);
    if (fd >= 0) {
        ssize_t len = pread(fd, word, sizeof word - 1, 0);
        uint64_t hash = len > 0 ? hash_fnv64((const uint8_t *)word, strlen(word)) : 0;
        if (len > 0 && hash != p->word) {
            p->word = hash;
            p->heard = now;
            p->has_ended = !strcmp(word, ENDED);
            p->began = strtoll(word, NULL, 10);
        }
        close(fd);
    }
    return !p->has_ended && now - p->heard < PATIENCE;
}

/* --- parts ------------------------------------------------------------------------------------ */

const char *share_part(struct share *s, uint32_t part)
{
    return arena_printf(&s->arena, "%s/part-%" PRIu32 "%s", s->folder, part, s->suffix);
}

/* Where a part begins, if the first one has its own work ahead of all inputs. */
static size_t share_begin_of(const struct share *s, uint32_t part)
{
    uint64_t at = (s->inputs + s->ahead) * part / s->parts;
    return at > s->ahead ? (size_t)(at - s->ahead) : 0;
}

/* Neighbours stay together, in order: the sum of the parts is that of one process, to the byte. */
void share_slice(const struct share *s, uint32_t part, size_t *first, size_t *len)
{
    *first = share_begin_of(s, part);
    *len = share_begin_of(s, part + 1) - *first;
}

void share_count(struct share *s, size_t inputs, size_t ahead)
{
    s->inputs = inputs;
    s->ahead = ahead;
}

uint32_t share_parts(const struct share *s)
{
    return s->parts;
}

/* Files and recordings get their names when they are complete. A part of a rank that has not begun
 * with us is of an earlier command. */
static bool share_has_part(struct share *s, uint32_t part)
{
    struct stat st;
    char path[4400];
    snprintf(path, sizeof path, "%s/part-%" PRIu32 "%s", s->folder, part, s->suffix);
    if (!s->is_made[part] && s->peers[part].began < s->began_real - GRACE)
        return false;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        strncat(path, "/monarc.side", sizeof path - strlen(path) - 1);
    return access(path, F_OK) == 0;
}

/* Whether a rank below us lives, who will finish. Usually one look tells: at the rank that did last
 * time. Else at all, as the time that a rank has to be heard of begins when we first look. */
static bool share_is_led(struct share *s)
{
    bool is_led = s->leader < s->rank && share_is_alive(s, s->leader);
    for (uint32_t rank = 0; rank < s->rank && !is_led; rank++)
        if (share_is_alive(s, rank)) {
            s->leader = rank;
            is_led = true;
        }
    return is_led;
}

/* The first part that is missing and that nobody alive makes; *is_complete: none is missing. */
static bool share_find_open(struct share *s, uint32_t *part, bool *is_complete)
{
    *is_complete = true;
    for (uint32_t i = 0; i < s->parts; i++) {
        if (s->is_there[i])
            continue;
        bool is_alive = i != s->rank && share_is_alive(s, i);
        s->is_there[i] = share_has_part(s, i);
        if (s->is_there[i])
            continue;
        *is_complete = false;
        *part = i;
        if (!is_alive)
            return true;
    }
    return false;
}

/* The own part first. Then nothing is to be done while a lower rank lives; if none does, we are
 * the one to make what is missing and, once nothing is, to add up. */
enum share_turn share_next(struct share *s, uint32_t *part)
{
    bool is_complete;
    *part = s->rank;
    if (s->rank < s->parts && !s->is_made[s->rank]) {
        s->is_made[s->rank] = true;
        return SHARE_PART;
    }
    for (unsigned ms = LOOK_MS;; share_sleep(ms), ms = ms < MOST_LOOK_MS ? 2 * ms : ms) {
        if (access(s->folder, F_OK))
            return SHARE_DONE;
        if (share_is_led(s))
            continue;
        if (share_find_open(s, part, &is_complete)) {
            s->is_made[*part] = true;
            return SHARE_PART;
        }
        if (is_complete)
            return SHARE_FINISH;
    }
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* An output that is also an input, by any name. */
static bool share_is_input(const char *output, char *const *inputs, size_t len)
{
    struct stat out, in;
    if (stat(output, &out))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!stat(inputs[i], &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return true;
    return false;
}

/* Files, and the folders of recordings with the one file that they hold. */
static void share_remove(const char *folder, bool is_outer)
{
    char path[4700];
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) && is_outer)
            share_remove(path, false);
    }
    if (d)
        closedir(d);
    rmdir(folder);
}

/* Rank 0 may be first to come and last to go: who makes the folder does not matter. */
static bool share_enter(struct share *s, struct err *e)
{
    const char *own = s->rank < s->parts ? share_part(s, s->rank) : NULL;
    if (mkdir(s->folder, 0777) && errno != EEXIST)
        return err_errno(e, s->folder, errno);
    if (own && unlink(own) && errno != ENOENT)
        share_remove(own, false);
    share_say_alive(s, 0, O_CREAT);
    share_start_beat(s);
    return true;
}

/* Of the folder and the command line, which are the same for all ranks of one command. */
uint64_t share_hash(int argc, char *const *argv)
{
    char *here = getcwd(NULL, 0);
    uint64_t hash = hash_fnv64((const uint8_t *)(here ? here : ""), here ? strlen(here) : 0);
    for (int i = 0; i < argc && argv[i]; i++)
        hash = hash * 31 + hash_fnv64((const uint8_t *)argv[i], strlen(argv[i]));
    free(here);
    return hash;
}

/* Not shared (*out stays NULL) are a single rank, one input, and standard output, which has no
 * folder beside it. How many inputs there are may be told later, since looking for them takes time
 * in which a rank should be known to live. */
bool share_begin(struct share **out, const struct share_request *request, struct err *e)
{
    struct rank_told told;
    *out = NULL;
    if (!strcmp(request->output, "-") || request->len == 1 || !rank_of_own(&told) ||
        told.rank.size < 2 || told.rank.size > MOST_RANKS)
        return true;
    if (share_is_input(request->output, request->inputs, request->len))
        return err_in(e, request->output,
                      "is an input, too; ranks that share a command may not replace their inputs");
    struct share *s = calloc(1, sizeof *s);
    if (!s)
        memory_exhausted(sizeof *s);
    struct arena *a = &s->arena;
    const char *base = path_base_name(request->output), *dot = strrchr(base, '.');
    s->suffix = dot && dot != base ? dot : "";
    s->folder = arena_printf(a, "%s.sharing-%016" PRIx64, request->output, request->hash);
    s->alive = arena_printf(a, "%s/alive-%" PRIu32, s->folder, told.rank.rank);
    s->rank = told.rank.rank;
    s->ranks = told.rank.size;
    s->inputs = request->len;
    s->parts = !s->inputs || s->ranks < s->inputs ? s->ranks : (uint32_t)s->inputs;
    s->began_real = share_seconds(CLOCK_REALTIME);
    s->peers = ARENA_NEW(a, struct share_peer, s->ranks);
    s->is_made = ARENA_NEW(a, bool, s->parts);
    s->is_there = ARENA_NEW(a, bool, s->parts);
    for (uint32_t i = 0; i < s->ranks; i++)
        s->peers[i].heard = share_seconds(CLOCK_MONOTONIC);
    *out = s;
    if (share_enter(s, e))
        return true;
    share_end(s, false);
    *out = NULL;
    return false;
}

/* Whoever has finished removes the folder, after its name, at which the others see that all is
 * done. After a failure the last one does. */
void share_end(struct share *s, bool is_finished)
{
    const char *gone = arena_printf(&s->arena, "%s.done-%" PRIu32, s->folder, s->rank);
    bool is_last = true;
    share_end_beat(s);
    if (!is_finished) {
        char word[WORD_BYTES] = {0};
        memcpy(word, ENDED, sizeof ENDED);
        share_say(s, word, 0);
        for (uint32_t i = 0; i < s->ranks; i++)
            is_last &= i == s->rank || !share_is_alive(s, i);
    }
    if (is_last && rename(s->folder, gone) == 0)
        share_remove(gone, true);
    arena_deinit(&s->arena);
    free(s);
}
