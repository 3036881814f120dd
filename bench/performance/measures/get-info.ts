import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { startCsiDriver } from "../../../src/testing";
import { present } from "../contestants";
import { createKeeper } from "../keeper";
import type { Measure } from "../measure";
import { accepting, createPlace, DRIVER, type Place } from "../place";
import { start, workOf } from "../processes";
import { interleave, quantile, spread } from "../samples";

/** Calls of one block, for each kind of call. */
const CALLS = 200;
/** No more than the registrar allows on one connection. */
const AT_ONCE = 4;

/** GetInfo as kubelet calls it, over a connection of its own; and as fast as one connection allows. */
export const getInfoMeasure: Measure = {
  name: "get-info",
  run: async ({ contestants, rounds, say }) => {
    say("GetInfo");
    const { registrar, naive, official } = contestants;
    await using all = createKeeper();
    const running = new Map<string, { readonly place: Place; readonly pid: number }>();
    for (const { name, command } of present(registrar, naive, official)) {
      const place = all.keep(await createPlace());
      all.keep(await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER }));
      const process = all.keep(start(command(place)));
      await accepting(place.socketPath);
      running.set(name, { place, pid: process.pid });
    }
    const names = [...running.keys()];
    const placeOf = (name: string) => running.get(name)?.place.socketPath ?? "";
    const cpuOf = (name: string) => workOf(running.get(name)?.pid ?? 0).cpuMs;
    for (const name of names) await freshCalls(placeOf(name)); // Not measured: what is compiled at the first calls.

    const fresh = await interleave(names, rounds(4), async (name) => {
      const before = cpuOf(name);
      const times = await freshCalls(placeOf(name));
      return { times, cpuMs: (cpuOf(name) - before) / CALLS };
    });
    const streams = await interleave(names, rounds(4), (name) => callsPerSecond(placeOf(name)));
    return {
      tables: [
        {
          title: "GetInfo",
          head: ["", "fresh connection, p50 ms", "p99 ms", "its CPU ms", "one connection, calls a second"],
          rows: names.map((name) => {
            const blocks = fresh.get(name) ?? [];
            const times = blocks.flatMap((block) => block.times);
            const [p50, p99] = [0.5, 0.99].map((share) => quantile(times, share).toFixed(2));
            const cpu = spread(
              blocks.map(({ cpuMs }) => cpuMs),
              2,
            );
            return [name, p50 ?? "", p99 ?? "", cpu, spread(streams.get(name) ?? [])];
          }),
          note: "Warm. The client is a Node process on the same machine and part of each figure but its CPU.",
        },
      ],
      verdicts: [],
    };
  },
};

async function freshCalls(socketPath: string): Promise<readonly number[]> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const startedAt = performance.now();
    const session = dial(socketPath);
    await getInfo(session);
    times.push(performance.now() - startedAt);
    session.close();
    await once(session, "close");
  }
  return times;
}

async function callsPerSecond(socketPath: string): Promise<number> {
  const session = dial(socketPath);
  const startedAt = performance.now();
  const chain = async () => {
    for (let call = 0; call < CALLS; call++) await getInfo(session);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, chain));
  session.close();
  return (AT_ONCE * CALLS * 1_000) / (performance.now() - startedAt);
}

const dial = (socketPath: string) =>
  connectHttp2("http://localhost", { createConnection: () => connect({ path: socketPath }) });

async function getInfo(session: ClientHttp2Session): Promise<void> {
  const call = session.request({
    ":method": "POST",
    ":path": "/pluginregistration.Registration/GetInfo",
    "content-type": "application/grpc",
    te: "trailers",
  });
  call.end(Buffer.alloc(5)); // One gRPC frame: not compressed, an empty message.
  await once(call.resume(), "end");
}
