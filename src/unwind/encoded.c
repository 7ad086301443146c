/* Encoded pointers. Indirect ones would have to be read from the process and are refused; only
 * personality routines, which nobody here calls, are written so. */
#include "base/leb.h"
#include "unwind/eh_pe.h"
#include "unwind/tables.h"

uint8_t encoded_width(uint8_t encoding, uint8_t address_bytes)
{
    switch (encoding & EH_PE_FORMAT) {
    case EH_PE_ABSPTR: return address_bytes;
    case EH_PE_UDATA2:
    case EH_PE_SDATA2: return 2;
    case EH_PE_UDATA4:
    case EH_PE_SDATA4: return 4;
    case EH_PE_UDATA8:
    case EH_PE_SDATA8: return 8;
    default: return 0;
    }
}

static uint64_t read_format(struct cursor *in, uint8_t format, uint8_t address_bytes)
{
    switch (format) {
    case EH_PE_ABSPTR: return address_bytes == 4 ? cursor_u32(in) : cursor_u64(in);
    case EH_PE_ULEB128: return cursor_uleb(in);
    case EH_PE_UDATA2: return cursor_u16(in);
    case EH_PE_UDATA4: return cursor_u32(in);
    case EH_PE_UDATA8:
    case EH_PE_SDATA8: return cursor_u64(in);
    case EH_PE_SLEB128: return (uint64_t)cursor_sleb(in);
    case EH_PE_SDATA2: return (uint64_t)(int64_t)(int16_t)cursor_u16(in);
    case EH_PE_SDATA4: return (uint64_t)(int64_t)(int32_t)cursor_u32(in);
    default: in->failed = true; return 0;
    }
}

/* An absolute pointer at the next address that is a multiple of its size. */
static uint64_t read_aligned(struct cursor *in, const struct encoding_bases *b)
{
    uint64_t address = b->section + cursor_offset(in);
    cursor_take(in, (size_t)(-address & (b->address_bytes - 1)));
    return read_format(in, EH_PE_ABSPTR, b->address_bytes);
}

uint64_t encoded_read(struct cursor *in, uint8_t encoding, const struct encoding_bases *b)
{
    if (encoding == EH_PE_ALIGNED)
        return read_aligned(in, b);
    uint64_t here = b->section + cursor_offset(in);
    uint64_t value = read_format(in, encoding & EH_PE_FORMAT, b->address_bytes);
    in->failed |= (encoding & EH_PE_INDIRECT) != 0;
    switch (encoding & EH_PE_BASE) {
    case 0: break;
    case EH_PE_PCREL: value += value ? here : 0; break;
    case EH_PE_TEXTREL: value += b->text; break;
    case EH_PE_DATAREL: value += b->data; break;
    case EH_PE_FUNCREL: value += b->function; break;
    default: in->failed = true;
    }
    return b->address_bytes == 4 ? (uint32_t)value : value;
}
