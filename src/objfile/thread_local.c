/* Variables of threads (STT_TLS), for who reads them in a running program.
 *
 * Each module has a block of them in each thread. Where the block is depends on how the code gets
 * there, which its relocations show (Drepper, "ELF Handling For Thread-Local Storage"):
 *
 *     the program itself    its block has a fixed place beside the thread pointer
 *     TPOFF, TPREL          a word that holds the variable's offset from the thread pointer
 *     TLSDESC               two words: a function, and its argument, which is that offset, or leads
 *                           to the number of the module
 *     DTPMOD                a word that holds the number of the module, for the table of blocks
 *                           that each thread has
 *
 * All relocations that name the variable are read, and those that name nothing and so are about the
 * module itself. A variable may have some of each kind: any of them is right.
 *
 * Limits: only this machine's word size and byte order, since other programs are not read while
 * they run. Cost: a pass over the dynamic symbols, and one over the relocations if the variable is
 * there. */
#include "objfile/private.h"

#include <elf.h>
#include <string.h>

/* The three kinds, by machine. */
struct thread_relocations {
    uint16_t machine;
    uint32_t offset, descriptor, module;
};

static const struct thread_relocations RELOCATIONS[] = {
    {EM_X86_64, R_X86_64_TPOFF64, R_X86_64_TLSDESC, R_X86_64_DTPMOD64},
    {EM_AARCH64, R_AARCH64_TLS_TPREL, R_AARCH64_TLSDESC, R_AARCH64_TLS_DTPMOD},
    {EM_RISCV, R_RISCV_TLS_TPREL64, 12 /* R_RISCV_TLSDESC */, R_RISCV_TLS_DTPMOD64},
};

/* The number of the symbol in a table, which is found by its type; 0: it defines none. */
static size_t thread_symbol(struct object *o, uint32_t type, const char *name, GElf_Sym *out)
{
    size_t index = image_find(&o->self, type, NULL);
    GElf_Shdr header;
    Elf_Scn *section;
    if (!index || !image_section(&o->self, index, &section, &header))
        return 0;
    Elf_Data *data = elf_getdata(section, NULL);
    for (int i = 1; data && gelf_getsym(data, i, out); i++) {
        if (GELF_ST_TYPE(out->st_info) != STT_TLS || out->st_shndx == SHN_UNDEF)
            continue;
        const char *text = elf_strptr(o->self.elf, header.sh_link, out->st_name);
        if (text && !strcmp(text, name))
            return (size_t)i;
    }
    return 0;
}

/* One section of relocations. `symbol` is the variable's number in the table that they refer to. */
static void thread_relocations_add(Elf_Scn *section, const struct thread_relocations *kinds,
                                   size_t symbol, struct object_thread_variable *out)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Rela r;
    for (int i = 0; data && gelf_getrela(data, i, &r); i++) {
        uint32_t type = GELF_R_TYPE(r.r_info);
        size_t of = GELF_R_SYM(r.r_info);
        bool is_it = of ? of == symbol : (uint64_t)r.r_addend == out->offset;
        if (type == kinds->module && (!of || of == symbol))
            out->module_slot = r.r_offset;
        else if (type == kinds->offset && is_it)
            out->offset_slot = r.r_offset;
        else if (type == kinds->descriptor && is_it)
            out->descriptor = r.r_offset;
    }
}

/* A program that was linked statically has its symbols in .symtab alone. */
bool object_thread_variable(struct object *o, const char *name, struct object_thread_variable *out)
{
    GElf_Sym symbol = {0};
    GElf_Phdr segment;
    size_t segments = 0;
    *out = (struct object_thread_variable){0};
    if (!o->self.elf || object_word(o) != 8 ||
        object_is_big_endian(o) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
        return false;
    size_t number = thread_symbol(o, SHT_DYNSYM, name, &symbol);
    if (!number && !thread_symbol(o, SHT_SYMTAB, name, &symbol))
        return false;
    out->offset = symbol.st_value;
    out->is_program = !object_facts(o)->is_shared_object;
    if (elf_getphdrnum(o->self.elf, &segments))
        return false;
    for (size_t i = 0; i < segments; i++) {
        if (!gelf_getphdr(o->self.elf, (int)i, &segment) || segment.p_type != PT_TLS)
            continue;
        out->block_address = segment.p_vaddr;
        out->block_size = segment.p_memsz;
        out->block_align = segment.p_align ? segment.p_align : 1;
    }
    if (out->offset >= out->block_size || (out->block_align & (out->block_align - 1)))
        return false;
    for (size_t k = 0; k < sizeof RELOCATIONS / sizeof *RELOCATIONS; k++) {
        if (RELOCATIONS[k].machine != object_machine(o))
            continue;
        GElf_Shdr header;
        Elf_Scn *section;
        for (size_t i = 1; image_section(&o->self, i, &section, &header); i++)
            if (header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC))
                thread_relocations_add(section, &RELOCATIONS[k], number, out);
    }
    return true;
}
