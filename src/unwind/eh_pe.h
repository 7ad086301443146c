/* Pointer encodings of `.eh_frame` and `.eh_frame_hdr` (LSB, "DWARF Exception Header Encoding").
 * Private to this room. */
#ifndef MONARC_UNWIND_EH_PE_H
#define MONARC_UNWIND_EH_PE_H

enum {
    EH_PE_ABSPTR = 0x00,
    EH_PE_ULEB128 = 0x01,
    EH_PE_UDATA2 = 0x02,
    EH_PE_UDATA4 = 0x03,
    EH_PE_UDATA8 = 0x04,
    EH_PE_SLEB128 = 0x09,
    EH_PE_SDATA2 = 0x0a,
    EH_PE_SDATA4 = 0x0b,
    EH_PE_SDATA8 = 0x0c,
    EH_PE_FORMAT = 0x0f,

    EH_PE_PCREL = 0x10,
    EH_PE_TEXTREL = 0x20,
    EH_PE_DATAREL = 0x30,
    EH_PE_FUNCREL = 0x40,
    EH_PE_ALIGNED = 0x50,
    EH_PE_BASE = 0x70,

    EH_PE_INDIRECT = 0x80,
    EH_PE_OMIT = 0xff,
};

#endif
