// SPDX-License-Identifier: Apache-2.0
// All that an actor program needs: actors and proxies, tasks and fibers, and shoal::run.
#pragma once

// Those with concepts first and one by one: a compiler's message shows how it got to a header, and
// so the way is short.
#include <shoal/runtime/waitable.hpp>

#include <shoal/runtime/fiber.hpp>
#include <shoal/runtime/task.hpp>

#include <shoal/actors/serialize/serializable.hpp>
#include <shoal/actors/signature.hpp>

#include <shoal/actors/proxy.hpp>
#include <shoal/actors/world.hpp>
#include <shoal/comm/build_info.hpp>  // its symbols refuse a mix of debug and release

#include <shoal/actors/run.hpp>

namespace shoal {

using actors::Actor;
using actors::ArrayProxy;
using actors::ElementProxy;
using actors::GroupProxy;
using actors::Incoming;
using actors::Index1;
using actors::lend;
using actors::NoIndex;
using actors::PeIndex;
using actors::RemoteError;
using actors::run;
using actors::RunSettings;
using actors::UnhandledException;
using actors::View;
using actors::World;
using runtime::Fiber;
using runtime::FiberUnwound;
using runtime::Future;
using runtime::Promise;
using runtime::service;
using runtime::sleep_for;
using runtime::Task;
using runtime::Yield;

}  // namespace shoal
