/* Paths as texts, and the digest that stands for one in a file's name.
 *
 * Components are parted by slashes; bytes mean nothing else, as they do to the kernel: no
 * encoding, no case, no drive. Nothing here asks the file system, so `a/../b` is `b` even where
 * `a` is a link elsewhere; who must know uses realpath().
 *
 * MD5 (RFC 1321) is here because gcov names files by it (-x) and readers of reports expect it of
 * sources; it protects nothing. The table of sines is computed as the RFC defines it: floor(2^32
 * |sin i|). */
#include "base/path.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

bool path_is_folder(const char *path)
{
    struct stat st;
    return path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

const char *path_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool path_is_library(const char *path)
{
    const char *suffix = strstr(path_base_name(path), ".so");
    return suffix && (!suffix[3] || suffix[3] == '.');
}

bool path_has_suffix(const char *path, const char *suffix)
{
    size_t len = strlen(path), end = strlen(suffix);
    return len >= end && !memcmp(path + len - end, suffix, end);
}

size_t path_stem_length(const char *path)
{
    const char *dot = strrchr(path_base_name(path), '.');
    return dot ? (size_t)(dot - path) : strlen(path);
}

bool path_ends_in(const char *path, const char *end)
{
    size_t len = strlen(path), part = strlen(end);
    return part && path_has_suffix(path, end) && (part == len || path[len - part - 1] == '/');
}

static size_t length_without_slashes(const char *text, size_t len)
{
    while (len && text[len - 1] == '/')
        len--;
    return len;
}

const char *path_below(const char *path, const char *folder)
{
    size_t len = length_without_slashes(folder, strlen(folder));
    bool is_below = !strncmp(path, folder, len) && (path[len] == '/' || (len && !path[len]));
    return is_below ? path + len : NULL;
}

bool path_begins_with(const char *path, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (!strncmp(path, *beginnings, strlen(*beginnings)))
            return true;
    return false;
}

size_t path_alike(const char *left, const char *right)
{
    size_t l = strlen(left), r = strlen(right), same = 0, whole = 0;
    for (; same < l && same < r && left[l - 1 - same] == right[r - 1 - same]; same++)
        if (left[l - 1 - same] == '/')
            whole = same + 1;
    bool is_left_end = same == l || left[l - 1 - same] == '/';
    bool is_right_end = same == r || right[r - 1 - same] == '/';
    return is_left_end && is_right_end ? same : whole;
}

/* One pass: components go onto the result, and `..` takes the last one off again, but not below
 * `floor`. */
char *path_tidy(const char *path, struct arena *a)
{
    size_t len = strlen(path), used = 0, floor = 0;
    char *tidy = arena_alloc(a, len + 2);
    if (path[0] == '/')
        tidy[used++] = '/', floor = 1;
    for (const char *at = path; *at;) {
        at += strspn(at, "/");
        size_t part = strcspn(at, "/");
        bool is_up = part == 2 && !memcmp(at, "..", 2);
        if (is_up && used > floor) {
            while (used > floor && tidy[used - 1] != '/')
                used--;
            used -= used > floor; /* the slash before it */
        } else if (part && !(part == 1 && *at == '.') && !(is_up && path[0] == '/')) {
            if (used && tidy[used - 1] != '/')
                tidy[used++] = '/';
            memcpy(tidy + used, at, part);
            used += part;
            floor = is_up ? used : floor; /* `..` in front cannot be taken back */
        }
        at += part;
    }
    if (!used)
        tidy[used++] = '.';
    tidy[used] = '\0';
    return tidy;
}

bool path_map_parse(const char *rule, struct arena *a, struct path_map *out)
{
    const char *equals = strchr(rule, '=');
    if (!equals || equals == rule)
        return false;
    const char *to = equals + 1;
    out->from = arena_copy(a, rule, length_without_slashes(rule, (size_t)(equals - rule)));
    out->to = arena_copy(a, to, length_without_slashes(to, strlen(to)));
    return true;
}

/* The root below nothing is still "/". */
char *path_map_apply(const struct path_map *m, const char *path, struct arena *a)
{
    const char *rest = path_below(path, m->from);
    if (!rest)
        return NULL;
    return arena_printf(a, "%s%s", m->to, *rest || *m->to ? rest : "/");
}

size_t path_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

const char *path_tail(const char *path, unsigned parts)
{
    if (!path)
        return "";
    const char *at = path + strlen(path);
    while (at > path) {
        if (at[-1] == '/' && --parts == 0)
            break;
        at--;
    }
    return at;
}

/* RFC 1321, section 3. The table of sines is computed as the RFC defines it: floor(2^32 |sin i|).
 */

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

/* --- MD5 ------------------------------------------------------------------------------------- */

/* Section 3.4 of the RFC: four rounds of 16 steps, which differ in the function f and in the order
 * of the words. */
static void add_block(uint32_t state[4], const uint8_t block[64])
{
    static const uint8_t turns[4][4] = {
        {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], word[16];
    memcpy(word, block, sizeof word);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t f;
        unsigned k;
        switch (i / 16) {
        case 0:
            f = (b & c) | (~b & d);
            k = i;
            break;
        case 1:
            f = (d & b) | (~d & c);
            k = (5 * i + 1) % 16;
            break;
        case 2:
            f = b ^ c ^ d;
            k = (3 * i + 5) % 16;
            break;
        default:
            f = c ^ (b | ~d);
            k = 7 * i % 16;
            break;
        }
        uint32_t sine = (uint32_t)(uint64_t)(fabs(sin(i + 1.0)) * 4294967296.0);
        f += a + sine + word[k];
        a = d;
        d = c;
        c = b;
        b += rotate(f, turns[i / 16][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void md5(struct bytes in, uint8_t digest[16])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint8_t last[128] = {0};
    size_t whole = in.len / 64 * 64, rest = in.len - whole;
    for (size_t i = 0; i < whole; i += 64)
        add_block(state, in.at + i);
    if (rest)
        memcpy(last, in.at + whole, rest);
    last[rest] = 0x80;
    /* The last block: a bit, zeros, and the length in bits. */
    size_t end = rest < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)in.len * 8;
    memcpy(last + end - 8, &bits, sizeof bits);
    for (size_t i = 0; i < end; i += 64)
        add_block(state, last + i);
    memcpy(digest, state, 16);
}
