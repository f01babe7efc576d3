// SPDX-License-Identifier: BSD-3-Clause
// How processes find each other through PMIx: each opens a socket, puts its address where the others can get
// it, and after a fence gets its neighbour's. Then a token goes round.
//
//     muster -n 4 ring              four processes on this machine
//     muster -n 8 --nodes 4 ring    the same over four (pretended) nodes
//     muster -n 4 ring 1000         a thousand laps
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// Keys that begin with "pmix" belong to the Standard; a program chooses others.
#define ADDRESS_KEY "ring.address"

static pmix_proc_t me;

// Ends the whole job: if only this process went, the others would wait for it.
static void fail(const char* what, const char* why) {
    fprintf(stderr, "ring: rank %u: %s: %s\n", me.rank, what, why);
    PMIx_Abort(EXIT_FAILURE, what, NULL, 0);
    exit(EXIT_FAILURE);
}

static void check(pmix_status_t status, const char* what) {
    if (status != PMIX_SUCCESS) fail(what, PMIx_Error_string(status));
}

// An address under which other machines reach this one; the loopback address where there is no network.
static struct in_addr own_address(void) {
    struct in_addr address = {htonl(INADDR_LOOPBACK)};
    struct ifaddrs* list = NULL;
    if (getifaddrs(&list) != 0) return address;
    for (struct ifaddrs* entry = list; entry != NULL; entry = entry->ifa_next) {
        if (entry->ifa_addr == NULL || entry->ifa_addr->sa_family != AF_INET) continue;
        if (!(entry->ifa_flags & IFF_UP) || (entry->ifa_flags & IFF_LOOPBACK)) continue;
        struct sockaddr_in found;
        memcpy(&found, entry->ifa_addr, sizeof found);
        address = found.sin_addr;
        break;
    }
    freeifaddrs(list);
    return address;
}

// Opens a socket that listens on a port of the system's choice; writes "address:port" to `text`.
static int open_socket(char* text, size_t size) {
    struct sockaddr_in name = {.sin_family = AF_INET};
    name.sin_addr = own_address();
    socklen_t length = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr*)&name, sizeof name) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr*)&name, &length) != 0) {
        fail("cannot open a socket", strerror(errno));
    }
    char address[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &name.sin_addr, address, sizeof address);
    snprintf(text, size, "%s:%u", address, ntohs(name.sin_port));
    return fd;
}

static int connect_to(const char* text) {
    char address[INET_ADDRSTRLEN + 1] = "";
    unsigned port = 0;
    struct sockaddr_in name = {.sin_family = AF_INET};
    if (sscanf(text, "%16[0-9.]:%u", address, &port) != 2 ||
        inet_pton(AF_INET, address, &name.sin_addr) != 1) {
        fail("the neighbour's address is not one", text);
    }
    name.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr*)&name, sizeof name) != 0)
        fail("cannot reach the neighbour", text);
    int on = 1;  // send small messages without delay
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void send_token(int fd, uint64_t token) {
    if (send(fd, &token, sizeof token, MSG_NOSIGNAL) != (ssize_t)sizeof token)
        fail("cannot pass the token", strerror(errno));
}

static uint64_t receive_token(int fd) {
    uint64_t token = 0;
    if (recv(fd, &token, sizeof token, MSG_WAITALL) != (ssize_t)sizeof token)
        fail("the token did not come", strerror(errno));
    return token;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

int main(int argc, char** argv) {
    const unsigned long laps = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    pmix_status_t status = PMIx_Init(&me, NULL, 0);
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "ring: PMIx_Init: %s\n", PMIx_Error_string(status));
        return EXIT_FAILURE;
    }

    // Facts of the job are asked of rank WILDCARD.
    pmix_proc_t job;
    pmix_value_t* got = NULL;
    uint32_t size = 0;
    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    check(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &got), "the size of the job");
    PMIX_VALUE_GET_NUMBER(status, got, size, uint32_t);
    check(status, "the size of the job");
    PMIX_VALUE_RELEASE(got);

    // Put keeps the value in this process; Commit hands all that was put to the server.
    char address[64];
    int listener = open_socket(address, sizeof address);
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, address, PMIX_STRING);
    check(PMIx_Put(PMIX_GLOBAL, ADDRESS_KEY, &value), "PMIx_Put");
    PMIX_VALUE_DESTRUCT(&value);
    check(PMIx_Commit(), "PMIx_Commit");

    // The fence waits for all processes of the job. With PMIX_COLLECT_DATA it also sends their data to every
    // node; without it, a Get fetches the data when it is needed.
    bool collect = true;
    pmix_info_t directive;
    PMIX_INFO_LOAD(&directive, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    check(PMIx_Fence(NULL, 0, &directive, 1), "PMIx_Fence");
    PMIX_INFO_DESTRUCT(&directive);

    pmix_proc_t next;
    PMIX_LOAD_PROCID(&next, me.nspace, (me.rank + 1) % size);
    check(PMIx_Get(&next, ADDRESS_KEY, NULL, 0, &got), "the neighbour's address");
    if (got->type != PMIX_STRING) fail("the neighbour's address", "is not a string");
    printf("rank %u at %s: my neighbour, rank %u, is at %s\n", me.rank, address, next.rank, got->data.string);
    fflush(stdout);
    int forward = connect_to(got->data.string);
    PMIX_VALUE_RELEASE(got);
    int backward = accept(listener, NULL, NULL);
    if (backward < 0) fail("no neighbour called", strerror(errno));

    // Each rank adds one to the token; rank 0 starts it and counts the rounds.
    const double begin = now();
    uint64_t token = 0;
    for (unsigned long lap = 0; lap < laps; ++lap) {
        if (me.rank == 0) {
            send_token(forward, token + 1);
            token = receive_token(backward);
        } else {
            send_token(forward, receive_token(backward) + 1);
        }
    }
    if (me.rank == 0) {
        if (token != (uint64_t)size * laps) fail("the token", "did not visit every rank");
        printf("the token went round %u ranks %lu time%s in %.0f microseconds\n", size, laps,
               laps == 1 ? "" : "s", now() - begin);
    }
    close(forward);
    close(backward);
    close(listener);
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
