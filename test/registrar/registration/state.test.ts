import {
  createStateMachine,
  HISTORY_LENGTH,
  type RegistrationEvent,
  type RegistrationState,
  type StateChange,
  transition,
} from "../../../src/registrar/registration/state";

const STATES = [
  "waiting",
  "publishing",
  "listening",
  "asked",
  "registered",
  "refused",
  "standby",
  "stopping",
  "stopped",
] as const satisfies readonly RegistrationState[];

const A = "publishing";
const L = "listening";
const Q = "asked";
const R = "registered";
const F = "refused";
const S = "standby";
const X = "stopping";
const E = "stopped";
const _ = undefined;

/** Where each event leads from each state; `_` is nowhere. */
// biome-ignore format: a table
const TABLE: {
  readonly [Kind in RegistrationEvent["kind"]]: readonly (RegistrationState | undefined)[];
} = {
  //                   waiting publishing listening asked registered refused standby stopping stopped
  "driver-named":       [A, _, _, _, _, _, _, _, _],
  "driver-renamed":     [_, _, A, A, A, A, A, _, _],
  "driver-restarted":   [_, _, A, A, A, A, _, _, _],
  published:            [_, L, _, _, _, _, _, _, _],
  "socket-gone":        [_, _, A, A, A, A, _, _, _],
  "socket-dead":        [_, _, A, A, A, A, _, _, _],
  "socket-taken":       [_, S, S, S, S, S, _, _, _],
  "kubelet-silent":     [_, _, A, _, _, _, _, _, _],
  "get-info":           [_, _, Q, _, _, Q, _, _, _],
  accepted:             [_, _, R, R, _, R, _, _, _],
  refused:              [_, _, F, F, F, _, _, _, _],
  "already-registered": [_, _, S, S, S, S, _, _, _],
  retry:                [_, _, _, _, _, A, _, _, _],
  "peer-gone":          [_, _, _, _, _, _, A, _, _],
  stop:                 [X, X, X, X, X, X, X, _, _],
  closed:               [_, _, _, _, _, _, _, E, _],
};

/** An event of each kind; what else it carries decides nothing. */
function eventOf(kind: RegistrationEvent["kind"]): RegistrationEvent {
  return { kind, driverName: "x.csi", socketPath: "/x", error: "no", reason: "stopped" } as RegistrationEvent;
}

const rows = Object.entries(TABLE) as [
  RegistrationEvent["kind"],
  readonly (RegistrationState | undefined)[],
][];

test.each(rows)("%s", (kind, targets) => {
  expect(targets).toHaveLength(STATES.length);
  expect(STATES.map((state) => transition(state, eventOf(kind)))).toEqual(targets);
});

test("a machine tells of each change, and of nothing else", () => {
  const changes: StateChange[] = [];
  const machine = createStateMachine(
    "waiting",
    (change) => changes.push(change),
    () => 7,
  );

  expect(machine.dispatch(eventOf("published"))).toBe(false);
  expect(machine.state).toBe("waiting");
  expect(machine.dispatch(eventOf("driver-named"))).toBe(true);

  expect(machine.state).toBe("publishing");
  expect(changes).toEqual([{ from: "waiting", to: "publishing", event: eventOf("driver-named"), at: 7 }]);
  expect(machine.history).toEqual(changes);
});

test("a machine is in its new state when it tells of it", () => {
  const seen: RegistrationState[] = [];
  const machine = createStateMachine("publishing", () => seen.push(machine.state));
  machine.dispatch(eventOf("published"));
  expect(seen).toEqual(["listening"]);
});

test("a machine remembers the latest changes only, oldest first", () => {
  let now = 0;
  const machine = createStateMachine(
    "publishing",
    () => {},
    () => now++,
  );
  for (let round = 0; round < HISTORY_LENGTH; round++) {
    machine.dispatch(eventOf("published"));
    machine.dispatch(eventOf("socket-gone"));
  }
  expect(machine.history.map(({ at }) => at)).toEqual(
    Array.from({ length: HISTORY_LENGTH }, (_unused, index) => HISTORY_LENGTH + index),
  );
});

test("a history once read does not change", () => {
  const machine = createStateMachine("publishing", () => {});
  const before = machine.history;
  machine.dispatch(eventOf("published"));
  expect(before).toEqual([]);
});
