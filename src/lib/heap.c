/* Memory of the library: the other rooms' memory_...() functions, over lists.
 *
 * `running` is the one variable of src/ that outlives a function: which heap the call of this
 * thread takes from. It is NULL between calls, and a call that comes from inside another puts it
 * back.
 *
 *     heap.blocks  <->  block  <->  block  <->  ...  (a ring: the heap's own entry has no bytes)
 *                        | head: next, before, heap, bytes | what the caller sees ...
 *
 * Taking and giving back cost a few pointers each, on top of malloc() or the caller's function.
 * `used` counts heads too, so that a limit is one of real memory. New blocks are put in front:
 * what a call took precedes what was there, which lets a call take back just its own. */
#include "lib/heap.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* A call that is going on, on the stack of heap_run(). */
struct running_call {
    jmp_buf out;
    struct heap *heap;
};

static _Thread_local struct running_call *running;

_Static_assert(sizeof(struct heap_block) % _Alignof(max_align_t) == 0, "blocks stay aligned");

/* An empty ring is its own neighbour. Without functions of the caller's, memory is malloc's. */
void heap_init(struct heap *h, const struct monarc_memory *memory)
{
    memset(h, 0, sizeof *h);
    h->blocks.next = h->blocks.before = &h->blocks;
    if (memory)
        h->memory = *memory;
}

/* The caller's function, or malloc(). Not of 0 bytes, for which both may return NULL without having
 * failed. */
void *handle_alloc(const struct monarc_memory *memory, size_t bytes)
{
    bytes = bytes ? bytes : 1;
    if (memory && memory->resize)
        return memory->resize(memory->context, NULL, bytes);
    return malloc(bytes);
}

/* The caller's function frees when called for 0 bytes. */
void memory_loose_free(const struct monarc_memory *memory, void *at)
{
    if (at && memory && memory->resize)
        memory->resize(memory->context, at, 0);
    else
        free(at);
}

/* Whether a block of `bytes` fits when one of `less` bytes (head included) is gone. A limit of 0 is
 * none. Cannot overflow: sizes end at PTRDIFF_MAX. */
static bool is_within_limit(const struct heap *h, size_t less, size_t bytes)
{
    size_t limit = h->memory.limit_bytes ? h->memory.limit_bytes : PTRDIFF_MAX;
    size_t kept = h->used - less;
    return bytes <= PTRDIFF_MAX - sizeof(struct heap_block) && kept <= limit &&
           bytes + sizeof(struct heap_block) <= limit - kept;
}

/* Puts a new block into the ring; returns its bytes. leave() takes one out. */
static void *enter(struct heap *h, struct heap_block *block, size_t bytes)
{
    *block = (struct heap_block){h->blocks.next, &h->blocks, h, bytes};
    block->next->before = h->blocks.next = block;
    h->used += bytes + sizeof *block;
    return block + 1;
}

static void leave(struct heap_block *block)
{
    block->before->next = block->next;
    block->next->before = block->before;
    block->heap->used -= block->bytes + sizeof *block;
}

/* For use outside of heap_run(): lack of memory returns NULL. */
void *heap_take(struct heap *h, size_t bytes)
{
    if (!is_within_limit(h, 0, bytes))
        return NULL;
    struct heap_block *block = handle_alloc(&h->memory, sizeof *block + bytes);
    return block ? enter(h, block, bytes) : NULL;
}

/* Large blocks are fresh pages, which calloc() does not write to. */
static void *take_zeroed(struct heap *h, size_t bytes)
{
    if (h->memory.resize) {
        void *at = heap_take(h, bytes);
        return at ? memset(at, 0, bytes) : NULL;
    }
    if (!is_within_limit(h, 0, bytes))
        return NULL;
    struct heap_block *block = calloc(1, sizeof *block + bytes);
    return block ? enter(h, block, bytes) : NULL;
}

/* Neighbours get the block's new address, since it may have moved. On failure it is where and as it
 * was. */
static void *resized(struct heap_block *block, size_t bytes)
{
    struct heap *h = block->heap;
    struct heap_block was = *block, *moved;
    if (!is_within_limit(h, was.bytes + sizeof was, bytes))
        return NULL;
    size_t whole = sizeof *block + bytes;
    moved = h->memory.resize ? h->memory.resize(h->memory.context, block, whole)
                             : realloc(block, whole);
    if (!moved)
        return NULL;
    was.before->next = was.next->before = moved;
    moved->bytes = bytes;
    h->used = h->used - was.bytes + bytes;
    return moved + 1;
}

/* A block knows its heap, so that it can be given back from anywhere. */
void heap_give(void *at)
{
    if (!at)
        return;
    struct heap_block *block = (struct heap_block *)at - 1;
    struct heap *h = block->heap;
    leave(block);
    memory_loose_free(&h->memory, block);
}

/* A ring without blocks is a heap that was just made: what handles rely on when they are
 * cleared. */
void heap_release(struct heap *h)
{
    while (h->blocks.next != &h->blocks)
        heap_give(h->blocks.next + 1);
}

/* setjmp() is in this frame, which stays until `work` is done or left. Nothing that changes between
 * setjmp() and longjmp() is read afterwards, but for what `context` points to. */
enum heap_outcome heap_run(struct heap *h, bool (*work)(void *context), void *context)
{
    struct running_call call = {.heap = h}, *outer = running;
    enum heap_outcome outcome = HEAP_EXHAUSTED;
    running = &call;
    if (!setjmp(call.out))
        outcome = work(context) ? HEAP_TRUE : HEAP_FALSE;
    else
        outcome = HEAP_EXHAUSTED;
    running = outer;
    return outcome;
}

/* ---- what the other rooms call */

_Noreturn void memory_exhausted(size_t bytes)
{
    (void)bytes;
    if (!running)
        abort(); /* the library itself never allocates outside of a call */
    longjmp(running->out, 1);
}

/* Never NULL: without memory the call is left. */
void *memory_zeroed(size_t count, size_t size)
{
    size_t bytes;
    void *at = NULL;
    if (running && !__builtin_mul_overflow(count, size, &bytes))
        at = take_zeroed(running->heap, bytes);
    if (!at)
        memory_exhausted(count);
    return at;
}

/* A block that is there is resized in its own heap, which may be another one than that of the call:
 * a handle's lists grow in the handle's heap. */
void *memory_resized(void *at, size_t bytes)
{
    void *moved = NULL;
    if (at)
        moved = resized((struct heap_block *)at - 1, bytes);
    else if (running)
        moved = heap_take(running->heap, bytes);
    if (!moved)
        memory_exhausted(bytes);
    return moved;
}

void memory_free(void *at)
{
    heap_give(at);
}

enum heap_outcome heap_run_aside(const struct heap *h, bool (*work)(void *context), void *context)
{
    struct heap scratch;
    heap_init(&scratch, &h->memory);
    enum heap_outcome outcome = heap_run(&scratch, work, context);
    heap_release(&scratch);
    return outcome;
}
