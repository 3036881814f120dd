import { daemonSet, PATH, saidOf, TOLD } from "./one-daemon-set";

const REGISTRAR = daemonSet().spec.template.spec.containers[0];
const AT_CSI = [{ name: "plugin", mountPath: "/csi" }];

interface Driver {
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly object[];
  readonly volumeMounts?: readonly object[];
}

/** What is said of a registrar beside these drivers. */
function saidBeside(drivers: readonly Driver[], volumes: readonly object[] = []) {
  const all = [
    { name: "plugin", hostPath: { path: PATH } },
    { name: "registration", hostPath: { path: "/var/lib/kubelet/plugins_registry" } },
    { name: "root", hostPath: { path: "/var/lib/kubelet/" } },
    { name: "other", hostPath: { path: "/var/run/x" } },
    { name: "empty", emptyDir: {} },
    ...volumes,
  ];
  const containers = drivers.map((driver, n) => ({ name: `driver${n}`, volumeMounts: AT_CSI, ...driver }));
  return saidOf({ pod: { containers: [REGISTRAR, ...containers], volumes: all } });
}

const endpoint = (address: string, ...volumeMounts: readonly object[]): Driver => ({
  args: [`--endpoint=${address}`],
  ...(volumeMounts.length > 0 && { volumeMounts }),
});
const environment = (value: object): Driver => ({ env: [{ name: "CSI_ENDPOINT", ...value }] });

test.each<readonly [made: string, fix: string, Driver]>([
  [
    "makes its socket at /var/lib/kubelet/plugins/x.csi/x.sock",
    "use one name for both: x.sock in --csi-address and --kubelet-registration-path",
    endpoint("unix:///csi/x.sock"),
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
    "makes its socket at /run/csi.sock, on no volume",
    "mount the volume of /csi at /run in container driver0",
    { command: ["sh", "-c", "exec /driver -csi-endpoint 'unix:/run/csi.sock' --x"] },
  ],
])("a driver %s", (made, fix, driver) => {
  expect(saidBeside([driver])).toEqual([
    `CSI115 problem: waits for ${PATH}/csi.sock, and container driver0 ${made} -> ${fix}`,
  ]);
});

const FAULTLESS: readonly (readonly [what: string, ...drivers: Driver[]])[] = [
  ["a volume of both", endpoint("unix:///csi/csi.sock")],
  ["a volume of both, by a variable", environment({ value: "unix://csi/csi.sock" })],
  ["a flag before a variable", { ...endpoint("/csi/csi.sock"), ...environment({ value: "/x/csi.sock" }) }],
  [
    "the same folder of the host by another mount",
    endpoint("unix:/kubelet/plugins/x.csi/csi.sock", { name: "root", mountPath: "/kubelet" }),
  ],
  ["a variable from elsewhere", environment({ valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } })],
  ["a template", endpoint("unix:///{{ .Values.socket }}")],
  ["a folder by an unknown name", endpoint("/csi/csi.sock", { ...AT_CSI[0], subPathExpr: "$(X)" })],
  ["a TCP address", endpoint("tcp://127.0.0.1:10000")],
  ["no address", {}],
  ["two drivers", endpoint("/csi/a.sock"), endpoint("/csi/b.sock")],
];

test.each(FAULTLESS.map(([what, ...drivers]) => [what, drivers] as const))(
  "no fault in %s",
  (_what, drivers) => {
    expect(saidBeside(drivers)).toEqual([]);
  },
);

test("with two registrars it is not known whose socket it is", () => {
  const second = { ...REGISTRAR, name: "second" };
  const driver = { name: "driver", ...endpoint("unix:///csi/x.sock"), volumeMounts: AT_CSI };
  const codes = saidOf({ pod: { containers: [REGISTRAR, second, driver] } }).map(
    (line) => line.split(" ")[0],
  );
  expect(codes).not.toContain("CSI115");
});

test("with several arguments in one item CSI101 says so, and nothing is said of the socket", () => {
  const container = { args: [`--csi-address=/csi/csi.sock ${TOLD}`, TOLD] };
  const volumeMounts = [{ name: "plugin", mountPath: "/csi" }];
  const driver = { name: "driver", ...endpoint("unix:///csi/csi.sock"), volumeMounts };
  const registrar = { ...REGISTRAR, ...container };
  const said = saidOf({ pod: { containers: [registrar, driver] } });
  expect(said).toEqual([expect.stringMatching(/^CSI101 problem: has several arguments in one item/)]);
});

test("a volume that is not the host's", () => {
  const empty = [{ name: "plugin", emptyDir: {} }];
  const codes = (file: string) =>
    saidBeside([endpoint(`/csi/${file}`)], empty).map((line) => line.split(" ", 1)[0]);
  expect(codes("csi.sock")).toEqual(["CSI102"]);
  expect(codes("x.sock")).toEqual(["CSI102", "CSI115"]);
});
