// SPDX-License-Identifier: BSD-3-Clause
// The store in a client: a mapped segment, lookups in it, and data copied from it into the other store.
#include <charconv>
#include <cstring>
#include <iterator>

#include "components/gds/shmem/shmem_store.hpp"

namespace muster::gds::shmem {

Result<void> ShmemStore::attach(SegmentOffer offer) {
    try {
        if (own_attached_) return Error{PMIX_ERR_EXISTS, "a segment is attached already"};
        auto segment = Segment::attach(std::move(offer.fd), offer.owner);
        if (!segment) return segment.error();
        auto attached = std::make_unique<Attached>();
        attached->segment = std::move(*segment);
        attached->reader = std::make_unique<Reader>(*attached->segment, format_);
        attached->self = offer.self;
        attached->nspace = nspace_view(offer.self.nspace);
        if (auto checked = attached->reader->check(attached->nspace); !checked) return checked;
        own_attached_ = std::move(attached);
        attached_.store(own_attached_.get(), std::memory_order_release);
        return {};
    } catch (const std::bad_alloc&) {
        return Error{PMIX_ERR_NOMEM, "no memory for a segment"};
    }
}

/// Puts all job data into the other store, for queries that the segment does not answer: once, and again
/// after the server has registered more.
void ShmemStore::take_over(const Attached& attached) const {
    Item item;
    const auto current = [&] {
        return !attached.reader->find(Kind::Packed, 0, "job", item) || item.value.type != PMIX_BYTE_OBJECT ||
               item.value.data.bo.bytes == taken_over_.load(std::memory_order_acquire);
    };
    if (current()) return;
    try {
        const MutexLock lock(fill_guard_);
        if (current()) return;
        // Published data are immutable: new data have another address.
        const char* const stands = item.value.data.bo.bytes;
        // A copy: checked data must not change.
        const Bytes copy{ByteView(reinterpret_cast<const uint8_t*>(stands), item.value.data.bo.size)};
        Unpacker in(format_, copy.view());
        if (auto taken = other_->unpack_job(attached.nspace.c_str(), in); !taken) log_(1, taken.error().text);
        taken_over_.store(stands, std::memory_order_release);
    } catch (const std::bad_alloc&) {
        log_(1, "no memory for the job data of namespace " + attached.nspace);
    }
}

void ShmemStore::take_over_own(const char* nspace) const {
    const Attached* attached = attached_.load(std::memory_order_acquire);
    if (attached != nullptr &&
        (nspace == nullptr || *nspace == '\0' || nspace_is(nspace, attached->nspace.c_str())))
        take_over(*attached);
}

void ShmemStore::pin(const Lookup& lookup, Kind kind, uint32_t of, const pmix_value_t& value,
                     const Visitor& visit) const {
    // Without an allocation: usually it exists already.
    char text[PMIX_MAX_NSLEN + PMIX_MAX_KEYLEN + 64];
    char* end = text;
    const auto add = [&end](std::string_view part) {
        std::memcpy(end, part.data(), part.size());
        end += part.size();
        *end++ = '/';
    };
    add(nspace_view(lookup.nspace));
    add(key_view(lookup.key).substr(0, PMIX_MAX_KEYLEN));
    for (const uint32_t number : {lookup.rank, static_cast<uint32_t>(kind), of}) {
        end = std::to_chars(end, std::end(text), number).ptr;
        *end++ = '/';
    }
    const std::string_view name(text, static_cast<size_t>(end - text));
    const MutexLock lock(pins_guard_);
    auto pinned = pinned_.find(name);
    if (pinned == pinned_.end() || value_compare(pinned->second->get(), &value) != PMIX_EQUAL) {
        std::optional<Value> copy = Value::copy_of(&value);
        if (!copy) return visit({lookup.key, value, false});
        const Value* kept = &pins_.emplace_back(std::move(*copy));
        if (pinned == pinned_.end()) pinned = pinned_.emplace(name, kept).first;
        pinned->second = kept;
    }
    visit({lookup.key, *pinned->second->get(), true});
}

pmix_status_t ShmemStore::find(const Lookup& lookup, const Visitor& visit) const {
    const Attached* attached = attached_to(lookup.nspace);
    try {
        if (attached == nullptr) {
            pmix_status_t status = PMIX_SUCCESS;
            return find_alone(lookup, visit, status) ? status : other_->find(lookup, visit);
        }
        const bool own = lookup.rank == attached->self.rank;
        Item item;
        Finder finder(*attached->reader, attached->nspace, lookup, own, item);
        // A process finds most of its own values in its own memory.
        if (own && lookup.key != nullptr && lookup.qualifiers.empty() && !key_is_reserved(lookup.key)) {
            const pmix_status_t status = other_->find(lookup, visit);
            if (status == PMIX_SUCCESS || status == PMIX_ERR_EXISTS_OUTSIDE_SCOPE) return status;
        }
        switch (finder.find()) {
            case Answer::Given:
                if (lookup.pin) {
                    pin(lookup, finder.kind(), finder.of(), item.value, visit);
                } else {
                    visit({lookup.key, item.value, false, item.copy()});
                }
                return PMIX_SUCCESS;
            case Answer::Unknown:
                take_over(*attached);
                break;
            case Answer::Absent:
                break;
        }
        const pmix_status_t status = other_->find(lookup, visit);
        return status == PMIX_ERR_INVALID_NAMESPACE ? PMIX_ERR_NOT_FOUND : status;
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

}  // namespace muster::gds::shmem
