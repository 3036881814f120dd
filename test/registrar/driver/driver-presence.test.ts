import { createDriverPresence } from "../../../src/registrar/driver/driver-presence";
import { recordLog } from "../../support/recorded-log";

afterEach(() => jest.restoreAllMocks());

/** A driver's record, and what is said of it. */
function startPresence() {
  const log = recordLog();
  const onLost = jest.fn();
  const presence = createDriverPresence(log.logger, onLost);
  return {
    presence,
    onLost,
    said: () => log.records.map(({ message }) => message),
    fields: () => log.records.map(({ fields }) => fields),
  };
}

const LOST = "Lost connection";
const RESTORED = "Connection restored";
const ENDED = "The driver ended a connection, and is still there";

test("a driver that answers for the first time was not away", () => {
  const { presence, onLost, said } = startPresence();
  presence.lost();
  presence.found("file 1");
  expect(presence.answered("file 1")).toBeUndefined();
  expect(onLost).not.toHaveBeenCalled();
  expect(said()).toEqual([]);
});

test("a server that ends a connection and goes on is not lost", () => {
  const { presence, onLost, said } = startPresence();
  presence.answered("file 1");
  presence.found("file 1");
  expect(presence.answered("file 1")).toBeUndefined();
  expect(onLost).not.toHaveBeenCalled();
  expect(said()).toEqual([ENDED]);
});

test("a server that has gone is lost, and back after a while", () => {
  const { presence, onLost, said } = startPresence();
  presence.answered("file 1");
  presence.lost();
  expect(onLost).toHaveBeenCalledTimes(1);
  presence.found("file 2");
  expect(presence.answered("file 2")).toBeGreaterThanOrEqual(0);
  expect(said()).toEqual([LOST, RESTORED]);
});

test("a server started anew on a file of its own was lost, though nobody saw it away", () => {
  const { presence, onLost, said } = startPresence();
  presence.answered("file 1");
  presence.found("file 2");
  expect(onLost).toHaveBeenCalledTimes(1);
  expect(presence.answered("file 2")).toBeGreaterThanOrEqual(0);
  expect(said()).toEqual([LOST, RESTORED]);
});

test("one that does not answer is lost if it was there, and only once", () => {
  const { presence, onLost } = startPresence();
  presence.answered("file 1");
  presence.lost();
  presence.lost();
  presence.found("file 1");
  expect(onLost).toHaveBeenCalledTimes(1);
});

test("a return is told once, and a second loss again", () => {
  const { presence, said } = startPresence();
  presence.answered("file 1");
  presence.lost();
  presence.answered("file 1");
  expect(presence.answered("file 1")).toBeUndefined();
  presence.lost();
  expect(said()).toEqual([LOST, RESTORED, LOST]);
});

test("how long it was there, and how long away, is told in seconds", () => {
  const { presence, fields } = startPresence();
  let nowMs = 1_000;
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  presence.answered("file 1");
  nowMs = 3_500;
  presence.lost();
  nowMs = 4_750.4;
  expect(presence.answered("file 1")).toBe(1_250);
  expect(fields()).toEqual([{ lasted: "2.5s" }, { after: "1.25s" }]);
});
