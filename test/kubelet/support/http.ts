import { setTimeout as delay } from "node:timers/promises";
import type { Registrar } from "./registrar";

export interface HttpClient {
  /** The status of one answer. */
  readonly status: (path: string) => Promise<number>;
  /** Asks until the answer has this status; rejects after 15 s. */
  readonly eventually: (path: string, status: number) => Promise<void>;
}

/** A client of the port that the registrar says it listens on. */
export async function httpOf(registrar: Registrar): Promise<HttpClient> {
  const line = await registrar.says('"HTTP server started"');
  const port = /port=(\d+)/.exec(line)?.[1];
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);

  async function status(path: string): Promise<number> {
    const response = await get(path);
    await response.arrayBuffer();
    return response.status;
  }
  async function eventually(path: string, wanted: number): Promise<void> {
    const giveUpAt = performance.now() + 15_000;
    for (;;) {
      const response = await get(path);
      const text = await response.text();
      if (response.status === wanted) return;
      if (performance.now() > giveUpAt) throw new Error(`${path} stays ${response.status}: ${text}`);
      await delay(20);
    }
  }
  return { status, eventually };
}
