// SPDX-License-Identifier: BSD-3-Clause
// A list of infos, freed at the end of its life.
#pragma once

#include <gtest/gtest.h>
#include <pmix.h>

#include <cstring>
#include <vector>

namespace integration {

class Infos {
  public:
    Infos() = default;
    Infos(const Infos&) = delete;
    ~Infos() {
        for (pmix_info_t& info : infos_)
            PMIx_Info_destruct(&info);
    }
    Infos& add(const char* key, const void* value, pmix_data_type_t type) {
        pmix_info_t& info = infos_.emplace_back();
        memset(&info, 0, sizeof info);
        EXPECT_EQ(PMIx_Info_load(&info, key, value, type), PMIX_SUCCESS);
        return *this;
    }
    Infos& text(const char* key, const char* value) { return add(key, value, PMIX_STRING); }
    Infos& array(const char* key, Infos& inside) {
        pmix_data_array_t array = {PMIX_INFO, inside.infos_.size(), inside.infos_.data()};
        return add(key, &array, PMIX_DATA_ARRAY);
    }
    pmix_info_t* data() { return infos_.data(); }
    size_t size() const { return infos_.size(); }

  private:
    std::vector<pmix_info_t> infos_;
};

}  // namespace integration
