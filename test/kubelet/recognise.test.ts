import { execFileSync } from "node:child_process";
import { join } from "node:path";
import * as fc from "fast-check";
import { HAS_OFFICIAL_NAME } from "../../src/tools/recognise/image";
import { IS_POD_FOR_WINDOWS } from "../../src/tools/recognise/nodes";
import { holds, type Rule, toCel } from "../../src/tools/recognise/rule";
import { isSwapped, maySwap, PROGRAM } from "../../src/tools/recognise/swap";
import { createGoBuilder } from "../support/go-build";

// The image policy asks the API server, in CEL, what the doctor asks here: both must say the same of each container.

const FOLDER = join(__dirname, "cel");
const file = join(__dirname, "bin", "cel");

beforeAll(() =>
  createGoBuilder(FOLDER).build({
    ...{ what: "cel-go", file, flags: ["-mod=readonly"], packages: "." },
    isSource: (name) => /^(?:main\.go|go\.(?:mod|sum))$/.test(name),
  }),
);

async function asked(rule: Rule, objects: readonly unknown[]): Promise<readonly unknown[]> {
  const lines = [toCel(rule, "object"), ...objects].map((one) => `${JSON.stringify(one)}\n`);
  const stdout = execFileSync(file, { input: lines.join(""), encoding: "utf8", maxBuffer: 2 ** 24 });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const some = <One>(one: fc.Arbitrary<One>, maxLength = 3) => fc.array(one, { maxLength });
const maybe = <Fields extends object>(fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> }) =>
  fc.record(fields, { requiredKeys: [] });

const TOLD = "--kubelet-registration-path=/x/csi.sock";
const image = fc
  .tuple(
    fc.constantFrom("", "registry.k8s.io/sig-storage/", "localhost:5000/", "x/y/"),
    fc.constantFrom(
      ...["csi-node-driver-registrar", "node-driver-registrar", "ose-csi-node-driver-registrar-rhel9"],
      ...[
        "csi-node-driver-win-registrar",
        "livenessprobe",
        "art.dev",
        "art-dev",
        "artxdev",
        "my-node-driver-registrarx",
      ],
    ),
    fc.constantFrom("", ":v2.17.0", "@sha256:0a", ":v1@sha256:0a"),
  )
  .map((parts) => parts.join(""));
const program = fc.constantFrom(PROGRAM, "/bin/sh", "sh", `${PROGRAM}.exe`, "", "C:\\x\\registrar.exe");
const word = fc.constantFrom(
  ...[
    TOLD,
    "-kubelet-registration-path",
    `exec /r ${TOLD}`,
    "--not-kubelet-registration-path=/x",
    "--v=2",
    "-c",
  ],
  ...[
    "--csi-address=unix://C:\\csi\\csi.sock",
    "C:/csi",
    "livenessprobe.exe",
    "'a.EXE'",
    "xc:\\x",
    "é\n--v=2",
  ],
);
const command = fc.tuple(program, some(word)).map(([first, rest]) => [first, ...rest]);
const exec = maybe({
  exec: maybe({ command: fc.oneof(command, fc.constant([])) }),
  httpGet: fc.constant({ port: 1 }),
});
const container = maybe({
  ...{ image, args: some(word), command: fc.oneof(command, fc.constant([])), name: fc.constant("x") },
  ...{ livenessProbe: exec, readinessProbe: exec, startupProbe: exec },
  lifecycle: maybe({ postStart: exec, preStop: exec }),
  env: some(maybe({ name: fc.constant("A"), value: word })),
  volumeMounts: some(
    maybe({
      mountPath: fc.constantFrom("/registration", "/registration//", "/registration/x", "C:\\r", "/csi"),
    }),
  ),
  securityContext: maybe({ windowsOptions: fc.constant({}), runAsUser: fc.constant(0) }),
});

const key = fc.constantFrom(
  ...[
    "kubernetes.io/os",
    "beta.kubernetes.io/os",
    "cloud.google.com/gke-os-distribution",
    "kubernetesxio/os",
  ],
  ...["node.kubernetes.io/windows-build", "zone"],
);
const value = fc.constantFrom("linux", "windows", "windows_ltsc", "10.0.20348", "mywindows");
const requirement = maybe({
  key,
  operator: fc.constantFrom("In", "NotIn", "Exists", "DoesNotExist"),
  values: some(value),
});
const required = maybe({ nodeSelectorTerms: some(maybe({ matchExpressions: some(requirement) })) });
const pod = maybe({
  os: maybe({ name: fc.constantFrom("linux", "windows") }),
  nodeSelector: fc.dictionary(key, value, { maxKeys: 2 }),
  affinity: maybe({ nodeAffinity: maybe({ requiredDuringSchedulingIgnoredDuringExecution: required }) }),
  securityContext: maybe({ windowsOptions: fc.constant({}) }),
});

test.each<readonly [what: string, rule: Rule, object: fc.Arbitrary<object>]>([
  ["what the policy changes", maySwap([]), container],
  ["with --match-image", maySwap(["art.dev", "sidecar"]), container],
  ["which pods it looks at", isSwapped(["art.dev"]), container],
  ["the official name", HAS_OFFICIAL_NAME, container],
  ["a pod for Windows", IS_POD_FOR_WINDOWS, pod],
])("%s: cel-go and the doctor say the same of 5,000 random objects", async (_what, rule, object) => {
  const objects = fc.sample(object, { numRuns: 5_000, seed: 7_541 });
  const expected = objects.map((one) => ({ holds: holds(rule, one) }));
  expect(new Set(expected.map((one) => one.holds)).size).toBe(2);
  expect(await asked(rule, objects)).toEqual(expected);
});
