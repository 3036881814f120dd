import { startCsiDriver } from "../../../src/testing";
import { cpuLimit, whyNoCgroups } from "../cgroups";
import { type Contestant, present } from "../contestants";
import { type Bench, type Finding, type Measure, ratioVerdict, type Table } from "../measure";
import { accepting, createPlace, DRIVER } from "../place";
import { start, workOf } from "../processes";
import { interleave, median, spread } from "../samples";

interface Start {
  readonly ms: number;
  readonly cpuMs: number;
}

interface Setting {
  readonly title: string;
  /** Thousandths of a CPU; undefined is no limit. */
  readonly millis?: number;
  readonly rounds: number;
  /** Times the bare net server. */
  readonly budget: number;
}

const SETTINGS: readonly Setting[] = [
  { title: "exec to socket accepting", rounds: 16, budget: 2.4 },
  { title: "exec to socket accepting, CPU limit 100m", millis: 100, rounds: 4, budget: 4.6 },
  { title: "exec to socket accepting, CPU limit 40m", millis: 40, rounds: 3, budget: 3.7 },
];

/** From the start of the process to the first connection that its socket accepts, the driver being up. */
export const startMeasure: Measure = {
  name: "start",
  run: async (bench) => {
    const reason = whyNoCgroups();
    const settings = SETTINGS.filter(({ millis }) => millis === undefined || reason === undefined);
    const findings: Finding[] = [];
    for (const setting of settings) findings.push(await measureSetting(setting, bench));
    return {
      tables: findings.flatMap(({ tables }) => tables),
      verdicts: findings.flatMap(({ verdicts }) => verdicts),
      skipped: reason ? [`start under a CPU limit: ${reason}`] : [],
    };
  },
};

async function measureSetting({ title, millis, rounds, budget }: Setting, bench: Bench): Promise<Finding> {
  bench.say(title);
  const { net, http2, registrar, cached, naive, official } = bench.contestants;
  await using driverPlace = await createPlace();
  const { csiAddress } = driverPlace;
  await using _driver = await startCsiDriver({ csiAddress, name: DRIVER });
  const starts = await interleave(
    millis === undefined
      ? present(net, http2, registrar, cached, naive, official)
      : present(net, cached, official),
    bench.rounds(rounds),
    (contestant) => startOnce(contestant, csiAddress, millis),
  );
  const bare = starts.get(net) ?? [];
  const timesBare = (one: readonly Start[]) => medianMs(one) / medianMs(bare);
  const table: Table = {
    title,
    head: ["", "ms", "times bare net", "CPU ms", "times bare net"],
    rows: Array.from(starts, ([{ name }, samples]) => [
      name,
      spread(samples.map(({ ms }) => ms)),
      timesBare(samples).toFixed(2),
      spread(samples.map(({ cpuMs }) => cpuMs)),
      (medianCpu(samples) / medianCpu(bare)).toFixed(2),
    ]),
  };
  const verdicts = [cached, ...(millis === undefined ? [registrar] : [])].map((contestant) =>
    ratioVerdict(contestant === cached ? title : `${title}, without the image's code cache`, {
      ms: medianMs(starts.get(contestant) ?? []),
      of: "bare net server",
      ofMs: medianMs(bare),
      most: budget,
      officialMs: official && medianMs(starts.get(official) ?? []),
    }),
  );
  return { tables: [table], verdicts };
}

async function startOnce(
  { command }: Contestant,
  csiAddress: string,
  millis: number | undefined,
): Promise<Start> {
  await using place = await createPlace(csiAddress);
  using limit = millis === undefined ? undefined : cpuLimit(millis);
  const line = command(place);
  const startedAt = performance.now();
  await using process = start(limit?.inside(line) ?? line);
  await accepting(place.socketPath);
  return { ms: performance.now() - startedAt, cpuMs: workOf(process.pid).cpuMs };
}

const medianMs = (samples: readonly Start[]) => median(samples.map(({ ms }) => ms));
const medianCpu = (samples: readonly Start[]) => median(samples.map(({ cpuMs }) => cpuMs));
