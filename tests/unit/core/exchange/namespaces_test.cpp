// SPDX-License-Identifier: BSD-3-Clause
// The local processes of a namespace, from the host's number, from the job's map, and from clients registered
// one by one.
#include "core/exchange/namespaces.hpp"

#include <gtest/gtest.h>

#include "framework/base/proc.hpp"
#include "tests/covers.hpp"

namespace muster {
namespace {

void add_client(Namespace& nspace, pmix_rank_t rank) {
    nspace.clients[rank].proc = make_proc(nspace.name, rank);
}

TEST(Namespace, UsesTheLocalSizeOfTheHostBeforeClientsRegister) {
    covers("SRV-22");
    Namespaces all;
    Namespace& nspace = all.get_or_add("job");
    EXPECT_EQ(nspace.local_count(), 0U);
    nspace.nlocal = 4;
    EXPECT_EQ(nspace.local_count(), 4U);
    add_client(nspace, 7);
    EXPECT_EQ(nspace.local_count(), 4U);
    EXPECT_EQ(nspace.local_ranks(), std::vector<pmix_rank_t>({7}));
}

TEST(Namespace, CountsClientsBeyondTheLocalSizeOfTheHost) {
    Namespaces all;
    Namespace& nspace = all.get_or_add("job");
    nspace.nlocal = 1;
    for (const pmix_rank_t rank : {3U, 1U, 2U})
        add_client(nspace, rank);
    EXPECT_EQ(nspace.local_count(), 3U);
    EXPECT_EQ(nspace.local_ranks(), std::vector<pmix_rank_t>({1, 2, 3}));
}

TEST(Namespace, DerivesTheLocalSizeFromTheMap) {
    Namespaces all;
    Namespace& nspace = all.get_or_add("job");
    nspace.mapped_ranks = {2, 5};
    EXPECT_EQ(nspace.local_count(), 2U);
    EXPECT_TRUE(nspace.is_local(5));
    EXPECT_FALSE(nspace.is_local(3));
    add_client(nspace, 3);
    add_client(nspace, 5);
    EXPECT_TRUE(nspace.is_local(3));
    EXPECT_EQ(nspace.local_ranks(), std::vector<pmix_rank_t>({2, 3, 5}));
}

TEST(Namespaces, FindAddedNamespacesUntilTheyAreRemoved) {
    Namespaces all;
    EXPECT_EQ(all.find("job"), nullptr);
    Namespace& nspace = all.get_or_add("job");
    EXPECT_EQ(&all.get_or_add("job"), &nspace);
    add_client(nspace, 1);
    EXPECT_NE(all.client(make_proc("job", 1)), nullptr);
    EXPECT_EQ(all.client(make_proc("job", 2)), nullptr);
    EXPECT_EQ(all.client(make_proc("other", 1)), nullptr);
    EXPECT_FALSE(all.is_local(make_proc("other", 1)));
    all.remove("job");
    EXPECT_EQ(all.find("job"), nullptr);
    EXPECT_EQ(all.client(make_proc("job", 1)), nullptr);
}

}  // namespace
}  // namespace muster
