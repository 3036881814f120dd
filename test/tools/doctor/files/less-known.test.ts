import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import { itemsOf, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { leavesIn, replaceAt, valueAt } from "../../../support/places";
import { otherFactsIn } from "../findings/less-known";
import { BAD, daemonSet, OFFICIAL, readAs, TOLD } from "./one-daemon-set";
import { full, limitRange, ofZone, WORLDS } from "./worlds";

// Facts of objects of which less is known are a part of the facts of each object that they may be.

const readAll = (...objects: readonly object[]) => readRegistrars(readAs("a.yaml", objects));
const NOT_YET = ["driverSocket", "isNamed", "socket"];
const factsOf = (object: unknown) => {
  const { gaps, ...facts } = readAll(object as object);
  return { facts, isRead: gaps.length === 0 };
};
const PORTS = ["9808", "9809", "9810"].map((port) => [port]);
const CALLS = { servesAt: PORTS, declares: PORTS, tells: PORTS, mentions: PORTS };
/** What is known of an object, and is false of one of those that it may be: one that cannot be read has no truth. */
function falseFacts(
  less: unknown,
  wholes: readonly (readonly [what: unknown, facts: ReturnType<typeof factsOf>])[],
) {
  const { facts } = factsOf(less);
  return wholes.flatMap(([what, more]) =>
    (more.isRead ? otherFactsIn(facts, more.facts, { asWritten: NOT_YET, calls: CALLS }) : []).map(
      (one) => `${one} (${what})`,
    ),
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
const PLACEHOLDERS = ["{{ .Values.x }}", `\${X}`, "<x>", "@X@"];

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
