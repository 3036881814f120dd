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

/** Requests to every registrar, all the time. */
export interface Traffic {
  readonly requests: number;
  /** Answers that may not be. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** Starts asking. */
export function startTraffic(node: SoakNode): Traffic {
  const stop = new AbortController();
  const { signal } = stop;
  const problems: string[] = [];
  let requests = 0;

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
  const askAll = async () => {
    for (let round = 0; !signal.aborted; round++) {
      const alive = node.everyone.filter(({ end }) => end === "none");
      await Promise.all(alive.map((registrar, index) => ask(registrar, round + index)));
      await delay(ASK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  };
  const running = askAll();
  return {
    get requests() {
      return requests;
    },
    problems,
    close: async () => {
      stop.abort();
      await running;
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
