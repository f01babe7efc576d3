// SPDX-License-Identifier: BSD-3-Clause
// log_once KEY TEXT: gives TEXT to the plog component that takes KEY, found as every process finds its
// components (parameters and folders from the environment). Prints why not, and ends with status 1, when
// nobody takes it.
#include <cstdio>

#include "framework/plog.hpp"
#include "framework/registry.hpp"

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    muster::Parameters parameters(muster::Parameters::Sources::standard());
    muster::Registry registry(parameters, muster::Registry::Options::standard(parameters));
    const std::vector<muster::Plog*> plogs = registry.plogs();
    muster::Info data;
    data.add(argv[1], muster::Value::from(argv[2]));
    const pmix_proc_t source = {"job", 7};
    const muster::Result<void> result = muster::log_entries(plogs, &source, data.view(), {});
    if (result.ok()) return 0;
    std::printf("%s\n", plogs.empty() ? registry.why_none("plog").c_str() : result.error().text.c_str());
    return 1;
}
