/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface of components: a descriptor, returned by the one function that the library exports, and the
 * table of functions that the host (the library that loads it) passes to `create`. Rules:
 *  - each struct begins with its size; tables only grow at the end; what is beyond the size is not there;
 *  - only C types cross (the frameworks ptl, gds and bfrops pass C++ objects and are locked to the library's
 *    exact version); no exception crosses;
 *  - a component's library has no undefined symbol of the host's.
 */
#ifndef PMIX_SDK_COMPONENT_H
#define PMIX_SDK_COMPONENT_H

#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. A component is accepted when its major is equal and its minor not newer. */
#define MUSTER_SDK_MAJOR 1
#define MUSTER_SDK_MINOR 3

/* Types of parameters; values are given as text and checked against the type. */
typedef enum {
    MUSTER_PARAM_INT = 0,
    MUSTER_PARAM_UNSIGNED = 1,
    MUSTER_PARAM_SIZE = 2, /* bytes; k, m and g may follow the number */
    MUSTER_PARAM_BOOL = 3,
    MUSTER_PARAM_STRING = 4,
    MUSTER_PARAM_SECONDS = 5, /* may have a fraction */
    MUSTER_PARAM_CHOICE = 6
} muster_param_type_t;

/* One parameter: PMIX_MCA_<framework>_<component>_<name>. All strings live as long as the component. */
typedef struct {
    const char* name;
    muster_param_type_t type;
    const char* default_value; /* as text, never NULL */
    const char* unit;          /* NULL for none */
    const char* help;          /* one sentence */
    const char* choices;       /* comma list for MUSTER_PARAM_CHOICE, else NULL */
    const char* former_names;  /* comma list of full names that mean the same, or NULL */
} muster_param_t;

/* An attribute of PMIx_server_init and PMIx_tool_init that sets a parameter of the component. An entry of
 * `type` PMIX_STRING sets it to its text, and to nothing where the caller gave another type. PMIX_BOOL sets
 * it to true or false. PMIX_INT sets it to the digits of the number, or to the text of a string. */
typedef struct {
    const char* attribute; /* the key, for example PMIX_TCP_IPV4_PORT */
    pmix_data_type_t type;
    const char* param; /* a name of muster_component_t::params */
} muster_param_attribute_t;

/* The functions of the host. Valid as long as the component's instance. */
typedef struct muster_host {
    size_t struct_size;
    void* context; /* first argument of every function here */
    /* Logs one line through the framework's verbosity; level as in MCA: 1 error, 5 info, 10 debug. Any
     * thread. */
    void (*log)(void* context, int level, const char* message);
    /* Value of one of the component's own parameters as text; lives as long as the instance. NULL when
     * undefined. */
    const char* (*parameter)(void* context, const char* name);
    /* Memory that the host will free, or that it gave; as malloc and free. */
    void* (*allocate)(void* context, size_t size);
    void (*release)(void* context, void* block);
    /* Runs `task` on the progress thread, after all posted before. Any thread. */
    void (*post)(void* context, void (*task)(void* data), void* data);
} muster_host_t;

/* May face bytes of a peer that is not trusted. */
#define MUSTER_COMPONENT_HOSTILE_INPUT 0x1u

typedef struct muster_component {
    size_t struct_size;
    uint16_t sdk_major;
    uint16_t sdk_minor;
    const char* framework;
    uint16_t interface_version; /* of the framework's operations table */
    const char* name;           /* lower case letters, digits */
    const char* version;
    const char* vendor;
    uint32_t flags;
    int priority; /* higher is preferred */
    const muster_param_t* params;
    size_t nparams;
    /* Makes the instance: the framework's operations table (pmix/sdk/<framework>.h), or the C++ object of a
     * framework that is locked to the library's version. Returns PMIX_SUCCESS; PMIX_ERR_NOT_AVAILABLE when it
     * cannot be used here (a library or device is missing): the reason goes to `reason`, an array of 256
     * characters. */
    pmix_status_t (*create)(const muster_host_t* host, void** instance, char* reason);
    void (*destroy)(void* instance);
    /* Since 1.3. May be NULL and 0. */
    const muster_param_attribute_t* attributes;
    size_t nattributes;
} muster_component_t;

/* Name of the exported function: muster_component_<framework>_<name>. */
#define MUSTER_COMPONENT_EXPORT __attribute__((visibility("default")))
#ifdef __cplusplus
#define MUSTER_COMPONENT(framework, name) \
    extern "C" MUSTER_COMPONENT_EXPORT const muster_component_t* muster_component_##framework##_##name(void)
#else
#define MUSTER_COMPONENT(framework, name) \
    MUSTER_COMPONENT_EXPORT const muster_component_t* muster_component_##framework##_##name(void)
#endif

#ifdef __cplusplus
}
#endif

#endif /* PMIX_SDK_COMPONENT_H */
