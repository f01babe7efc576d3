// SPDX-License-Identifier: BSD-3-Clause
// The component interface in C++20: a class with plain member functions becomes a component of one of the
// open frameworks. Exceptions end here: a Failure becomes its code and sentence, bad_alloc PMIX_ERR_NOMEM,
// others PMIX_ERROR.
//
//     class Acme {
//       public:
//         explicit Acme(muster::sdk::Host host);                // throw Failure when it cannot be used here
//         static constexpr const char* kChannels = "acme.log";  // plog: the keys that it takes
//         void write(const muster_plog_record_t& record);
//     };
//     MUSTER_COMPONENT(plog, acme) {
//         static const auto descriptor = muster::sdk::plog_component<Acme>({.name = "acme", .version =
//         "1.0"}); return &descriptor;
//     }
//
// Member functions that each framework asks for:
//   psec       Buffer create_credential(std::span<const pmix_info_t> directives);
//              void validate_credential(std::span<const uint8_t> credential, const muster_psec_claim_t&
//              claim);
//              void identify_credential(std::span<const uint8_t> credential, muster_psec_owner_t& owner);
//                                                                              may be missing
//   pcompress  std::optional<Buffer> compress(std::span<const uint8_t> in);      nothing: would not be
//   smaller
//              Buffer decompress(std::span<const uint8_t> in, size_t limit);
//   plog       void write(const muster_plog_record_t& record);                   and kChannels
//   pmdl       void setup_fork(const muster_pmdl_process_t& process, auto set);  calls set(name, value)
//   pnet       any of these; `Infos` is std::span<const pmix_info_t>, InfoSink and VariableSink are called
//   with what is
//              to be added:
//              void allocate(const muster_pnet_job_t& job, Infos directives, uint32_t what, InfoSink add);
//              void setup_local(const muster_pnet_job_t& job, Infos info, InfoSink add);
//              void setup_fork(const pmix_proc_t& proc, VariableSink set);
//              void deregister(const char* nspace);
//              void collect_inventory(Infos directives, InfoSink add);
//              void deliver_inventory(const char* node, Infos info);
//              void describe_fabric(Infos directives, InfoSink add);
#ifndef PMIX_SDK_COMPONENT_HPP
#define PMIX_SDK_COMPONENT_HPP

#include <pmix/sdk/component.h>
#include <pmix/sdk/pcompress.h>
#include <pmix/sdk/plog.h>
#include <pmix/sdk/pmdl.h>
#include <pmix/sdk/pnet.h>
#include <pmix/sdk/psec.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace muster::sdk {

/// Length of the arrays that take a reason, with the NUL.
inline constexpr size_t kReasonSize = 256;

/// The exception of components: the Standard's code, and one sentence that says what happened and what to do.
class Failure : public std::exception {
  public:
    Failure(pmix_status_t code, std::string text) : code_(code), text_(std::move(text)) {}
    pmix_status_t code() const { return code_; }
    const char* what() const noexcept override { return text_.c_str(); }

  private:
    pmix_status_t code_;
    std::string text_;
};

/// The host table, with names. Copyable; valid as long as the component's instance. Any thread.
class Host {
  public:
    explicit Host(const muster_host_t* table) : table_(table) {}

    /// One line through the framework's verbosity; level 1 error, 2 warning, 5 info, 10 debug.
    void log(int level, const std::string& message) const {
        table_->log(table_->context, level, message.c_str());
    }

    /// One of the component's own parameters as text; throws Failure for a name that is not in its table.
    std::string_view parameter(const char* name) const {
        const char* text = table_->parameter(table_->context, name);
        if (text == nullptr) throw Failure(PMIX_ERR_NOT_FOUND, std::string("no parameter is named ") + name);
        return text;
    }
    /// The same as a number; the host has checked the text against the parameter's type. Sizes are in bytes.
    long long integer(const char* name) const { return std::strtoll(parameter(name).data(), nullptr, 0); }
    /// The same of a MUSTER_PARAM_BOOL.
    bool boolean(const char* name) const { return parameter(name) == "true"; }

    /// Runs `task(data)` on the progress thread.
    void post(void (*task)(void*), void* data) const { table_->post(table_->context, task, data); }

    const muster_host_t* table() const { return table_; }

  private:
    const muster_host_t* table_;
};

/// A block from the host's allocator, to be given to the host.
class Buffer {
  public:
    Buffer() = default;
    Buffer(Host host, size_t size) : host_(host), size_(size) {
        if (size != 0) data_ = host.table()->allocate(host.table()->context, size);
        if (size != 0 && data_ == nullptr) throw std::bad_alloc();
    }
    Buffer(Buffer&& other) noexcept
        : host_(other.host_),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(host_, other.host_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Buffer() {
        if (data_ != nullptr) host_.table()->release(host_.table()->context, data_);
    }
    uint8_t* data() { return static_cast<uint8_t*>(data_); }
    size_t size() const { return size_; }
    /// Gives up the bytes behind the first `size`.
    void shrink(size_t size) { size_ = size < size_ ? size : size_; }
    void* release() { return std::exchange(data_, nullptr); }

  private:
    Host host_{nullptr};
    void* data_ = nullptr;
    size_t size_ = 0;
};

/// The content of the descriptor. The strings and parameters live as long as the library (literals,
/// constexpr).
struct Identity {
    const char* name;
    const char* version;
    const char* vendor = "";
    int priority = 0;
    uint32_t flags = 0;  ///< MUSTER_COMPONENT_
    std::span<const muster_param_t> params = {};
    std::span<const muster_param_attribute_t> attributes = {};  ///< that set some of them
};

/// Runs `work` and turns what it throws into a code and a sentence in `reason` (kReasonSize characters).
template <class Work>
pmix_status_t guarded(char* reason, Work&& work) noexcept {
    try {
        work();
        return PMIX_SUCCESS;
    } catch (const Failure& failure) {
        std::snprintf(reason, kReasonSize, "%s", failure.what());
        return failure.code() == PMIX_SUCCESS ? PMIX_ERROR : failure.code();
    } catch (const std::bad_alloc&) {
        std::snprintf(reason, kReasonSize, "out of memory");
        return PMIX_ERR_NOMEM;
    } catch (const std::exception& other) {
        std::snprintf(reason, kReasonSize, "%s", other.what());
        return PMIX_ERROR;
    } catch (...) {
        std::snprintf(reason, kReasonSize, "unknown exception");
        return PMIX_ERROR;
    }
}

/// A component's object with its operations table in front; `Table` is the framework's, `fill` completes it.
template <class T, class Table, void (*fill)(Table&)>
struct Instance {
    Table table{};
    T object;

    explicit Instance(Host host) : object(host) {
        table.struct_size = sizeof(Table);
        table.context = &object;
        fill(table);
    }
    static pmix_status_t create(const muster_host_t* host, void** instance, char* reason) {
        return guarded(reason, [&] {
            auto made = std::make_unique<Instance>(Host(host));
            *instance = &made.release()->table;
        });
    }
    // The table is the first member of a class without virtual functions, so both have one address.
    static void destroy(void* instance) { delete reinterpret_cast<Instance*>(instance); }
};

template <class T, class Table, void (*fill)(Table&)>
muster_component_t descriptor(const char* framework, uint16_t interface_version, const Identity& identity) {
    muster_component_t made{};
    made.struct_size = sizeof made;
    made.sdk_major = MUSTER_SDK_MAJOR;
    made.sdk_minor = MUSTER_SDK_MINOR;
    made.framework = framework;
    made.interface_version = interface_version;
    made.name = identity.name;
    made.version = identity.version;
    made.vendor = identity.vendor;
    made.flags = identity.flags;
    made.priority = identity.priority;
    made.params = identity.params.data();
    made.nparams = identity.params.size();
    made.attributes = identity.attributes.data();
    made.nattributes = identity.attributes.size();
    made.create = &Instance<T, Table, fill>::create;
    made.destroy = &Instance<T, Table, fill>::destroy;
    return made;
}

template <class T>
void fill_psec(muster_psec_t& table) {
    table.create_credential = [](void* context, const pmix_info_t* directives, size_t count,
                                 pmix_byte_object_t* credential, char* reason) {
        return guarded(reason, [&] {
            Buffer made = static_cast<T*>(context)->create_credential(std::span(directives, count));
            credential->size = made.size();
            credential->bytes = static_cast<char*>(made.release());
        });
    };
    table.validate_credential = [](void* context, const void* credential, size_t length,
                                   const muster_psec_claim_t* claim, char* reason) {
        return guarded(reason, [&] {
            static_cast<T*>(context)->validate_credential(
                std::span(static_cast<const uint8_t*>(credential), length), *claim);
        });
    };
    if constexpr (requires(T component, muster_psec_owner_t owner) {
                      component.identify_credential(std::span<const uint8_t>(), owner);
                  }) {
        table.identify_credential = [](void* context, const void* credential, size_t length,
                                       muster_psec_owner_t* owner, char* reason) {
            return guarded(reason, [&] {
                static_cast<T*>(context)->identify_credential(
                    std::span(static_cast<const uint8_t*>(credential), length), *owner);
            });
        };
    }
    if constexpr (requires { T::kRemedy; }) table.remedy = T::kRemedy;
}

/// The descriptor of a psec component that is made of T.
template <class T>
muster_component_t psec_component(const Identity& identity) {
    return descriptor<T, muster_psec_t, fill_psec<T>>("psec", MUSTER_PSEC_INTERFACE, identity);
}

template <class T>
void fill_pcompress(muster_pcompress_t& table) {
    table.compress = [](void* context, const void* in, size_t in_length, void** out, size_t* out_length,
                        char* reason) {
        bool smaller = true;
        const pmix_status_t status = guarded(reason, [&] {
            std::optional<Buffer> made =
                static_cast<T*>(context)->compress(std::span(static_cast<const uint8_t*>(in), in_length));
            smaller = made.has_value();
            if (!smaller) return;
            *out_length = made->size();
            *out = made->release();
        });
        return smaller ? status : PMIX_ERR_NOT_AVAILABLE;
    };
    table.decompress = [](void* context, const void* in, size_t in_length, size_t limit, void** out,
                          size_t* out_length, char* reason) {
        return guarded(reason, [&] {
            Buffer made = static_cast<T*>(context)->decompress(
                std::span(static_cast<const uint8_t*>(in), in_length), limit);
            *out_length = made.size();
            *out = made.release();
        });
    };
}

/// The descriptor of a pcompress component that is made of T.
template <class T>
muster_component_t pcompress_component(const Identity& identity) {
    return descriptor<T, muster_pcompress_t, fill_pcompress<T>>("pcompress", MUSTER_PCOMPRESS_INTERFACE,
                                                                identity);
}

template <class T>
void fill_plog(muster_plog_t& table) {
    table.channels = T::kChannels;
    table.write = [](void* context, const muster_plog_record_t* record, char* reason) {
        return guarded(reason, [&] { static_cast<T*>(context)->write(*record); });
    };
}

/// The descriptor of a plog component that is made of T.
template <class T>
muster_component_t plog_component(const Identity& identity) {
    return descriptor<T, muster_plog_t, fill_plog<T>>("plog", MUSTER_PLOG_INTERFACE, identity);
}

template <class T>
void fill_pmdl(muster_pmdl_t& table) {
    table.setup_fork = [](void* context, const muster_pmdl_process_t* process, muster_pmdl_set_fn_t set,
                          void* to, char* reason) {
        return guarded(reason, [&] {
            static_cast<T*>(context)->setup_fork(
                *process, [&](const char* name, const char* value) { set(to, name, value); });
        });
    };
}

/// The descriptor of a pmdl component that is made of T.
template <class T>
muster_component_t pmdl_component(const Identity& identity) {
    return descriptor<T, muster_pmdl_t, fill_pmdl<T>>("pmdl", MUSTER_PMDL_INTERFACE, identity);
}

using Infos = std::span<const pmix_info_t>;

/// Takes entries; each is copied.
class InfoSink {
  public:
    InfoSink(muster_pnet_add_fn_t add, void* to) : add_(add), to_(to) {}
    void operator()(const pmix_info_t& info) const { add_(to_, &info); }

  private:
    muster_pnet_add_fn_t add_;
    void* to_;
};

/// Takes variables of an environment; both strings are copied.
class VariableSink {
  public:
    VariableSink(muster_pnet_set_fn_t set, void* to) : set_(set), to_(to) {}
    void operator()(const char* name, const char* value) const { set_(to_, name, value); }

  private:
    muster_pnet_set_fn_t set_;
    void* to_;
};

template <class T>
void fill_pnet(muster_pnet_t& table) {
    if constexpr (requires { &T::allocate; }) {
        table.allocate = [](void* context, const muster_pnet_job_t* job, const pmix_info_t* directives,
                            size_t count, uint32_t what, muster_pnet_add_fn_t add, void* to, char* reason) {
            return guarded(reason, [&] {
                static_cast<T*>(context)->allocate(*job, Infos(directives, count), what, InfoSink(add, to));
            });
        };
    }
    if constexpr (requires { &T::setup_local; }) {
        table.setup_local = [](void* context, const muster_pnet_job_t* job, const pmix_info_t* info,
                               size_t count, muster_pnet_add_fn_t add, void* to, char* reason) {
            return guarded(reason, [&] {
                static_cast<T*>(context)->setup_local(*job, Infos(info, count), InfoSink(add, to));
            });
        };
    }
    if constexpr (requires { &T::setup_fork; }) {
        table.setup_fork = [](void* context, const pmix_proc_t* proc, muster_pnet_set_fn_t set, void* to,
                              char* reason) {
            return guarded(reason,
                           [&] { static_cast<T*>(context)->setup_fork(*proc, VariableSink(set, to)); });
        };
    }
    if constexpr (requires { &T::deregister; }) {
        table.deregister = [](void* context, const char* nspace) {
            char reason[kReasonSize];
            guarded(reason, [&] { static_cast<T*>(context)->deregister(nspace); });
        };
    }
    if constexpr (requires { &T::collect_inventory; }) {
        table.collect_inventory = [](void* context, const pmix_info_t* directives, size_t count,
                                     muster_pnet_add_fn_t add, void* to, char* reason) {
            return guarded(reason, [&] {
                static_cast<T*>(context)->collect_inventory(Infos(directives, count), InfoSink(add, to));
            });
        };
    }
    if constexpr (requires { &T::deliver_inventory; }) {
        table.deliver_inventory = [](void* context, const char* node, const pmix_info_t* info, size_t count,
                                     char* reason) {
            return guarded(reason,
                           [&] { static_cast<T*>(context)->deliver_inventory(node, Infos(info, count)); });
        };
    }
    if constexpr (requires { &T::describe_fabric; }) {
        table.describe_fabric = [](void* context, const pmix_info_t* directives, size_t count,
                                   muster_pnet_add_fn_t add, void* to, char* reason) {
            return guarded(reason, [&] {
                static_cast<T*>(context)->describe_fabric(Infos(directives, count), InfoSink(add, to));
            });
        };
    }
}

/// The descriptor of a pnet component that is made of T.
template <class T>
muster_component_t pnet_component(const Identity& identity) {
    return descriptor<T, muster_pnet_t, fill_pnet<T>>("pnet", MUSTER_PNET_INTERFACE, identity);
}

}  // namespace muster::sdk

#endif  // PMIX_SDK_COMPONENT_HPP
