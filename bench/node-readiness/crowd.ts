import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startNodeReadiness } from "../../src/node-readiness/start-node-readiness";
import type { Certificate } from "../../test/node-readiness/support/certificates";

interface Counts {
  readonly kind: "counts";
  readonly watches: number;
  readonly arrivals: readonly (readonly [number, number])[];
  /** Seconds after its start at which the server had this many watches: one for each hundredth of the crowd. */
  readonly reached: readonly number[];
}

/** How a crowd of registrars met an API server that came back. */
export interface Crowd {
  readonly registrars: number;
  readonly awaySeconds: number;
  /** From the return to the moment when this share of the watches stood. */
  readonly halfBackSeconds: number;
  readonly allBackSeconds: number;
  /** Requests that the returned server got until then, and the most in one second. */
  readonly requests: number;
  readonly busiestSecond: number;
  /** What reached the server during its first start, when all came in one moment. */
  readonly firstStartBusiestSecond: number;
}

const NOTHING: Counts = { kind: "counts", watches: 0, arrivals: [], reached: [] };

/** So many registrars in this process, with the product's own pace. Kills the server and starts it again. */
export async function measureCrowd(
  { certificate, key }: Certificate,
  registrars: number,
  awaySeconds: number,
): Promise<Crowd> {
  let child: ChildProcess | undefined;
  let counts: Counts = NOTHING;
  const start = async (port: number): Promise<number> => {
    const [cert, privateKey] = [certificate, key].map((text) => Buffer.from(text).toString("base64"));
    child = fork(
      join(__dirname, "crowd-server.ts"),
      [String(port), cert ?? "", privateKey ?? "", String(registrars)],
      {
        execArgv: ["--require", join(__dirname, "..", "typescript.cjs")],
      },
    );
    const [{ port: bound }] = (await once(child, "message")) as [{ port: number }];
    child.on("message", (message: Counts) => {
      counts = message;
    });
    return bound;
  };
  const untilAllWatch = async () => {
    while (counts.watches < registrars) await delay(50);
  };
  const port = await start(0);
  const access = {
    server: `https://127.0.0.1:${port}`,
    authority: { kind: "value", value: certificate } as const,
    token: { kind: "value", value: "t" } as const,
  };
  const silent = { all: () => [], subscribe: () => () => {} };
  const crowd = Array.from({ length: registrars }, (_, index) =>
    startNodeReadiness(silent, {
      nodeName: `node-${index}`,
      access,
      startupTaints: ["{driver}/agent-not-ready"],
    }),
  );
  await untilAllWatch();
  const firstStartBusiestSecond = busiest(counts);

  const exited = once(child as ChildProcess, "exit");
  child?.kill("SIGKILL");
  await exited;
  counts = NOTHING;
  await delay(awaySeconds * 1000);
  await start(port);
  await untilAllWatch();
  const [halfBackSeconds = 0, allBackSeconds = 0] = [counts.reached[50], counts.reached[100]];
  const requests = counts.arrivals.reduce((sum, [, count]) => sum + count, 0);
  const busiestSecond = busiest(counts);
  await Promise.all(crowd.map((one) => one.close()));
  child?.kill("SIGKILL");
  return {
    registrars,
    awaySeconds,
    halfBackSeconds,
    allBackSeconds,
    requests,
    busiestSecond,
    firstStartBusiestSecond,
  };
}

/** The most requests in any ten tenths of a second. */
function busiest({ arrivals }: Counts): number {
  const byTenth = new Map(arrivals);
  const sums = arrivals.map(([tenth]) =>
    Array.from({ length: 10 }, (_, index) => byTenth.get(tenth + index) ?? 0).reduce(
      (sum, count) => sum + count,
      0,
    ),
  );
  return Math.max(0, ...sums);
}
