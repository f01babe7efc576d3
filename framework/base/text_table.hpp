// SPDX-License-Identifier: BSD-3-Clause
// Tables of texts that need no relocation: a table of pointers is written to by the dynamic linker in each
// process that loads the library, and costs it private pages; offsets into one text are the same in all
// processes and stay in shared pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace muster {

/// Consecutive texts, each with its terminator.
template <std::size_t kCount, std::size_t kSize>
class TextTable {
  public:
    template <class Texts>
    explicit constexpr TextTable(const Texts& texts) {
        static_assert(kSize <= std::numeric_limits<uint16_t>::max());
        std::size_t at = 0;
        for (std::size_t i = 0; i < kCount; ++i) {
            const std::string_view text = texts[i];
            begins_[i] = static_cast<uint16_t>(at);
            for (const char c : text)
                bytes_[at++] = c;
            bytes_[at++] = '\0';
        }
    }

    static constexpr std::size_t size() { return kCount; }
    constexpr const char* operator[](std::size_t i) const { return bytes_.data() + begins_[i]; }

  private:
    std::array<uint16_t, kCount> begins_{};
    std::array<char, kSize> bytes_{};
};

/// Makes one of `texts`, a function that can be called while compiling and returns an array of
/// std::string_view.
template <class Texts>
consteval auto make_text_table(Texts) {
    constexpr auto kTexts = Texts{}();
    constexpr std::size_t kSize = [] {
        std::size_t size = 0;
        for (const std::string_view text : Texts{}())
            size += text.size() + 1;
        return size;
    }();
    return TextTable<kTexts.size(), kSize>(kTexts);
}

}  // namespace muster
