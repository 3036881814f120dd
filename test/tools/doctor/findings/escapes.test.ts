import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createTempFolder } from "../../../support/temp-folder";

// What could not be read is never taken for an absent, an empty or a well one: where TypeScript does not see it, a search with its
// types does. It refuses these functions, each in a file of its own, and nothing in the doctor.

const HEAD = `
import { causeIn, check, ok, problem, unknown, type Verdict } from "SRC/findings/finding";
import type { Closed } from "SRC/findings/opened";
import { ifYes, isWhole, nothing, otherwise, type Seen, type SeenList, type Truth, wholes, withheld, words } from "SRC/findings/seen";
import { judgeEndpoint } from "SRC/node/judge/endpoint";
import { failureIn, silenceOf } from "SRC/node/judge/trouble";
import type { ClusterFacts } from "SRC/cluster/judge/facts";
import { inState, isWaitedFor } from "SRC/cluster/judge/states";
import type { ManifestFacts } from "SRC/files/read/registrars";
import type { Driver, View } from "SRC/node/judge/view";
const [P, T, F] = ["/x", "is there", "correct it"] as const;
export const used: unknown[] = [causeIn, check, failureIn, ifYes, inState, isWaitedFor, isWhole, judgeEndpoint, nothing, ok, otherwise, problem, silenceOf, unknown, wholes, withheld, words, P, T, F];
export type Used = Verdict | Seen<SeenList<Truth>> | ClusterFacts | Closed<Driver> | ManifestFacts | View;
`;

/** What a colleague may write. */
const ESCAPES: readonly string[] = [
  "(view: View) => view.host.otherDirectories.some(({ isThere }) => isThere) ? problem(P, T, F) : undefined",
  "(view: View) => view.host.otherDirectories.find((one) => { return one.isThere; })",
  "(facts: ClusterFacts) => facts.places.flatMap(({ listing, driver }) => listing.kind === 'one' && listing.isListed ? undefined : problem(driver, T, F))",
  "(facts: ClusterFacts) => facts.places.flatMap(({ pods, driver }) => pods === undefined && problem(driver, T, F))",
  "(view: View) => { const isDeserted = view.isDeserted; return !isDeserted ? problem(P, T, F) : undefined; }",
  "(view: View) => { while (view.isDeserted) return 1; return 2; }",
  "(view: View) => view.isDeserted === undefined ? ok(P, T) : undefined",
  "(view: View) => { const [first] = view.deadSockets.map(({ socket }) => socket); return first === undefined ? ok(P, T) : undefined; }",
  "(view: View) => { const all = [...view.drivers.map((one) => one)]; return all.length === 0 ? ok(P, T) : undefined; }",
  "(view: View) => new Set(view.drivers.map(({ name }) => name)).size > 1 ? problem(P, T, F) : ok(P, T)",
  "(view: View) => [...view.drivers.map(({ name }) => name)].includes('x') ? undefined : ok(P, T)",
  "(view: View) => Array.from(view.drivers.map(({ name }) => name), (name) => name).join() || 'none'",
  "({ registrars }: ManifestFacts) => { const [name = 'none'] = registrars.map(({ place }) => place); return name; }",
  "({ registrars }: ManifestFacts) => registrars.contains(() => true) ? 1 : 2",
  "({ registrars }: ManifestFacts) => { const names = new Set(registrars.map(({ place }) => place)); return registrars.filter(({ place }) => names.has(place)); }",
  "({ registrars }: ManifestFacts) => ({ ...registrars })",
  "({ registrars }: ManifestFacts) => { for (const one of registrars) used.push(one); }",
  "(facts: ClusterFacts) => facts.nodes.length",
  "({ driver }: View) => driver?.socket.kind !== 'accepting' ? problem(P, T, F) : ok(P, T)",
  "({ directory }: View) => directory.kind !== 'directory' ? ok(P, T) : undefined",
  "({ driver }: View) => driver?.socket.kind === 'accepting' ? ok(P, T) : problem(P, T, F)",
  "({ driver }: View) => { if (driver?.socket.kind === 'dead') return problem(P, T, F); return ok(P, T); }",
  "({ driver }: View) => { switch (driver?.socket.kind) { case 'accepting': return ok(P, T); default: return problem(P, T, F); } }",
  "({ driver }: View) => ['accepting', 'stuck'].includes(String(driver?.socket.kind)) ? ok(P, T) : problem(P, T, F)",
  "({ driver }: View) => { const { kind } = driver?.socket ?? {}; return kind === 'dead' ? problem(P, T, F) : ok(P, T); }",
  "({ directory: { kind } }: View) => kind !== 'missing' ? ok(P, T) : undefined",
  "(view: View) => { let count = 0; for (const _ of view.drivers.map(({ path }) => path)) count += 1; return count === 0 ? problem(P, T, F) : ok(P, T); }",
  "(view: View) => { let last: string | undefined; for (const one of view.drivers.map(({ socket }) => socket.path)) last = one; return last === undefined ? problem(P, T, F) : ok(P, T); }",
  "(view: View) => [...view.drivers.map(() => 1)].reduce((sum, one) => sum + one, 0) === 0 ? problem(P, T, F) : ok(P, T)",
  "(view: View) => { const { length } = [...view.drivers.map(() => 1)]; return length === 0 ? problem(P, T, F) : undefined; }",
  "({ folder }: View) => folder !== undefined ? ok(P, T) : problem(P, T, F)",
  "({ directory }: View) => directory === undefined ? problem(P, T, F) : ok(P, T)",
  "({ watched }: View) => watched === undefined ? problem(P, T, F) : ok(P, T)",
  "({ deaf }: View) => deaf === undefined ? ok(P, 'gets its events') : problem(P, T, F)",
  "({ processes }: View) => processes.kubelets.flatMap(({ isDeaf }) => isDeaf ? problem(P, T, F) : ok(P, 'gets its events'))",
  "({ directory }: View) => directory.place === undefined ? problem(P, T, F) : ok(P, T)",
  "({ directory }: View) => directory.kind === 'unread' || directory.kind !== 'directory' || directory.kubeletSocket.kind === 'dead' ? undefined : ok('kubelet', 'runs')",
  "({ directory }: View) => directory.kind === 'unread' || directory.kind !== 'directory' || directory.place ? undefined : ok(P, T)",
  "({ hostPath }: View) => hostPath.kind !== 'wrong' ? ok(P, T) : undefined",
  "({ hostPath }: View) => hostPath.kind === 'fits' ? ok(P, T) : problem(P, T, F)",
  "(view: View) => view.drivers.flatMap(({ hasTwin }) => hasTwin ? undefined : ok(P, 'is the only one'))",
  "(view: View) => view.registrations.flatMap(({ report, path }) => report === undefined ? ok(path, 'is official') : undefined)",
  "(view: View) => view.registrations.flatMap(({ isLeft, path }) => isLeft ? undefined : ok(path, T))",
  "(view: View) => view.drivers.flatMap(({ name, socket }) => name === undefined ? problem(socket.path, T, F) : undefined)",
  "(view: View) => view.drivers.flatMap(({ identity }) => identity?.kind === 'answered' ? ok(P, T) : problem(P, T, F))",
  "(view: View) => view.drivers.flatMap(({ names }) => names === undefined ? problem(P, T, F) : undefined)",
  "(view: View) => view.registrations.flatMap(({ plugin, path }) => plugin === undefined ? problem(path, T, F) : undefined)",
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
  "({ registrations }: View) => registrations.map(({ endpoint }) => endpoint === undefined ? problem(P, T, F) : undefined)",
  "({ registrations }: View) => registrations.map(({ plugin }) => plugin === undefined ? problem(P, T, F) : undefined)",
  "({ registrations }: View) => registrations.map(({ isAskedFor }) => isAskedFor ? problem(P, T, F) : ok(P, T))",
  "(view: View) => view.targetNames === undefined ? problem(P, T, F) : ok(P, T)",
  "({ folder }: View) => folder.map(({ unwritable }) => unwritable ? problem(P, T, F) : ok(P, T))",
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

/** The same, and what refuses each. */
const REFUSED: readonly string[] = [
  // A sentinel in place of the unknown.
  "TypeScript: (view: View) => view.drivers.some({ yes: ({ first }) => first, ...otherwise(() => null) }) === null ? problem(P, T, F) : ok(P, T)",
  "TypeScript: (view: View) => (view.targetNames.some({ yes: ({ first }) => first, ...otherwise(() => '') }) || undefined) === undefined ? problem(P, T, F) : ok(P, T)",
  "TypeScript: (view: View) => view.drivers.some({ yes: () => new Set([P]), ...otherwise(() => new Set<string>()) }).size === 0 ? problem(P, T, F) : ok(P, T)",
  "TypeScript: (view: View) => view.isDeserted({ yes: () => ({ is: true }), ...otherwise(() => ({ is: false })) }).is ? ok(P, T) : problem(P, 'is deserted', F)",
  "TypeScript: (view: View) => view.isDeserted({ yes: () => 'yes', ...otherwise(() => 'no') }) === 'no' ? ok(P, 'has a driver') : problem(P, T, F)",
  "TypeScript: (view: View) => wholes(view.drivers)({ seen: ([all]) => all.length, unread: () => null }) ? ok(P, T) : problem(P, T, F)",
  "TypeScript: ({ driver }: View) => driver?.identity({ seen: (one) => failureIn(one) ?? null, unread: () => null }) === null ? ok(P, 'answers') : problem(P, T, F)",
  "TypeScript: (view: View) => view.drivers.map((one) => silenceOf(one).some({ yes: ({ first }) => problem(P, first, F), ...otherwise(() => null) }) ?? ok(P, 'answers'))",
  "TypeScript: (view: View) => view.isDeserted({ yes: nothing, ...otherwise(() => problem(P, T, F)) })",
  "TypeScript: (view: View) => view.isDeserted({ yes: () => 1, no: () => 2, unknown: () => Symbol('3') })",
  "TypeScript: (view: View) => view.isDeserted({ yes: () => 1, no: () => 2, unknown: () => () => 3 })",
  "TypeScript: (view: View) => view.isDeserted({ yes: () => [P], no: () => [], unknown: (): string[] => [] }).length === 0 ? problem(P, T, F) : ok(P, T)",
  "TypeScript: (view: View) => view.isDeserted({ yes: () => new Map([[P, T]]), no: () => new Map(), unknown: () => new Map() })",
  "TypeScript: (view: View) => view.isDeserted.say({ yes: () => problem(P, T, F), no: () => ok(P, T), unknown: () => ok(P, T) })",
  "TypeScript: (view: View) => wholes(view.drivers).is(([all]) => all.length === 0)({ yes: () => problem(P, T, F), ...otherwise(() => ok(P, T)) })",
  // The items of a part of a list.
  "TypeScript: (facts: ClusterFacts) => facts.nodes.some({ yes: (all) => all.every((one) => one.isReady) ? undefined : problem(P, T, F), no: nothing, unknown: withheld })",
  "TypeScript: (view: View) => view.drivers.grouped(() => '').map((all) => all.length === 1 ? problem(P, 'is the only driver', F) : ok(P, T))",
  "TypeScript: (facts: ClusterFacts) => facts.places.grouped(({ driver }) => driver).map((group) => group.every(inState('registered')) ? ok(P, T) : problem(P, T, F))",
  "TypeScript: (facts: ClusterFacts) => facts.places.grouped(({ driver }) => driver).map((group) => group.filter((one) => isWaitedFor(one, facts)).length === 0 ? ok(P, T) : problem(P, T, F))",
  "TypeScript: ({ limitRanges }: ManifestFacts) => limitRanges.grouped(() => '').map((all) => all.flat().length)",
  "TypeScript: (view: View) => view.registrations.map(({ found }) => found.map(({ endpoint }) => endpoint?.identity.items(() => P).grouped(() => '').map((all) => all.length)))",
  "search: (view: View) => view.drivers.grouped(() => '').map((all) => all.others.contains() ? problem(P, T, F) : ok(P, T))",
  "search: (view: View) => isWhole(view.drivers) ? ok(P, T) : problem(P, T, F)",
  // Who claims that keys are unique.
  "TypeScript: (facts: ClusterFacts) => facts.pods.by(({ setUid }) => setUid, 'unique')('uid').contains(({ node }) => node === 'n')({ yes: () => ok(P, T), no: () => problem(P, T, F), unknown: withheld })",
  // Answers in an array, and functions that take any value for yes.
  "search: (view: View) => view.drivers.map(({ isNode, isWanted }) => [isNode, isWanted].every(Boolean) ? problem(P, T, F) : ok(P, T))",
  "search: (view: View) => [view.driver, view.isDeserted].filter(Boolean).length === 2 ? problem(P, T, F) : ok(P, T)",
  "TypeScript: (view: View) => { const isThere = (one: { isThere: Truth }) => one.isThere; return view.host.otherDirectories.some(isThere) ? problem(P, T, F) : ok(P, T); }",
  "TypeScript: (view: View) => view.host.otherDirectories.some(function (one) { return one.isThere; }) ? problem(P, T, F) : ok(P, T)",
  "search: (one: Driver) => { const isNode = (driver: Driver) => driver.isNode; return [one].some(isNode) ? problem(P, T, F) : ok(P, T); }",
  "search: (one: Driver) => [one].find(function (driver) { return driver.isNode; })",
  "search: (view: View) => { const choose = <One, Say>(one: One, yes: Say, no: Say) => one ? yes : no; return choose(view.isDeserted, problem(P, T, F), undefined); }",
  "search: (view: View) => { const isSo = (one: unknown) => { if (one) return problem(P, T, F); return ok(P, T); }; return isSo(view.isDeserted); }",
  "search: (view: View) => Number(view.isDeserted) > 0 ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => typeof view.isDeserted({ yes: () => P, no: () => T, unknown: withheld }) === 'string' ? ok(P, T) : problem(P, T, F)",
  "search: (view: View) => view.isDeserted({ yes: () => problem(P, T, F), no: nothing, unknown: withheld }) === undefined ? ok(P, T) : undefined",
  // Effects of what is done with each item.
  "search: (view: View) => { const found: string[] = []; const note = (path: string) => { found.push(path); return undefined; }; return [view.drivers.map(({ socket }) => note(socket.path)), found.length > 0 ? undefined : problem(P, T, F)]; }",
  "search: (view: View) => { let n = 0; view.drivers.map(function () { n += 1; return n; }); return n === 0 ? problem(P, T, F) : ok(P, T); }",
  "search: (view: View) => { const seen = new Map<string, number>(); view.drivers.map(({ socket }) => seen.set(socket.path, 1)); return seen.size > 0 ? ok(P, T) : problem(P, T, F); }",
  // Texts, causes and findings are told, and not asked.
  "TypeScript: (view: View) => ifYes(view.isDeserted, () => 'yes').told('no') === 'no' ? ok(P, T) : problem(P, T, F)",
  "search: (view: View) => `\x24{ifYes(view.isDeserted, () => 'yes').told('no')}` === 'no' ? ok(P, T) : problem(P, T, F)",
  "search: (view: View) => ifYes(view.isDeserted, () => 'yes').told('') ? ok(P, T) : problem(P, T, F)",
  "TypeScript: (view: View) => words`\x24{view.drivers.grouped(() => '').map((all) => all.joined(() => P)).told(P)}`.length === 0 ? ok(P, T) : problem(P, T, F)",
  "TypeScript: (view: View) => view.drivers.text(({ length }) => `\x24{length}`) === '0' ? ok(P, T) : problem(P, T, F)",
  "TypeScript: (view: View) => view.drivers.grouped(() => '').map((all) => all.tell(({ isNode }) => isNode, { yes: () => P, no: () => '', unknown: () => '' }) === '' ? ok(P, T) : problem(P, T, F))",
  "search: (view: View) => view.answering.map((one) => causeIn(judgeEndpoint(one, view), undefined) === undefined ? ok(P, 'has a good endpoint') : problem(P, T, F))",
  "TypeScript: (view: View) => view.isDeserted({ yes: () => problem(P, T, F), no: () => ok(P, T), unknown: () => unknown(P, T) }).status === 'problem' ? undefined : ok(P, T)",
  "search: (view: View) => { const all = changed<Verdict, Verdict>(view.drivers.map(({ socket }) => problem(socket.path, T, F)), (one) => one); return all instanceof Array ? ok(P, T) : all; }; import { changed } from 'SRC/findings/seen'",
  // What may be a claim is no text, nor is what does not say what it lacks.
  "TypeScript: (view: View) => ok(P, view.drivers.map(({ socket }) => socket.path).told('has no driver'))",
  "TypeScript: (view: View) => problem(view.targetNames.told('no driver'), T, F)",
  "TypeScript: (view: View) => problem(P, words`is used by \x24{ifYes(view.isDeserted, () => P).told('none')}`, F)",
  "TypeScript: (view: View) => problem(P, view.isDeserted({ yes: () => 'is deserted', ...otherwise(() => words`has a driver`) }), F)",
  "TypeScript: (view: View) => problem(P, view.drivers.some({ yes: (all) => all.counted('driver'), no: () => 'no driver', unknown: () => words`no driver` }), F)",
  "TypeScript: ({ driver }: View) => problem(P, words`\x24{driver?.identity({ seen: ({ kind }) => kind, unread: () => words`unasked` }) ?? ''}`, F)",
  // What opens them.
  "search: (view: View) => seenOf(view.drivers).length === 0 ? problem(P, T, F) : ok(P, T); import { itemsOf as seenOf } from 'SRC/findings/opened'",
  "search: (view: View) => trueOrNull(view.isDeserted) ? problem(P, T, F) : ok(P, T); import { trueOrNull } from 'SRC/findings/opened'",
  "search: (view: View) => findingsOf(driverChecks, view).length === 0 ? problem(P, 'no driver', F) : ok(P, T); import { findingsOf } from 'SRC/findings/report'; import { driverChecks } from 'SRC/node/judge/driver'",
  "search: (view: View) => findingsOf(driverChecks, view).some(({ status }) => status === 'problem') ? undefined : ok(P, 'is well'); import { findingsOf } from 'SRC/findings/report'; import { driverChecks } from 'SRC/node/judge/driver'",
  "search: async (view: View) => (await import('SRC/findings/opened')).itemsOf(view.drivers).length === 0 ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => Object.getOwnPropertySymbols(view.drivers).map((one) => Reflect.get(view.drivers, one))",
  // A known value in place of the unknown.
  "TypeScript: (view: View) => view.isDeserted({ yes: () => truth(true), ...otherwise(() => truth(false)) })({ yes: nothing, no: () => ok(P, T), unknown: withheld }); import { truth } from 'SRC/findings/seen'",
  "TypeScript: (view: View) => view.drivers.some({ yes: (all) => all.map(() => 1), ...otherwise(() => listFrom<number>([])) }).contains()({ yes: nothing, no: () => problem(P, T, F), unknown: withheld }); import { listFrom } from 'SRC/findings/seen'",
  "TypeScript: (view: View) => view.isDeserted({ yes: nothing, no: nothing, unknown: () => listFrom([problem(P, T, F)]) }); import { listFrom } from 'SRC/findings/seen'",
  "TypeScript: (view: View) => view.isDeserted({ yes: nothing, no: nothing, unknown: () => kept(problem(P, T, F)) }); import { kept } from 'SRC/findings/seen'",
  "TypeScript: (view: View) => view.drivers.some({ yes: nothing, no: nothing, unknown: () => kept(view.isDeserted) }); import { kept } from 'SRC/findings/seen'",
  "TypeScript: ({ driver }: View) => driver?.identity({ seen: () => truth(true), unread: () => truth(false) }); import { truth } from 'SRC/findings/seen'",
  // A known value under a type that hides it.
  "search: (view: View) => view.isDeserted<Truth>({ yes: () => truth(true), no: () => truth(false), unknown: () => truth(false) }).not(); import { truth } from 'SRC/findings/seen'",
  "search: (view: View) => view.drivers.some<Truth>({ yes: () => truth(true), ...otherwise(() => truth(false)) }).not(); import { truth } from 'SRC/findings/seen'",
  "search: (view: View) => view.isDeserted({ yes: () => truth(true), ...otherwise<Truth>(() => truth(false)) }).not(); import { truth } from 'SRC/findings/seen'",
  "TypeScript: (view: View) => view.isDeserted({ yes: nothing, no: nothing, unknown: (): State => ({ kind: 'silent' }) }); type State = { kind: 'silent' } | { kind: 'unread' }",
  "search: (view: View) => view.isDeserted({ yes: () => truth(true), no: () => truth(false), unknown: () => truth(false) as Truth }).not(); import { truth } from 'SRC/findings/seen'",
  "TypeScript: (view: View): State => view.isDeserted({ yes: () => ({ kind: 'unread' }) as const, ...otherwise(() => ({ kind: 'silent' }) as const) }); type State = { kind: 'silent' } | { kind: 'unread' }",
  "search: (view: View) => view.isDeserted({ yes: () => truth(true), ...otherwise((): Truth => truth(false)) }).not(); import { truth } from 'SRC/findings/seen'",
  "search: (view: View) => { const no = (): Truth => truth(false); return view.isDeserted({ yes: () => truth(true), no, unknown: no }); }; import { truth } from 'SRC/findings/seen'",
  "search: (view: View) => { const no: Truth = truth(false); return view.isDeserted({ yes: () => truth(true), ...otherwise(() => no) }); }; import { truth } from 'SRC/findings/seen'",
  "search: (view: View) => { function no(): Truth { return truth(false); } return view.isDeserted({ yes: () => truth(true), ...otherwise(no) }); }; import { truth } from 'SRC/findings/seen'",
  "search: (view: View) => view.isDeserted({ yes: nothing, ...otherwise((): SeenList<string> => listFrom([P])) }); import { listFrom } from 'SRC/findings/seen'",
  // A state that may be known, whatever makes it; or that knows more than why.
  "TypeScript: (view: View) => { const no = (one: string): State => ({ kind: one === P ? 'silent' : 'unread' }); return view.isDeserted({ yes: nothing, no: nothing, unknown: () => no(P) }); }; type State = { kind: 'silent' } | { kind: 'unread' }",
  "TypeScript: ({ driver }: View) => driver?.identity({ seen: nothing, unread: () => stand(P) }); type State = { kind: 'silent' } | { kind: 'unread' }; const stand = (_one: string): State => ({ kind: 'silent' })",
  "TypeScript: (facts: ClusterFacts) => facts.places.map((place) => facts.hasGuess({ yes: nothing, no: nothing, unknown: () => place.state }))",
  "TypeScript: (view: View) => view.isDeserted({ yes: () => ({ kind: 'seen', isBad: true }) as const, no: () => ({ kind: 'seen', isBad: false }) as const, unknown: () => ({ kind: 'unread', isBad: false }) as const }).isBad ? problem(P, T, F) : ok(P, T)",
  "TypeScript: (view: View) => view.isDeserted({ yes: nothing, no: nothing, unknown: () => JSON.parse('{}') })",
  "TypeScript: (view: View) => { const kind: 'absent' | 'unread' = used.length > 0 ? 'absent' : 'unread'; return view.isDeserted({ yes: nothing, no: nothing, unknown: () => ({ kind }) }); }",
  // An error in place of it.
  "TypeScript: (view: View) => attempt(() => view.isDeserted({ yes: () => true, no: () => false, unknown: () => refuse('') })) === true ? problem(P, T, F) : ok(P, T); const refuse = (text: string): never => { throw new Error(text); }; import { attempt } from 'SRC/../../base/errors'",
  "TypeScript: (view: View) => view.isDeserted({ yes: () => 1, no: () => 2, unknown: () => { throw new Error(P); } })",
  "TypeScript: ({ driver }: View) => driver?.identity({ seen: () => 1, unread: () => { throw new Error(P); } })",
  "search: (view: View) => view.isDeserted({ yes: () => 1, no: () => 2, unknown: (gaps) => { if (gaps.length > 0) throw new Error(P); return withheld(gaps); } })",
  "search: (view: View) => { try { return ok(P, T); } finally { view.isDeserted({ yes: nothing, no: nothing, unknown: withheld }); } }",
  "search: (view: View) => attempt(() => view.isDeserted({ yes: () => decodeURI(P), no: () => decodeURI(T), unknown: (gaps) => [decodeURI('%'), withheld(gaps)][1] as Withheld })) === undefined ? ok(P, T) : problem(P, T, F); import { attempt } from 'SRC/../../base/errors'; import type { Withheld } from 'SRC/findings/seen'",
  // What every function has.
  "TypeScript: ({ driver }: View) => driver?.identity.name === 'x' ? ok(P, T) : problem(P, T, F)",
  "TypeScript: ({ driver }: View) => driver?.identity.length === 0 ? ok(P, T) : problem(P, T, F)",
  "TypeScript: (view: View) => view.isDeserted.toString() === 'true' ? problem(P, T, F) : ok(P, T)",
  "TypeScript: (view: View) => view.isDeserted.call(undefined, { yes: () => true, no: () => false, unknown: () => false })",
  "TypeScript: (view: View) => Reflect.apply(view.isDeserted, undefined, [{ yes: () => true, no: () => false, unknown: () => false }]) ? problem(P, T, F) : ok(P, T)",
  // An answer among others, or under another type.
  "search: (view: View) => { switch (view.isDeserted) { case truth(true): return problem(P, T, F); default: return ok(P, T); } }; import { truth } from 'SRC/findings/seen'",
  "search: (view: View) => { switch (true as unknown) { case view.isDeserted: return problem(P, T, F); default: return ok(P, T); } }",
  "search: (view: View) => [view.isDeserted.or(true)].includes(view.isDeserted) ? problem(P, T, F) : ok(P, T)",
  "TypeScript: (view: View) => [truth(true)].includes(view.isDeserted) ? problem(P, T, F) : ok(P, T); import { truth } from 'SRC/findings/seen'",
  "search: (view: View) => new Set([view.isDeserted.or(true)]).has(view.isDeserted) ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => { const one: object = view.isDeserted; return one ? problem(P, T, F) : ok(P, T); }",
  "search: (view: View) => { const one: {} = view.isDeserted; return one ? problem(P, T, F) : ok(P, T); }",
  "search: (view: View) => (view.isDeserted as unknown) ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => (view.isDeserted satisfies object) ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => { const found = [P]; view.drivers.map(() => found.pop()); return found.length === 0 ? ok(P, T) : problem(P, T, F); }",
  // In a list, an object, a class or a generic function; as what any object can be; by the state of something else.
  "search: (view: View) => `\x24{[view.isDeserted]}`.length > 9 ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => JSON.stringify({ all: view.drivers }).includes('null') ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => { class Box { isBad = view.isDeserted; } return Object.values(new Box()).some((one) => one) ? problem(P, T, F) : ok(P, T); }",
  "search: (view: View) => { const is = <T,>(one: T): boolean => !!one; return is(view.isDeserted) ? problem(P, T, F) : ok(P, T); }",
  "search: (view: View) => { const is = <T,>(one: T): one is NonNullable<T> => one != null; return is(view.isDeserted) ? problem(P, T, F) : ok(P, T); }",
  "search: (view: View) => { const cast = <A, B>(one: A): B => one as unknown as B; return cast<Truth, boolean>(view.isDeserted) ? problem(P, T, F) : ok(P, T); }",
  "search: (view: View) => { const isBad: unknown = [view.isDeserted]; return (isBad as readonly boolean[])[0] ? problem(P, T, F) : ok(P, T); }",
  "search: (view: View) => Object.keys(view.drivers).includes('first') ? ok(P, T) : problem(P, T, F)",
  "search: (view: View) => view.isDeserted({ yes: () => 1, no: () => 0, unknown: withheld }).valueOf() === 1 ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => Math.max(...[view.isDeserted({ yes: () => 1, no: () => 0, unknown: withheld })].map(Number)) > 0 ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => attempt(() => view.drivers.map(({ socket }) => JSON.parse(socket.path))) === undefined ? ok(P, T) : problem(P, T, F); import { attempt } from 'SRC/../../base/errors'",
  "search: (view: View) => { const it = [1, 2][Symbol.iterator](); return [view.drivers.map(() => void it.next()), it.next().value === 1 ? problem(P, T, F) : ok(P, T)]; }",
  "search: (view: View) => { const re = /x/g; return [view.drivers.map(() => void re.test('xx')), re.lastIndex === 0 ? problem(P, T, F) : ok(P, T)]; }",
  "search: (view: View) => { const date = new Date(0); return [view.drivers.map(() => void date.setTime(1)), date.getTime() === 0 ? problem(P, T, F) : ok(P, T)]; }",
  "TypeScript: (facts: ClusterFacts) => facts.places.map((place) => place.state.reason === null ? ok(place.driver, T) : problem(place.driver, T, F))",
  "TypeScript: (facts: ClusterFacts) => facts.places.map((place) => place.state.why?.word === undefined ? ok(place.driver, T) : problem(place.driver, T, F))",
  "search: (facts: ClusterFacts) => facts.places.map((place) => restartingIn(place.state) ? problem(place.driver, T, F) : ok(place.driver, 'does not restart')); import { restartingIn } from 'SRC/cluster/judge/states'",
  "search: (view: View) => new Set([view.isDeserted, view.isDeserted.or(true)]).size === 1 ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => { for (const key in view.drivers) if (key === 'first') return ok(P, T); return problem(P, T, F); }",
  "search: (view: View) => +view.isDeserted > 0 ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => String.raw`\x24{view.isDeserted}` === P ? ok(P, T) : problem(P, T, F)",
  "TypeScript: (facts: ClusterFacts) => facts.places.map(({ state, driver }) => state.kind === 'unread' ? ok(driver, T) : problem(driver, T, F))",
  "search: (facts: ClusterFacts) => facts.places.map(({ state, driver }) => 'trouble' in state ? problem(driver, T, F) : ok(driver, T))",
  "search: (facts: ClusterFacts) => facts.places.map(({ state, driver }) => JSON.stringify(state).includes('registered') ? ok(driver, T) : problem(driver, T, F))",
  // A state that may be unread.
  "TypeScript: (facts: ClusterFacts) => facts.places.contains(({ state }) => state.kind !== 'unread' && state.kind !== 'registered')({ yes: () => problem(P, T, F), no: () => ok(P, T), unknown: withheld })",
  "TypeScript: (facts: ClusterFacts) => facts.places.map(({ state, driver }) => state({ seen: ({ kind }) => kind !== 'registered', unread: () => false }) ? problem(driver, T, F) : ok(driver, T))",
  "TypeScript: (facts: ClusterFacts) => facts.places.map(({ state }) => facts.hasGuess({ yes: () => looked({ kind: 'registered', reason: null }), no: () => state, unknown: () => state })); import { looked } from 'SRC/findings/seen'",
  "search: (one: State) => one.kind === 'unread' || one.kind === 'silent' ? undefined : problem(P, T, F); type State = { kind: 'silent' } | { kind: 'known' } | { kind: 'unread' }",
  "search: (one: State) => { if (one.kind === 'unread') return undefined; return ok(P, T); }; type State = { kind: 'silent' } | { kind: 'unread' }",
  // Well for all, by those that were seen.
  "search: (view: View) => view.drivers.together().map((all) => ok(P, words`is all that \x24{all.first.socket.path} has`))",
  "search: (view: View) => view.drivers.together().map(({ first }) => ok(first.socket.path, 'has all drivers'))",
  "search: (view: View) => { const say = ({ first }: Group<Driver>) => { return ok(first.socket.path, T); }; return view.drivers.together().map(say); }; import type { Group } from 'SRC/findings/seen'",
  // A group of which it is not known where it is.
  "TypeScript: ({ places }: ClusterFacts) => places.grouped(({ driver }) => driver, { driver: ({ driver }) => driver })",
  "TypeScript: ({ places }: ClusterFacts) => places.grouped(({ driver }) => driver, { set: ({ pods }) => pods })",
  // What may be in a mount that is not seen.
  "TypeScript: ({ driver }: View) => driver?.socket.at.map(({ kind }) => kind === 'unmounted' ? problem(P, 'is not there', F) : ok(P, T))",
  // What was not asked is no answer.
  "TypeScript: (view: View) => view.drivers.map((one) => one.nodeInfo.map(({ kind }) => kind === 'unasked' ? problem(P, 'has no node info', F) : ok(P, T)))",
  "TypeScript: (view: View) => view.drivers.map((one) => one.spoken.map((spoken) => spoken === 'unasked' ? problem(P, 'speaks no HTTP/2', F) : ok(P, T)))",
  "TypeScript: ({ driver }: View) => driver?.identity.map(({ kind }) => kind === 'unasked' ? problem(P, 'has no name', F) : ok(P, T))",
  "TypeScript: ({ processes }: View) => processes.registrars.map(({ registersIn }) => registersIn === 'here' ? ok(P, T) : problem(P, T, F))",
  "TypeScript: ({ processes }: View) => processes.registrars.map(({ isElsewhere }) => isElsewhere ? problem(P, T, F) : ok(P, T))",
  // What the arguments of a container tell.
  "search: ({ registrars }: ManifestFacts) => registrars.map(({ driverSocket }) => driverSocket === undefined ? problem(P, T, F) : ok(P, T))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ driverSocket }) => driverSocket.place === undefined ? problem(P, T, F) : ok(P, T))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ settings }) => settings.csiAddress === '' ? problem(P, T, F) : ok(P, T))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ settings: { mode } }) => mode === 'one' ? problem(P, T, F) : undefined)",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ user }) => user.id === '' ? ok(P, T) : problem(P, T, F))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ role }) => role === 'init' ? problem(P, T, F) : ok(P, T))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ update }) => update.maxSurge === 0 ? ok(P, T) : problem(P, T, F))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ update }) => update.type === 'OnDelete' ? ok(P, T) : problem(P, T, F))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ served }) => served.http === undefined ? problem(P, 'serves none', F) : ok(P, T))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ mayBeDrivers }) => mayBeDrivers.length === 0 ? problem(P, T, F) : ok(P, T))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ usable }) => usable({ seen: () => true, unread: () => false }) ? ok(P, T) : problem(P, T, F))",
  "TypeScript: ({ registrars }: ManifestFacts) => registrars.map(({ written }) => written.csiAddress === '' ? problem(P, T, F) : ok(P, T))",
  "search: ({ registrars }: ManifestFacts) => registrars.map(({ written }) => tell(written) === undefined ? problem(P, T, F) : ok(P, T)); import { tell } from 'SRC/findings/opened'",
  // A finding that stands for the unknown, and is asked for.
  "TypeScript: (view: View) => { const isBad = view.isDeserted({ yes: () => true, no: () => false, unknown: () => unknown(P, T) }); return isBad ? problem(P, T, F) : ok(P, T); }",
  "TypeScript: (view: View) => [view.isDeserted].map((one) => one({ yes: () => 'bad', no: () => 'well', unknown: () => unknown(P, T) })).includes('bad') ? problem(P, T, F) : ok(P, T)",
  "TypeScript: ({ driver }: View) => driver?.identity({ seen: ({ kind }) => kind, unread: () => unknown(P, T) }) === 'answered' ? ok(P, T) : problem(P, T, F)",
  "search: (view: View) => view.drivers.some({ yes: () => 'some', no: () => ok(P, T), unknown: () => unknown(P, T) }) === 'some' ? problem(P, T, F) : ok(P, T)",
  "search: (view: View) => { const said = view.isDeserted({ yes: nothing, no: () => ok(P, T), unknown: () => unknown(P, T) }); return said ? said : problem(P, T, F); }",
  // Findings of other findings.
  "search: (view: View) => judgeEndpoint({} as never, view) === undefined ? ok(P, T) : problem(P, T, F)",
  "TypeScript: (view: View) => softened(view.drivers.map(() => problem(P, T, F)), 'problem', 'unknown'); import { softened } from 'SRC/findings/finding'",
  "TypeScript: (facts: ClusterFacts) => facts.places.flatMap(({ listing, driver }) => listing.isListed === undefined ? problem(driver, T, F) : undefined)",
  "TypeScript: (facts: ClusterFacts) => facts.places.flatMap(({ pods: { first }, driver }) => first === undefined ? problem(driver, T, F) : undefined)",
  "search: (facts: ClusterFacts) => facts.places.flatMap((place) => facts.ownersOf(place).owners === undefined ? problem(place.driver, T, F) : undefined)",
  "TypeScript: (facts: ClusterFacts) => facts.manifestFindings.some(({ status }) => status === 'problem') ? undefined : ok(P, T)",
  "search: (facts: ClusterFacts) => facts.places.map(({ state }) => wordOf(state) === 'registered' ? ok(P, T) : problem(P, T, F)); import { wordOf } from 'SRC/cluster/judge/states'",
  "search: (facts: ClusterFacts) => facts.places.map(({ state }) => { const word = wordOf(state); switch (word) { default: return ok(P, word); } }); import { wordOf } from 'SRC/cluster/judge/states'",
  "TypeScript: (view: View) => ok(P, view.drivers.text((all) => all.length === 0 ? 'has no driver' : 'has drivers'))",
  "TypeScript: (view: View) => view.drivers.grouped(() => '').map((all) => ok(P, all.text(({ length }) => length === 1 ? 'is the only driver' : 'is one of several')))",
  "TypeScript: (view: View) => view.drivers.grouped(() => '').map((all) => ok(P, all.text((some) => some[1] === undefined ? 'is the only driver' : 'is one of several')))",
  "TypeScript: (view: View) => view.drivers.grouped(() => '').map((all) => all.counted('driver') === '1 driver' ? ok(P, 'is the only driver') : undefined)",
  "TypeScript: (view: View) => view.drivers.grouped(() => '').map((all) => ok(P, all.joined((_one, _at, some: readonly unknown[]) => some.length === 1 ? 'is the only driver' : '')))",
  "TypeScript: (view: View) => view.gaps.reduce((none, { part }) => none && part !== 'directory', true) ? ok(P, T) : problem(P, 'is not there', F)",
  "TypeScript: (facts: ClusterFacts) => facts.gaps.map(({ part }) => part).join().match('nodes') === null ? ok(P, T) : problem(P, T, F)",
  "search: (view: View) => view.isDeserted({ yes: nothing, no: nothing, unknown: (gaps) => gaps.some(({ part }) => part === 'directory') ? withheld(gaps) : unknown(P, T) })",
  "TypeScript: (view: View) => view.gaps.some(({ part }) => part === 'directory') ? problem(P, 'is not there', F) : ok(P, T)",
  "TypeScript: (facts: ClusterFacts) => facts.gaps.find(({ part }) => part === 'nodes') === undefined ? ok(P, T) : problem(P, T, F)",
  "search: (view: View) => changed(view.drivers.map(() => problem(P, T, F)), () => problem(P, T, F)); import { changed } from 'SRC/findings/seen'",
  "search: async (view: View) => (await import('SRC/findings/seen'))['changed'](judgeEndpoint({} as never, view), () => problem(P, T, F))",
  "search: (view: View) => itemsOf(view.drivers).length === 0 ? problem(P, T, F) : ok(P, T); import { itemsOf } from 'SRC/findings/opened.js'",
  "search: (view: View) => itemsOf(view.drivers).length === 0 ? problem(P, T, F) : ok(P, T); import { itemsOf } from 'SRC/findings/seen/../opened'",
];

test("no judge of the doctor, and each of these, takes something unread for an absent one", async () => {
  await using folder = await createTempFolder();
  const doctor = resolve("src/tools/doctor");
  mkdirSync(folder.at("escapes/judge"), { recursive: true });
  const fileOf = (at: number) => `escapes/judge/${at}.ts`;
  const all = [...ESCAPES, ...REFUSED.map((one) => one.replace(/^\w+: /, ""))];
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
  const lines = stdout.split("\n").filter(Boolean);
  const found = all.map((_, at) => lines.filter((line) => line.includes(`/${fileOf(at)}:`)));
  expect(all.filter((_, at) => found[at]?.length === 0)).toEqual([]);
  const refused = found.slice(ESCAPES.length).map((own, at) => {
    const by = own.some((line) => line.includes(" TypeScript: ")) ? "TypeScript" : "search";
    return `${by}: ${all[ESCAPES.length + at]}`;
  });
  expect(refused).toEqual(REFUSED);
  expect(lines.filter((line) => !line.includes("/escapes/"))).toEqual([]);
  // Without them the files are well.
  expect(found.flat().filter((line) => !line.includes(`.ts:${HEAD.split("\n").length}:`))).toEqual([]);
});
