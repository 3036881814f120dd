import { resolveLogger } from "../../../src/logging/logger-option";
import { createCsiNodeStore } from "../../../src/node-readiness/csi-node";
import { createKnownNode, type learn } from "../../../src/node-readiness/known-node";
import { startNodeWatch } from "../../../src/node-readiness/node-watch";
import { createTaintKeeper } from "../../../src/node-readiness/taint-keeper";
import { registrationIn } from "../support/controlled-registrations";
import { createExploredApiServer, type Freedoms, type Step, Violation } from "./api-server";

const AT_ONCE = { initialMs: 0, maxMs: 0 };
const PACE = { retry: AT_ONCE, lastsMs: 1_000, spreadMs: 0, silentMs: 1_000_000 };
const SECOND = { initialMs: 1_000, maxMs: 1_000 };
const WANTED = [{ key: "{driver}/agent-not-ready", effect: undefined }];

/** The real watch, what is known of the Node, and the real keeper of taints, at an API server that is explored. */
function createPlay(freedoms: Freedoms, rule?: typeof learn) {
  const stop = new AbortController();
  const server = createExploredApiServer(freedoms);
  const { api } = server;
  const registrations = [registrationIn("registered")];
  let violation: Violation | undefined;
  let isChanged = true;
  let isPassing = false;
  /** When the next pass is due; undefined: at the next change. */
  let nextAt: number | undefined;
  let now = 0;
  const onChange = () => {
    isChanged = true;
    passIfDue();
  };
  const node = createKnownNode(api, onChange, rule);
  const csiNode = createCsiNodeStore();
  const keeper = createTaintKeeper(WANTED, resolveLogger(undefined), { unlisted: SECOND, fight: SECOND });
  const onHealth = () => {};
  const { signal } = stop;

  /** The Node for which CSINode was read in vain since time passed: other changes of the Node are no reason to read it again. */
  let vainFor: string | undefined;
  const getCsiNode = async () => {
    const uid = node.now?.uid;
    const answer = await api.getCsiNode(signal);
    if (answer.kind === "failed" || uid === undefined) return answer;
    if (answer.value.drivers.length > 0 && answer.value.ownerUid === uid) return answer;
    if (vainFor === uid) throw new Violation("CSINode is read again without a reason");
    vainFor = uid;
    return answer;
  };

  function passIfDue(): void {
    if (isPassing || !(isChanged || (nextAt !== undefined && nextAt <= now))) return;
    [isChanged, isPassing] = [false, true];
    csiNode.seeNode(node.now);
    let reading: ReturnType<typeof csiNode.read> | undefined;
    const readCsiNode = () => (reading ??= csiNode.read({ getCsiNode }, signal));
    keeper.pass(registrations, { node, signal, now, csiNode, readCsiNode }).then(
      (answer) => {
        isPassing = false;
        const waitMs = answer.kind === "done" ? answer.value : 1_000;
        nextAt = waitMs === undefined ? undefined : now + waitMs;
        passIfDue();
      },
      (error) => {
        violation = error;
      },
    );
  }
  startNodeWatch({ api, node, signal, pace: PACE, onHealth, random: () => 0 });
  passIfDue();

  const steps = (): Step[] => {
    const time: Step[] =
      nextAt === undefined || isPassing
        ? []
        : [
            {
              label: "time passes",
              act: () => {
                now = nextAt ?? now;
                vainFor = undefined;
                passIfDue();
              },
            },
          ];
    return [...server.steps(), ...time];
  };
  return {
    steps,
    act: async (step: Step) => {
      step.act();
      await new Promise(setImmediate);
      if (violation) throw violation;
    },
    isTainted: server.isTainted,
    key: () => {
      const waits = nextAt !== undefined && nextAt - now;
      return JSON.stringify([server.key(), node.now, isPassing, isChanged, waits]);
    },
    stop: () => stop.abort(),
  };
}

/** Every story ends within so many steps: all that is under way arrives, kubelet does its part and time passes. */
const STEPS_TO_THE_END = 60;

async function atTheEnd(play: ReturnType<typeof createPlay>, story: string[]): Promise<void> {
  for (let count = 0; count < STEPS_TO_THE_END; count += 1) {
    const step = play.steps().find(({ isFault }) => !isFault);
    if (step === undefined) break;
    story.push(step.label);
    await play.act(step);
  }
  if (play.isTainted()) throw new Violation("the taint stays");
}

interface Exploration {
  readonly states: number;
  readonly counterexample?: { readonly what: string; readonly story: readonly string[] };
}

/** Goes through every order of steps up to `deepest`, the shortest first, and from each state to its end. `rule`: for `learn`. */
export async function explore(
  freedoms: Freedoms,
  deepest: number,
  rule?: typeof learn,
): Promise<Exploration> {
  const seen = new Set<string>();
  const stories: (readonly number[])[] = [[]];
  for (const choices of stories) {
    const play = createPlay(freedoms, rule);
    const story: string[] = [];
    try {
      await new Promise(setImmediate);
      for (const choice of choices) {
        const step = play.steps()[choice] as Step;
        story.push(step.label);
        await play.act(step);
      }
      const key = play.key();
      if (seen.has(key)) continue;
      seen.add(key);
      if (choices.length < deepest)
        for (const choice of play.steps().keys()) stories.push([...choices, choice]);
      await atTheEnd(play, story);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      return { states: seen.size, counterexample: { what: error.message, story } };
    } finally {
      play.stop();
    }
  }
  return { states: seen.size };
}
