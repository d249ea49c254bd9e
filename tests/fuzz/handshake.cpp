// SPDX-License-Identifier: Apache-2.0
// Both state machines of the handshake, with an attacker who holds the wire: it cuts, drops,
// damages, makes up, replays and reflects bytes, and opens connections. A server may believe only
// the proof that a client with its secret made for that server's challenge, and a client only a
// server that believed it.
#include "target.hpp"

#include <shoal/comm/bootstrap/handshake.hpp>

#include <optional>
#include <vector>

namespace shoal::fuzz {

using namespace comm;  // NOLINT(google-build-using-namespace): what is tried

namespace {

using Buffer = std::vector<std::byte>;

constexpr std::size_t kMostSteps = 64;

Secret secret_of(unsigned fill) {
  std::array<std::byte, Secret::kSize> bytes;
  bytes.fill(static_cast<std::byte>(fill));
  return Secret(bytes);
}

void append(Buffer& to, Bytes bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

struct Wire {
  Buffer waiting;
  Buffer history;  // what was ever sent on it
  void send(Bytes bytes) {
    append(waiting, bytes);
    append(history, bytes);
  }
  Buffer take(std::size_t size) {
    const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(std::min(size, waiting.size()));
    Buffer taken(waiting.begin(), end);
    waiting.erase(waiting.begin(), end);
    return taken;
  }
};

/// One end, with all that it was given and all that it said.
template <class Handshake>
struct End {
  Handshake handshake;
  Buffer got;
  Buffer said;
  bool refused = false;

  /// Hands over `bytes`, as much as is wanted.
  Buffer feed(Bytes bytes) {
    if (refused) return {};
    const Bytes piece = bytes.first(std::min(bytes.size(), handshake.missing()));
    append(got, piece);
    auto reply = handshake.receive(piece);
    refused = !reply;
    if (!reply) return {};
    append(said, *reply);
    return *reply;
  }
};

class Game {
 public:
  explicit Game(Input& input)
      : input_(input),
        same_secret_(input.flag()),
        server_secret_(secret_of(1)),
        client_secret_(secret_of(same_secret_ ? 1 : 2)) {}

  void play() {
    for (std::size_t step = 0; step < kMostSteps && !input_.empty(); ++step) move();
  }

 private:
  void move() {
    switch (input_.below(8)) {
      case 0:
        return open_server();
      case 1:
        clients_.push_back({ClientHandshake(client_secret_, ProcessId{input_.byte()}), {}, {}});
        return;
      case 2:
        return give_server(to_server_.take(input_.byte()));
      case 3:
        return give_client(to_client_.take(input_.byte()));
      case 4:
        (void)(input_.flag() ? to_server_ : to_client_).take(input_.byte());
        return;
      case 5:
        return damage(input_.flag() ? to_server_.waiting : to_client_.waiting);
      case 6:
        append(input_.flag() ? to_server_.waiting : to_client_.waiting, input_.piece());
        return;
      default:
        return replay();
    }
  }

  void open_server() {
    servers_.push_back({ServerHandshake(server_secret_), {}, {}});
    End<ServerHandshake>& server = servers_.back();
    server.said = server.handshake.challenge().value();
    to_client_.send(server.said);
  }

  void give_server(const Buffer& bytes) {
    if (servers_.empty()) return;
    End<ServerHandshake>& server = servers_.back();
    const Buffer answer = server.feed(bytes);
    if (answer.empty()) return;
    SHOAL_CHECK(answer.size() == kAnswerSize && server.got.size() == kProofSize, "sizes");
    const bool earned = std::any_of(clients_.begin(), clients_.end(), [&](const auto& client) {
      const bool challenged =
          client.got.size() >= kChallengeSize &&
          std::equal(server.said.begin(), server.said.begin() + kChallengeSize, client.got.begin());
      return challenged && client.said == server.got;
    });
    SHOAL_CHECK(same_secret_ && earned, "a server believed somebody who has proved nothing");
    to_client_.send(answer);
  }

  void give_client(const Buffer& bytes) {
    if (clients_.empty()) return;
    End<ClientHandshake>& client = clients_.back();
    to_server_.send(client.feed(bytes));
    SHOAL_CHECK(client.said.size() <= kProofSize, "a client proved itself twice");
    if (!client.handshake.done()) return;
    const bool earned = std::any_of(servers_.begin(), servers_.end(), [&](const auto& server) {
      return server.said == client.got && server.got == client.said;
    });
    SHOAL_CHECK(same_secret_ && earned, "a client believed somebody who has proved nothing");
  }

  void damage(Buffer& waiting) {
    const std::size_t at = input_.byte();
    const auto bits = static_cast<std::byte>(input_.byte());
    if (at < waiting.size()) waiting[at] ^= bits;
  }

  /// Bytes that were sent once, to either side, are sent to either side again.
  void replay() {
    const Buffer& from = input_.flag() ? to_server_.history : to_client_.history;
    Buffer& to = input_.flag() ? to_server_.waiting : to_client_.waiting;
    const std::size_t at = std::min<std::size_t>(input_.number(2), from.size());
    const std::size_t size = std::min<std::size_t>(input_.byte(), from.size() - at);
    append(to, Bytes(from).subspan(at, size));
  }

  Input& input_;
  bool same_secret_;
  Secret server_secret_;
  Secret client_secret_;
  // The last of each plays; what the others said stays known.
  std::vector<End<ServerHandshake>> servers_;
  std::vector<End<ClientHandshake>> clients_;
  Wire to_server_;
  Wire to_client_;
};

}  // namespace

void try_input(Bytes input) {
  Input choices(input);
  Game(choices).play();
}

}  // namespace shoal::fuzz
