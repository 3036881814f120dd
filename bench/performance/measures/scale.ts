import { cpus } from "node:os";
import { allRegistered } from "../../../test/kubelet/support/crowd";
import { type Crowd, kubeletOn, startCrowd } from "../crowd";
import { createKeeper } from "../keeper";
import { type Bench, type Measure, skipped, type Verdict } from "../measure";
import { accepting } from "../place";
import { start, workOf } from "../processes";
import { interleave, median, spread } from "../samples";

const MANY = 200;
const LIMIT_S = 10;

/** 200 drivers in one process, with kubelet's real code. */
export const scaleMeasure: Measure = {
  name: "scale",
  run: async (bench) => {
    if (bench.kubelet === undefined) return skipped("scale: no kubelet");
    bench.say(`${MANY} drivers in one process`);
    const first = await furtherDriver(0, bench);
    const many = await manyDrivers(bench.kubelet, bench);
    const next = await furtherDriver(MANY, bench);
    const [firstMs, nextMs] = [first, next].map((samples) => median(samples.map(({ ms }) => ms)));
    const within = (what: string, seconds: number): Verdict => ({
      what,
      budget: `<= ${LIMIT_S} s`,
      measured: `${seconds.toFixed(1)} s`,
      isMet: seconds <= LIMIT_S,
    });
    return {
      tables: [
        {
          title: `${MANY} drivers in one process`,
          head: ["", "", "CPU ms of the registrar"],
          rows: [
            ["exec to all registered", `${many.startS.toFixed(1)} s`, many.startCpuMs.toFixed(0)],
            [
              "kubelet restarted to all registered",
              `${many.restartS.toFixed(1)} s`,
              many.restartCpuMs.toFixed(0),
            ],
            ...[
              ["the first driver listening to its socket accepting", first] as const,
              [`driver ${MANY + 1} listening to its socket accepting`, next] as const,
            ].map(([what, samples]) => [
              what,
              `${spread(
                samples.map(({ ms }) => ms),
                1,
              )} ms`,
              spread(
                samples.map(({ cpuMs }) => cpuMs),
                1,
              ),
            ]),
          ],
          note: `The drivers, kubelet and the registrar share ${cpus().length} CPUs.`,
        },
      ],
      verdicts: [
        within(`${MANY} drivers registered after the start`, many.startS),
        within(`${MANY} drivers registered again after kubelet restarted`, many.restartS),
        {
          what: `driver ${MANY + 1} against the first, listening to socket accepting`,
          budget: "the same, within 5 ms",
          measured: `${((nextMs ?? 0) - (firstMs ?? 0)).toFixed(1)} ms more`,
          isMet: (nextMs ?? 0) - (firstMs ?? 0) <= 5,
        },
      ],
    };
  },
};

async function manyDrivers(version: string, { contestants }: Bench) {
  await using owned = createKeeper();
  const crowd = owned.keep(await startCrowd(MANY));
  const pluginDir = crowd.pluginDir("reg");
  const kubelet = owned.keep(await kubeletOn(version, pluginDir));
  const startedAt = performance.now();
  const registrar = owned.keep(start(contestants.registrar.command(crowd.everybody(pluginDir))));
  await allRegistered(kubelet, crowd.names);
  const registeredAt = performance.now();
  const startCpuMs = workOf(registrar.pid).cpuMs;
  const restartedAt = performance.now();
  const second = owned.keep(await kubelet.restart());
  await allRegistered(second, crowd.names);
  const againAt = performance.now();
  return {
    startS: (registeredAt - startedAt) / 1_000,
    startCpuMs,
    restartS: (againAt - restartedAt) / 1_000,
    restartCpuMs: workOf(registrar.pid).cpuMs - startCpuMs,
  };
}

/** What one more driver costs a node-wide registrar that has `before` already. */
async function furtherDriver(before: number, { contestants, rounds }: Bench) {
  await using owned = createKeeper();
  const crowd = owned.keep(await startCrowd(before));
  const pluginDir = crowd.pluginDir("reg");
  const { pid } = owned.keep(start(contestants.registrar.command(crowd.everybody(pluginDir))));
  await Promise.all(crowd.names.map((_, number) => accepting(crowd.single(number, pluginDir).socketPath)));
  const arrive = async (_: Crowd, round: number) => {
    const number = before + 1 + round;
    const { cpuMs } = workOf(pid);
    await crowd.add(number);
    const listeningAt = performance.now();
    await accepting(crowd.single(number, pluginDir).socketPath);
    const sample = { ms: performance.now() - listeningAt, cpuMs: workOf(pid).cpuMs - cpuMs };
    await crowd.remove(number);
    return sample;
  };
  return (await interleave([crowd], rounds(10), arrive)).get(crowd) ?? [];
}
