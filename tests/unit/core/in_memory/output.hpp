// SPDX-License-Identifier: BSD-3-Clause
// Forwarded output in memory: readers that record their output, and a host that delivers pieces and counts
// the callbacks.
#pragma once

#include <pmix/muster.h>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/iof/forwarder.hpp"
#include "core/iof/forwarding.hpp"
#include "tests/unit/core/in_memory/services.hpp"

namespace muster::testing_in_memory {

/// A reader of PMIx_IOF_pull.
class OutputReader {
  public:
    struct Piece {
        pmix_proc_t source{};
        pmix_iof_channel_t channel = 0;
        std::string bytes;
        Info info;
    };

    OutputReader() {
        while (slots()[slot_] != nullptr)
            ++slot_;
        slots()[slot_] = this;
    }
    ~OutputReader() { slots()[slot_] = nullptr; }
    OutputReader(const OutputReader&) = delete;
    OutputReader& operator=(const OutputReader&) = delete;

    std::vector<Piece> pieces;
    int answers = 0;
    pmix_status_t status = PMIX_ERR_NOT_FOUND;
    size_t id = 0;

    /// Posts the request to the loop of the process.
    void pull(Process& process, std::vector<pmix_proc_t> procs, Info directives = {},
              pmix_iof_channel_t channels = PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL) {
        auto kept = std::make_shared<Info>(std::move(directives));
        process.loop().post([this, &process, procs = std::move(procs), kept, channels] {
            process.forwarding().puller().pull(procs, std::move(*kept), channels, functions()[slot_],
                                               [this](pmix_status_t answered, size_t number) {
                                                   ++answers;
                                                   status = answered;
                                                   id = number;
                                               });
        });
    }
    /// Posts the end of it.
    Call stop(Process& process) const {
        return call(process, [&process, number = id](const HostDone& done) {
            process.forwarding().puller().deregister(number, {}, done);
        });
    }
    /// All bytes of a channel together, of all processes or of one.
    std::string text(pmix_iof_channel_t channel = PMIX_FWD_STDOUT_CHANNEL, int rank = -1) const {
        std::string all;
        for (const Piece& piece : pieces) {
            if (piece.channel == channel && (rank < 0 || piece.source.rank == static_cast<pmix_rank_t>(rank)))
                all += piece.bytes;
        }
        return all;
    }
    /// Number of notifications of the end of a channel.
    size_t ends() const {
        size_t count = 0;
        for (const Piece& piece : pieces)
            count += piece.bytes.empty() || piece.info.view().is_true(PMIX_IOF_COMPLETE) ? 1 : 0;
        return count;
    }
    /// Number of bytes reported as lost.
    size_t lost() const {
        size_t bytes = 0;
        for (const Piece& piece : pieces)
            bytes += piece.info.view().number<size_t>(MUSTER_IOF_DROPPED).value_or(0);
        return bytes;
    }

  private:
    static constexpr size_t kSlots = 6;
    static std::array<OutputReader*, kSlots + 1>& slots() {
        static std::array<OutputReader*, kSlots + 1> all{};
        return all;
    }
    template <size_t Slot>
    static void called(size_t, pmix_iof_channel_t channel, pmix_proc_t* source, pmix_byte_object_t* bytes,
                       pmix_info_t info[], size_t ninfo) {
        OutputReader* reader = slots()[Slot];
        if (reader == nullptr) return;
        Piece piece;
        piece.source = *source;
        piece.channel = channel;
        if (bytes->size > 0) piece.bytes.assign(bytes->bytes, bytes->size);
        if (auto copy = Info::copy_of(info, ninfo)) piece.info = std::move(*copy);
        reader->pieces.push_back(std::move(piece));
    }
    static const std::array<pmix_iof_cbfunc_t, kSlots>& functions() {
        static const std::array<pmix_iof_cbfunc_t, kSlots> all = {called<0>, called<1>, called<2>,
                                                                  called<3>, called<4>, called<5>};
        return all;
    }

    size_t slot_ = 0;
};

/// A job whose output is forwarded.
class OutputInMemory : public ServicesInMemory {
  protected:
    OutputInMemory() { node.host.agreeable.insert("iof_pull"); }
    explicit OutputInMemory(Info directives) : ServicesInMemory(std::move(directives)) {
        node.host.agreeable.insert("iof_pull");
    }

    /// The host delivers bytes. The result is set when the host may free them.
    std::shared_ptr<int> deliver(const pmix_proc_t& source, const std::string& text,
                                 pmix_iof_channel_t channel = PMIX_FWD_STDOUT_CHANNEL,
                                 bool complete = false) {
        auto released = std::make_shared<int>(0);
        auto piece = std::make_shared<OutputPiece>();
        piece->source = source;
        piece->channel = channel;
        piece->own_bytes.append(text.data(), text.size());
        piece->bytes = piece->own_bytes.view();
        if (complete) piece->own_info.add(PMIX_IOF_COMPLETE, true);
        piece->info = piece->own_info;
        piece->released = [released] { ++*released; };
        node.on_loop([&] { node.server().forwarder().deliver(std::exchange(piece, nullptr)); });
        return released;
    }
    std::shared_ptr<int> deliver(pmix_rank_t rank, const std::string& text,
                                 pmix_iof_channel_t channel = PMIX_FWD_STDOUT_CHANNEL,
                                 bool complete = false) {
        return deliver(make_proc("job", rank), text, channel, complete);
    }
    /// Starts a reader and waits for its answer.
    pmix_status_t pull(OutputReader& reader, Process& process, std::vector<pmix_proc_t> procs,
                       Info directives = {},
                       pmix_iof_channel_t channels = PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL) {
        reader.pull(process, std::move(procs), std::move(directives), channels);
        EXPECT_TRUE(until([&] { return reader.answers > 0; })) << "a pull is not answered";
        return reader.status;
    }
    /// Waits until the reader has that text.
    [[nodiscard]] bool hears(const OutputReader& reader, const std::string& text,
                             pmix_iof_channel_t channel = PMIX_FWD_STDOUT_CHANNEL) {
        return until([&] { return reader.text(channel) == text; });
    }
    uint64_t dropped() {
        uint64_t bytes = 0;
        node.on_loop([&] { bytes = node.server().forwarder().dropped(); });
        return bytes;
    }
    static std::vector<pmix_proc_t> all_of(const char* nspace) {
        return {make_proc(nspace, PMIX_RANK_WILDCARD)};
    }
    static std::vector<pmix_proc_t> one_of(const char* nspace, pmix_rank_t rank) {
        return {make_proc(nspace, rank)};
    }
};

}  // namespace muster::testing_in_memory
