import { MANIFEST_CHECKS } from "../../../../src/tools/doctor/files/judge/checks";
import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import type { Finding } from "../../../../src/tools/doctor/findings/finding";
import { findingsOfAll } from "../../../../src/tools/doctor/findings/report";
import { leavesIn, replaceAt, valueAt } from "../../../support/places";
import { claimedTooMuch } from "../findings/completions";
import { daemonSet, OFFICIAL, PATH, readAs, verdictsIn, WINDOWS } from "./one-daemon-set";
import { full, limitRange, official } from "./worlds";

// What is said while a field or a document is hidden must hold whatever it has.

const HIDDEN = "{{ .Values.x }}";
/** Objects with a fault each. */
const SICK: readonly object[] = [
  daemonSet({ more: ["--nope"] }),
  daemonSet({ args: ["--csi-address=/csi/csi.sock", "--kubelet-registration-path=/csi/csi.sock"] }),
  daemonSet({ registry: "/data/plugins", plugin: { hostPath: { path: PATH, type: "File" } } }),
  daemonSet({ resources: { limits: { memory: "16Mi", cpu: "10m" }, requests: { memory: "1Gi" } } }),
  daemonSet({ livenessProbe: { httpGet: { path: "/healthz", port: 9810 } } }),
  daemonSet({ image: OFFICIAL, ...WINDOWS, more: ["--nope"] }),
  daemonSet({
    more: ["--http-endpoint=:9809"],
    pod: {
      initContainers: [
        { name: "serving", restartPolicy: "Always", args: ["--health-port=9809", "--endpoint=/x.sock"] },
        { name: "probed", restartPolicy: "Always", livenessProbe: { httpGet: { port: 9809 } } },
      ],
    },
  }),
  { kind: "List", items: [limitRange, daemonSet({ name: "a" }), daemonSet({ name: "b" })] },
];
/** What other objects have in some field. */
const OTHERS = [
  "x",
  "/elsewhere",
  "/registration",
  "Always",
  "windows",
  "30Mi",
  "File",
  "HTTPS",
  "ns",
  "--nope",
  7,
  9809,
  0,
  true,
];

/** The claims that do not hold where the placeholder is this value, or the document another one. */
function brokenBy(hidden: readonly Finding[], completion: readonly object[], value: unknown = HIDDEN) {
  const whole = verdictsIn(completion);
  // An object that cannot be read has no truth.
  if (whole.some(({ code, status }) => code === "CSI113" && status === "unknown")) return [];
  const fill = (text: string) => text.replaceAll(HIDDEN, String(value));
  const said = hidden.map((one) => ({ ...one, subject: fill(one.subject), text: fill(one.text) }));
  return claimedTooMuch(said, whole);
}

const WORLDS = [full, official, ...SICK].map((world, at) => [at, world] as const);

test.each(WORLDS)("what is said without a field holds whatever it has: world %i", (_at, world) => {
  const wrong = leavesIn(world).flatMap((path) => {
    const hidden = verdictsIn([replaceAt(world, path, HIDDEN) as object]);
    return [...OTHERS, valueAt(world, path)].flatMap((value) =>
      brokenBy(hidden, [replaceAt(world, path, value) as object], value).map(
        (one) => `${path.join(".")}: ${one}`,
      ),
    );
  });
  expect([...new Set(wrong)]).toEqual([]);
});

test("what is said without a document holds whatever it is", () => {
  const all = WORLDS.map(([, world]) => world);
  const unread = { kind: "DaemonSet", metadata: { name: "u" }, spec: 7 };
  expect(verdictsIn([unread])).toHaveLength(1);
  const wrong = all.flatMap((one) =>
    [[], ...all.map((other) => [other])].flatMap((more) =>
      brokenBy(verdictsIn([one, unread]), [one, ...more]),
    ),
  );
  expect(wrong).toEqual([]);
});

test("each finding names its file, also one that only says what could not be judged", () => {
  const json = JSON.stringify(full);
  const words = new Set(leavesIn(full).map((path) => valueAt(full, path)));
  // A word wherever it stands, such as the name of a volume.
  const nameless = [...words].flatMap((word) => {
    const object = JSON.parse(json, (_, value) => (value === word ? HIDDEN : value));
    const found = findingsOfAll(MANIFEST_CHECKS, readRegistrars(readAs("a.yaml", [object])));
    return found.map(({ subject }) => `${word}: ${subject}`).filter((one) => !one.includes(": a.yaml"));
  });
  expect(nameless).toEqual([]);
});
