import { findingsOf } from "../../../../src/tools/doctor/findings/finding";
import { pairChecks } from "../../../../src/tools/doctor/manifest/judge/pairs";
import { readDeployments } from "../../../../src/tools/doctor/manifest/read/deployments";
import { CSI_DRIVER, daemonSet, said } from "./one-daemon-set";

const LIVENESS = "x/livenessprobe:v2.19.0";
const ON_NODE = { hostNetwork: true };
const HEALTH = "--health-port=1";
const REGISTRAR = daemonSet().spec.template.spec.containers[0];

const pod = (containers: readonly object[], more: object = {}) =>
  daemonSet({ name: "a", pod: { containers: [REGISTRAR, ...containers], ...more } });

const other = (containers: readonly object[], more: object = {}, name = "b") => ({
  kind: "Deployment",
  metadata: { name, namespace: "ns" },
  spec: { selector: {}, template: { spec: { containers, ...more } } },
});

const runs = (name: string, ...args: readonly string[]) => ({ name, args });
const declares = (name: string, port: object = {}) => ({ name, ports: [{ containerPort: 1, ...port }] });

const portsSaid = (...objects: readonly object[]) =>
  said(...objects, CSI_DRIVER).filter((line) => line.startsWith("CSI109"));

const IN_POD = "port 1 of a.yaml: DaemonSet ns/a";
const ON_THE_NODE = "port 1 of the node";
const GIVE_EACH = "give each a port of its own; at present:";
const FILLED_IN = {
  ...runs("a", "--metrics-bind-address=$(A)"),
  env: [{ name: "A", value: "0.0.0.0:1" }],
};

test.each<[where: string, now: string, one: object, beside?: object]>([
  [
    IN_POD,
    "--metrics-address=:1, --health-port=1",
    pod([runs("a", "--metrics-address=:1"), { ...runs("b", "--health-port", "1"), image: LIVENESS }]),
  ],
  // The liveness probe's default.
  [
    "port 9808 of a.yaml: DaemonSet ns/a",
    "--http-endpoint=localhost:9808, --health-port=9808 by default",
    pod([runs("a", "-http-endpoint=localhost:9808"), { name: "b", image: LIVENESS }]),
  ],
  [
    IN_POD,
    "--metrics-bind-address=0.0.0.0:1, --metrics-port=1",
    pod([FILLED_IN, runs("b", "--metrics-port=1")]),
  ],
  // A sidecar among the init containers.
  [
    IN_POD,
    `${HEALTH}, ${HEALTH}`,
    pod([runs("a", HEALTH)], { initContainers: [{ ...runs("b", HEALTH), restartPolicy: "Always" }] }),
  ],
  // The API server refuses two declarations in a pod on the node's network.
  [ON_THE_NODE, "containerPort: 1, containerPort: 1", pod([declares("a"), declares("b")], ON_NODE)],
  [
    ON_THE_NODE,
    `${HEALTH}, containerPort: 1`,
    pod([declares("a"), runs("b", HEALTH)], ON_NODE),
    other([declares("c")], ON_NODE),
  ],
  [
    ON_THE_NODE,
    "containerPort: 1, --listen-address=127.0.0.1:1",
    pod([declares("a", { containerPort: 3, hostPort: 1 })]),
    other([runs("c", "--listen-address=127.0.0.1:1")], ON_NODE),
  ],
])("two on %s: %s", (where, now, one, beside = {}) => {
  expect(portsSaid(one, beside)).toEqual([`CSI109 problem: both serve on ${where} -> ${GIVE_EACH} ${now}`]);
});

const selecting = (p: string) => ({ ...ON_NODE, nodeSelector: { p } });

test.each<readonly [what: string, objects: readonly object[]]>([
  ["a port that one declares and the other listens on", [pod([declares("a"), runs("b", HEALTH)], ON_NODE)]],
  [
    "other addresses",
    [pod([runs("a", "--http-endpoint=[::1]:1"), runs("b", "--http-endpoint=localhost:1")])],
  ],
  ["port 0", [pod([runs("a", "--health-port=0"), runs("b", "--health-port=0")])]],
  ["another protocol", [pod([declares("a", { protocol: "UDP" }), declares("b")], ON_NODE)]],
  ["an init container, ended", [pod([runs("a", HEALTH)], { initContainers: [runs("b", HEALTH)] })]],
  ["a port that is not known", [pod([runs("a", "--health-port=$(P)"), runs("b", "--health-port=$(P)")])]],
  ["pods with a network of their own", [pod([runs("a", HEALTH)]), other([runs("c", HEALTH)])]],
  ["one object in two files", [pod([runs("a", HEALTH)], ON_NODE), pod([runs("a", HEALTH)], ON_NODE)]],
  ["no registrar", [pod([]), ...["b", "c"].map((name) => other([runs("c", HEALTH)], ON_NODE, name))]],
  [
    "nodes that exclude each other",
    [pod([runs("a", HEALTH)], selecting("1")), other([runs("c", HEALTH)], selecting("2"))],
  ],
  [
    "livenessprobe with its own command",
    [
      pod([
        { name: "a", image: LIVENESS, command: ["sh"] },
        { name: "b", image: LIVENESS },
      ]),
    ],
  ],
])("no fault in %s", (_what, objects) => {
  expect(portsSaid(...objects)).toEqual([]);
});

test("of three the flags stand in the order of their containers", () => {
  const objects = [
    pod([runs("a", HEALTH), runs("b", "--metrics-port=1")], ON_NODE),
    other([declares("c")], ON_NODE),
  ];
  const [found] = findingsOf(
    pairChecks,
    readDeployments(objects.map((object) => ({ file: "a.yaml", object }))),
  );
  const [set, deployment] = ["a.yaml: DaemonSet ns/a, container", "a.yaml: Deployment ns/b, container"];
  expect(found).toMatchObject({
    subject: `${set} a, ${set} b and ${deployment} c`,
    text: `all serve on ${ON_THE_NODE}`,
    fix: `${GIVE_EACH} ${HEALTH}, --metrics-port=1, containerPort: 1`,
    objects: [
      { kind: "DaemonSet", name: "a", container: "a" },
      { kind: "DaemonSet", name: "a", container: "b" },
      { kind: "Deployment", name: "b", container: "c" },
    ],
  });
});

test("of an object that is given twice the last one counts", () => {
  const on = (port: number) => pod([runs("a", `--health-port=${port}`)], ON_NODE);
  const beside = other([runs("c", HEALTH)], ON_NODE);
  expect(portsSaid(on(1), beside, on(1))).toHaveLength(1);
  expect(portsSaid(on(2), beside, on(1))).toHaveLength(1);
  expect(portsSaid(on(1), beside, on(2))).toEqual([]);
});
