import type { ApiFailure } from "../../src/kube-api/failure";
import { done, type NodeApi, type NodeView } from "../../src/node-readiness/node-api";
import { startNodeWatch } from "../../src/node-readiness/node-watch";
import { nodeWith } from "./support/controlled-registrations";

const PACE = { retry: { initialMs: 1, maxMs: 1 }, lastsMs: 3_600_000, spreadMs: 0, silentMs: 300_000 };
const failure = (kind: ApiFailure["kind"]): ApiFailure => ({ kind, message: "why" });

/** How a read ends, or a watch: after so many seconds, with what it told. */
type Step =
  | { readonly read: string | ApiFailure["kind"] }
  | {
      readonly opens: boolean;
      readonly lasts: number;
      readonly tells?: readonly (readonly [version: string, node?: NodeView | null])[];
      readonly fails?: ApiFailure["kind"];
    };

const STEPS: readonly Step[] = [
  { read: "unreachable" },
  { read: "not-found" },
  { read: "forbidden" },
  { read: "7" },
  { opens: false, lasts: 0, fails: "unreachable" },
  { opens: true, lasts: 60, tells: [["8", nodeWith({ resourceVersion: "8" })]] },
  { opens: true, lasts: 1, tells: [["9"]], fails: "unreachable" },
  { opens: true, lasts: 60, tells: [["10", null]], fails: "unreachable" },
  { opens: true, lasts: 149 },
  { opens: true, lasts: 150 },
  { read: "11" },
  { opens: true, lasts: 1, fails: "expired" },
  { read: "12" },
  { opens: false, lasts: 0, fails: "forbidden" },
  { read: "13" },
  { opens: true, lasts: 400, tells: [["14"]] },
];

test("when the Node is read again, and from where it is watched", async () => {
  let now = 1_000;
  jest.spyOn(performance, "now").mockImplementation(() => now);
  const [lines, steps, stop] = [[""], [...STEPS], new AbortController()];
  const say = (what: string, value: object) => lines.push(`  ${what} ${JSON.stringify(value)}`);
  const next = () => {
    const step = steps.shift();
    if (step === undefined) stop.abort();
    return step;
  };
  const api: Pick<NodeApi, "getNode" | "watchNode"> = {
    getNode: async () => {
      const step = next();
      if (step === undefined || !("read" in step)) return fail("a read", step);
      lines.push(`the Node is read: ${step.read}`);
      if (/\d/.test(step.read)) return done(nodeWith({ resourceVersion: step.read }));
      return { kind: "failed", doing: "reading", failure: failure(step.read as ApiFailure["kind"]) };
    },
    watchNode: async ({ resourceVersion, seconds, silentMs, onOpen, onVersion }) => {
      const step = next();
      if (step === undefined) return undefined;
      if ("read" in step) return fail("a watch", step);
      lines.push(
        `watched from ${resourceVersion} for ${seconds} s, silent for ${silentMs} ms: ${JSON.stringify(step)}`,
      );
      if (step.opens) onOpen();
      now += step.lasts * 1_000;
      for (const [version, node] of step.tells ?? []) onVersion(version, node);
      return step.fails && failure(step.fails);
    },
  };
  const fail = (what: string, step: Step | undefined) => {
    stop.abort();
    throw new Error(`${what} in place of ${JSON.stringify(step)}`);
  };
  const watch = startNodeWatch({
    ...{ api: api as NodeApi, pace: PACE, signal: stop.signal, random: () => 0.5 },
    node: { hear: (news) => say("news:", news) },
    onHealth: (answer) => say("health:", answer),
  });
  await watch.ended;
  expect([...lines, ""].join("\n")).toMatchSnapshot();
});
