import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import type { Finding } from "../../../../src/tools/doctor/findings/finding";
import { itemsOf, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { leavesIn, replaceAt, valueAt } from "../../../support/places";
import { otherFactsIn } from "../findings/less-known";
import { BAD, daemonSet, OFFICIAL, readAs, TOLD, verdictsIn } from "./one-daemon-set";
import { full, limitRange, official, ofZone, rich, WORLDS } from "./worlds";

// Facts of objects of which less is known are a part of the facts of each object that they may be.

const readAll = (...objects: readonly object[]) => readRegistrars(readAs("a.yaml", objects));
const factsOf = (object: unknown) => {
  const { gaps, ...facts } = readAll(object as object);
  return { facts, isRead: gaps.length === 0 };
};
const PORTS = ["9808", "9809", "9810"].map((port) => [port]);
const CALLS = { servesAt: PORTS, declares: PORTS, tells: PORTS, mentions: PORTS, isNamed: [[]] };
/** What is known of an object, and is false of one of those that it may be: one that cannot be read has no truth. */
function falseFacts(
  less: unknown,
  wholes: readonly (readonly [what: unknown, facts: ReturnType<typeof factsOf>])[],
) {
  const { facts } = factsOf(less);
  return wholes.flatMap(([what, more]) =>
    (more.isRead ? otherFactsIn(facts, more.facts, { calls: CALLS }) : []).map((one) => `${one} (${what})`),
  );
}

const ALL = [...WORLDS, full, limitRange];
const IMAGES = ["registrar:v1", OFFICIAL, "csi-node-driver-registrar:v2.6.0"];
const ARGUMENTS = [
  "--csi-address=/csi/csi.sock",
  "--endpoint=/csi/csi.sock",
  "--mode=health-probe",
  "--help",
];

/** What may be in the place of a placeholder. An image that is not filled in is a registrar's by other marks only. */
const valuesAt = (world: object, path: readonly string[]): readonly unknown[] => [
  // The API server refuses a mount without a path.
  ...[
    valueAt(world, path),
    ...(path.at(-1) === "mountPath" ? [] : [""]),
    ...BAD.filter((one) => one !== ARCHITECTURE || world === ofZone),
  ],
  ...(path.at(-1) === "image" && Object(valueAt(world, path.slice(0, -1))).name === "registrar"
    ? IMAGES
    : []),
  ...(/^(?:args|command)$/.test(path.at(-2) ?? "") ? ARGUMENTS : []),
];
/** Other values than those of processors would match no node. */
const ARCHITECTURE = "kubernetes.io/arch";
const PLACEHOLDER = "{{ .Values.x }}";
const PLACEHOLDERS = [PLACEHOLDER, `\${X}`, "<x>", "@X@"];

test.each(ALL.map((world, at) => [at, world] as const))(
  "a placeholder makes no other fact than each value: world %i",
  (_at, world) => {
    const wrong = leavesIn(world).flatMap((path) => {
      const by = (value: unknown) => replaceAt(world, path, value);
      // One that cannot be read says nothing, whatever it is.
      const isRead = factsOf(by(PLACEHOLDERS[0])).isRead;
      const values = valuesAt(world, path).slice(0, isRead ? undefined : 1);
      const wholes = values.map((value) => [value, factsOf(by(value))] as const);
      const found = PLACEHOLDERS.flatMap((placeholder, at) =>
        falseFacts(by(placeholder), at === 0 ? wholes : wholes.slice(0, 1)),
      );
      return found.map((one) => `${path.join(".")}: ${one}`);
    });
    expect([...new Set(wrong)]).toEqual([]);
  },
);

/** A text with something else in the place of each word of it, and of each beginning. */
function withParts(text: string): readonly ((by: string) => string)[] {
  const words = Array.from(text.matchAll(/\w+/g), ({ index, 0: word }) => [index, index + word.length]);
  const parts = words.flatMap(([from = 0, to = 0]) => [
    [from, to],
    [0, to],
  ]);
  return [...new Map(parts.map((part) => [part.join(), part])).values()]
    .filter(([from, to]) => from !== 0 || to !== text.length)
    .map(
      ([from = 0, to]) =>
        (by) =>
          text.slice(0, from) + by + text.slice(to),
    );
}
/** What may be in the place of a part; a tag of an image has only the first ones. */
const PARTS = ["", "x", "9809", "/csi/csi.sock", ":9809", "--version"];
const partsAt = (path: readonly string[]) => PARTS.slice(0, path.at(-1) === "image" ? 3 : undefined);
const wordsOf = (...words: readonly string[]) => ({ more: words });
/** With an argument of each kind. */
const ARGUED = [
  daemonSet(wordsOf("--timeout=5s", "--health-port=9809", "--logging-format=text", "--v=5", "--mode=x")),
  daemonSet({
    ...{ image: OFFICIAL, ...wordsOf("--timeout=5s", "--http-endpoint=127.0.0.1:9809", "--v", "5") },
    livenessProbe: {
      exec: { command: ["/csi-node-driver-registrar", TOLD, "--mode=kubelet-registration-probe"] },
    },
  }),
  daemonSet({
    ...wordsOf(
      "--remove-startup-taint=x.csi/y",
      "--node-name=x",
      "--metrics-path=/m",
      "--http-endpoint=:9809",
    ),
    livenessProbe: { httpGet: { path: "/m", port: 9809 } },
  }),
  daemonSet({
    args: [
      "--csi-address=/plugins/*/csi.sock",
      "--kubelet-registration-path=/var/lib/kubelet/plugins/*/csi.sock",
      ...["--allow-drivers=a", "--driver-gone-after=30s"],
    ],
  }),
];
/** What is said for certain of an object, and is false of one of those that it may be. */
function falseVerdicts(said: readonly Finding[], more: object): readonly string[] {
  const its = verdictsIn([more]);
  const has = (code: string, ...statuses: readonly string[]) =>
    its.some((one) => one.code === code && statuses.includes(one.status));
  // What does not start has no other fault.
  const isMoot = has("CSI101", "problem") || has("CSI113", "unknown");
  return said.flatMap(({ code, status, text }) => {
    const isFalse =
      status === "ok"
        ? has(code, "problem")
        : ["problem", "warning"].includes(status) && !isMoot && !has(code, "problem", "warning");
    return isFalse ? `${code} ${status}: ${text}` : [];
  });
}

test("a placeholder in a part of a text makes no other fact than each value", () => {
  const wrong = [rich, official, full, limitRange, ...ARGUED].flatMap((world) =>
    leavesIn(world).flatMap((path) => {
      const whole = valueAt(world, path);
      const isTold = ARGUED.every((one) => one !== world) || /\.(?:args|command)\./.test(path.join("."));
      if (typeof whole !== "string" || !isTold) return [];
      return withParts(whole).flatMap((write) => {
        const by = (value: string) => replaceAt(world, path, value) as object;
        const less = by(write(PLACEHOLDER));
        if (!factsOf(less).isRead) return [];
        const said = verdictsIn([less]);
        const values = [whole, ...partsAt(path).map(write)];
        const wholes = values.map((value) => [value, factsOf(by(value))] as const);
        const found = [
          ...falseFacts(
            less,
            wholes.filter(([, { facts }]) => isStarting(facts)),
          ),
          ...values.flatMap((value) => falseVerdicts(said, by(value)).map((one) => `${one} (${value})`)),
        ];
        return found.map((one) => `${path.join(".")}=${write(PLACEHOLDER)}: ${one}`);
      });
    }),
  );
  expect([...new Set(wrong)]).toEqual([]);
});
/** What the arguments tell is true if the program takes them. */
const isStarting = ({ registrars }: ReturnType<typeof factsOf>["facts"]) =>
  trueOrNull(
    registrars.contains(({ settings }) =>
      settings.is(({ start }) => start.is(({ kind }) => kind === "refused")),
    ),
  ) !== true;

test.each([
  ["x", true],
  ["{{ .Release.Name }}-node", null],
])("whether two objects called %s have one name: %s", (name, expected) => {
  const both = [{ ...daemonSet({ name }) }, { ...daemonSet({ name }) }];
  const limits = both.map(({ metadata }) => ({ ...limitRange, metadata }));
  const { registrars, limitRanges } = readAll(...both, ...limits);
  const places = registrars.grouped(({ place }) => place).map(({ others }) => others.contains());
  const names = limitRanges.grouped((one) => one.name).map(({ others }) => others.contains());
  expect(new Set([...itemsOf(places), ...itemsOf(names)].map(trueOrNull))).toEqual(new Set([expected]));
});

const TAINT = "--remove-startup-taint=x.csi/agent-not-ready";
const key = { configMapKeyRef: { name: "c", key: "k", optional: true } };
const probe = (word: string) => ({
  livenessProbe: { exec: { command: ["/csi-node-driver-registrar", TOLD, word] } },
});

test.each([
  { more: [TAINT, "--node-name=$(X)"] },
  { more: ["--http-endpoint=$(X):9809"] },
  { more: ["--mode=$(X)", "--http-endpoint=:9809"] },
  { args: ["--csi-address=$(X)", TOLD] },
  { args: ["--csi-address=/csi/csi.sock", "--kubelet-registration-path=$(X)"] },
  { more: ["$(X)"] },
  probe("--mode=$(X)"),
])("a variable of a ConfigMap may have each value, or none: %j", (changes) => {
  const by = (env: object) => daemonSet({ ...changes, ...env });
  const values = ["", "x", "/csi/csi.sock", "127.0.0.1", "health-probe", "--v=2", "$(Y)"];
  const wholes = [{}, ...values.map((value) => ({ env: [{ name: "X", value }] }))].map(
    (env) => [JSON.stringify(env), factsOf(by(env))] as const,
  );
  const less = [{ env: [{ name: "X", valueFrom: key }] }, { envFrom: [{ configMapRef: { name: "c" } }] }];
  expect(less.flatMap((env) => falseFacts(by(env), wholes))).toEqual([]);
});

test.each([
  ["--mode=kubelet-registration-probe"],
  ["--mode=health-probe"],
  ["--version"],
  ["--a=b --c=d"],
  ["--nope"],
])("of an image that is not filled in nothing is known that is false of one program: %s", (word) => {
  const by = (image: string) => daemonSet({ image, more: [word, "--http-endpoint=:9809"], ...probe(word) });
  const wholes = IMAGES.map((image) => [image, factsOf(by(image))] as const);
  expect(falseFacts(by(`\${IMAGE}`), wholes)).toEqual([]);
});

test.each(["--timeout=abc", "--nope"])("what is not parsed because of %s says nothing", (word) => {
  const { facts } = factsOf(daemonSet({ more: [word] }));
  const asWritten = ["start", "ofRefusal", "isParsed"];
  expect(otherFactsIn(facts, factsOf(daemonSet()).facts, { asWritten })).toEqual([]);
});
