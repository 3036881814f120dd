import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { HttpAnswer } from "../../test/support/http";
import type { SoakNode } from "./node";
import type { RegistrarProcess } from "./registrar-process";

/** What every path may answer, whatever happens to the node. */
const PATHS: readonly { readonly path: string; readonly may: readonly number[] }[] = [
  { path: "/metrics", may: [200] },
  { path: "/healthz", may: [200, 404, 500] },
  { path: "/readyz?verbose", may: [200, 503] },
  { path: "/statusz", may: [200] },
  { path: "/livez", may: [200] },
];
const ASK_EVERY_MS = 500;
const ANSWER_WITHIN_MS = 10_000;
const PROBE_EVERY_MS = 10_000;

/** Scrapes and probes of every registrar, all the time. */
export interface Traffic {
  readonly requests: number;
  readonly probes: number;
  /** Answers that may not be. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** Starts asking. `probe` is the command of an exec probe. */
export function startTraffic(node: SoakNode, probe: readonly string[]): Traffic {
  const stop = new AbortController();
  const { signal } = stop;
  const problems: string[] = [];
  let probes = 0;
  let requests = 0;

  const every = async (ms: number, act: (round: number) => Promise<void>) => {
    for (let round = 0; !signal.aborted; round++) {
      await Promise.all([act(round), delay(ms, undefined, { signal }).catch(() => {})]);
    }
  };
  const ask = async (registrar: RegistrarProcess, round: number) => {
    const { path, may } = PATHS[round % PATHS.length] as (typeof PATHS)[number];
    const asked = registrar.get(path).catch((error: unknown) => `gave no answer: ${error}`);
    const answer = await Promise.race([
      asked,
      delay(ANSWER_WITHIN_MS, "gave no answer in time", { ref: false }),
    ]);
    const problem = problemOf(answer, may);
    // One that is being stopped owes nobody an answer.
    if (problem !== undefined && registrar.end === "none")
      problems.push(`${registrar.name}: ${path} ${problem}`);
    requests += 1;
  };
  const running = [
    every(ASK_EVERY_MS, async (round) => {
      const alive = node.everyone.filter(({ end }) => end === "none");
      await Promise.all(alive.map((registrar, index) => ask(registrar, round + index)));
    }),
    every(PROBE_EVERY_MS, async () => {
      const code = await exitCodeOf(probe);
      probes += 1;
      if (code > 1) problems.push(`the exec probe ended with ${code}`);
    }),
  ];
  return {
    get requests() {
      return requests;
    },
    get probes() {
      return probes;
    },
    problems,
    close: async () => {
      stop.abort();
      await Promise.all(running);
    },
  };
}

function problemOf(answer: HttpAnswer | string, may: readonly number[]): string | undefined {
  if (typeof answer === "string") return answer;
  return may.includes(answer.status) ? undefined : `answered ${answer.status}: ${answer.body}`;
}

/** 255 after a signal. */
export function exitCodeOf([program = "", ...words]: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = execFile(program, words, () => resolve(child.exitCode ?? 255));
  });
}
