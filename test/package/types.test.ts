import { allTests } from "../support/each-test";
import { createConsumer } from "./support/consumer";

/** Uses the types as a driver's author would, in an ES module as in CommonJS. Lines with an error are marked. */
const PROGRAM = `
import {
  type CsiRegistrationOptions,
  createLogger,
  type DevicePluginRegistrationOptions,
  type DraRegistrationOptions,
  type GetPluginInfoResponse,
  type NodeRegistrar,
  RegistrarError,
  type RegistrationEvent,
  type Registration,
  type RegistrationOptions,
  type ServedCsiDriver,
  serveCsiDriver,
  startRegistrar,
  startRegistration,
  unaryHandler,
} from "registrar";
import { type handleUnaryCall, Metadata, type ServerOptions, status } from "registrar/grpc";
import { type NodeReadiness } from "registrar/node-readiness";
import {
  type IntroducedPlugin,
  type KubeletEvent,
  type KubeletOptions,
  type KubeletVersion,
  type NodeGetInfoResponse,
  type PluginInfo,
  SIMULATED_VERSIONS,
  type SimulatedCsiDriver,
  type SimulatedKubelet,
  type SimulatedVersion,
  startCsiDriver,
  startKubelet,
} from "registrar/testing";

const options = { name: "x.csi", endpoint: "/x.sock", onRegistrationFailure: "retry" } satisfies RegistrationOptions;
const logger = createLogger({ enabled: () => false, write: ({ message, fields }) => void [message, fields] });

export async function useIt(signal: AbortSignal | undefined): Promise<string> {
  await using kubelet = await startKubelet({ pluginRegistrationPath: "/tmp/r", version: "v1.28.15-gke.100", signal, logger: console });
  await using driver = await startCsiDriver({ csiAddress: "/x.sock", name: "x.csi", maxVolumes: 8 });
  const registration: Registration = await startRegistration({ ...options, signal, logger });
  const registrar: Registration = await startRegistrar({ csiAddress: "/x.sock", endpoint: "/x.sock" });
  await serveCsiDriver({ csiAddress: "/x.sock", addServices: (server) => server.addService({}, {}) });
  const either: readonly Registration[] = [registration, registrar];
  const nothing: void = await registration.ready;
  const outcome = await registration.closed;
  driver.setFaults([{ kind: "error", method: "NodeGetInfo", code: "INTERNAL" }]);
  kubelet.events.subscribe((event: KubeletEvent) => event.atMs);
  kubelet.events.subscribe("refused", ({ error }) => error.length);
  for await (const { driverName } of kubelet.events.iterate("registered", "deregistered")) void driverName;
  for await (const { driverName } of kubelet.events.iterate("registered", { signal })) void driverName;
  for await (const { socketPath } of registration.iterate("published", { signal })) void socketPath;
  for await (const event of registration.iterate({ signal })) event satisfies RegistrationEvent;
  kubelet.events.subscribe("called", ({ call, result }) => {
    if (result.kind === "error") return;
    if (call === "NodeGetInfo") result.answer satisfies NodeGetInfoResponse;
    else if (call === "GetInfo") result.answer satisfies PluginInfo;
    else result.answer satisfies undefined;
  });
  const told = await kubelet.events.when("called", { where: ({ call }) => call === "NodeGetInfo" });
  if (told.call === "NodeGetInfo" && told.result.kind === "ok") void told.result.answer.nodeId;
  const { error: reason, ...plugin } = await kubelet.refused("x.csi", { signal });
  plugin satisfies IntroducedPlugin;
  const [first] = kubelet.csiNode().spec.drivers;
  const identity: GetPluginInfoResponse | undefined = registrar.status().identity;
  const serverOptions = { "grpc.max_metadata_size": 16384, "grpc.keepalive_time_ms": Infinity };
  await serveCsiDriver({ csiAddress: "/x.sock", addServices: () => {}, serverOptions });
  await serveCsiDriver({ csiAddress: "/x.sock", addServices: () => {}, serverOptions: serverOptions as ServerOptions });
  void [either, nothing, reason, first?.allocatable?.count, identity?.vendorVersion];
  switch (outcome.kind) {
    case "stopped":
      return "";
    case "refused":
      return outcome.kubeletError + outcome.error.code;
    case "failed":
      return outcome.error instanceof RegistrarError ? outcome.error.code : (outcome.error satisfies never);
  }
}

/** Declarations of our own name what a handler is, and both kinds of options can be extended and shortened. */
export const probe = unaryHandler(async (_request: object, { metadata, signal }) => {
  if (signal.aborted) throw Object.assign(new Error("late"), { code: status.ABORTED, metadata: new Metadata() });
  return { ready: { value: metadata.get("x").length > 0 } };
});
/** A function without an answer fits where its message can be empty, and a literal has the message's type. */
type Handle<Response> = handleUnaryCall<{ readonly volumeId?: string }, Response>;
export const handlers = {
  empty: unaryHandler(async () => {}) satisfies Handle<object>,
  plain: unaryHandler(({ volumeId }) => void volumeId) satisfies Handle<{}>,
  sometimes: unaryHandler(async ({ volumeId }) => (volumeId ? { nodeId: volumeId } : undefined)) satisfies Handle<{ nodeId?: string }>,
  literal: unaryHandler(({ volumeId }) => ({ mode: volumeId ? "ON" : "OFF" })) satisfies Handle<{ mode: "ON" | "OFF" }>,
  unsupported: unaryHandler(() => { throw new Error("no"); }) satisfies Handle<{ nodeId: string }>,
};
export interface OurOptions extends CsiRegistrationOptions { readonly disk: string }
export interface GpuOptions extends Omit<DraRegistrationOptions, "type" | "supportedVersions"> { readonly gpu: string }
export const gpu = (options: Omit<GpuOptions, "gpu">) =>
  startRegistration({ ...options, type: "DRAPlugin", supportedVersions: ["v1.DRAPlugin"], instance: "uid" });
export const either = (options: DraRegistrationOptions | DevicePluginRegistrationOptions) => startRegistration(options);
export const ofType = (type: "DRAPlugin" | "DevicePlugin") =>
  startRegistration({ ...options, type, supportedVersions: ["v1"] });

/** A wrapper's option is one version of the kit's, or a text of the environment that it asserts. */
export const kubeletOf = (version: KubeletVersion | SimulatedVersion = (process.env.KUBELET ?? "1.36") as KubeletVersion) =>
  startKubelet({ pluginRegistrationPath: "/tmp/r", version });
export const again = ({ events }: SimulatedKubelet) => kubeletOf(events.history("started")[0]?.version);
export const everyKubelet = () => SIMULATED_VERSIONS.map((version) => kubeletOf(version));
export interface OurKubeletOptions extends Pick<KubeletOptions, "version"> { readonly folder: string }
export const ours = ({ folder, ...options }: OurKubeletOptions) =>
  startKubelet({ pluginRegistrationPath: folder, ...options });

/** A wrapper's own declarations can name each member's type. */
export const served = (driver: ServedCsiDriver) => ({ ...driver, status: { ...driver.status() } });
export const ofNode = (registrar: NodeRegistrar) => ({ ...registrar });
export const simulated = (driver: SimulatedCsiDriver) => ({ ...driver });
export const readiness = ({ status }: NodeReadiness) => ({ ...status(), api: { ...status().api } });

export function tell(event: RegistrationEvent): string {
  switch (event.kind) {
    case "state-changed":
      return event.change.to;
    case "registration-status":
      return event.error;
    case "published":
      return event.socketPath;
    case "driver-call":
    case "driver-answered":
    case "driver-lost":
    case "get-info":
      return event.kind;
    default:
      return event satisfies never;
  }
}

export function wrong(): readonly unknown[] {
  return [
    // @ts-expect-error The endpoint is missing.
    startRegistration({ name: "x.csi" }),
    // @ts-expect-error A DRA driver has no default versions.
    startRegistration({ ...options, type: "DRAPlugin" }),
    // @ts-expect-error A CSI driver has one instance.
    startRegistration({ name: "n", endpoint: "/e", instance: "uid" }),
    // @ts-expect-error A device plugin has one, too.
    startRegistration({ ...options, type: "DevicePlugin", supportedVersions: ["v1beta1"], instance: "uid" }),
    // @ts-expect-error There is no such policy.
    startRegistration({ ...options, onRegistrationFailure: "ignore" }),
    // @ts-expect-error Services that come later would be missing.
    serveCsiDriver({ csiAddress: "/x.sock", addServices: async () => {} }),
    // @ts-expect-error There is no second argument.
    startKubelet({ pluginRegistrationPath: "/tmp/r" }, { signal: AbortSignal.abort() }),
    // @ts-expect-error The answer needs a field.
    unaryHandler(async () => {}) satisfies Handle<{ nodeId: string }>,
    // @ts-expect-error There is no such option of grpc-js.
    serveCsiDriver({ csiAddress: "/x.sock", serverOptions: { foo: 5 }, addServices: () => {} }),
    // @ts-expect-error It is mistyped.
    serveCsiDriver({ csiAddress: "/x.sock", serverOptions: { "grpc.keepalive_time": 5 }, addServices: () => {} }),
    // @ts-expect-error A return is missing.
    unaryHandler(() => { ({ nodeId: "x" }); }) satisfies Handle<{ nodeId?: string }>,
    // @ts-expect-error The same of a promise.
    unaryHandler(async () => { ({ nodeId: "x" }); }) satisfies Handle<{ nodeId?: string }>,
    // @ts-expect-error There is no such field's type.
    unaryHandler(() => ({ nodeId: 5 })) satisfies Handle<{ nodeId?: string }>,
    // @ts-expect-error There is no such kubelet.
    startKubelet({ pluginRegistrationPath: "/tmp/r", version: "0.9" }),
  ];
}
`;

const consumer = allTests(createConsumer);
const FILES = ["consumer.mts", "consumer.cts"];
beforeAll(() => Promise.all(FILES.map((file) => consumer.write(file, PROGRAM))));

/** arethetypeswrong tries the other ways to find them; our declarations are checked too, and those of what they use. */
test.each(["node16", "nodenext"])("ES modules and CommonJS find the types with %s", async (module) => {
  // The second without the types of browsers, which take as long to check as all others.
  const lib = module === "nodenext" ? ["--lib", "es2022,esnext.disposable"] : [];
  const checked = await consumer.checkTypes(FILES, ["--module", module, "--declaration", ...lib]);
  expect(checked).toEqual({ code: 0, stdout: "", stderr: "" });
});
