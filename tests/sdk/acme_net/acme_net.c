/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A network that gives each job a number, which its processes see in their environment, and leaves all other
 * operations out.
 */
#include <pmix/sdk/pnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct acme {
    muster_pnet_t table; /* first: the instance's address is the table's */
    const muster_host_t* host;
    unsigned jobs;
};

static pmix_status_t allocate(void* context, const muster_pnet_job_t* job, const pmix_info_t* directives,
                              size_t ndirectives, uint32_t what, muster_pnet_add_fn_t add, void* to,
                              char* reason) {
    struct acme* self = context;
    (void)directives;
    (void)ndirectives;
    if ((what & MUSTER_PNET_NONENVARS) == 0) {
        snprintf(reason, 256, "nothing was asked of it for %s", job->nspace);
        return PMIX_ERR_NOT_AVAILABLE;
    }
    pmix_info_t info;
    memset(&info, 0, sizeof info);
    strcpy(info.key, "acme.job");
    info.value.type = PMIX_UINT32;
    info.value.data.uint32 = ++self->jobs;
    add(to, &info);
    return PMIX_SUCCESS;
}

static pmix_status_t setup_local(void* context, const muster_pnet_job_t* job, const pmix_info_t* info,
                                 size_t ninfo, muster_pnet_add_fn_t add, void* to, char* reason) {
    (void)context;
    (void)job;
    (void)reason;
    for (size_t i = 0; i < ninfo; ++i) {
        if (strcmp(info[i].key, "acme.job") != 0 || info[i].value.type != PMIX_UINT32) continue;
        char name[] = "ACME_JOB";
        char text[16];
        snprintf(text, sizeof text, "%u", info[i].value.data.uint32);
        pmix_info_t variable;
        memset(&variable, 0, sizeof variable);
        strcpy(variable.key, PMIX_SET_ENVAR);
        variable.value.type = PMIX_ENVAR;
        variable.value.data.envar.envar = name;
        variable.value.data.envar.value = text;
        variable.value.data.envar.separator = ':';
        add(to, &variable);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t setup_fork(void* context, const pmix_proc_t* proc, muster_pnet_set_fn_t set, void* to,
                                char* reason) {
    char text[16];
    (void)context;
    (void)reason;
    snprintf(text, sizeof text, "%u", proc->rank);
    set(to, "ACME_RANK", text);
    return PMIX_SUCCESS;
}

static pmix_status_t create(const muster_host_t* host, void** instance, char* reason) {
    if (strcmp(host->parameter(host->context, "device"), "") == 0) {
        snprintf(reason, 256, "pnet_acme_device names no device");
        return PMIX_ERR_NOT_AVAILABLE;
    }
    struct acme* self = calloc(1, sizeof *self);
    if (self == NULL) return PMIX_ERR_NOMEM;
    self->table.struct_size = sizeof self->table;
    self->table.context = self;
    self->table.allocate = allocate;
    self->table.setup_local = setup_local;
    self->table.setup_fork = setup_fork;
    self->host = host;
    *instance = self;
    return PMIX_SUCCESS;
}

static const muster_param_t params[] = {{"device", MUSTER_PARAM_STRING, "", NULL,
                                         "Device of the network; without one it is not used", NULL, NULL}};

static const muster_component_t descriptor = {
    .struct_size = sizeof(muster_component_t),
    .sdk_major = MUSTER_SDK_MAJOR,
    .sdk_minor = MUSTER_SDK_MINOR,
    .framework = "pnet",
    .interface_version = MUSTER_PNET_INTERFACE,
    .name = "acme",
    .version = "1.0",
    .vendor = "Acme",
    .priority = 30,
    .params = params,
    .nparams = 1,
    .create = create,
    .destroy = free,
};

MUSTER_COMPONENT(pnet, acme) {
    return &descriptor;
}
