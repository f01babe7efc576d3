// SPDX-License-Identifier: BSD-3-Clause
//
// For tools: debuggers, launchers and commands that attach to a server. A tool may also be a launcher with clients
// of its own, so all of pmix_server.h comes along.

#ifndef PMIX_TOOL_H
#define PMIX_TOOL_H

#include <pmix.h>
#include <pmix_server.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------
// Beginning, end, and the servers in between

/**
 * Make the calling process a tool, and connect it with a server unless told not to. May be called again: a tool that
 * has no server looks for one then. Each call needs its PMIx_tool_finalize.
 * @param proc   receives the tool's name; may be NULL
 * @param info   ninfo attributes: which server, and what to do without one; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH if no server is found, PMIX_ERR_NO_PERMISSIONS
 * (Standard 5.0, 18.5.1)
 */
PMIX_EXPORT pmix_status_t PMIx_tool_init(pmix_proc_t* proc, pmix_info_t info[], size_t ninfo);

/**
 * End being a tool, with the last of as many calls as there were of PMIx_tool_init.
 * @return PMIX_SUCCESS; PMIX_ERR_INIT
 * (Standard 5.0, 18.5.2)
 */
PMIX_EXPORT pmix_status_t PMIx_tool_finalize(void);

/** Whether the tool is connected with a server now. */
PMIX_EXPORT bool PMIx_tool_is_connected(void);

/**
 * Connect with one more server.
 * @param myproc  receives the tool's name there; may be NULL
 * @param server  receives the server's name; may be NULL
 * @param info    ninfo attributes: which server, and whether it becomes the primary one
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH, PMIX_ERR_NO_PERMISSIONS
 * (Standard 5.0, 18.5.4)
 */
PMIX_EXPORT pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t* myproc, pmix_proc_t* server, pmix_info_t info[], size_t ninfo);

/**
 * Leave a server.
 * @param server  its name
 * @return PMIX_SUCCESS; PMIX_ERR_NOT_FOUND
 * (Standard 5.0, 18.5.3)
 */
PMIX_EXPORT pmix_status_t PMIx_tool_disconnect(const pmix_proc_t* server);

/**
 * All servers that the tool is connected with, the primary one first.
 * @param servers   receives an array of nservers, the caller's (PMIx_Proc_free)
 * @param nservers  receives its length
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH if there is none
 * (Standard 5.0, 18.5.5)
 */
PMIX_EXPORT pmix_status_t PMIx_tool_get_servers(pmix_proc_t* servers[], size_t* nservers);

/**
 * Make a server the primary one, which gets the requests.
 * @param server  its name
 * @param info    ninfo attributes, such as PMIX_WAIT_FOR_CONNECTION and PMIX_TIMEOUT; may be NULL
 * @return PMIX_SUCCESS; PMIX_ERR_UNREACH
 * (Standard 5.0, 18.5.6)
 */
PMIX_EXPORT pmix_status_t PMIx_tool_set_server(const pmix_proc_t* server, pmix_info_t info[], size_t ninfo);

/**
 * Give a tool upcalls, when it serves clients of its own. Not in Standard 5.0.
 * @param module  the upcalls. The library keeps a copy of the members that it may read
 * @return PMIX_SUCCESS; PMIX_ERR_INIT
 */
PMIX_EXPORT pmix_status_t PMIx_tool_set_server_module(pmix_server_module_t* module);

/**
 * PMIx_tool_set_server_module for a tool that says how large its table is.
 * @param module       the upcalls
 * @param module_size  its size in bytes; what the library knows beyond it counts as NULL
 * @return as PMIx_tool_set_server_module
 */
PMIX_EXPORT pmix_status_t PMIx_tool_set_server_module_sized(pmix_server_module_t* module, size_t module_size) PMIX_SERVER_WEAK;

// As for PMIx_server_init: what is compiled here says how large its table is.
#ifndef PMIX_SERVER_MODULE_UNSIZED
static inline pmix_status_t pmix_tool_set_server_module_this_size(pmix_server_module_t* module) {
    if (NULL != PMIx_tool_set_server_module_sized) {
        return PMIx_tool_set_server_module_sized(module, sizeof(pmix_server_module_t));
    }
    return PMIx_tool_set_server_module(module);
}
#define PMIx_tool_set_server_module(...) pmix_tool_set_server_module_this_size(__VA_ARGS__)
#endif

// ---------------------------------------------------------------------------------------------------------
// Input and output of processes

/**
 * Output of processes.
 * @param iofhdlr  number of the registration
 * @param channel  which channel
 * @param source   whose output it is
 * @param payload  the bytes, the library's; none at the end of the channel
 * @param info     ninfo attributes, such as PMIX_IOF_COMPLETE
 * (Standard 5.0, 17.3.27.1)
 */
typedef void (*pmix_iof_cbfunc_t)(size_t iofhdlr, pmix_iof_channel_t channel, pmix_proc_t* source, pmix_byte_object_t* payload,
                                  pmix_info_t info[], size_t ninfo);

/**
 * Get the output of processes from now on.
 * @param procs       nprocs processes; ranks may be wildcards
 * @param directives  ndirs attributes; may be NULL
 * @param channel     which channels
 * @param cbfunc      receives the output; NULL: it is written to standard output and error of the caller
 * @param regcbfunc   receives the number of the registration; NULL: the call waits
 * @param regcbdata   handed to regcbfunc
 * @return PMIX_SUCCESS if regcbfunc will be called; without regcbfunc the number itself, not negative; PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 18.5.7)
 */
PMIX_EXPORT pmix_status_t PMIx_IOF_pull(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t directives[], size_t ndirs,
                                        pmix_iof_channel_t channel, pmix_iof_cbfunc_t cbfunc, pmix_hdlr_reg_cbfunc_t regcbfunc,
                                        void* regcbdata);

/**
 * Get it no more.
 * @param iofhdlr     number of the registration
 * @param directives  ndirs attributes; may be NULL
 * @param cbfunc      called when it is done; NULL: the call waits
 * @param cbdata      handed to it
 * @return PMIX_SUCCESS if cbfunc will be called; PMIX_ERR_NOT_FOUND
 * (Standard 5.0, 18.5.8)
 */
PMIX_EXPORT pmix_status_t PMIx_IOF_deregister(size_t iofhdlr, const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                              void* cbdata);

/**
 * Send standard input to processes.
 * @param targets     ntargets processes; ranks may be wildcards
 * @param bo          the bytes; NULL or none ends the input. With PMIX_IOF_PUSH_STDIN, the library reads the caller's own input
 * @param directives  ndirs attributes; may be NULL
 * @param cbfunc      called when it is done; NULL: the call waits
 * @param cbdata      handed to it
 * @return PMIX_SUCCESS if cbfunc will be called; PMIX_ERR_NOT_SUPPORTED
 * (Standard 5.0, 18.5.9)
 */
PMIX_EXPORT pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets, pmix_byte_object_t* bo,
                                        const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc, void* cbdata);

#ifdef __cplusplus
}
#endif

#endif
