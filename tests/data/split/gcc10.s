	.file	"gcc10.c"
	.text
.Ltext0:
	.cfi_sections	.debug_frame
	.p2align 4
	.globl	rare
	.type	rare, @function
rare:
.LFB2:
	.file 1 "gcc10.c"
	.loc 1 11 1
	.cfi_startproc
.LBB12:
.LBB13:
.LBB14:
.LBB15:
	.loc 1 3 18
	movl	%edi, -8(%rsp)
.LBE15:
.LBE14:
	.loc 1 8 23
	addl	$1, %edi
.LBB17:
.LBB16:
	.loc 1 4 14
	movl	-8(%rsp), %eax
.LBE16:
.LBE17:
.LBB18:
.LBB19:
	.loc 1 3 18
	movl	%edi, -4(%rsp)
	.loc 1 4 14
	movl	-4(%rsp), %edx
.LBE19:
.LBE18:
	.loc 1 8 21
	addl	%edx, %eax
	addl	%eax, %eax
.LBE13:
.LBE12:
	.loc 1 13 1
	ret
	.cfi_endproc
.LFE2:
	.size	rare, .-rare
.Letext0:
	.section	.debug_addr,"",@progbits
	.long	0x24
	.value	0x5
	.byte	0x8
	.byte	0
.Ldebug_addr0:
	.quad	.LBB12
	.quad	.LBB14
	.quad	.LFB2
	.quad	.LBB18
	.section	.debug_info.dwo,"e",@progbits
.Ldebug_info0:
	.long	0x5f
	.value	0x5
	.byte	0x5
	.byte	0x8
	.long	.Ldebug_abbrev0
	.byte	0xba
	.byte	0xf7
	.byte	0xe4
	.byte	0xd6
	.byte	0x1b
	.byte	0xc7
	.byte	0x3b
	.byte	0x89
	.uleb128 0x2
	.uleb128 0
	.byte	0x1d
	.uleb128 0x3
	.string	"."
	.uleb128 0x3
	.uleb128 0x4
	.byte	0x1
	.byte	0xa
	.byte	0x5
	.uleb128 0x2
	.quad	.LFE2-.LFB2
	.uleb128 0x1
	.byte	0x9c
	.long	0x5c
	.uleb128 0x4
	.long	0x5c
	.uleb128 0
	.quad	.LBE12-.LBB12
	.byte	0x1
	.byte	0xc
	.byte	0xc
	.uleb128 0x5
	.long	0x5f
	.uleb128 0x1
	.uleb128 0
	.byte	0x1
	.byte	0x8
	.byte	0xc
	.uleb128 0x6
	.long	0x5f
	.uleb128 0x3
	.quad	.LBE18-.LBB18
	.byte	0x1
	.byte	0x8
	.byte	0x17
	.byte	0
	.byte	0
	.uleb128 0x1
	.uleb128 0x2
	.byte	0x6
	.uleb128 0x1
	.uleb128 0x1
	.byte	0x1
	.byte	0
	.section	.debug_info,"",@progbits
.Lskeleton_debug_info0:
	.long	0x33
	.value	0x5
	.byte	0x4
	.byte	0x8
	.long	.Lskeleton_debug_abbrev0
	.byte	0xba
	.byte	0xf7
	.byte	0xe4
	.byte	0xd6
	.byte	0x1b
	.byte	0xc7
	.byte	0x3b
	.byte	0x89
	.uleb128 0x1
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.long	.Ldebug_line0
	.long	.LASF0
	.string	"."
	.long	.Ldebug_addr0
	.long	.Ldebug_ranges1
	.section	.debug_abbrev,"",@progbits
.Lskeleton_debug_abbrev0:
	.uleb128 0x1
	.uleb128 0x4a
	.byte	0
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x10
	.uleb128 0x17
	.uleb128 0x76
	.uleb128 0xe
	.uleb128 0x1b
	.uleb128 0x8
	.uleb128 0x73
	.uleb128 0x17
	.uleb128 0x74
	.uleb128 0x17
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_abbrev.dwo,"e",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3
	.uleb128 0x1a
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0x21
	.sleb128 50
	.uleb128 0x20
	.uleb128 0x21
	.sleb128 3
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0x1a
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x1a
	.uleb128 0x1b
	.uleb128 0x8
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0x1a
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x11
	.uleb128 0x1b
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0x1d
	.byte	0x1
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1b
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x58
	.uleb128 0xb
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x5
	.uleb128 0x1d
	.byte	0
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x52
	.uleb128 0x1b
	.uleb128 0x55
	.uleb128 0x23
	.uleb128 0x58
	.uleb128 0xb
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0x6
	.uleb128 0x1d
	.byte	0
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1b
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x58
	.uleb128 0xb
	.uleb128 0x59
	.uleb128 0xb
	.uleb128 0x57
	.uleb128 0xb
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_aranges,"",@progbits
	.long	0x2c
	.value	0x2
	.long	.Lskeleton_debug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	0
	.quad	0
	.section	.debug_rnglists,"",@progbits
.Ldebug_ranges0:
	.long	.Ldebug_ranges3-.Ldebug_ranges2
.Ldebug_ranges2:
	.value	0x5
	.byte	0x8
	.byte	0
	.long	0x1
.Ldebug_ranges1:
	.long	.LLRL0-.Ldebug_ranges1
.LLRL0:
	.byte	0x4
	.uleb128 .LBB14-.Ltext0
	.uleb128 .LBE14-.Ltext0
	.byte	0x4
	.uleb128 .LBB17-.Ltext0
	.uleb128 .LBE17-.Ltext0
	.byte	0
.Ldebug_ranges3:
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_line.dwo,"e",@progbits
.Lskeleton_debug_line0:
	.long	.LELT0-.LSLT0
.LSLT0:
	.value	0x5
	.byte	0x8
	.byte	0
	.long	.LELTP0-.LASLTP0
.LASLTP0:
	.byte	0x1
	.byte	0x1
	.byte	0x1
	.byte	0xf6
	.byte	0xf2
	.byte	0xd
	.byte	0
	.byte	0x1
	.byte	0x1
	.byte	0x1
	.byte	0x1
	.byte	0
	.byte	0
	.byte	0
	.byte	0x1
	.byte	0
	.byte	0
	.byte	0x1
	.byte	0x1
	.uleb128 0x1
	.uleb128 0x8
	.uleb128 0x1
	.string	"."
	.byte	0x2
	.uleb128 0x1
	.uleb128 0x8
	.uleb128 0x2
	.uleb128 0xb
	.uleb128 0x2
	.string	"gcc10.c"
	.byte	0
	.string	"gcc10.c"
	.byte	0
.LELTP0:
.LELT0:
	.section	.debug_str,"MS",@progbits,1
.LASF0:
	.string	"gcc10.dwo"
	.section	.debug_str_offsets.dwo,"e",@progbits
	.long	0x18
	.value	0x5
	.value	0
	.long	0
	.long	0xc4
	.long	0xca
	.long	0xcf
	.long	0xd7
	.section	.debug_str.dwo,"e",@progbits
	.string	"GNU C17 10.2.1 20210110 -mtune=generic -march=x86-64 -gdwarf-5 -gsplit-dwarf -g1 -gno-pubnames -gno-variable-location-views -gno-statement-frontiers -O2 -fno-asynchronous-unwind-tables -fno-ident"
	.string	"twice"
	.string	"more"
	.string	"gcc10.c"
	.string	"rare"
	.section	.note.GNU-stack,"",@progbits
