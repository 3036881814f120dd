import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createTempFolder } from "../../../support/temp-folder";
import { PLAIN } from "./plain";
import { REFUSED } from "./refused";
import { REFUSED_OBJECTS } from "./refused-objects";

// What could not be read is never taken for an absent, an empty or a well one: where TypeScript does not see it, a search with its
// types does. It refuses these functions, each in a file of its own, and nothing in the doctor.

const HEAD = `
import { causeIn, check, ok, problem, unknown, type Verdict } from "SRC/findings/finding";
import type { Closed } from "SRC/findings/opened";
import { ifYes, isWhole, nothing, otherwise, type Seen, type SeenList, type Truth, wholes, withheld, words } from "SRC/findings/seen";
import { judgeEndpoint } from "SRC/node/judge/endpoint";
import { failureIn, silenceOf } from "SRC/node/judge/trouble";
import type { ClusterFacts } from "SRC/cluster/judge/facts";
import { inState } from "SRC/cluster/judge/state";
import { isWaitedFor } from "SRC/cluster/judge/states";
import type { FilesAndGaps, ManifestFacts } from "SRC/files/read/registrars";
import type { Driver, View } from "SRC/node/judge/view";
const [P, T, F] = ["/x", "is there", "correct it"] as const;
export const used: unknown[] = [causeIn, check, failureIn, ifYes, inState, isWaitedFor, isWhole, judgeEndpoint, nothing, ok, otherwise, problem, silenceOf, unknown, wholes, withheld, words, P, T, F];
export type Used = Verdict | Seen<SeenList<Truth>> | ClusterFacts | Closed<Driver> | FilesAndGaps | ManifestFacts | View;
`;

/** Beside them, in another file. */
const HELPER = `
import { ok, problem } from "SRC/findings/finding";
export const good = (path: string) => ok(path, "has all drivers");
export const bad = (path: string) => problem(path, "is no driver", "correct it");
`;

/** All that judges get. */
const FACTS = `
import type { FactsAndGaps } from "SRC/cluster/judge/facts";
import type { FilesAndGaps } from "SRC/files/read/registrars";
import type { View } from "SRC/node/judge/view";
export interface Facts { readonly files: Omit<FilesAndGaps, "gaps">; readonly cluster: Omit<FactsAndGaps, "gaps">; readonly node: View }
`;

/** What a colleague may write. */
const ESCAPES: readonly string[] = [
  "(view: View) => view.host.otherDirectories.some(({ isThere }) => isThere) ? problem(P, T, F) : undefined",
  "(view: View) => view.host.otherDirectories.find((one) => { return one.isThere; })",
  "(facts: ClusterFacts) => facts.places.flatMap(({ isListed, driver }) => isListed ? undefined : problem(driver, T, F))",
  "(facts: ClusterFacts) => facts.places.flatMap(({ pods, driver }) => pods === undefined && problem(driver, T, F))",
  "(view: View) => { const isDeserted = view.isDeserted; return !isDeserted ? problem(P, T, F) : undefined; }",
  "(view: View) => { while (view.isDeserted) return 1; return 2; }",
  "(view: View) => view.isDeserted === undefined ? ok(P, T) : undefined",
  "(view: View) => { const [first] = view.deadSockets.map(({ path }) => path); return first === undefined ? ok(P, T) : undefined; }",
  "(view: View) => { const all = [...view.drivers.map((one) => one)]; return all.length === 0 ? ok(P, T) : undefined; }",
  "(view: View) => new Set(view.drivers.map(({ names }) => names)).size > 1 ? problem(P, T, F) : ok(P, T)",
  "(view: View) => [...view.drivers.flatMap(({ names }) => names)].includes('x') ? undefined : ok(P, T)",
  "(view: View) => Array.from(view.drivers.flatMap(({ names }) => names), (name) => name).join() || 'none'",
  "({ registrars }: ManifestFacts) => { const [name = 'none'] = registrars.map(({ place }) => place); return name; }",
  "({ registrars }: ManifestFacts) => registrars.contains(() => true) ? 1 : 2",
  "({ registrars }: ManifestFacts) => { const names = new Set(registrars.map(({ place }) => place)); return registrars.filter(({ place }) => names.has(place)); }",
  "({ registrars }: ManifestFacts) => ({ ...registrars })",
  "({ registrars }: ManifestFacts) => { for (const one of registrars) used.push(one); }",
  "(facts: ClusterFacts) => facts.nodes.length",
  "({ driver }: View) => driver?.socket.at.kind !== 'accepting' ? problem(P, T, F) : ok(P, T)",
  "({ directory }: View) => directory.kind !== 'directory' ? ok(P, T) : undefined",
  "({ driver }: View) => driver?.socket.at.kind === 'accepting' ? ok(P, T) : problem(P, T, F)",
  "({ driver }: View) => { if (driver?.socket.at.kind === 'dead') return problem(P, T, F); return ok(P, T); }",
  "({ driver }: View) => { switch (driver?.socket.at.kind) { case 'accepting': return ok(P, T); default: return problem(P, T, F); } }",
  "({ driver }: View) => ['accepting', 'stuck'].includes(String(driver?.socket.at.kind)) ? ok(P, T) : problem(P, T, F)",
  "({ driver }: View) => { const { kind } = driver?.socket.at ?? {}; return kind === 'dead' ? problem(P, T, F) : ok(P, T); }",
  "({ directory: { kind } }: View) => kind !== 'missing' ? ok(P, T) : undefined",
  "(view: View) => { let count = 0; for (const _ of view.drivers.map(({ socket }) => socket.path)) count += 1; return count === 0 ? problem(P, T, F) : ok(P, T); }",
  "(view: View) => { let last: string | undefined; for (const one of view.drivers.map(({ socket }) => socket.path)) last = one; return last === undefined ? problem(P, T, F) : ok(P, T); }",
  "(view: View) => [...view.drivers.map(() => 1)].reduce((sum, one) => sum + one, 0) === 0 ? problem(P, T, F) : ok(P, T)",
  "(view: View) => { const { length } = [...view.drivers.map(() => 1)]; return length === 0 ? problem(P, T, F) : undefined; }",
  "({ folder }: View) => folder !== undefined ? ok(P, T) : problem(P, T, F)",
  "({ directory }: View) => directory === undefined ? problem(P, T, F) : ok(P, T)",
  "({ watched }: View) => watched === undefined ? problem(P, T, F) : ok(P, T)",
  "({ processes }: View) => processes.kubelets.flatMap(({ isDeaf }) => isDeaf ? problem(P, T, F) : ok(P, 'gets its events'))",
  "({ directory }: View) => directory.place === undefined ? problem(P, T, F) : ok(P, T)",
  "({ directory }: View) => directory.kind === 'unread' || directory.kind !== 'directory' || directory.kubeletSocket.kind === 'dead' ? undefined : ok('kubelet', 'runs')",
  "({ directory }: View) => directory.kind === 'unread' || directory.kind !== 'directory' || directory.place ? undefined : ok(P, T)",
  "({ hostPath }: View) => hostPath.kind !== 'wrong' ? ok(P, T) : undefined",
  "({ hostPath }: View) => hostPath.kind === 'fits' ? ok(P, T) : problem(P, T, F)",
  "(view: View) => view.drivers.flatMap(({ twins }) => twins.contains() ? undefined : ok(P, 'is the only one'))",
  "(view: View) => view.registrations.flatMap(({ isLeft, path }) => isLeft ? undefined : ok(path, T))",
  "(view: View) => view.drivers.flatMap(({ identity }) => identity?.kind === 'answered' ? ok(P, T) : problem(P, T, F))",
  "(view: View) => view.drivers.flatMap(({ names }) => names === undefined ? problem(P, T, F) : undefined)",
  "(view: View) => view.registrations.flatMap(({ answer, path }) => answer.kind !== 'plugin' ? problem(path, T, F) : undefined)",
  "(view: View) => view.socketsOnHost.size === 0 ? problem(P, T, F) : ok(P, T)",
  "(view: View) => { const bad = () => problem(P, T, F); return view.isDeserted({ yes: bad, no: () => undefined, unknown: bad }); }",
  "(view: View) => { const well = () => ok(P, T); return view.drivers.some({ yes: () => problem(P, T, F), no: well, unknown: well }); }",
  "(view: View) => view.isDeserted<Verdict | undefined>({ yes: () => undefined, no: () => undefined, unknown: () => problem(P, T, F) })",
  "(view: View) => { const say = (): Verdict => problem(P, T, F); return view.isDeserted({ yes: say, no: say, unknown: say }); }",
  "(facts: ClusterFacts) => facts.nodes.contains(() => true)({ yes: () => [], no: () => [], unknown: () => [problem(P, T, F)] })",
  "(view: View) => view.isDeserted({ yes: () => undefined, no: () => undefined, unknown: () => [[problem(P, T, F)]] })",
  "(view: View) => view.isDeserted<Verdict | undefined>({ yes: () => undefined, no: () => undefined, unknown: () => undefined })",
  "(view: View) => view.isDeserted({ yes: () => true, no: () => false, unknown: () => false }) ? ok(P, T) : problem(P, T, F)",
  "(view: View) => { const none = () => undefined; const one = view.drivers.some({ yes: ([driver]) => driver, no: none, unknown: none }); return one === undefined ? problem(P, T, F) : undefined; }",
  "(view: View) => { const none = () => undefined; return view.isDeserted({ yes: () => ok(P, T), no: none, unknown: none }) ?? problem(P, T, F); }",
  "(view: View) => view.isDeserted({ yes: () => ok(P, T), no: () => undefined, unknown: () => withheld }) ? ok(P, T) : problem(P, T, F)",
  "(view: View) => view.drivers.some({ yes: () => [1], no: () => [], unknown: () => [] }).length === 0 ? problem(P, T, F) : undefined",
  "(facts: ClusterFacts) => { let count = 0; for (const _ of facts.nodes) count += 1; return count === 0 ? problem(P, T, F) : ok(P, T); }",
  "(facts: ClusterFacts) => [...facts.nodes.map(() => 1)].reduce((sum, one) => sum + one, 0) === 0 ? problem(P, T, F) : ok(P, T)",
  "({ registrars }: ManifestFacts) => { const { length } = registrars.map(({ place }) => place); return length === 0 ? problem(P, T, F) : undefined; }",
  "(facts: ClusterFacts) => Boolean(facts.nodes.contains()) ? ok(P, T) : problem(P, T, F)",
  "(facts: ClusterFacts) => { const say = (one: unknown) => one === undefined ? problem(P, T, F) : ok(P, T); return say(facts.nodes.some({ yes: ([one]) => one, no: () => undefined, unknown: () => withheld })); }",
  "(facts: ClusterFacts) => { const found = { one: facts.nodes.some({ yes: ([one]) => one, no: () => undefined, unknown: () => withheld }) }; return found.one === undefined ? problem(P, T, F) : ok(P, T); }",
  "(facts: ClusterFacts) => facts.nodes.some({ yes: ([one]) => one.name, no: () => undefined, unknown: () => undefined })",
  "(facts: ClusterFacts) => facts.nodes.some({ yes: (all) => all, no: () => [], unknown: () => [] }).length === 0 ? problem(P, T, F) : ok(P, T)",
  "({ registrars }: ManifestFacts) => registrars.some({ yes: () => ok(P, T), no: () => problem(P, T, F), unknown: () => problem(P, T, F) })",
  "(facts: ClusterFacts) => facts.places.flatMap(({ state, driver }) => state.kind === 'registered' ? ok(driver, T) : problem(driver, T, F))",
  "(facts: ClusterFacts) => facts.places.flatMap(({ state: { kind }, driver }) => kind !== 'registered' ? problem(driver, T, F) : undefined)",
  "({ driver }: View) => driver?.socket.at({ seen: ({ kind }) => kind === 'accepting', unread: () => false }) ? ok(P, T) : problem(P, T, F)",
  "({ driver }: View) => driver?.socket.at({ seen: ({ kind }) => ok(P, kind), unread: () => problem(P, T, F) })",
  "({ driver }: View) => driver && 'explanation' in driver.socket.at ? problem(P, T, F) : ok(P, T)",
  "({ driver }: View) => driver !== undefined && driver.socket.inode === undefined ? problem(P, T, F) : ok(P, T)",
  "({ driver }: View) => driver !== undefined && driver.nodeInfo === undefined ? problem(P, T, F) : undefined",
  "({ driver }: View) => driver?.spoken !== 'http2' ? problem(P, T, F) : undefined",
  "({ driver }: View) => driver !== undefined && silenceOf(driver) === undefined ? ok(P, T) : problem(P, T, F)",
  "({ driver }: View) => driver !== undefined && failureIn(driver.nodeInfo) === undefined ? ok(P, T) : problem(P, T, F)",
  "({ driver }: View) => driver?.nodeInfo.map(failureIn) ? problem(P, T, F) : ok(P, T)",
  "({ answering }: View) => answering.map(({ endpoint }) => endpoint === undefined ? problem(P, T, F) : undefined)",
  "({ registrations }: View) => registrations.map(({ isAskedFor }) => isAskedFor ? problem(P, T, F) : ok(P, T))",
  "(view: View) => view.targetNames === undefined ? problem(P, T, F) : ok(P, T)",
  "({ folder }: View) => folder.map(({ isReadOnly }) => isReadOnly ? problem(P, T, F) : ok(P, T))",
  "({ folder }: View) => folder.map(({ kubeletSocket }) => kubeletSocket.at.kind === 'dead' ? undefined : ok('kubelet', 'runs'))",
  "({ hostPath }: View) => hostPath({ seen: ({ kind }) => kind, unread: () => undefined }) === undefined ? ok(P, T) : problem(P, T, F)",
  "(view: View) => wholes(view.drivers)({ seen: ([all]) => all.length > 0, unread: () => false }) ? ok(P, T) : problem(P, T, F)",
  "(view: View) => wholes(view.drivers)({ seen: ([all]) => all, unread: () => [] }).length > 0 ? ok(P, T) : problem(P, T, F)",
  "(view: View) => wholes(view.drivers) ? ok(P, T) : problem(P, T, F)",
  "(view: View) => ifYes(view.isDeserted, () => ok(P, T)) ? ok(P, T) : problem(P, T, F)",
  "(view: View) => ifYes(view.isDeserted, () => ok(P, T)) ?? problem(P, T, F)",
  "(view: View) => { let found = false; return [view.drivers.map(() => { found = true; return undefined; }), found ? undefined : problem(P, T, F)]; }",
  "(view: View) => { const found: string[] = []; return [view.drivers.map(({ socket }) => { found.push(socket.path); return undefined; }), found.length > 0 ? undefined : problem(P, T, F)]; }",
  "(view: View) => { let count = 0; return [view.isDeserted({ yes: () => count++, no: () => 1, unknown: () => withheld }), count > 0 ? ok(P, T) : problem(P, T, F)]; }",
];

/** What refuses it; `no field`: nothing but that a fact has no such field, and what follows from that. */
function byWhat(lines: readonly string[]) {
  const errors = lines.filter((line) => / TypeScript: (?!.* implicitly has an 'any' type)/.test(line));
  const others = errors.filter(
    (line) => !/Property '\w+' does not exist on type '(?:\{|View|Place|\w+Facts)/.test(line),
  );
  if (others.length > 0) return "TypeScript";
  return errors.length > 0 ? "no field" : "search";
}

const PLAIN_FIELDS = Object.values(PLAIN)
  .flat()
  .flatMap((one) => {
    const [owner, fields = ""] = one.split(": ");
    return fields.split(" ").map((field) => `${owner}.${field}`);
  });

test("no judge of the doctor, and each of these, takes something unread for an absent one", async () => {
  await using folder = await createTempFolder();
  const doctor = resolve("src/tools/doctor");
  mkdirSync(folder.at("escapes/judge"), { recursive: true });
  const fileOf = (at: number) => `escapes/judge/${at}.ts`;
  writeFileSync(folder.at("escapes/judge/helper.ts"), HELPER.replaceAll("SRC", doctor));
  writeFileSync(folder.at("escapes/facts.ts"), FACTS.replaceAll("SRC", doctor));
  const expected = [...REFUSED, ...REFUSED_OBJECTS];
  const all = [...ESCAPES, ...expected.map((one) => one.replace(/^[\w ]+: /, ""))];
  for (const [at, code] of all.entries())
    writeFileSync(folder.at(fileOf(at)), `${HEAD}export const escape = ${code};\n`.replaceAll("SRC", doctor));
  const compilerOptions = { typeRoots: [resolve("node_modules/@types")] };
  const include = [resolve("src"), folder.at("escapes")];
  const config = { extends: resolve("tsconfig.json"), compilerOptions, include };
  writeFileSync(folder.at("tsconfig.json"), JSON.stringify(config));
  const program = join(__dirname, "escapes.mjs");
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...[program, folder.at("tsconfig.json"), doctor, folder.path],
  ]);
  const [plain, lines] = [
    stdout.matchAll(/^plain: (.*?):/gm),
    stdout.split("\n").filter((line) => /^(?!plain: )./.test(line)),
  ];
  // Whatever is read newly is Seen, or it is said here why it is certain.
  expect(Array.from(plain, ([, path]) => path).sort()).toEqual(PLAIN_FIELDS.sort());
  const found = all.map((_, at) => lines.filter((line) => line.includes(`/${fileOf(at)}:`)));
  expect(all.filter((_, at) => found[at]?.length === 0)).toEqual([]);
  const refused = found.slice(ESCAPES.length).map((own, at) => {
    return `${byWhat(own)}: ${all[ESCAPES.length + at]}`;
  });
  expect(refused).toEqual(expected);
  expect(ESCAPES.filter((_, at) => byWhat(found[at] ?? []) === "no field")).toEqual([]);
  expect(lines.filter((line) => !line.includes("/escapes/"))).toEqual([]);
  // Without them the files are well.
  expect(found.flat().filter((line) => !line.includes(`.ts:${HEAD.split("\n").length}:`))).toEqual([]);
});
