// SPDX-License-Identifier: BSD-3-Clause
// Control of jobs and processes: signals, pause and resume, their end (Standard 5.0, 13.3), also as an event
// asks for it (Standard 5.0, 9.1.2).
#pragma once

#include <list>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

class Control final : public Service {
  public:
    enum class Action : uint32_t {
        Signal,
        Pause,
        Resume,
        Terminate,
        Kill,
        DefineSet,
        // As an event asks: these after `number` seconds.
        TerminateProcs,
        TerminateNodes,    ///< all processes of the targets' nodes
        TerminateJobs,     ///< the targets' jobs
        TerminateSession,  ///< all jobs
        EndSilently        ///< no event of the normal end of the targets' jobs
    };

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
    void end_later(const Step& step, const std::vector<ProcName>& targets);
    void end_as_asked(Action action, const std::vector<ProcName>& targets);
    int32_t act(const Step& step, const std::vector<ProcName>& targets);
    int32_t end(const std::vector<ProcName>& targets, bool at_once);

    std::list<Watch> later_;  ///< pending terminations
};

}  // namespace muster::launcher
