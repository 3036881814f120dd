import fc from "fast-check";
import { readRegistrars } from "../../../../src/tools/doctor/files/read/registrars";
import { trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { type Changes, daemonSet, PATH, readAs, saidOf, TOLD } from "./one-daemon-set";

const REGISTRAR = daemonSet().spec.template.spec.containers[0];
const AT_CSI = [{ name: "plugin", mountPath: "/csi" }];

const VOLUMES = {
  plugin: PATH,
  registration: "/var/lib/kubelet/plugins_registry",
  root: "/var/lib/kubelet/",
  other: "/var/run/x",
};

const saidBeside = (...given: Parameters<typeof podBeside>) => saidOf({ pod: podBeside(...given) });
function podBeside(drivers: readonly object[], volumes: readonly object[] = [], registrar?: object) {
  const onHost = Object.entries(VOLUMES).map(([name, path]) => ({ name, hostPath: { path } }));
  const named = [...onHost, { name: "empty", emptyDir: {} }, ...volumes].map((one) => ({ name: "", ...one }));
  const all = [...new Map(named.map((one) => [one.name, one])).values()];
  const containers = drivers.map((driver, n) => ({ name: `driver${n}`, volumeMounts: AT_CSI, ...driver }));
  return { containers: [{ ...REGISTRAR, ...registrar }, ...containers], volumes: all };
}

const endpoint = (address: string, ...volumeMounts: readonly object[]): object => ({
  args: [`--endpoint=${address}`],
  ...(volumeMounts.length > 0 && { volumeMounts }),
});
const environment = (value: object): object => ({ env: [{ name: "CSI_ENDPOINT", ...value }] });

test.each<readonly [made: string, fix: string, driver: object]>([
  [
    "makes its socket at /var/lib/kubelet/plugins/x.csi/x.sock",
    "use one name for both: x.sock in --csi-address and --kubelet-registration-path",
    endpoint("unix:///csi/x.sock"),
  ],
  [
    "makes its socket at /var/lib/kubelet/plugins/x.csi/y.sock",
    "use one name for both: y.sock in --csi-address and --kubelet-registration-path",
    { args: ["--csi_addr=unix:///csi/y.sock"] },
  ],
  [
    "makes its socket at /run/x/csi.sock",
    "mount the volume of /csi at /csi in container driver0",
    endpoint("unix://csi/csi.sock", { name: "other", mountPath: "/csi" }),
  ],
  [
    "makes its socket at volume empty: /csi.sock",
    "mount the volume of /csi at /sockets in container driver0",
    {
      ...environment({ value: "/sockets/csi.sock" }),
      volumeMounts: [{ name: "empty", mountPath: "/sockets" }],
    },
  ],
  [
    "makes its socket at its own /run/csi.sock, on no volume",
    "mount the volume of /csi at /run in container driver0",
    { command: ["sh", "-c", "exec /driver -csi-endpoint  'unix:/run/csi.sock' --x"] },
  ],
  [
    "makes its socket at its own /csi.sock, on no volume",
    "make its endpoint unix:///csi/csi.sock, with the volume of /csi at /csi in container driver0",
    endpoint("unix:///csi.sock"),
  ],
])("a driver %s", (made, fix, driver) => {
  expect(saidBeside([driver])).toEqual([
    `CSI115 problem: waits for ${PATH}/csi.sock${made.includes("its own") ? " on the host" : ""}, and container driver0 ${made} -> ${fix}`,
  ]);
});

const SKIPPED = expect.stringMatching(/^CSI115 skipped: waits for .* is not judged: the pod has several /);

test.each([
  [{ args: ["--csi-endpoint=unix:///csi/csi.sock", "--endpoint=unix:///run/api.sock"] }],
  [{ args: ["--endpoint=unix:///run/api.sock"], ...environment({ value: "unix:///csi/csi.sock" }) }],
])("which of two addresses is CSI's, only the driver knows: %j", (driver) => {
  expect(saidBeside([driver])).toContainEqual(SKIPPED);
});

test("a driver whose own mount is read-only makes no socket there, whatever else has that volume", () => {
  const readers = fc.array(fc.record({ readOnly: fc.boolean(), isSidecar: fc.boolean() }), { maxLength: 3 });
  const mounted = (readOnly: boolean) => ({ volumeMounts: [{ ...AT_CSI[0], readOnly }] });
  fc.assert(
    fc.property(fc.boolean(), readers, (readOnly, others) => {
      const beside = others.map((one) => ({
        ...mounted(one.readOnly),
        args: [one.isSidecar ? "--csi-address=/csi/csi.sock" : "--v=2"],
      }));
      const lines = saidBeside([{ ...endpoint("unix:///csi/csi.sock"), ...mounted(readOnly) }, ...beside]);
      const isSure = readOnly && others.every(({ isSidecar }) => isSidecar);
      expect(lines).toEqual(
        isSure
          ? [
              "CSI115 problem: waits for the socket of container driver0, which mounts /csi read-only: no socket can be made there -> remove readOnly from that mount",
            ]
          : [],
      );
    }),
  );
});

test("the driver may be a container beside it that has the volume, and is no sidecar", () => {
  const elsewhere = endpoint("unix:///run/csi.sock");
  const [unknown = ""] = saidBeside([elsewhere, { args: ["--socket=/csi/csi.sock"] }]);
  expect(unknown).toMatch(/^CSI115 unknown: waits for .* on no volume; container driver1 may be the driver/);
  expect(saidBeside([elsewhere, { args: ["--csi-address=/csi/csi.sock"] }])[0]).toMatch(/^CSI115 problem: /);
});

test("a driver among the init containers, or with another volume of the host, may be the driver, too", () => {
  const proxy = endpoint("unix:///run/csi.sock", { name: "empty", mountPath: "/run" });
  const driver = { name: "driver1", restartPolicy: "Always", args: ["--socket=x"], volumeMounts: AT_CSI };
  const own = [{ name: "root", mountPath: "/kubelet" }];
  const { containers, ...pod } = podBeside([proxy]);
  expect(saidOf({ pod: { ...pod, containers } })[0]).toMatch(/^CSI115 problem: /);
  const maybe = /^CSI115 unknown: .*; container driver1 may be the driver/;
  expect(saidOf({ pod: { ...pod, containers, initContainers: [driver] } })[0]).toMatch(maybe);
  expect(saidBeside([proxy, { ...driver, volumeMounts: own }])[0]).toMatch(maybe);
});

test("which container may be the driver is no certain no where a path is not filled in", () => {
  const of = (changes: Changes) => readRegistrars(readAs("a.yaml", [daemonSet(changes)])).registrars;
  const args = [`--csi-address=/\${DIR}/csi.sock`, TOLD];
  const drivers = (changes: Changes) => of(changes).contains(({ mayBeDrivers }) => mayBeDrivers.contains());
  expect([{}, { args }].map((changes) => trueOrNull(drivers(changes)))).toEqual([false, null]);
});

test.each([
  ["/csi/y.sock", "write: --csi-address=/csi/x.sock"],
  ["/registration/x.sock", "write: --csi-address=/csi/x.sock"],
  ["/csi/csi.sock", "use one name for both: x.sock in --csi-address and --kubelet-registration-path", "z"],
])("a wrong --csi-address=%s is a finding of CSI115 alone: %s", (csiAddress, fix, told = "x") => {
  const args = [`--csi-address=${csiAddress}`, `--kubelet-registration-path=${PATH}/${told}.sock`];
  const lines = saidBeside([endpoint("unix:///csi/x.sock")], [], { args });
  expect(lines).toEqual([expect.stringMatching(`^CSI115 problem: waits for .* -> ${fix}$`)]);
});

test.each<readonly [what: string, ...drivers: object[]]>([
  ["a volume of both", endpoint("unix:///csi/csi.sock")],
  ["a flag whose last value counts", { args: ["--endpoint=/csi/x.sock", "--endpoint=/csi/csi.sock"] }],
  ["a volume of both, by a variable", environment({ value: "unix://csi/csi.sock" })],
  [
    "the same folder of the host by another mount",
    endpoint("unix:/kubelet/plugins/x.csi/csi.sock", { name: "root", mountPath: "/kubelet" }),
  ],
  ["a flag with the name of CSI's socket", { args: ["--csi-socket=/csi/csi.sock"] }],
  ["a flag that no other driver has", { args: ["--listen", "'unix:///csi/csi.sock'"] }],
  ["another container that has no volume of it", { volumeMounts: [] }],
])("no fault in %s", (_what, ...drivers) => {
  expect(saidBeside(drivers as readonly object[])).toEqual([]);
});

test.each<readonly [what: string, path: string, driver: object]>([
  ["a TCP address", "/csi/csi.sock", endpoint("tcp://127.0.0.1:10000")],
  ["a page of it", "/csi/csi.sock", endpoint("/metrics")],
  ["another socket in an argument", "/csi/csi.sock", { args: ["--listen=/csi/csi.sock.lock"] }],
  ["no address", "/run/x/csi.sock", { volumeMounts: [{ name: "plugin", mountPath: "/run/x/" }] }],
  ["its root", "/csi.sock", { volumeMounts: [{ name: "plugin", mountPath: "/" }] }],
  [
    "another directory of the volume",
    `${PATH}/csi.sock on the host`,
    { volumeMounts: [{ name: "plugin", mountPath: "/csi", subPath: "x" }] },
  ],
])(
  "with %s it is said that the driver's socket is not judged, and where it must be: %s",
  (_what, path, driver) => {
    expect(saidBeside([driver])).toEqual([
      `CSI115 skipped: waits for ${PATH}/csi.sock, and where container driver0 makes its socket is not judged: no flag or variable that the doctor knows tells it -> see that it makes ${path} in container driver0`,
    ]);
  },
);

const seeValueOf = (variable: string) =>
  `see where its env takes $(${variable}) from, or define it before its use: the socket must be ${PATH}/csi.sock`;

test.each<readonly [open: string, fix: string, driver: object]>([
  [
    "/$(CSI_ENDPOINT)",
    seeValueOf("CSI_ENDPOINT"),
    environment({ valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }),
  ],
  ["/{{ .Values.socket }}", "render the file first", endpoint("unix:///{{ .Values.socket }}")],
  ["<socket>", "render the file first", endpoint("<socket>")],
  [
    `${PATH}/$(X)/csi.sock`,
    seeValueOf("X"),
    endpoint("/csi/csi.sock", { ...AT_CSI[0], subPathExpr: "$(X)" }),
  ],
])("a driver's socket at %s is unknown", (open, fix, driver) => {
  expect(saidBeside([driver])).toEqual([
    `CSI115 unknown: waits for ${PATH}/csi.sock, and where container driver0 makes its socket is not known: ${open} -> ${fix}`,
  ]);
  const other = `--kubelet-registration-path=${PATH}/other.sock`;
  const said = saidBeside([driver], [], { args: ["--csi-address=/csi/csi.sock", other] });
  expect(codesOf(said)).toEqual(["CSI115"]);
});

test("a driver's address that may be in a Secret is unknown, and the Secret is named", () => {
  // pipethedev/nobus-csi.
  const envFrom = [{ prefix: "X_", configMapRef: { name: "c" } }, { secretRef: { name: "nobus-csi" } }];
  expect(saidBeside([{ envFrom }])).toEqual([
    `CSI115 unknown: waits for ${PATH}/csi.sock on the host, and container driver0 may get CSI_ENDPOINT from Secret nobus-csi, which is not read -> see that it makes /csi/csi.sock in container driver0`,
  ]);
  const [said] = saidBeside([{ envFrom, volumeMounts: [] }]);
  expect(said).toMatch(/ -> mount the volume of \/csi in container driver0$/);
});

test.each<readonly [what: string, status: string | undefined, driver: object]>([
  ["all variables of a ConfigMap", "unknown", {}],
  ["those whose name begins with CSI_", "unknown", { prefix: "CSI_" }],
  ["those of another name", "problem", { prefix: "X_" }],
  ["all, and it has no flag", "unknown", { args: [] }],
  ["all, and it is a sidecar", undefined, { args: ["--csi-address=/csi/csi.sock"] }],
  ["all, and its own hides them", "problem", environment({ value: "/csi/x.sock" })],
  ["all, and it is where the flag says", undefined, endpoint("/csi/csi.sock")],
])("a driver's flag beside %s: %s", (_what, status, { prefix, ...driver }: { prefix?: string }) => {
  const envFrom = [{ prefix, configMapRef: { name: "x" } }];
  const told = `--kubelet-registration-path=${PATH}/other.sock`;
  const said = (args?: object) => saidBeside([{ ...endpoint("/csi/x.sock"), envFrom, ...driver }], [], args);
  expect(said()).toEqual(status ? [expect.stringMatching(`^CSI115 ${status}: `)] : []);
  // Where the ConfigMap may have what kubelet is told, that is no problem.
  const both = codesOf(said({ args: ["--csi-address=/csi/csi.sock", told] }));
  expect(both).toEqual([status ? "CSI115" : "CSI102"]);
});

const codesOf = (lines: readonly string[]) => lines.map((line) => line.split(" ", 1)[0]);
const OTHER_SOCKET = { name: "driver", ...endpoint("unix:///csi/x.sock"), volumeMounts: AT_CSI };

test("of two drivers, or two registrars, none is judged, and that is said", () => {
  expect(saidBeside([endpoint("/csi/a.sock"), endpoint("/csi/b.sock")])).toEqual([SKIPPED]);
  const second = { ...REGISTRAR, name: "second" };
  for (const driver of [
    OTHER_SOCKET,
    { name: "driver", envFrom: [{}] },
    { ...OTHER_SOCKET, ...endpoint("unix:///{{ .x }}") },
  ])
    expect(saidOf({ pod: { containers: [REGISTRAR, second, driver] } })).toEqual([SKIPPED, SKIPPED]);
  expect(saidOf({ pod: { containers: [REGISTRAR, second, { name: "driver" }] } })).toEqual([]);
});

test("several arguments in one item leave the driver's socket unknown", () => {
  const joined = { ...REGISTRAR, args: [`--csi-address=/csi/csi.sock ${TOLD}`, TOLD] };
  expect(codesOf(saidOf({ pod: { containers: [joined, OTHER_SOCKET] } }))).toEqual(["CSI101"]);
});

test.each([
  [undefined, []],
  ["Always", [expect.stringMatching(/^CSI115 problem: /)]],
  [
    "{{ .x }}",
    [expect.stringMatching(/^CSI115 unknown: .* container init makes .* not known: {{ \.x }} ->/)],
  ],
])(
  "an init container makes no socket once it has ended, with restartPolicy %s",
  (restartPolicy, expected) => {
    const { containers } = daemonSet().spec.template.spec;
    const initContainers = [{ ...OTHER_SOCKET, name: "init", restartPolicy }];
    const volumeless = containers.slice(0, 1);
    expect(saidOf({ pod: { containers: volumeless, initContainers } })).toEqual(expected);
  },
);

test("a volume that is not the host's", () => {
  const empty = [{ name: "plugin", emptyDir: {} }];
  expect(codesOf(saidBeside([endpoint("/csi/csi.sock")], empty))).toEqual(["CSI102"]);
  expect(codesOf(saidBeside([endpoint("/csi/x.sock")], empty))).toEqual(["CSI102", "CSI115"]);
});

test("what else a shell fills in names no port, and a port that is declared twice is told once", () => {
  const args = ["--csi-address=/csi/csi.sock", TOLD, "--http-endpoint=:9809"];
  const said = (text: string, ports: readonly object[] = []) =>
    saidBeside([{ command: ["sh", "-c", text], ports }], [], { args });
  const start = `X=\${NODE%%.*} exec /driver --endpoint=/csi/csi.sock --nodeid=$NODE`;
  expect(said(start)).toEqual([]);
  expect(said(`${start} $MORE`)).toEqual([
    expect.stringMatching(/^CSI109 unknown: .* not filled in: \$MORE/),
  ]);
  const twice = [{ containerPort: 9809, hostPort: 9809 }];
  expect(said(start, twice)).toEqual([expect.stringMatching(/^CSI109 warning: serves port 9809/)]);
});
