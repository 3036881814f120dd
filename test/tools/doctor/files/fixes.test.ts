import { daemonSet, findingsIn, OFFICIAL, PATH } from "./one-daemon-set";

// After a fix that has a value is done as it is written, the next run has no problem.

/** A pod as its author thinks of it; `mounts` are of the registrar. */
const GOOD = {
  csiAddress: "/csi/csi.sock",
  told: `${PATH}/csi.sock`,
  hostPath: PATH,
  type: "DirectoryOrCreate",
  mounts: { "/csi": PATH, "/registration": "/var/lib/kubelet/plugins_registry" } as Mounts,
  ownReadOnly: "",
  drivers: "/csi",
  endpoint: "unix:///csi/csi.sock",
};
type Mounts = Readonly<Record<string, string>>;
type World = typeof GOOD;
const REGISTRY = "/var/lib/kubelet/plugins_registry";

const built = (world: World, image: string) => {
  const { csiAddress, told, hostPath, type, mounts, ownReadOnly, drivers, endpoint } = world;
  const hosts = [...new Set([PATH, ...Object.values(mounts)])];
  const nameOf = (host: string) => `v${hosts.indexOf(host)}`;
  const volumes = hosts.map((host) => ({
    name: nameOf(host),
    hostPath: host === PATH ? { path: hostPath, type } : { path: host },
  }));
  const volumeMounts = Object.entries(mounts).map(([mountPath, host]) => ({
    ...{ name: nameOf(host), mountPath, readOnly: mountPath === ownReadOnly },
  }));
  const driver = {
    ...{ name: "driver", image: "d", args: [`--endpoint=${endpoint}`] },
    volumeMounts: [{ name: nameOf(PATH), mountPath: drivers }],
  };
  const args = [`--csi-address=${csiAddress}`, `--kubelet-registration-path=${told}`];
  const registrar = { name: "registrar", image, args, volumeMounts };
  return daemonSet({ pod: { containers: [registrar, driver], volumes } });
};

const renamed = (mounts: Mounts, from: string, to: string): Mounts =>
  Object.fromEntries(Object.entries(mounts).map(([path, host]) => [path === from ? to : path, host]));
const { mounts: GOOD_MOUNTS } = GOOD;

const MISTAKES: readonly Partial<World>[] = [
  ...["/csi", "/csi/", "/run/csi/csi.sock", "/registration/csi.sock", "/csi/x.sock"].map((csiAddress) => ({
    csiAddress,
  })),
  ...["/csi/csi.sock", PATH, `${PATH}/x.sock`, `${PATH}/csi.sock/`].map((told) => ({ told })),
  { csiAddress: GOOD.told, told: GOOD.csiAddress },
  ...["csi", "/csi/", "/csi/csi.sock", "/plugins", "/"].map((path) => ({
    mounts: renamed(GOOD_MOUNTS, "/csi", path),
  })),
  ...["registration", "/elsewhere"].map((path) => ({ mounts: renamed(GOOD_MOUNTS, "/registration", path) })),
  { mounts: { "/csi": PATH } },
  { mounts: { "/csi": REGISTRY, "/registration": PATH } },
  { mounts: { ...GOOD_MOUNTS, "/csi": "/var/lib/kubelet/plugins" } },
  { mounts: { ...GOOD_MOUNTS, "/csi": `${PATH}/csi.sock` } },
  ...["csi", "/run", "/csi/csi.sock"].map((drivers) => ({ drivers })),
  ...["unix:///csi/x.sock", "unix:///run/csi.sock"].map((endpoint) => ({ endpoint })),
  ...[PATH.slice(1), `${PATH}/csi.sock`, "/var/lib/kubelet/plugins"].map((hostPath) => ({ hostPath })),
  ...["File", "Socket", "directory", "Directory", ""].map((type) => ({ type })),
  ...["/csi", "/registration"].map((ownReadOnly) => ({ ownReadOnly })),
];

/** What each fix changes, by its words. */
const MACHINE: readonly (readonly [RegExp, (world: World, ...found: readonly string[]) => Partial<World>])[] =
  [
    [
      /--csi-address=(\S+) --kubelet-registration-path=(\S+)$/,
      (_, csiAddress = "", told = "") => ({ csiAddress, told }),
    ],
    [/^(?:write|add): --csi-address=(\S+)$/, (_, csiAddress = "") => ({ csiAddress })],
    [/--kubelet-registration-path=(\S+)$/, (_, told = "") => ({ told })],
    [
      /^write mountPath: (\S+)$/,
      ({ mounts, csiAddress }, path = "") => ({ mounts: renamed(mounts, csiAddress, path) }),
    ],
    [/^begin its path with a \/: (\S+)$/, (_, hostPath = "") => ({ hostPath })],
    [/^write path: (\S+), type: (\S+)$/, (_, hostPath = "", type = "") => ({ hostPath, type })],
    [/^write type: (\S+) for/, (_, type = "") => ({ type })],
    [/^remove readOnly/, () => ({ ownReadOnly: "" })],
    [
      /^mount the hostPath (\S+) (?:at (\S+)|there)$/,
      ({ mounts }, host = "", path = "/registration") => ({ mounts: { ...mounts, [path]: host } }),
    ],
    [
      /^mount its directory, the hostPath (\S+), at (\S+)$/,
      ({ mounts, csiAddress }, host = "", path = "") => ({
        mounts: { ...renamed(mounts, csiAddress, path), [path]: host },
      }),
    ],
    [
      /^mount the volume of (\S+) at (\S+) in container driver$/,
      ({ mounts }, at = "", drivers = "") => (at === "/csi" || mounts[at] === PATH ? { drivers } : {}),
    ],
    [
      /^use one name for both: (\S+) in/,
      ({ told, csiAddress }, name = "") => ({
        csiAddress: csiAddress.replace(/[^/]+$/, name),
        told: told.replace(/[^/]+$/, name),
      }),
    ],
  ];

const CODES = ["CSI101", "CSI102", "CSI103", "CSI115"];
const fixesOf = (world: World, image: string) =>
  findingsIn([built(world, image)])
    .filter(({ code, status }) => CODES.includes(code) && status === "problem")
    .map(({ code, text, fix, command }) => ({ code, text, fix: [fix, command ?? []].flat().join(": ") }));
function fixed(world: World, fixes: ReturnType<typeof fixesOf>): World {
  let after = world;
  for (const { fix } of fixes)
    for (const [pattern, change] of MACHINE) {
      const found = pattern.exec(fix);
      if (found === null) continue;
      after = { ...after, ...change(after, ...found.slice(1)) };
      break;
    }
  return after;
}

test.each(["registrar:v1", OFFICIAL])(
  "what a fix says is enough, in one run for one mistake: %s",
  (image) => {
    expect(fixesOf(GOOD, image)).toEqual([]);
    const left = MISTAKES.map((mistake) => {
      const world = { ...GOOD, ...mistake };
      const fixes = fixesOf(world, image);
      return { mistake, fixes, left: fixesOf(fixed(world, fixes), image) };
    });
    expect(left.filter((one) => one.left.length > 0)).toEqual([]);
  },
);

/** How many leave one still, most with the socket itself or another directory mounted: fewer is better. */
const LEFT = 33;

test("after three rounds of fixes few pairs of mistakes leave a problem", () => {
  const left = MISTAKES.flatMap((one, at) =>
    MISTAKES.slice(at + 1)
      .filter((other) => Object.keys(other).every((field) => !(field in one)))
      .filter((other) => {
        const rounds = [1, 2, 3].reduce<World>((world) => fixed(world, fixesOf(world, "registrar:v1")), {
          ...GOOD,
          ...one,
          ...other,
        });
        return fixesOf(rounds, "registrar:v1").length > 0;
      })
      .map((other) => JSON.stringify([one, other])),
  );
  expect(left).toHaveLength(LEFT);
});
