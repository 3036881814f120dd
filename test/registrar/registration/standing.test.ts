import { silentLogger } from "../../../src/logging/logger";
import { createCounters } from "../../../src/registrar/model/counters";
import { createRegistrationEvents } from "../../../src/registrar/model/events";
import type { ResolvedOptions } from "../../../src/registrar/model/options";
import { STATE_NAMES, type StateChange } from "../../../src/registrar/model/state";
import type { DriverStatus, DriverTrouble } from "../../../src/registrar/model/status";
import type { Registration } from "../../../src/registrar/registration/registration";
import { registrationsThatCount, shownName, stateText } from "../../../src/registrar/registration/standing";
import { createView } from "../../../src/registrar/registration/view";
import { eventOf, facts, stateNamed } from "../../support/registration-states";

const changedBy = (reason: StateChange["reason"]): StateChange => ({
  from: "waiting",
  to: "asked",
  reason,
  atMs: 0,
});
const NOTHING: DriverStatus = {
  ...{ state: "waiting", identity: undefined, connected: false, trouble: undefined },
  ...{
    history: [],
    registrationSocketPath: undefined,
    counters: createCounters().current,
    outcome: undefined,
  },
};
const refused = { ...NOTHING.counters, kubeletError: "no" };
const SITUATIONS: Record<string, Partial<DriverStatus>> = {
  "at first": {},
  "in trouble": { trouble: { kind: "failed", text: "its trouble" }, registrationSocketPath: "/x-reg.sock" },
  "in trouble after a refusal": { trouble: { kind: "failed", text: "its trouble" }, counters: refused },
  "after a refusal": { counters: refused, history: [changedBy("refused")] },
  "after a peer": {
    counters: refused,
    history: [changedBy("driver-named"), changedBy("refused"), changedBy("already-registered")],
  },
};

test("what the pages say of each state", () => {
  const texts = STATE_NAMES.map((state) => [
    state,
    Object.entries(SITUATIONS).map(
      ([when, given]) => `${when}: ${stateText({ ...NOTHING, ...given, state })}`,
    ),
  ]);
  expect(Object.fromEntries(texts)).toMatchSnapshot();
});

const registrationWith = (given: Partial<DriverStatus>, csiAddress?: string) =>
  ({ csiAddress, status: () => ({ ...NOTHING, ...given }) }) as unknown as Registration;
const identity = { name: "x.csi", vendorVersion: "1", manifest: {} };

test("which registrations of a node count, by state, and by the trouble of a driver with and without a name", () => {
  const kinds: readonly DriverTrouble["kind"][] = [
    ...([
      "no-answer",
      "name-withheld",
      "not-wanted",
      "not-published",
      "failed",
      "renamed",
      "no-descriptors",
    ] as const),
  ];
  const given: Record<string, Partial<DriverStatus>> = {
    ...Object.fromEntries(STATE_NAMES.map((state) => [state, { state }])),
    ...Object.fromEntries(kinds.map((kind) => [kind, { trouble: { kind, text: "" } }])),
    ...Object.fromEntries(kinds.map((kind) => [`${kind} x.csi`, { identity, trouble: { kind, text: "" } }])),
  };
  const all = Object.values(given).map((one) => registrationWith(one));
  const counting = registrationsThatCount({ scope: "node-wide", all });
  expect(Object.keys(given).filter((_, at) => all[at] && counting.includes(all[at]))).toMatchSnapshot();
  expect(registrationsThatCount({ scope: "one-driver", all })).toBe(all);
});

test("a registration is shown by its driver's name, or else its socket", () => {
  const shown = [
    registrationWith({ identity }, "/csi.sock"),
    registrationWith({}, "/csi.sock"),
    registrationWith({}),
  ];
  expect(shown.map(shownName)).toEqual(["x.csi", "/csi.sock", ""]);
});

test("what is known of a registration in each state", () => {
  let nowMs = 1_000;
  jest.spyOn(Date, "now").mockImplementation(() => nowMs);
  const events = createRegistrationEvents(silentLogger);
  const told: unknown[] = [];
  events.subscribe((event) => told.push(event));
  const options = { pluginRegistrationPath: "/reg", type: "CSIPlugin" } as ResolvedOptions;
  const view = createView(options, { status: () => NOTHING }, events);
  const states = [
    ...STATE_NAMES.map(stateNamed),
    { ...stateNamed("publishing"), facts: { ...facts, everPublished: false } },
    { ...stateNamed("standby"), reason: "already-registered" as const },
  ];
  const known = states.map((state) => {
    view.onUnpublished("full");
    const { trouble } = view.status();
    const { changedAtMs } = view.report(2);
    nowMs += 1_000;
    view.onTransition(state, eventOf("published"), view.state);
    const { history, outcome, registrationSocketPath, trouble: after } = view.status();
    const { driverName, state: now } = view;
    const isNow = now === state;
    return [
      { trouble: trouble?.text, changedAtMs },
      { isNow, driverName, socketPath: view.socketPath(), hasSocket: view.ownSocket() !== undefined },
      { last: history.at(-1)?.to, outcome: outcome?.kind, registrationSocketPath, trouble: after },
      view.report(2),
    ].map((part) => JSON.stringify(part));
  });
  expect(known).toMatchSnapshot();
  expect(told.map((event) => JSON.stringify(event))).toMatchSnapshot();
});

test("self-checks learn that kubelet has called, also before it has reported a status", () => {
  const events = createRegistrationEvents(silentLogger);
  const view = createView({} as ResolvedOptions, { status: () => NOTHING }, events);
  const hasCalled = () => view.report(0).hasKubeletCalled;
  expect(hasCalled()).toBe(false);
  events.emit({ kind: "get-info" });
  expect(hasCalled()).toBe(true);
});
