import type { Logger } from "../../src/logging/logger";
import { createConditionKeeper } from "../../src/node-readiness/condition-keeper";
import { createCsiNodeKeeper } from "../../src/node-readiness/csi-node-keeper";
import type { Keeper } from "../../src/node-readiness/keeper";
import { done, type NodeCondition, type Taint } from "../../src/node-readiness/node-api";
import type { ObservedRegistration } from "../../src/node-readiness/observed-registrations";
import { createTaintKeeper } from "../../src/node-readiness/taint-keeper";
import { csiNodeOf, DRIVER, nodeWith, registrationIn } from "./support/controlled-registrations";
import { createKeeperPlay } from "./support/keeper-play";

// What each keeper does, logs and shows while registrations, the Node and CSINode change, one step after the other.

const OTHER = "other.csi.example.com";
const failed = (kind: "forbidden" | "conflict") =>
  ({ kind: "failed", doing: "patching", failure: { kind, message: "no" } }) as const;
type Patch = readonly { readonly op: string; readonly path: string }[];
interface StatusPatch {
  readonly status: { readonly conditions: readonly [NodeCondition] };
  readonly metadata: { readonly uid: string };
}

/** A keeper in a cluster of which a test makes each change. */
function createDiary<Status>(make: (log: Logger) => Keeper<Status>) {
  const lines = [""];
  let revision = 0;
  const cluster = {
    node: { uid: "1", taints: [] as readonly Taint[], conditions: [] as readonly NodeCondition[] },
    /** What the API server answers to a patch, which it does not apply. */
    failure: undefined as ReturnType<typeof failed> | undefined,
    /** What another client does after each patch. */
    opponent: () => {},
    kubeletIsAsking: false,
  };
  const view = () => nodeWith({ ...cluster.node, resourceVersion: `${++revision}` });
  const patch = async (what: string, apply: () => void) => {
    lines.push(`    ${what}`);
    if (cluster.failure !== undefined) return cluster.failure;
    apply();
    cluster.opponent();
    return done(view());
  };
  const setCondition = (condition: NodeCondition) => {
    const others = cluster.node.conditions.filter(({ type }) => type !== condition.type);
    cluster.node = { ...cluster.node, conditions: [...others, condition] };
  };
  const remove = (ops: Patch) => {
    const places = ops.flatMap(({ op, path }) => (op === "remove" ? [Number(path.split("/").at(-1))] : []));
    cluster.node = { ...cluster.node, taints: cluster.node.taints.filter((_, at) => !places.includes(at)) };
  };
  const play = createKeeperPlay(make, {
    getNode: async () => {
      lines.push("    reads the Node");
      return done(view());
    },
    patchNode: (ops: Patch) => patch(`patches ${JSON.stringify(ops)}`, () => remove(ops)),
    patchStatus: ({ status, metadata }: StatusPatch) => {
      const { lastHeartbeatTime: _, lastTransitionTime: __, ...condition } = status.conditions[0];
      return patch(`sets ${JSON.stringify(condition)} of Node ${metadata.uid}`, () =>
        setCondition(condition),
      );
    },
  });
  jest.spyOn(Date, "now").mockImplementation(() => play.now);
  const begin = play.now;
  play.registrations = [];
  const see = (change: Partial<typeof cluster.node> = {}) => {
    cluster.node = { ...cluster.node, ...change };
    play.see(view());
  };
  see();
  return {
    ...{ play, cluster, setCondition, see },
    /** The drivers, each with its state. */
    drivers: (states: Readonly<Record<string, ObservedRegistration["state"]>>) => {
      play.registrations = Object.entries(states).map(([name, state]) => ({
        ...registrationIn(state, name || undefined),
        driverName: name || undefined,
        reregister: () => {
          lines.push(
            `    registers ${name} again${cluster.kubeletIsAsking ? ": kubelet is asking about it" : ""}`,
          );
          return !cluster.kubeletIsAsking;
        },
      }));
    },
    /** A pass so many seconds after the last one, and after a change. */
    step: async (seconds: number, what: string, change: () => unknown = () => {}) => {
      play.now += seconds * 1_000;
      await change();
      lines.push(`${(play.now - begin) / 1_000}s ${what}`);
      const [reads, logged] = [play.reads, play.log.records.length];
      const wait = await play.pass();
      if (play.reads > reads) lines.push("    reads CSINode");
      for (const { severity, message, fields } of play.log.records.slice(logged))
        lines.push(`    ${severity}: ${message} ${JSON.stringify(fields)}`);
      lines.push(`    then waits ${typeof wait === "number" ? `${wait / 1_000}s` : JSON.stringify(wait)}`);
      for (const one of play.status()) lines.push(`    ${JSON.stringify(one)}`);
    },
    text: () => [...lines, ""].join("\n"),
  };
}

/** What another keeper reads. */
const readCsiNode = ({ csiNode, answer }: ReturnType<typeof createDiary>["play"]) =>
  csiNode.read({ getCsiNode: async () => answer }, new AbortController().signal);

test("the keeper of a condition for each driver", async () => {
  const diary = createDiary((log) => createConditionKeeper("{driver}/Registered", 30_000, log, () => 0));
  const { play, cluster, step, drivers } = diary;
  await step(0, "the driver has not answered", () => drivers({ "": "waiting" }));
  await step(0, "it waits for kubelet", () => drivers({ [DRIVER]: "listening" }));
  await step(10, "still");
  await step(20, "the delay is over");
  await step(1, "kubelet has registered it", () => drivers({ [DRIVER]: "registered" }));
  await step(60, "nothing is new");
  await step(1, "CSINode lost it, as another keeper has seen", () => {
    play.lists();
    return readCsiNode(play);
  });
  await step(30, "the delay is over");
  await step(10, "CSINode lists it again", () => play.lists(DRIVER));
  await step(1, "kubelet refuses it, and registers another", () =>
    drivers({ [DRIVER]: "refused", [OTHER]: "registered" }),
  );
  await step(30, "the delay is over, and CSINode lists both", () => play.lists(DRIVER, OTHER));
  await step(1, "the API server refuses the patch", () => {
    cluster.failure = failed("forbidden");
    drivers({ [DRIVER]: "registered", [OTHER]: "registered" });
  });
  await step(1, "it takes the patch", () => (cluster.failure = undefined));
  cluster.opponent = () =>
    diary.setCondition({ type: `${DRIVER}/Registered`, status: "False", reason: "Other" });
  await step(1, "another client sets it back", () => {
    cluster.opponent();
    diary.see();
  });
  for (const seconds of [1, 1, 1, 1, 1, 2]) await step(seconds, "again");
  cluster.opponent = () => {};
  await step(60, "no more");
  await step(1, "the driver leaves", () => drivers({ [OTHER]: "registered" }));
  await step(30, "the delay is over");
  await step(1, "another registrar serves the other", () => drivers({ [OTHER]: "standby" }));
  await step(1, "the Node is deleted", () => play.see(undefined));
  await step(1, "it is made again", () => diary.see({ uid: "2", conditions: [] }));
  const many = (suffix: string) =>
    Array.from({ length: 64 }, (_, at) => ({
      type: `d${at}.example.com/${suffix}`,
      status: "True",
      reason: "r",
    }));
  await step(1, "conditions of others do not count", () => {
    diary.see({ conditions: many("Other") });
    drivers({ [OTHER]: "registered" });
  });
  await step(1, "64 drivers have one", () => {
    diary.see({ conditions: many("Registered") });
    drivers({ [DRIVER]: "registered", [OTHER]: "registered", "d1.example.com": "registered" });
  });
  await step(1, "still");
  expect(diary.text()).toMatchSnapshot();
});

test("the keeper of one condition", async () => {
  const diary = createDiary((log) => createConditionKeeper("example.com/Registered", 0, log, () => 0));
  const { step, drivers } = diary;
  await step(0, "there is no registration");
  await step(0, "the driver has not answered", () => drivers({ "": "waiting" }));
  await step(0, "kubelet has registered it", () => drivers({ [DRIVER]: "registered" }));
  await step(0, "CSINode cannot be read, and kubelet asks", () => {
    diary.play.answer = failed("forbidden");
    drivers({ [DRIVER]: "asked" });
  });
  await step(0, "kubelet has registered it", () => drivers({ [DRIVER]: "registered" }));
  expect(diary.text()).toMatchSnapshot();
});

const PACE = { unlisted: { initialMs: 200, maxMs: 10_000 }, fight: { initialMs: 1_000, maxMs: 30_000 } };
const WANTED = [
  { key: "{driver}/agent-not-ready", effect: undefined },
  { key: "example.com/starting", effect: "NoSchedule" },
];

test("the keeper of startup taints", async () => {
  const diary = createDiary((log) => createTaintKeeper(WANTED, log, PACE));
  const { play, cluster, step, drivers } = diary;
  const taints = [
    { key: `${DRIVER}/agent-not-ready`, effect: "NoExecute", value: "x" },
    { key: "example.com/starting", effect: "NoExecute" },
    { key: `${OTHER}/agent-not-ready`, effect: "NoSchedule" },
  ];
  await step(0, "a driver has not answered, another waits for kubelet", () => {
    diary.see({ taints });
    drivers({ "": "waiting", [DRIVER]: "listening" });
  });
  await step(1, "kubelet has registered it, and CSINode does not list it", () => {
    play.lists();
    drivers({ [DRIVER]: "registered" });
  });
  await step(0.1, "too early");
  for (const seconds of [0.1, 0.4, 0.8, 1.6]) await step(seconds, "it is looked at again");
  await step(1, "it leaves", () => drivers({}));
  await step(1, "it comes back, still unlisted", () => drivers({ [DRIVER]: "registered" }));
  await step(0.01, "CSINode lists it, as another keeper has seen", () => {
    play.lists(DRIVER);
    return readCsiNode(play);
  });
  await step(1, "kubelet registers it again, and another driver comes", () => {
    play.lists(DRIVER);
    drivers({ [DRIVER]: "registered", [OTHER]: "waiting" });
  });
  await step(1, "CSINode is of a deleted Node", () => {
    play.answer = done(csiNodeOf([DRIVER, OTHER], "0"));
    drivers({ [DRIVER]: "registered", [OTHER]: "registered" });
  });
  await step(1, "it is of this one, and the patch is refused", () => {
    play.answer = done(csiNodeOf([DRIVER, OTHER], "1"));
    cluster.failure = failed("forbidden");
  });
  await step(1, "each patch comes too late", () => (cluster.failure = failed("conflict")));
  await step(1, "CSINode cannot be read", () => (play.answer = failed("forbidden")));
  await step(1, "all works, and another client restores the taint", () => {
    play.lists(DRIVER, OTHER);
    cluster.failure = undefined;
    cluster.opponent = () => diary.see({ taints });
  });
  for (const seconds of [1, 1, 1, 1, 2]) await step(seconds, "again");
  cluster.opponent = () => {};
  await step(60, "no more");
  await step(1, "the Node is deleted", () => play.see(undefined));
  await step(1, "it is made again", () => diary.see({ uid: "2", taints: taints.slice(0, 1) }));
  await step(1, "CSINode is of the new Node", () => (play.answer = done(csiNodeOf([DRIVER], "2"))));
  await step(1, "the drivers leave", () => drivers({}));
  await step(1, "they come back", () => drivers({ [DRIVER]: "waiting", [OTHER]: "waiting" }));
  expect(diary.text()).toMatchSnapshot();
});

test("the keeper of CSINode", async () => {
  const diary = createDiary((log) => createCsiNodeKeeper(log, undefined, () => 1));
  const { play, cluster, step, drivers } = diary;
  play.lists(DRIVER, OTHER);
  await step(0, "no driver is registered", () => drivers({ [DRIVER]: "listening" }));
  await step(0, "one is", () => drivers({ [DRIVER]: "registered" }));
  await step(300, "it is time to look");
  await step(300, "CSINode lacks one of two", () => {
    play.lists(OTHER);
    drivers({ [DRIVER]: "registered", [OTHER]: "registered" });
  });
  await step(14, "too early");
  await step(1, "kubelet is asking about it", () => (cluster.kubeletIsAsking = true));
  await step(15, "kubelet is not", () => (cluster.kubeletIsAsking = false));
  for (const seconds of [15, 45, 60, 60]) await step(seconds, "still lacking");
  await step(300, "CSINode cannot be read", () => (play.answer = failed("forbidden")));
  await step(1, "CSINode lists both", () => play.lists(DRIVER, OTHER));
  await step(300, "nothing is new");
  await step(1, "the Node is made again, CSINode is of the deleted one", () => {
    play.answer = done(csiNodeOf([DRIVER, OTHER], "1"));
    diary.see({ uid: "2" });
  });
  for (const seconds of [15, 15, 15, 300]) await step(seconds, "still");
  await step(3_300, "an hour is over");
  await step(300, "still");
  await step(1, "CSINode was collected, and kubelet registers one again", () => {
    play.lists();
    drivers({ [DRIVER]: "publishing", [OTHER]: "registered" });
  });
  await step(1, "it has", () => drivers({ [DRIVER]: "registered", [OTHER]: "registered" }));
  for (const seconds of [15, 15, 3_600]) await step(seconds, "still");
  await step(15, "kubelet wrote it", () => (play.answer = done(csiNodeOf([DRIVER, OTHER], "2"))));
  await step(300, "nothing is new");
  await step(1, "one driver leaves", () => drivers({ [OTHER]: "registered" }));
  await step(1, "it comes back", () => drivers({ [DRIVER]: "registered", [OTHER]: "registered" }));
  await step(1, "the Node is deleted", () => play.see(undefined));
  expect(diary.text()).toMatchSnapshot();
});
