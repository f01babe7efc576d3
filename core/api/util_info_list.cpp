// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Info_list_*: a list of infos that callers see as an opaque handle. Its entries keep their address,
// because callers iterate over them by address.

#include <pmix.h>

#include <cstring>
#include <memory>
#include <utility>

#include "core/api/guard.hpp"
#include "framework/base/info.hpp"

using namespace muster;

namespace {

struct Entry {
    explicit Entry(const pmix_info_t& from) : info(from) {}
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { PMIx_Info_destruct(&info); }

    pmix_info_t info;
    std::unique_ptr<Entry> next;
};

class InfoList {
  public:
    InfoList() = default;
    InfoList(const InfoList&) = delete;
    InfoList& operator=(const InfoList&) = delete;
    ~InfoList() {
        // One by one: the chain of owners would recurse.
        while (first_ != nullptr)
            first_ = std::move(first_->next);
    }

    /// Takes the entry over, also when it throws std::bad_alloc.
    void append(pmix_info_t& info) {
        std::unique_ptr<Entry>& end = last_ == nullptr ? first_ : last_->next;
        end = make(info);
        last_ = end.get();
        ++size_;
    }
    void prepend(pmix_info_t& info) {
        std::unique_ptr<Entry> entry = make(info);
        if (last_ == nullptr) last_ = entry.get();
        entry->next = std::move(first_);
        first_ = std::move(entry);
        ++size_;
    }
    Entry* first() const { return first_.get(); }
    size_t size() const { return size_; }
    pmix_info_t* find(const char* key) const {
        for (Entry* entry = first(); entry != nullptr; entry = entry->next.get()) {
            if (key_is(entry->info.key, key)) return &entry->info;
        }
        return nullptr;
    }

  private:
    static std::unique_ptr<Entry> make(pmix_info_t& info) {
        try {
            return std::make_unique<Entry>(info);
        } catch (const std::bad_alloc&) {
            PMIx_Info_destruct(&info);
            throw;
        }
    }

    std::unique_ptr<Entry> first_;
    Entry* last_ = nullptr;
    size_t size_ = 0;
};

// Runs `fill` on a fresh entry and puts it at the end.
template <class Fill>
pmix_status_t append(void* list, Fill&& fill) {
    if (list == nullptr) return PMIX_ERR_BAD_PARAM;
    return guard([&] {
        pmix_info_t info;
        PMIx_Info_construct(&info);
        const pmix_status_t status = fill(&info);
        if (status == PMIX_SUCCESS) static_cast<InfoList*>(list)->append(info);
        return status;
    });
}

// An existing entry with this key is replaced if `overwrite` is set, else kept.
template <class Fill>
pmix_status_t append_unique(void* list, const char* key, bool overwrite, Fill&& fill) {
    if (list == nullptr || key == nullptr) return PMIX_ERR_BAD_PARAM;
    pmix_info_t* present = static_cast<InfoList*>(list)->find(key);
    if (present == nullptr) return append(list, std::forward<Fill>(fill));
    if (!overwrite) return PMIX_SUCCESS;
    pmix_info_t info;
    PMIx_Info_construct(&info);
    const pmix_status_t status = fill(&info);
    if (status != PMIX_SUCCESS) return status;
    PMIx_Info_destruct(present);
    *present = info;
    return PMIX_SUCCESS;
}

pmix_status_t fill_value(pmix_info_t* info, const char* key, const pmix_value_t* value) {
    if (key == nullptr || value == nullptr) return PMIX_ERR_BAD_PARAM;
    const pmix_status_t status = value_copy(&info->value, value);
    if (status == PMIX_SUCCESS) key_load(info->key, key_view(key));
    return status;
}

}  // namespace

void* PMIx_Info_list_start(void) {
    return guard([] { return new InfoList; }, nullptr);
}

void PMIx_Info_list_release(void* ptr) {
    delete static_cast<InfoList*>(ptr);
}

pmix_status_t PMIx_Info_list_add(void* ptr, const char* key, const void* value, pmix_data_type_t type) {
    return append(ptr, [&](pmix_info_t* info) { return PMIx_Info_load(info, key, value, type); });
}

pmix_status_t PMIx_Info_list_add_unique(void* ptr, const char* key, const void* value, pmix_data_type_t type,
                                        bool overwrite) {
    return append_unique(ptr, key, overwrite,
                         [&](pmix_info_t* info) { return PMIx_Info_load(info, key, value, type); });
}

pmix_status_t PMIx_Info_list_add_value(void* ptr, const char* key, const pmix_value_t* value) {
    return append(ptr, [&](pmix_info_t* info) { return fill_value(info, key, value); });
}

pmix_status_t PMIx_Info_list_add_value_unique(void* ptr, const char* key, const pmix_value_t* value,
                                              bool overwrite) {
    return append_unique(ptr, key, overwrite,
                         [&](pmix_info_t* info) { return fill_value(info, key, value); });
}

pmix_status_t PMIx_Info_list_prepend(void* ptr, const char* key, const void* value, pmix_data_type_t type) {
    if (ptr == nullptr) return PMIX_ERR_BAD_PARAM;
    return guard([&] {
        pmix_info_t info;
        const pmix_status_t status = PMIx_Info_load(&info, key, value, type);
        if (status == PMIX_SUCCESS) static_cast<InfoList*>(ptr)->prepend(info);
        return status;
    });
}

pmix_status_t PMIx_Info_list_insert(void* ptr, pmix_info_t* info) {
    // The list shares the caller's value and never frees it.
    return append(ptr, [&](pmix_info_t* entry) {
        if (info == nullptr) return PMIX_ERR_BAD_PARAM;
        std::memcpy(entry, info, sizeof *entry);
        PMIx_Info_persistent(entry);
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_Info_list_xfer(void* ptr, const pmix_info_t* info) {
    return append(ptr, [&](pmix_info_t* entry) { return PMIx_Info_xfer(entry, info); });
}

pmix_status_t PMIx_Info_list_xfer_unique(void* ptr, const pmix_info_t* info, bool overwrite) {
    if (info == nullptr) return PMIX_ERR_BAD_PARAM;
    return append_unique(ptr, info->key, overwrite,
                         [&](pmix_info_t* entry) { return PMIx_Info_xfer(entry, info); });
}

pmix_status_t PMIx_Info_list_convert(void* ptr, pmix_data_array_t* par) {
    if (ptr == nullptr || par == nullptr) return PMIX_ERR_BAD_PARAM;
    *par = {PMIX_INFO, 0, nullptr};
    const auto* list = static_cast<const InfoList*>(ptr);
    if (list->size() == 0) return PMIX_ERR_EMPTY;
    pmix_info_t* array = PMIx_Info_create(list->size());
    if (array == nullptr) return PMIX_ERR_NOMEM;
    pmix_info_t* next = array;
    for (Entry* entry = list->first(); entry != nullptr; entry = entry->next.get(), ++next) {
        const pmix_status_t status = PMIx_Info_xfer(next, &entry->info);
        if (status != PMIX_SUCCESS) {
            PMIx_Info_free(array, list->size());
            return status;
        }
    }
    *par = {PMIX_INFO, list->size(), array};
    return PMIX_SUCCESS;
}

pmix_info_t* PMIx_Info_list_get_info(void* ptr, void* prev, void** next) {
    if (ptr == nullptr || next == nullptr) return nullptr;
    Entry* entry = prev == nullptr ? static_cast<InfoList*>(ptr)->first() : static_cast<Entry*>(prev);
    *next = entry == nullptr ? nullptr : entry->next.get();
    return entry == nullptr ? nullptr : &entry->info;
}

size_t PMIx_Info_list_get_size(void* ptr) {
    return ptr == nullptr ? 0 : static_cast<InfoList*>(ptr)->size();
}
