// SPDX-License-Identifier: BSD-3-Clause
// Control of jobs and processes: signals, pause and resume, their end (Standard 5.0, 13.3).
#pragma once

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

class Control final : public Service {
  public:
    enum class Action : uint32_t { Signal, Pause, Resume, Terminate, Kill, DefineSet };

    explicit Control(Hub& hub) : hub_(hub) {}
    /// The targets; then how many actions, and each with a number and a text.
    void asked(Asker asker, Reader& in) override;

  private:
    struct Step {
        Action action;
        int32_t number;
        std::string text;
    };

    int32_t act(const Step& step, const std::vector<ProcName>& targets);
    int32_t end(const std::vector<ProcName>& targets, bool at_once);

    Hub& hub_;
};

}  // namespace muster::launcher
