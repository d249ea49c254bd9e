// SPDX-License-Identifier: Apache-2.0
// All that an actor program needs: actors and proxies, tasks and fibers, and shoal::run.
#pragma once

#include <shoal/actors/run.hpp>
#include <shoal/actors/world.hpp>

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
using actors::View;
using actors::World;
using actors::run;
using actors::RunSettings;
using actors::UnhandledException;
using runtime::Fiber;
using runtime::Future;
using runtime::Promise;
using runtime::service;
using runtime::sleep_for;
using runtime::Task;
using runtime::Yield;

}  // namespace shoal
