import { setTimeout as delay } from "node:timers/promises";
import type { SoakNode } from "./node";
import type { RegistrarProcess } from "./registrar-process";

/** What every path may answer, whatever happens to the node. */
const PATHS: readonly (readonly [path: string, may: readonly number[]])[] = [
  ["/metrics", [200]],
  ["/healthz", [200, 404, 500]],
  ["/readyz?verbose", [200, 503]],
  ["/statusz", [200]],
  ["/livez", [200]],
];
const ASK_EVERY_MS = 500;
const ANSWER_WITHIN_MS = 10_000;

/** Requests to every registrar, all the time. */
export function startTraffic(node: SoakNode) {
  const stop = new AbortController();
  const { signal } = stop;
  const traffic = { requests: 0, problems: [] as string[], close };

  async function ask(registrar: RegistrarProcess, round: number): Promise<void> {
    const [path, may] = PATHS[round % PATHS.length] as (typeof PATHS)[number];
    const late = delay(ANSWER_WITHIN_MS, "no answer in time", { ref: false });
    const answer = await Promise.race([registrar.get(path), late]).catch(String);
    traffic.requests += 1;
    // A registrar that is being stopped need not answer.
    if (registrar.end !== "none" || (typeof answer === "object" && may.includes(answer.status))) return;
    const text = typeof answer === "string" ? answer : `${answer.status} ${answer.body}`;
    traffic.problems.push(`${registrar.name}: ${path}: ${text}`);
  }
  async function askAll(): Promise<void> {
    for (let round = 0; !signal.aborted; round++) {
      const alive = node.everyone.filter(({ end }) => end === "none");
      await Promise.all(alive.map((registrar, index) => ask(registrar, round + index)));
      await delay(ASK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  }
  const running = askAll();
  async function close(): Promise<void> {
    stop.abort();
    await running;
  }
  return traffic;
}
