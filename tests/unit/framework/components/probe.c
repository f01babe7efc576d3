/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A component that is good, or broken in the one way that the build asks for (see CMakeLists.txt). */
#include <pmix/sdk/plog.h>
#include <stdio.h>
#include <string.h>

#ifndef FRAMEWORK
#define FRAMEWORK plog
#endif
#ifndef FRAMEWORK_SAID
#define FRAMEWORK_SAID "plog"
#endif
#ifndef NAME_SAID
#define NAME_SAID NAME_TEXT
#endif
#ifndef SIZE
#define SIZE sizeof(muster_component_t)
#endif
#ifndef MAJOR
#define MAJOR MUSTER_SDK_MAJOR
#endif
#ifndef MINOR
#define MINOR MUSTER_SDK_MINOR
#endif
#ifndef INTERFACE
#define INTERFACE MUSTER_PLOG_INTERFACE
#endif

#define ENTRY_(framework, name) MUSTER_COMPONENT(framework, name)
#define ENTRY(framework, name) ENTRY_(framework, name)

static const muster_host_t* host_table;

static pmix_status_t write_message(void* context, const muster_plog_record_t* record, char* reason) {
    (void)context;
    snprintf(reason, 256, "%s got \"%s\" with %s", NAME_SAID, record->message,
             host_table->parameter(host_table->context, "greeting"));
    return PMIX_ERR_NOT_SUPPORTED;
}

static muster_plog_t operations = {sizeof(muster_plog_t), NULL, PMIX_LOG_STDOUT, write_message};

static pmix_status_t create(const muster_host_t* host, void** instance, char* reason) {
    host_table = host;
    *instance = &operations;
#ifdef UNAVAILABLE
    strcpy(reason, "the device is not there");
    return PMIX_ERR_NOT_AVAILABLE;
#else
    (void)reason;
    return PMIX_SUCCESS;
#endif
}

static void destroy(void* instance) {
    (void)instance;
}

static const muster_param_t params[] = {
    {"greeting", MUSTER_PARAM_STRING, "hello", NULL, "What it says.", NULL, NULL},
};

static const muster_component_t descriptor = {
    .struct_size = SIZE,
    .sdk_major = MAJOR,
    .sdk_minor = MINOR,
    .framework = FRAMEWORK_SAID,
    .interface_version = INTERFACE,
    .name = NAME_SAID,
    .version = "0.0.7",
    .vendor = "Test",
    .priority = 10,
    .params = params,
    .nparams = 1,
    .create = create,
    .destroy = destroy,
};

#ifdef UNDEFINED
extern int nobody_defines_this(void);
int uses_it(void);
int uses_it(void) {
    return nobody_defines_this();
}
#endif

#ifdef NO_ENTRY
const muster_component_t* under_another_name(void);
const muster_component_t* under_another_name(void) {
    return &descriptor;
}
#else
ENTRY(FRAMEWORK, NAME) {
    return &descriptor;
}
#endif
