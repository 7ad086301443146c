/* monarc's recorder, as a program may steer it. Optional: a program compiled with -pg and run with
 * libmonarc_rt needs none of this. C99 and C++; every call is safe from any thread.
 *
 * Link with `pkg-config --libs monarc-runtime`. Functions that return int return 0 when done and -1
 * when the recorder is off or could not do it; the reason is counted in the next sidecar. */
#ifndef MONARC_RUNTIME_H
#define MONARC_RUNTIME_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Resumes and suspends recording, samples and calls alike. Calls made while it is suspended are not
 * recorded, and are not lost calls. */
int monarc_rt_start(void);
int monarc_rt_stop(void);

/* Sets everything recorded so far aside: files written from now on leave it out. */
int monarc_rt_reset(void);

/* Writes all files now, into `folder` (made if it is missing), or, with NULL, into the recording's
 * own folder, where a later write replaces them. Recording goes on. Async-signal-safe. */
int monarc_rt_dump(const char *folder);

/* As monarc_rt_dump, into the folder `name` inside the recording's own. */
int monarc_rt_snapshot(const char *name);

/* The recording's own folder, which is the same until the process ends; NULL: it has none yet, or a
 * monitor records. */
const char *monarc_rt_folder(void);

/* Stops recording for good: nothing is written when the process ends, and monarc.live is removed.
 * For a program that has taken what monarc_rt_dump wrote elsewhere. */
int monarc_rt_discard(void);

/* Names what the program does from here on; the sidecar keeps time, CPU time and samples of each
 * change. At most 63 bytes of the name are kept. */
int monarc_rt_phase(const char *name);
int monarc_rt_region_begin(const char *name);
int monarc_rt_region_end(const char *name);

/* Says what this thread works on, until it says something else of the same key: `value` NULL takes
 * the label away. At most 63 bytes of each are kept, and 31 keys of a process. `monarc run` records
 * labels with samples and waits (monarc flat --by-label KEY), and so do other profilers that read
 * OpenTelemetry's thread context (OTEP 4947), in whose form they are published; regions are, too,
 * with the key "monarc.region". -1 if something else in the process publishes already. */
int monarc_rt_label(const char *key, const char *value);

/* Calls that could not be counted. */
unsigned long long monarc_rt_lost(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
