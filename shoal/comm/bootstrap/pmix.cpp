// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/pmix.hpp>

#include <shoal/comm/bootstrap/job_layout.hpp>

#include <dlfcn.h>
#include <pmix.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace shoal::comm {

/// The functions, as the loaded library has them. It stays loaded: it has threads.
struct Pmix::Library {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Fence) fence = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;
  pmix_proc_t self{};

  Expected<void> load();
  Error error(const char* call, pmix_status_t status) const {
    return make_error(ErrorCode::unreachable, fmt::format("{}: {}", call, error_string(status)));
  }
  pmix_proc_t proc(std::uint32_t rank) const {
    pmix_proc_t one = self;
    one.rank = rank;
    return one;
  }
};

Expected<void> Pmix::Library::load() {
  void* library = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return make_error(ErrorCode::unsupported,
                      fmt::format("this process was started by PMIx, but its library cannot be "
                                  "loaded ({}); install it (Debian: libpmix2), or start with "
                                  "`shoal run`",
                                  ::dlerror()));
  }
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    void* const symbol = ::dlsym(library, name);
    if (symbol == nullptr) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
  find(init, "PMIx_Init");
  find(finalize, "PMIx_Finalize");
  find(put, "PMIx_Put");
  find(commit, "PMIx_Commit");
  find(fence, "PMIx_Fence");
  find(get, "PMIx_Get");
  find(error_string, "PMIx_Error_string");
  if (missing == nullptr) return {};
  return make_error(ErrorCode::unsupported, fmt::format("libpmix.so.2 has no {}", missing));
}

bool Pmix::present() noexcept {
  return std::getenv("PMIX_RANK") != nullptr && std::getenv("PMIX_NAMESPACE") != nullptr;
}

Expected<std::unique_ptr<Pmix>> Pmix::init() {
  auto library = std::make_unique<Library>();
  if (auto loaded = library->load(); !loaded) return loaded.error();
  const pmix_status_t status = library->init(&library->self, nullptr, 0);
  if (status != PMIX_SUCCESS) return library->error("PMIx_Init", status);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // a launcher that is killed cannot end its processes
  ::unsetenv("PMIX_RANK");
  ::unsetenv("PMIX_NAMESPACE");
  auto made = std::make_unique<Pmix>(Key{}, std::move(library));
  auto processes = made->job_number(PMIX_JOB_SIZE);
  if (!processes) return processes.error();
  if (*processes == 0 || *processes > kMaxProcesses || number(made->process()) >= *processes) {
    return make_error(ErrorCode::bad_data, fmt::format("PMIx says that this is process {} of {}",
                                                       number(made->process()), *processes));
  }
  made->processes_ = *processes;
  ::setenv("SHOAL_RANK", std::to_string(number(made->process())).c_str(), 1);
  ::setenv("SHOAL_PROCESSES", std::to_string(*processes).c_str(), 1);
  // Not every launcher tells; then nothing is known to be on this host but this process.
  if (auto local = made->job_number(PMIX_LOCAL_SIZE)) made->local_processes_ = *local;
  return made;
}

Pmix::Pmix(Key /*key*/, std::unique_ptr<Library> library) : library_(std::move(library)) {}

Pmix::~Pmix() { library_->finalize(nullptr, 0); }

ProcessId Pmix::process() const noexcept { return ProcessId{library_->self.rank}; }

Expected<void> Pmix::put(const char* key, const std::string& value) {
  pmix_value_t holder{};
  holder.type = PMIX_STRING;
  holder.data.string = const_cast<char*>(value.c_str());  // copied by PMIx
  pmix_status_t status = library_->put(PMIX_GLOBAL, key, &holder);
  if (status == PMIX_SUCCESS) status = library_->commit();
  return status == PMIX_SUCCESS ? Expected<void>() : library_->error("PMIx_Put", status);
}

Expected<void> Pmix::exchange() {
  const pmix_proc_t all = library_->proc(PMIX_RANK_WILDCARD);
  pmix_info_t collect{};
  std::strncpy(collect.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
  collect.value.type = PMIX_BOOL;
  collect.value.data.flag = true;
  const pmix_status_t status = library_->fence(&all, 1, &collect, 1);
  return status == PMIX_SUCCESS ? Expected<void>() : library_->error("PMIx_Fence", status);
}

Expected<std::string> Pmix::get(ProcessId process, const char* key) {
  const pmix_proc_t whom = library_->proc(number(process));
  pmix_value_t* value = nullptr;
  const pmix_status_t status = library_->get(&whom, key, nullptr, 0, &value);
  if (status != PMIX_SUCCESS) return library_->error("PMIx_Get", status);
  std::string text;
  if (value->type == PMIX_STRING && value->data.string != nullptr) {
    text = value->data.string;
    std::free(value->data.string);  // NOLINT: PMIx gives malloc'ed memory away
  }
  std::free(value);  // NOLINT: as above
  return text;
}

Expected<std::uint32_t> Pmix::job_number(const char* key) {
  const pmix_proc_t job = library_->proc(PMIX_RANK_WILDCARD);
  pmix_value_t* value = nullptr;
  const pmix_status_t status = library_->get(&job, key, nullptr, 0, &value);
  if (status != PMIX_SUCCESS) return library_->error(key, status);
  const bool fits = value->type == PMIX_UINT32;
  const std::uint32_t found = value->data.uint32;
  std::free(value);  // NOLINT: PMIx gives malloc'ed memory away
  if (!fits) return make_error(ErrorCode::bad_data, fmt::format("PMIx has no number {}", key));
  return found;
}

}  // namespace shoal::comm
