import { SIMULATED_VERSIONS } from "../../src/kubelet-rules/versions";
import type { SimulatedKubelet } from "../../src/simulator/kubelet/kubelet";
import type { KubeletTimings } from "../../src/simulator/kubelet/options";
import { eachTest } from "../support/each-test";
import { eventually } from "../support/eventually";
import { leaveDeadSocket, startForeignSocket } from "../support/foreign-socket";
import { PATIENCE_MS } from "../support/history";
import { createTestNode } from "../support/registrar-node";
import { type FakeRegistrarOptions, startFakeRegistrar } from "./fake-registrar";

const node = eachTest(createTestNode);

/** Nobody waits for a second try. */
const ONCE = { backoffInitialMs: 1e9, backoffMaxMs: 1e9, connectMs: PATIENCE_MS, dialMs: PATIENCE_MS };
const DRA = { type: "DRAPlugin", supportedVersions: ["v1.DRAPlugin"] };
const DEVICE = { type: "DevicePlugin", name: "example.com/disk", supportedVersions: ["v1beta1"] };

/** What each registers; without an endpoint, its registration socket, where no driver is. */
const PLUGINS: Record<string, Omit<Partial<FakeRegistrarOptions>, "socketPath">> = {
  "a CSI driver": { info: { name: "x.csi", endpoint: "DRIVER" } },
  "a CSI driver of two versions": {
    info: { name: "two.csi", endpoint: "DRIVER", supportedVersions: ["0.9", "v1.5.0"] },
  },
  "a CSI driver without a service": { info: { name: "none.csi" } },
  "a CSI driver that does not run": { info: { name: "away.csi", endpoint: "/none/csi.sock" } },
  "a CSI driver with a long path": { info: { name: "long.csi", endpoint: `/${"l".repeat(107)}` } },
  "a CSI driver without a version": { info: { name: "v.csi", supportedVersions: [] } },
  "a CSI driver of version 2": { info: { name: "v2.csi", supportedVersions: ["2.0.0"] } },
  "a CSI driver of no version": { info: { name: "vx.csi", supportedVersions: ["x"] } },
  "a CSI driver without a name": { info: { name: "", endpoint: "DRIVER" } },
  "a CSI driver with a bad name": { info: { name: "A_b", endpoint: "DRIVER" } },
  "a CSI driver without a node ID": { info: { name: "id.csi", endpoint: "NAMELESS" } },
  "a plugin of an unknown type": { info: { type: "FooPlugin" } },
  "a DRA driver": { info: { ...DRA, name: "dra.example.com" } },
  "a DRA driver of no service": { info: { ...DRA, name: "no.example.com", supportedVersions: [] } },
  "a DRA driver of another service": {
    info: { ...DRA, name: "v9.example.com", supportedVersions: ["v9.DRAPlugin"] },
  },
  "a device plugin that does not serve": { info: DEVICE },
  "a device plugin of another version": { info: { ...DEVICE, supportedVersions: ["v1", "v2"] } },
  "a device plugin with a bad name": { info: { ...DEVICE, name: "disk" } },
  "an answer that is not protobuf": { rawInfo: Buffer.from([0x12, 200]) },
  "an answer that is not UTF-8": { rawInfo: Buffer.from([0x12, 1, 0xff]) },
  "a failure": {
    before: (method) => {
      if (method === "GetInfo") throw Object.assign(new Error("it starts"), { code: 14 });
    },
  },
  "a connection that is cut before the status is answered": {
    info: { name: "cut.csi", endpoint: "DRIVER" },
    before: (method, cut) => method === "NotifyRegistrationStatus" && cut(),
  },
};

/** What happened at one path, once that is over. */
async function storyOf({ events }: SimulatedKubelet, socketPath: string): Promise<string> {
  const history = () =>
    events
      .history()
      .flatMap((event) => ("socketPath" in event && event.socketPath === socketPath ? event : []));
  await eventually(() => {
    const kinds = history().map((event) =>
      event.kind === "called" && event.result.kind === "ok" ? event.call : event.kind,
    );
    expect(
      kinds.includes("failed") ||
        (kinds.includes("registered") && kinds.includes("NotifyRegistrationStatus")),
    ).toBe(true);
  });
  let sent = "nothing";
  const steps = history().flatMap((event): string[] => {
    switch (event.kind) {
      case "called":
        return event.result.kind === "ok" ? [event.call] : [`${event.call} fails`];
      case "refused":
        sent = event.error;
        return [`refused at ${event.stage}: ${sent}`];
      case "failed":
        return [`failed${event.retries ? ", tries again" : ""}: ${event.error.replace(sent, "THAT")}`];
      case "registered":
        return [`registered as ${event.pluginType} ${event.driverName}`];
      default:
        return [];
    }
  });
  return steps
    .join("; ")
    .replaceAll(socketPath, "SOCKET")
    .replaceAll(node.path, "NODE")
    .replace(/drivers\[\d\]/, "drivers[N]");
}

/** What each kubelet makes of the plugins behind these sockets, by what they are. */
async function storiesOf(
  names: Readonly<Record<string, string>>,
  timings: KubeletTimings,
  startPlugins: () => Promise<readonly AsyncDisposable[]>,
) {
  const stories: Record<string, Record<string, string>> = {};
  for (const version of SIMULATED_VERSIONS) {
    const plugins = await startPlugins();
    const kubelet = await node.kubelet({ version, timings });
    for (const [path, what] of Object.entries(names)) {
      const story = await storyOf(kubelet, path);
      const { [story]: others, ...all } = stories[what] ?? {};
      stories[what] = { ...all, [story]: others === undefined ? version : `${others} ${version}` };
    }
    await kubelet.close();
    for (const plugin of plugins) await plugin[Symbol.asyncDispose]();
  }
  return stories;
}

test("what each kubelet makes of a plugin", async () => {
  const nameless = node.at("nameless.sock");
  await node.driver();
  await node.driver({ csiAddress: nameless, nodeId: "" });
  const pathOf = (nth: number) => node.socketPath(`${nth}`);
  const names = Object.fromEntries(Object.keys(PLUGINS).map((what, nth) => [pathOf(nth), what]));
  const startPlugins = () =>
    Promise.all(
      Object.values(PLUGINS).map(({ info, ...rest }, nth) => {
        const endpoint =
          info?.endpoint?.replace("DRIVER", node.csiAddress).replace("NAMELESS", nameless) ?? "";
        return startFakeRegistrar({ socketPath: pathOf(nth), info: { ...info, endpoint }, ...rest });
      }),
    );
  expect(await storiesOf(names, ONCE, startPlugins)).toMatchSnapshot();
});

test("what each kubelet makes of sockets and drivers that are mute", async () => {
  const [mute, dead, driver] = [node.socketPath("mute"), node.socketPath("dead"), node.socketPath("driver")];
  node.keep(await startForeignSocket(mute));
  await leaveDeadSocket(dead);
  const endpoint = node.at("mute.sock");
  node.keep(await startForeignSocket(endpoint));
  const startPlugins = async () => [await startFakeRegistrar({ socketPath: driver, info: { endpoint } })];
  const [dialled, connected] = [
    { ...ONCE, dialMs: 50 },
    { ...ONCE, connectMs: 50 },
  ];
  expect(
    await storiesOf({ [mute]: "a mute socket", [dead]: "a dead socket" }, dialled, async () => []),
  ).toMatchSnapshot();
  expect(
    await storiesOf({ [driver]: "a CSI driver that is mute" }, connected, startPlugins),
  ).toMatchSnapshot();
});
