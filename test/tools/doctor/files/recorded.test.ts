import { reportOnFiles, reportOnSwap } from "../../../../src/tools/doctor/files/report";
import type { Finding } from "../../../../src/tools/doctor/findings/finding";
import { leavesIn, replaceAt, treesIn, valueAt } from "../../../support/places";
import { byOutcome, rowsOf } from "../../../support/recorded";
import { daemonSet, OFFICIAL, PATH, readAs, swapIn, verdictsIn } from "./one-daemon-set";
import { full, limitRange, official, ofWindows, rich, sidecar } from "./worlds";

// What doctor says of a healthy object when one field has another value, recorded: `npx jest -u test/tools/doctor/files/recorded`
// writes it anew. A recording has no ok that is there without the change, too.

const IMAGES = [
  ...["x/y:v1", "registrar@sha256:0", OFFICIAL, "x/csi-node-driver-registrar:v2.8.0"],
  ...["registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0", "x/csi-sidecars:v1"],
  ...["registry.k8s.io/sig-storage/csi-attacher:v4", "registry.k8s.io/sig-storage/livenessprobe:v2", ""],
];
const PATHS = [
  ...["/", "/csi", "/csi/csi.sock", "/csi/other.sock", "/registration", "/data/plugins", "csi.sock"],
  ...[
    PATH,
    `${PATH}/csi.sock`,
    `${PATH}/other.sock`,
    "/var/lib/kubelet/plugins_registry",
    "/var/lib/kubelet",
  ],
  ...["/var/lib/kubelet/plugins", "/var/snap/microk8s/common/var/lib/kubelet/plugins/x.csi", "/run/x"],
  ...["/var/snap/microk8s/common/var/lib/kubelet/plugins_registry", "/var/lib/k0s/kubelet/plugins_registry"],
  ...["/var/lib/k0s/kubelet/plugins/x.csi", `/var/lib/kubelet/${"long/".repeat(15)}plugins_registry`],
];
const COMMANDS = ["/csi-node-driver-registrar", "sh", "/bin/sh", "/csi/check", "registrar", "csi-sidecars"];
const WORDS = [
  ...["--csi-address=", "--kubelet-registration-path=", "--plugin-registration-path="].flatMap((flag) =>
    ["/csi/csi.sock", "/csi/other.sock", "csi.sock", "/plugins/*/csi.sock", `${PATH}/csi.sock`]
      .concat("$(NODE_NAME)", "$(NOPE)", "{{ x }}", `/${"long/".repeat(30)}csi.sock`, `${PATH}x/csi.sock`)
      .map((path) => flag + path),
  ),
  ...["--http-endpoint=:1", "--http-endpoint=:0", "--http-endpoint=127.0.0.1:9809", "--http-endpoint=x"],
  ...["--http-endpoint=[::1]:9809", "--http-endpoint=localhost:9809", "--http-endpoint=0.0.0.0:9809"],
  ...["--health-port=9809", "--metrics-path=/m", "--nope", "--v", "--version", "--help", "--v={{ x }}"],
  ...["--mode=kubelet-registration-probe", "--mode=health-probe", "--mode=x", "--require-driver", "word"],
  ...["--csi-address=/a --v=2", "--enable-pprof", "--timeout=1", "--remove-startup-taint", "--logtostderr"],
  ...["--endpoint=unix:///csi/other.sock", "--endpoint=/csi/csi.sock", "--endpoint={{ x }}", "--endpoint=/x"],
  ...["--metrics-address=:9809", "--health-port=9809", "--metrics-address={{ x }}"],
];
const AMOUNTS = ["0", "", "x", "-1", "30Mi", "63Mi", "64Mi", "100m", "1e8", "1Gi", "9m", "49m", "50m"];
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  image: IMAGES,
  path: [...PATHS, "/healthz", "/livez", "/readyz", "/readyz?x", "/statusz", "/metrics", ""],
  mountPath: PATHS,
  command: [...COMMANDS.map((one) => [one]), [], ["sh", "-c", "exec registrar --v=2"]],
  args: [[], ["--version"], ["{{ args }}"], ["$(ARGS)"]],
  port: ["healthz", "nope", 9808, 9809, 9810, 0],
  containerPort: [9808, 9809, 9810, 0],
  type: ["", "Directory", "DirectoryOrCreate", "File", "Socket", "OnDelete", "RollingUpdate"],
  readOnly: [true],
  hostNetwork: [false],
  maxSurge: [0, 1, "0%", "50%", "00"],
  maxUnavailable: [0, 1, "0%", "50%"],
  runAsUser: [0, 1],
  memory: AMOUNTS,
  cpu: [...AMOUNTS, "79m", "119m", "150m", "199m", "200m", 2],
  timeoutSeconds: [0, 1, 2, 30],
  initialDelaySeconds: [0, 30],
  periodSeconds: [0, 1, 30],
  failureThreshold: [0, 3, 30],
  restartPolicy: ["Always", "Never"],
  kind: ["Deployment", "StatefulSet", "ReplicaSet", "Pod", "CronJob", "PodTemplate", "Custom", "List"],
  host: ["127.0.0.1", "localhost", "x"],
  scheme: ["HTTPS", "HTTP"],
  name: ["", "driver", "plugin", "registration", "healthz", "NODE_NAME"],
  subPath: ["sub", "/"],
  namespace: ["", "ns", "other"],
  value: ["unix:///csi/csi.sock", "unix://csi/other.sock", "/csi/csi.sock", "", "tcp://:1", "$(NOPE)"],
  operator: ["In", "NotIn", "Exists"],
};
const valuesAt = (path: readonly string[]) => {
  const [key = "", above] = [path.at(-1), path.at(-2)];
  const own = above === "args" || /livenessProbe.exec.command.1/.test(path.join(".")) ? WORDS : undefined;
  const more = above === "command" && key === "0" ? COMMANDS : (own ?? VALUES[key] ?? []);
  const isName = key === "name" && !/^(?:volume|env|ports)/.test(path.at(-3) ?? "");
  return isName ? [undefined] : [undefined, "x", "{{ x }}", ...more];
};

const PLACE = /^a\.yaml: DaemonSet ns\/x, container registrar$/;
const lineOf = ({ code, status, subject, text, fix, command }: Finding) =>
  [`${code} ${status}: ${subject.replace(PLACE, "it")} ${text}`, fix, command].filter(Boolean).join(" -> ");

/** What is said with a change, and the codes of what is no longer said. */
function difference(now: readonly string[], before: readonly string[]): string {
  const gone = before.filter((line) => !now.includes(line)).map((line) => line.split(":")[0]);
  const added = now.filter((line) => !before.includes(line));
  return [...added, ...(gone.length === 0 ? [] : [`without ${gone.join(", ")}`])].join("\n") || "the same";
}

const verdicts = (object: object) => verdictsIn([object]).map(lineOf);
function swapped(object: object) {
  const { findings, swapped, problemsWithEither } = swapIn([object]);
  return [...findings.map(lineOf), `${swapped} swapped, ${problemsWithEither} problems with either image`];
}

/** It starts the registrar by its command, and in each probe and hook. */
const exec = {
  command: [
    "/csi-node-driver-registrar",
    "--mode=health-probe",
    `--kubelet-registration-path=${PATH}/csi.sock`,
  ],
};
const ofPrograms = daemonSet({
  command: ["/csi-node-driver-registrar"],
  livenessProbe: { exec, timeoutSeconds: 5, initialDelaySeconds: 1, periodSeconds: 1, failureThreshold: 1 },
  startupProbe: { exec, timeoutSeconds: 1 },
  lifecycle: { postStart: { exec }, preStop: { exec } },
  resources: { limits: { cpu: "100m", memory: "100Mi" } },
});
const limited = {
  kind: "List",
  items: [
    limitRange,
    {
      ...daemonSet({
        livenessProbe: { httpGet: { path: "/livez", port: 9809 }, periodSeconds: 1 },
        more: ["--http-endpoint=:9809"],
      }),
    },
  ],
};

const REGISTRAR = ["spec", "template", "spec", "containers", "0"];
const swappable = replaceAt(ofPrograms, [...REGISTRAR, "image"], OFFICIAL) as object;

test.each<readonly [what: string, whole: object, where: RegExp, say: (object: object) => readonly string[]]>([
  ["a DaemonSet", rich, /./, verdicts],
  [
    "a native sidecar",
    sidecar,
    /initContainers\.0\.(?:[^av]|args\.2)|initContainers$|hostPath\.type/,
    verdicts,
  ],
  [
    "a driver and a livenessprobe",
    full,
    /containers\.(?:[12]|0\.livenessProbe|0\.args.0)|hostNetwork/,
    verdicts,
  ],
  ["programs", ofPrograms, /Probe|lifecycle|command|resources|\.image/, verdicts],
  ["a LimitRange", limited, /items.0|namespace|resources|Seconds|\.image/, verdicts],
  [
    "the official registrar",
    official,
    /\.(?:image|type|subPath|readOnly|mountPath|args\.1)$|nodeSelector|command/,
    verdicts,
  ],
  ["a swap", official, /\.(?:image|os|arch|cpu)$|command|lifecycle|Probe/, swapped],
  ["a swap of programs", swappable, /\.(?:image|command|cpu|memory)$|Seconds/, swapped],
])("one other value in %s", (_what, whole, where, say) => {
  const before = say(whole);
  const rows = [...leavesIn(whole), ...(whole === rich ? treesIn(whole) : [])]
    .filter((path) => where.test(path.join(".")))
    .flatMap((path) => {
      const present = JSON.stringify(valueAt(whole, path));
      const choices = new Map(valuesAt(path).map((value) => [JSON.stringify(value) ?? "(none)", value]));
      choices.delete(present);
      const outcomeOf = (choice: string) =>
        difference(say(replaceAt(whole, path, choices.get(choice)) as object), before);
      return rowsOf(path.join("."), [...choices.keys()], outcomeOf);
    });
  const changed = rows.filter(([, outcome]) => outcome !== "the same");
  expect(`${before.join("\n")}\n\n${byOutcome(changed)}`).toMatchSnapshot();
});

const reportOf = (objects: readonly object[], swap?: string, image?: string) => {
  const read = { files: ["a.yaml", "it's b.yaml"], ...readAs("a.yaml", objects) };
  return swap === undefined ? reportOnFiles(read, { image }) : reportOnSwap(read, { image }, swap);
};
const onNode = (name: string, more: object = {}) =>
  daemonSet({ name, more: ["--http-endpoint=:9809"], pod: { hostNetwork: true }, ...more });
const second = { ...rich.spec.template.spec.containers[0], name: "second" };
const sick = [
  daemonSet({
    name: "refused",
    more: ["--nope"],
    registry: "/data/plugins",
    securityContext: { runAsUser: 7 },
  }),
  onNode("one"),
  onNode("two"),
  onNode("two", { metadata: {} }),
  daemonSet({ name: "pair", pod: { containers: [...rich.spec.template.spec.containers, second] } }),
  ...ofWindows,
  { kind: "DaemonSet", metadata: { name: "open" }, spec: { selector: {}, template: "{{ x }}" } },
  daemonSet({ name: "theirs", image: OFFICIAL, more: ["--require-driver"] }),
];
const LOOKS = [
  { width: 80, colors: false },
  { width: 120, colors: true, isVerbose: true },
];

test("a report on many objects", () => {
  const { report, render } = reportOf(sick);
  const { findings, ...more } = report;
  expect([...findings, more].map((one) => JSON.stringify(one)).join("\n")).toMatchSnapshot();
  for (const look of LOOKS) expect(render(look).replaceAll("\x1b", "ESC")).toMatchSnapshot();
});

const theirs = daemonSet({ image: OFFICIAL });
const besideTheirs = (image: string) =>
  daemonSet({ image: "x/theirs:v1", pod: { initContainers: [{ name: "other", image }] } });
test.each<
  readonly [what: string, objects: readonly object[], images: readonly [swap: string, image?: string]]
>([
  ["of all", sick, [""]],
  ["to an image", sick, ["x/ours:v1"]],
  ["of a healthy one", [theirs], [""]],
  ["of a healthy one, to an image, for another", [theirs], ["x/ours:v1", "x/theirs:v1"]],
  ["of an official image", [theirs], ["x/ours:v1", OFFICIAL]],
  ["of another image", [daemonSet({ image: "x/theirs:v1" })], ["x/ours:v1", "x/theirs:v1"]],
  ["of another image without a tag", [daemonSet({ image: "x/theirs:v1" })], ["x/ours:v1", "x/theirs"]],
  ["of an image that another container has", [besideTheirs("y/theirs:v2")], ["x/ours:v1", "x/theirs:v1"]],
  ["of an image that another container may have", [besideTheirs("{{ x }}")], ["x/ours:v1", "x/theirs:v1"]],
  ["of an image that no container has", [besideTheirs("y/z:v2")], ["x/ours:v1", "x/theirs:v1"]],
  ["of none", [daemonSet()], [""]],
  ["of unknown ones", [daemonSet({ image: "x/y:v1" }), daemonSet({ name: "z", image: "{{ x }}" })], [""]],
  [
    "where Windows is open",
    [daemonSet({ image: OFFICIAL, pod: { os: { name: "{{ os }}" } } })],
    ["x/ours:v1"],
  ],
])("a swap %s", (_what, objects, images) => {
  const { report, render } = reportOf(objects, ...images);
  const { healthy, target, summary } = report;
  const line = JSON.stringify({ healthy, target, summary });
  expect(`${line}\n\n${render({ width: 80, colors: false })}`).toMatchSnapshot();
});
