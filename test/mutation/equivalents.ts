/** A mutant of Stryker's that no test can notice. */
export interface Equivalent {
  readonly file: string;
  /** The lines that it changes, each run of white space as one space, before and after. */
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

/** Lines as they are compared. */
export const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim();

/** The default for a text that does not match; only its groups are read, and it has none. */
const ofNoMatch = (file: string, from: string): Equivalent => ({
  file,
  from,
  to: from.replace("?? []", '?? ["Stryker was here"]'),
  why: "the first item is the whole match, which is not read",
});

/** The mutants of Stryker's that no test can notice, each with the reason. */
export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: "src/registrar/registration/transition.ts",
    from: 'case "stopped": return state;',
    to: 'case "stopped":',
    why: "the default case, which the compiler keeps unreachable, returns the state too",
  },
  {
    file: "src/registrar/registration/transition.ts",
    from: 'return { kind: "stopping", facts: state.kind === "waiting" ? undefined : state.facts, outcome };',
    to: 'return { kind: "stopping", facts: false ? undefined : state.facts, outcome };',
    why: "facts are undefined in a state without them; the condition is there for the compiler",
  },
  {
    file: "src/registrar/model/tally.ts",
    from: "default: return {};",
    to: "default:",
    why: "undefined adds no field either",
  },
  {
    file: "src/registrar/node-wide/name-lists.ts",
    from: "{ allow, deny = [] }: NameLists = {}, ): string | undefined {",
    to: '{ allow, deny = ["Stryker was here"] }: NameLists = {}, ): string | undefined {',
    why: "no driver has this name",
  },
  {
    file: "src/grpc/guard/frames.ts",
    from: "unread = piece.length === unread.length ? NOTHING : unread.subarray(piece.length);",
    to: "unread = false ? NOTHING : unread.subarray(piece.length);",
    why: "an empty slice reads as NOTHING does; it only keeps a chunk in memory (npm run bench:hostile)",
  },
  {
    file: "src/host-path/host-path.ts",
    from: "const subvolume = knownRoot && root?.slice(0, -knownRoot.length);",
    to: "const subvolume = knownRoot && root.slice(0, -knownRoot.length);",
    why: "root ends with the known root, so it is defined; the ?. is there for the compiler",
  },
  {
    file: "src/host-path/host-path.ts",
    from: "const givenRoot = inRoot !== undefined && given.endsWith(inRoot) ? given.slice(0, -inRoot.length) : undefined;",
    to: "const givenRoot = true && given.endsWith(inRoot) ? given.slice(0, -inRoot.length) : undefined;",
    why: 'only a path that ends with "undefined" shows the difference',
  },
  ...["/^[ -~]*$/.test(escaped)", "/^[ -~\\n]*$/.test(json)"].flatMap((from) =>
    ["false", from.replace("*$", "$")].map((to) => ({
      file: "src/logging/escape.ts",
      ...{ from, to },
      why: "a short cut for text that needs no escape",
    })),
  ),
  ofNoMatch("src/flags/values.ts", "const [, sign, literal] = intLiteral.exec(text) ?? [];"),
  ofNoMatch(
    "src/flags/grammar.ts",
    "const [, name, given] = /^--?([^-=][^=]*)(?:=(.*))?/s.exec(word) ?? [];",
  ),
  {
    file: "src/doctor/cluster/judge/places.ts",
    from: "for (const unit of unitsOf.get(pod.setUid) ?? []) {",
    to: 'for (const unit of unitsOf.get(pod.setUid) ?? ["Stryker was here"]) {',
    why: "pods are read for the DaemonSets with a registrar only",
  },
  {
    file: "src/doctor/cluster/judge/places.ts",
    from: ".sort(([one], [other]) => (one < other ? -1 : 1))",
    to: ".sort(([one], [other]) => (one <= other ? -1 : 1))",
    why: "the keys of a map are unique",
  },
  {
    file: "src/doctor/cluster/judge/places.ts",
    from: "return unit !== undefined && pod?.running.dropped.includes(unit.registrar.container) === true;",
    to: "return true && pod?.running.dropped.includes(unit.registrar.container) === true;",
    why: "a pod comes with its unit; the condition is there for the compiler",
  },
  {
    file: "src/doctor/cluster/judge/places.ts",
    from: "return unit !== undefined && pod?.running.dropped.includes(unit.registrar.container) === true;",
    to: "return unit !== undefined && pod.running.dropped.includes(unit.registrar.container) === true;",
    why: "it is asked of places with a pod; the ?. is there for the compiler",
  },
  {
    file: "src/doctor/cluster/judge/places.ts",
    from: "if (pod === undefined || unit === undefined) {",
    to: "if (pod === undefined || false) {",
    why: "a pod comes with its unit; the condition is there for the compiler",
  },
  {
    file: "src/doctor/cluster/judge/places.ts",
    from: "const inCsiNode = csiNodes?.get(node)?.get(driver);",
    to: "const inCsiNode = csiNodes.get(node)?.get(driver);",
    why: "the driver is listed, so CSINodes were read; the ?. is there for the compiler",
  },
  {
    file: "src/doctor/cluster/judge/places.ts",
    from: 'if (isDropped && pods[0]?.pod.trouble === undefined) return { ...place, state: state("dropped") };',
    to: 'if (isDropped && pods[0].pod.trouble === undefined) return { ...place, state: state("dropped") };',
    why: "a place without a registrar has one pod; the ?. is there for the compiler",
  },
];
