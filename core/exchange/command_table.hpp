// SPDX-License-Identifier: BSD-3-Clause
// The commands that a server answers (docs/reference/wire.md, commands). Each service registers its handlers
// when the server is made; the server looks one up for each frame.
#pragma once

#include <array>
#include <functional>

#include "core/exchange/request.hpp"

namespace muster {

/// When a request is answered. Only those that may wait are bounded in number.
enum class AnswerTime : uint8_t { MayWait, AtOnce, Never };

class CommandTable {
  public:
    using Handle = std::function<void(const Request&)>;
    struct Handler {
        Handle run;
        AnswerTime answer = AnswerTime::MayWait;
    };

    /// Before the first frame. A command has one handler.
    void add(Command command, Handle run, AnswerTime answer = AnswerTime::MayWait) {
        handlers_[static_cast<uint8_t>(command)] = {std::move(run), answer};
    }
    /// The handler of a command's number, or null.
    const Handler* find(uint8_t code) const {
        const Handler& found = handlers_[code];
        return found.run ? &found : nullptr;
    }

  private:
    std::array<Handler, 256> handlers_;
};

}  // namespace muster
