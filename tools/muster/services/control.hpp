// SPDX-License-Identifier: BSD-3-Clause
// Control of jobs and processes: signals, pause and resume, their end (Standard 5.0, 13.3).
#pragma once

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

class Control final : public Service {
  public:
    enum class Action : uint32_t { Signal, Pause, Resume, Terminate, Kill, DefineSet };

    explicit Control(Hub& hub) : Service(hub) {}
    struct Step {
        Action action{};
        int32_t number = 0;
        std::string text;
        static auto fields(auto& self) { return std::tie(self.action, self.number, self.text); }
    };
    /// The question: the targets, and the steps.
    void asked(Asker asker, Buffer& in) override;

  private:
    int32_t act(const Step& step, const std::vector<ProcName>& targets);
    int32_t end(const std::vector<ProcName>& targets, bool at_once);
};

}  // namespace muster::launcher
