import { silentLogger } from "../../src/logging/logger";
import { keepPublished } from "../../src/unix/kept-socket";
import type { SocketFound } from "../../src/unix/unix-socket";

test.each<[SocketFound, number]>([
  ["ours", 0],
  ["unreadable", 0],
  ["hanging", 0],
  ["gone", 1],
  ["dead", 1],
])("a socket of which a look finds %s is published %d times", async (found, times) => {
  const stop = new AbortController();
  const publish = jest.fn(async () => ({}) as never);
  await keepPublished("/x.sock", {
    socket: { look: async () => found },
    watch: {
      wait: async () => {
        stop.abort();
        return false;
      },
    },
    publish,
    onFailure: () => {},
    log: silentLogger,
    signal: stop.signal,
  });
  expect(publish).toHaveBeenCalledTimes(times);
});
