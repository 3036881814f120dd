import { createDriverPresence } from "../../../src/registrar/driver/driver-presence";
import { recordLog } from "../../support/recorded-log";

afterEach(() => jest.restoreAllMocks());

const LOST = "Lost connection";
const RESTORED = "Connection restored";
const ENDED = "The driver ended a connection, and is still there";

test.each<[string, steps: string, losses: number, said: readonly string[]]>([
  ["a driver that answers for the first time was not away", "lost found:1 answered:1", 0, []],
  ["a server that ends a connection and goes on is not lost", "answered:1 found:1 answered:1", 0, [ENDED]],
  ["a server that has gone is back after a while", "answered:1 lost found:2 answered:2", 1, [LOST, RESTORED]],
  ["one with a new file was lost, seen or not", "answered:1 found:2 answered:2", 1, [LOST, RESTORED]],
  ["one that does not answer is lost only once", "answered:1 lost lost found:1", 1, [LOST]],
  ["a second loss counts again", "answered:1 lost answered:1 answered:1 lost", 2, [LOST, RESTORED, LOST]],
])("%s", (_what, steps, losses, said) => {
  const log = recordLog();
  const onLost = jest.fn();
  const presence = createDriverPresence(log.logger, onLost);
  for (const [step, file = ""] of steps.split(" ").map((word) => word.split(":"))) {
    const before = log.all(RESTORED).length;
    const awayMs = presence[step as keyof typeof presence](file);
    const isBack = log.all(RESTORED).length > before;
    expect(awayMs).toEqual(isBack ? expect.any(Number) : undefined);
  }
  expect(onLost).toHaveBeenCalledTimes(losses);
  expect(log.records.map(({ message }) => message)).toEqual(said);
});

test("how long it was there, and how long away, is told in seconds", () => {
  const log = recordLog();
  const presence = createDriverPresence(log.logger, () => {});
  let nowMs = 1_000;
  jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  presence.answered("file 1");
  nowMs = 3_500;
  presence.lost();
  nowMs = 4_750.4;
  expect(presence.answered("file 1")).toBe(1_250);
  expect(log.records.map(({ fields }) => fields)).toEqual([{ lasted: "2.5s" }, { after: "1.25s" }]);
});
