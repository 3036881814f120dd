import { findingsOf } from "../../../src/doctor/findings/finding";
import { pairChecks } from "../../../src/doctor/manifest/judge/pairs";
import { readDeployments } from "../../../src/doctor/manifest/read/deployments";
import { CSI_DRIVER, daemonSet, OFFICIAL, said, TOLD } from "./one-daemon-set";

interface Changes {
  readonly kind?: string;
  readonly name?: string;
  readonly pod?: object;
}

const LIVENESS = "x/livenessprobe:v2.19.0";
/** A pod on the node's network. */
const ON_NODE = { pod: { hostNetwork: true } };
const HEALTH = "--health-port=1";
const REGISTRAR = daemonSet().spec.template.spec.containers[0];

/** A registrar's pod with other containers. */
function pod(containers: readonly object[], { name = "a", pod: more = {} }: Changes = {}) {
  return daemonSet({ name, pod: { containers: [REGISTRAR, ...containers], ...more } });
}

/** A pod without a registrar. */
function other(
  containers: readonly object[],
  { kind = "Deployment", name = "b", pod: more = {} }: Changes = {},
) {
  const template = { spec: { containers, ...more } };
  return { kind, metadata: { name, namespace: "ns" }, spec: { selector: {}, template } };
}

const runs = (name: string, ...args: readonly string[]) => ({ name, args });
const declares = (name: string, ...ports: readonly object[]) => ({ name, ports });

const portsSaid = (...objects: readonly object[]) =>
  said(...objects, CSI_DRIVER).filter((line) => line.startsWith("CSI109"));

const IN_POD = "port 1 of a.yaml: DaemonSet ns/a";
const ON_THE_NODE = "port 1 of the node";
const GIVE_EACH = "give each a port of its own; at present:";

test.each<readonly [what: string, objects: readonly object[], where: string, now: string]>([
  [
    "a livenessprobe, and a driver's metrics",
    [pod([runs("a", "--metrics-address=:1"), { ...runs("b", "--health-port", "1"), image: LIVENESS }])],
    IN_POD,
    "--metrics-address=:1, --health-port=1",
  ],
  [
    "a livenessprobe by its default",
    [pod([runs("a", "-http-endpoint=localhost:9808"), { name: "b", image: LIVENESS }])],
    "port 9808 of a.yaml: DaemonSet ns/a",
    "--http-endpoint=localhost:9808, --health-port=9808 by default",
  ],
  [
    "a variable",
    [
      pod([
        { ...runs("a", "--metrics-bind-address=$(A)"), env: [{ name: "A", value: "0.0.0.0:1" }] },
        runs("b", "--metrics-port=1"),
      ]),
    ],
    IN_POD,
    "--metrics-bind-address=0.0.0.0:1, --metrics-port=1",
  ],
  [
    "a sidecar among the init containers",
    [
      pod([runs("a", HEALTH)], {
        pod: { initContainers: [{ ...runs("b", HEALTH), restartPolicy: "Always" }] },
      }),
    ],
    IN_POD,
    "--health-port=1, --health-port=1",
  ],
  [
    "two declarations in a pod on the node's network, which the API server refuses",
    [pod([declares("a", { containerPort: 1 }), declares("b", { containerPort: 1 })], ON_NODE)],
    ON_THE_NODE,
    "containerPort: 1, containerPort: 1",
  ],
  [
    "a declared port of one pod, and a listener of another",
    [
      pod([declares("a", { containerPort: 1 }), runs("b", HEALTH)], ON_NODE),
      other([declares("c", { containerPort: 1 })], ON_NODE),
    ],
    ON_THE_NODE,
    "--health-port=1, containerPort: 1",
  ],
  [
    "a host port",
    [
      pod([declares("a", { containerPort: 3, hostPort: 1 })]),
      other([runs("c", "--listen-address=127.0.0.1:1")], ON_NODE),
    ],
    ON_THE_NODE,
    "containerPort: 1, --listen-address=127.0.0.1:1",
  ],
])("two on one port: %s", (_what, objects, where, now) => {
  expect(portsSaid(...objects)).toEqual([`CSI109 problem: both serve on ${where} -> ${GIVE_EACH} ${now}`]);
});

test.each<readonly [what: string, objects: readonly object[]]>([
  [
    "a port that one declares and the other listens on",
    [pod([declares("a", { containerPort: 1 }), runs("b", HEALTH)], ON_NODE)],
  ],
  [
    "other addresses",
    [
      pod([
        runs("a", "--health-port=0", "--http-endpoint=[::1]:1"),
        runs("b", "--http-endpoint=localhost:1"),
      ]),
    ],
  ],
  [
    "another protocol",
    [
      pod(
        [declares("a", { containerPort: 1, protocol: "UDP" }), declares("b", { containerPort: 1 })],
        ON_NODE,
      ),
    ],
  ],
  ["an init container, ended", [pod([runs("a", HEALTH)], { pod: { initContainers: [runs("b", HEALTH)] } })]],
  ["a port that is not known", [pod([runs("a", "--health-port=$(P)"), runs("b", "--health-port=$(P)")])]],
  ["pods with a network of their own", [pod([runs("a", HEALTH)]), other([runs("c", HEALTH)])]],
  ["one object in two files", [pod([runs("a", HEALTH)], ON_NODE), pod([runs("a", HEALTH)], ON_NODE)]],
  ["no registrar", [pod([]), ...["b", "c"].map((name) => other([runs("c", HEALTH)], { name, ...ON_NODE }))]],
  [
    "nodes that exclude each other",
    [
      pod([runs("a", HEALTH)], { pod: { ...ON_NODE.pod, nodeSelector: { p: "1" } } }),
      other([runs("c", HEALTH)], { pod: { ...ON_NODE.pod, nodeSelector: { p: "2" } } }),
    ],
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
  const declared = other([declares("c", { containerPort: 1 })], ON_NODE);
  const three = pod([runs("a", HEALTH), runs("b", "--metrics-port=1")], ON_NODE);
  expect(portsSaid(three, declared)).toEqual([
    `CSI109 problem: all serve on ${ON_THE_NODE} -> ${GIVE_EACH} --health-port=1, --metrics-port=1, containerPort: 1`,
  ]);
  const read = [three, declared].map((object) => ({ file: "a.yaml", object }));
  const [found] = findingsOf(pairChecks, readDeployments(read));
  const [set, deployment] = ["a.yaml: DaemonSet ns/a, container", "a.yaml: Deployment ns/b, container"];
  expect(found?.subject).toBe(`${set} a, ${set} b and ${deployment} c`);
  expect(found?.objects).toMatchObject([
    { kind: "DaemonSet", name: "a", container: "a" },
    { kind: "DaemonSet", name: "a", container: "b" },
    { kind: "Deployment", name: "b", container: "c" },
  ]);
});

test("of an object that is given twice the last one counts", () => {
  const on = (port: number) => pod([runs("a", `--health-port=${port}`)], ON_NODE);
  const beside = other([runs("c", HEALTH)], ON_NODE);
  const both = `CSI109 problem: both serve on ${ON_THE_NODE} -> ${GIVE_EACH} ${HEALTH}, ${HEALTH}`;
  expect(portsSaid(on(1), beside, on(1))).toEqual([both]);
  expect(portsSaid(on(2), beside, on(1))).toEqual([both]);
  expect(portsSaid(on(1), beside, on(2))).toEqual([]);
});

test("two registrars of a pod", () => {
  const args = [TOLD, "--http-endpoint=:1"];
  const containers = ["1", "2"].map((name) => ({ ...REGISTRAR, name, image: OFFICIAL, args }));
  expect(portsSaid(daemonSet({ pod: { containers } }))).toEqual([
    expect.stringContaining("both serve on port 1 of a.yaml: DaemonSet ns/x"),
  ]);
});
