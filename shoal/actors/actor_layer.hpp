// SPDX-License-Identifier: Apache-2.0
// The problem: the scheduler runs messages of which it knows nothing. Offered: the actors, as the
// runtime's layer above: what opens and closes them on a PE, reads what arrives, and names what
// waits.
#pragma once

#include <shoal/actors/world.hpp>
#include <shoal/runtime/layer.hpp>

#include <functional>
#include <string>
#include <vector>

namespace shoal::actors {

/// An exception that left an entry nobody had called, for the program's own handler.
struct UnhandledException {
  std::string entry;  ///< "Block::ghost of element 7"
  std::uint32_t pe = 0;
  std::string type;  ///< "std::out_of_range"
  std::string text;
};
/// True: handled, the job goes on. Runs on the PE where it happened.
using ExceptionHandler = std::function<bool(const UnhandledException&)>;

class ActorLayer final : public runtime::Layer {
 public:
  ActorLayer(std::vector<std::string> arguments, ExceptionHandler handler,
             std::function<Task<>(World&)> program);

  void* open(Pe& pe) override;
  void close(Pe& pe, void* state) noexcept override;
  void arrived(Pe& pe, const runtime::Envelope& envelope, const comm::Arrival& arrival) override;
  void start(Pe& pe) override;
  std::string describe(Pe& pe, const Activity& activity) override;
  void report_parked(Pe& pe) override;
  void unhandled(Pe& pe, const Activity& activity, std::exception_ptr error) noexcept override;
  TaskList& owner_of(Pe& pe, const Activity& activity) override;

  const std::vector<std::string>& arguments() const noexcept { return arguments_; }

 private:
  Task<> run_program(Pe& pe);

  const EntryTable& entries_;
  std::vector<std::string> arguments_;
  ExceptionHandler handler_;
  std::function<Task<>(World&)> program_;
  World world_;
};

}  // namespace shoal::actors
