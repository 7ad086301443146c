/* What eCos's <cyg/infra/cyg_type.h> has of interest here. */
#ifndef CYGONCE_INFRA_CYG_TYPE_H
#define CYGONCE_INFRA_CYG_TYPE_H
typedef unsigned int cyg_uint32;
typedef unsigned short cyg_uint16;
#endif
