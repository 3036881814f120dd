import { startCsiDriver } from "../../../src/testing";
import { allRegistered } from "../../../test/kubelet/support/crowd";
import { cpuLimit, whyNoCgroups } from "../cgroups";
import { type Contestant, present } from "../contestants";
import { kubeletOn } from "../crowd";
import { freePort, statusOf } from "../http";
import { createKeeper, type Keeper } from "../keeper";
import { type Bench, type Measure, ratioVerdict, type Table, type Verdict } from "../measure";
import { accepting, createPlace, DRIVER, type Place } from "../place";
import { start, timeOf, workOf } from "../processes";
import { interleave, median, type Samples, spread } from "../samples";

const REQUESTS = 200;
const NODE = "node -e 0";
const OURS = "registrar --mode=kubelet-registration-probe";
const OFFICIAL = "official --mode=kubelet-registration-probe";

/** What probes cost: exec probes a process each, HTTP probes some CPU time of the one that runs. */
export const probesMeasure: Measure = {
  name: "probes",
  run: async (bench) => {
    await using owned = createKeeper();
    const place = owned.keep(await createPlace());
    owned.keep(await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER }));
    const kubelet = bench.kubelet && owned.keep(await kubeletOn(bench.kubelet, place.pluginDir));
    owned.keep(start(bench.contestants.cached.command(place)));
    await (kubelet ? allRegistered(kubelet, [DRIVER]) : accepting(place.socketPath));

    const reason = whyNoCgroups();
    const limits = reason ? [undefined] : [undefined, 100, 40];
    const exec: Samples[][] = [];
    const programs = execProbes(place, bench);
    for (const millis of limits) exec.push(await execTimes([...programs.values()], millis, bench));
    const http = await httpCosts(bench, owned);
    return {
      tables: [execTable([...programs.keys()], limits, exec), http.table],
      verdicts: [
        ...limits.map((millis, index) => {
          const of = (name: string) => median(exec[index]?.[[...programs.keys()].indexOf(name)] ?? []);
          const limit = millis === undefined ? "" : `, CPU limit ${millis}m`;
          const officialMs = bench.contestants.official && of(OFFICIAL);
          return ratioVerdict(`exec probe${limit}`, {
            ms: of(OURS),
            of: NODE,
            ofMs: of(NODE),
            most: 1.2,
            officialMs,
          });
        }),
        ...http.verdicts,
      ],
      skipped: reason ? [`probes under a CPU limit: ${reason}`] : [],
    };
  },
};

function execProbes(
  place: Place,
  { node, contestants, kubelet }: Bench,
): ReadonlyMap<string, readonly string[]> {
  const { cached: registrar, official } = contestants;
  const probe = (contestant: Contestant, mode: string) => contestant.command(place, [`--mode=${mode}`]);
  const programs: [string, readonly string[]][] = [
    [NODE, [node, "-e", "0"]],
    [OURS, probe(registrar, "kubelet-registration-probe")],
    ["registrar --mode=health-probe", probe(registrar, "health-probe")],
  ];
  // Where no kubelet registers the driver, it would fail.
  if (kubelet) programs.push(["registrar --mode=ready-probe", probe(registrar, "ready-probe")]);
  if (official) programs.push([OFFICIAL, probe(official, "kubelet-registration-probe")]);
  return new Map(programs);
}

async function execTimes(
  programs: readonly (readonly string[])[],
  millis: number | undefined,
  { rounds, say }: Bench,
): Promise<Samples[]> {
  say(`exec probes${millis === undefined ? "" : `, CPU limit ${millis}m`}`);
  const times = await interleave(programs, rounds(millis === undefined ? 16 : 4), async (program) => {
    using limit = millis === undefined ? undefined : cpuLimit(millis);
    return await timeOf(limit?.inside(program) ?? program);
  });
  return programs.map((program) => times.get(program) ?? []);
}

function execTable(
  names: readonly string[],
  limits: readonly (number | undefined)[],
  times: readonly Samples[][],
): Table {
  return {
    title: "an exec probe",
    head: ["ms", ...limits.map((millis) => (millis === undefined ? "no limit" : `${millis}m`))],
    rows: names.map((name, index) => [
      `\`${name}\``,
      ...limits.map((_, limit) => spread(times[limit]?.[index] ?? [])),
    ]),
    note: "From its start to its end, a registered registrar beside it.",
  };
}

async function httpCosts(
  { contestants, rounds, say }: Bench,
  owned: Keeper,
): Promise<{ readonly table: Table; readonly verdicts: readonly Verdict[] }> {
  say("HTTP probes");
  const probes: { readonly name: string; readonly pid: number; readonly url: string }[] = [];
  for (const contestant of present(contestants.cached, contestants.official)) {
    const place = owned.keep(await createPlace());
    owned.keep(await startCsiDriver({ csiAddress: place.csiAddress, name: DRIVER }));
    const port = await freePort();
    const { pid } = owned.keep(start(contestant.command(place, [`--http-endpoint=127.0.0.1:${port}`])));
    await accepting(place.socketPath);
    const paths =
      contestant === contestants.official ? ["/healthz"] : ["/healthz", "/livez", "/readyz", "/metrics"];
    for (const path of paths)
      probes.push({ name: `${contestant.name} ${path}`, pid, url: `http://127.0.0.1:${port}${path}` });
  }
  const costs = await interleave(probes, rounds(4), async ({ pid, url }) => {
    const before = workOf(pid).cpuMs;
    const startedAt = performance.now();
    for (let request = 0; request < REQUESTS; request++) await statusOf(url);
    const ms = (performance.now() - startedAt) / REQUESTS;
    return { ms, cpuMs: (workOf(pid).cpuMs - before) / REQUESTS };
  });
  const cpuMs = (contestant: Contestant) => {
    const probe = probes.find(({ name }) => name === `${contestant.name} /healthz`);
    return median((probe && costs.get(probe)?.map((cost) => cost.cpuMs)) ?? []);
  };
  const ours = cpuMs(contestants.cached);
  const table: Table = {
    title: "an HTTP probe",
    head: ["", "ms", "its CPU ms"],
    rows: Array.from(costs, ([{ name }, samples]) => [
      name,
      spread(
        samples.map(({ ms }) => ms),
        2,
      ),
      spread(
        samples.map(({ cpuMs: cost }) => cost),
        2,
      ),
    ]),
    note: "A new connection each, as kubelet's. /healthz looks at itself over the registration socket once a second, the official's each time.",
  };
  const verdict: Verdict = {
    what: "HTTP probe, /healthz",
    budget: "< 1 ms of CPU",
    measured: `${ours.toFixed(2)} ms`,
    isMet: ours < 1,
    official: contestants.official && `${cpuMs(contestants.official).toFixed(2)} ms`,
  };
  return { table, verdicts: [verdict] };
}
