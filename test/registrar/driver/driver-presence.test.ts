import { createDriverPresence } from "../../../src/registrar/driver/driver-presence";
import { startForeignSocket } from "../../support/foreign-socket";
import { recordLog } from "../../support/recorded-log";
import { createTempFolder, type TempFolder } from "../../support/temp-folder";

let folder: TempFolder;
beforeEach(async () => {
  folder = await createTempFolder();
});
afterEach(() => folder[Symbol.asyncDispose]());

/** A driver's server at the usual path, and what is said of it. */
function watchPresence() {
  const log = recordLog();
  const stop = new AbortController();
  const onLost = jest.fn();
  const presence = createDriverPresence(folder.at("csi.sock"), {
    log: log.logger,
    signal: stop.signal,
    onLost,
  });
  const said = () => log.records.map(({ message }) => message);
  return { presence, stop, onLost, said };
}
const startServer = () => startForeignSocket(folder.at("csi.sock"));

const LOST = "Lost connection";
const RESTORED = "Connection restored";
const ENDED = "The driver ended a connection, and is still there";

test("a driver that answers for the first time was not away", async () => {
  await using _server = await startServer();
  const { presence, said } = watchPresence();
  expect(presence.isThere).toBe(false);
  expect(presence.connecting().answered()).toBeUndefined();
  expect(presence.isThere).toBe(true);
  expect(said()).toEqual([]);
});

test("a server that ends a connection and goes on is not lost", async () => {
  await using _server = await startServer();
  const { presence, onLost, said } = watchPresence();
  const connection = presence.connecting();
  connection.answered();
  await connection.ended();
  expect(presence.isThere).toBe(true);
  expect(presence.connecting().answered()).toBeUndefined();
  expect(onLost).not.toHaveBeenCalled();
  expect(said()).toEqual([ENDED]);
});

test("a server that has gone is lost, and back after a while", async () => {
  const { presence, onLost, said } = watchPresence();
  const connection = await (async () => {
    await using _server = await startServer();
    const made = presence.connecting();
    made.answered();
    return made;
  })();
  await connection.ended();
  expect(presence.isThere).toBe(false);
  expect(onLost).toHaveBeenCalledTimes(1);
  await using _server = await startServer();
  expect(presence.connecting().answered()).toBeGreaterThanOrEqual(0);
  expect(said()).toEqual([LOST, RESTORED]);
});

test.each(["before it is looked at", "while the next connection is made"])(
  "a server started anew on a file of its own was lost: %s",
  async (when) => {
    const { presence, onLost, said } = watchPresence();
    const connection = await (async () => {
      await using _server = await startServer();
      const made = presence.connecting();
      made.answered();
      if (when.startsWith("while")) await made.ended();
      return made;
    })();
    await using _server = await startServer();
    if (when.startsWith("before")) await connection.ended();
    expect(presence.connecting().answered()).toBeGreaterThanOrEqual(0);
    expect(onLost).toHaveBeenCalledTimes(1);
    expect(said().filter((message) => message !== ENDED)).toEqual([LOST, RESTORED]);
  },
);

test("who does not answer is lost if it was there, and only once", async () => {
  await using _server = await startServer();
  const { presence, onLost } = watchPresence();
  presence.connecting().failed();
  expect(onLost).not.toHaveBeenCalled();
  presence.connecting().answered();
  presence.connecting().failed();
  presence.connecting().failed();
  expect(onLost).toHaveBeenCalledTimes(1);
});

test("nothing is said of a connection that ends when we stop", async () => {
  const { presence, stop, onLost, said } = watchPresence();
  const connection = presence.connecting();
  connection.answered();
  stop.abort();
  await connection.ended();
  expect(onLost).not.toHaveBeenCalled();
  expect(said()).toEqual([]);
});
