// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/log.hpp>
#include <shoal/comm/ucx/ucx_library.hpp>
#include <shoal/comm/ucx/ucx_port.hpp>
#include <shoal/comm/ucx/ucx_settings.hpp>
#include <shoal/comm/ucx/ucx_transport.hpp>

namespace shoal::comm {

namespace {
class UcxTransport final : public Transport {
 public:
  UcxTransport(std::shared_ptr<UcxContext> context, std::string description)
      : context_(std::move(context)), description_(std::move(description)) {}

  std::string description() const override { return description_; }
  Expected<std::unique_ptr<Port>> open(PeId pe, Pool& pool) override {
    const UcxOptions& options = context_->options;
    SHOAL_CHECK(number(pe) - number(options.first_pe) < options.pes, "PE {} is not of this process",
                number(pe));
    return UcxPort::open(context_, pe, pool);
  }

 private:
  std::shared_ptr<UcxContext> context_;
  std::string description_;
};
}  // namespace

Expected<std::unique_ptr<Transport>> make_ucx_transport(UcxOptions options) {
  SHOAL_CHECK(options.addresses != nullptr, "a UCX transport needs an address book");
  auto library = ucx_library();
  if (!library) return library.error();
  for (const std::string& other : other_ucx_libraries(*library)) {
    log(Level::warning,
        "two UCX libraries are in this process: {}, which is used, and {}; if messages fail, let "
        "LD_LIBRARY_PATH name one of them",
        library->path, other);
  }
  const std::string transports = detail::apply_ucx_settings(
      {.one_host = options.one_host, .peer_errors = options.peer_errors});

  ucp_config_t* config = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
  if (status != UCS_OK) {
    return make_error(ErrorCode::bad_argument, fmt::format("UCX cannot read its settings: {}; see "
                                                           "the UCX_* variables",
                                                           ucs_status_string(status)));
  }
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                          UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
  parameters.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  parameters.request_size = sizeof(UcxPort::Request);
  parameters.mt_workers_shared = options.pes > 1 ? 1 : 0;
  parameters.name = "shoal";
  auto context = std::make_shared<UcxContext>();
  status = ucp_init(&parameters, config, &context->handle);
  ucp_config_release(config);
  if (status != UCS_OK) {
    context->handle = nullptr;
    return make_error(ErrorCode::unsupported,
                      fmt::format("UCX {} does not start with UCX_TLS={}: {}", library->version,
                                  transports, ucs_status_string(status)));
  }
  context->receives_kept_data = library->major > 1 || (library->major == 1 && library->minor >= 22);
  context->options = std::move(options);
  return std::unique_ptr<Transport>(std::make_unique<UcxTransport>(
      std::move(context),
      fmt::format("ucx {} ({}; {})", library->version, library->path, transports)));
}

}  // namespace shoal::comm
