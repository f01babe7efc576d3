// SPDX-License-Identifier: BSD-3-Clause
// Work that one thread posts to the loop of another. Not std::function, which allocates for whatever a task
// keeps alive: memory that one thread allocates and another one frees makes both meet at malloc's locks
// (docs/decisions/0061).
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace muster {

/// A function without arguments and result, or none. It is moved, not copied; small ones lie in the task.
class Task {
  public:
    Task() = default;
    Task(std::nullptr_t) {}
    /// Keeps `function`, which must not be null. bad_alloc for a large one.
    template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, Task> &&
             std::is_invocable_v<std::remove_cvref_t<Function>&>) Task(Function&& function) {
        using Kept = std::remove_cvref_t<Function>;
        if constexpr (kFits<Kept>) {
            ::new (room_) Kept(std::forward<Function>(function));
            kind_ = &kKind<Kept>;
        } else {
            *this = Task([kept = std::make_unique<Kept>(std::forward<Function>(function))] { (*kept)(); });
        }
    }
    Task(Task&& other) noexcept { take(other); }
    Task& operator=(Task&& other) noexcept {
        if (this == &other) return *this;
        clear();
        take(other);
        return *this;
    }
    ~Task() { clear(); }

    explicit operator bool() const { return kind_ != nullptr; }
    /// Not without a function.
    void operator()() { kind_->call(room_); }

  private:
    struct Kind {
        void (*call)(void* function);
        void (*move)(void* from, void* to) noexcept;  ///< destroys `from`
        void (*destroy)(void* function) noexcept;
    };

    /// With the pointer a line of the cache.
    static constexpr size_t kRoom = 56;

    template <class Kept>
    static constexpr bool kFits =
        std::conjunction_v<std::bool_constant<(sizeof(Kept) <= kRoom)>,
                           std::bool_constant<(alignof(Kept) <= alignof(std::max_align_t))>,
                           std::is_nothrow_move_constructible<Kept>>;

    template <class Kept>
    static constexpr Kind kKind{
        [](void* function) { (*static_cast<Kept*>(function))(); },
        [](void* from, void* to) noexcept {
            ::new (to) Kept(std::move(*static_cast<Kept*>(from)));
            static_cast<Kept*>(from)->~Kept();
        },
        [](void* function) noexcept { static_cast<Kept*>(function)->~Kept(); },
    };

    void take(Task& other) noexcept {
        kind_ = std::exchange(other.kind_, nullptr);
        if (kind_ != nullptr) kind_->move(other.room_, room_);
    }
    void clear() noexcept {
        // First: what is destroyed may reach this task.
        if (const Kind* kind = std::exchange(kind_, nullptr)) kind->destroy(room_);
    }

    alignas(std::max_align_t) std::byte room_[kRoom];
    const Kind* kind_ = nullptr;
};

}  // namespace muster
