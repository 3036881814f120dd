import { existsSync, lstatSync, readdirSync } from "node:fs";
import type { Client } from "@grpc/grpc-js";
import { bareCall } from "../../src/grpc/client/bare-call";
import { callUnary, createUnixClient } from "../../src/grpc/client/unary";
import { protos, type Unary } from "../../src/grpc/protos";
import type { CsiDriverOptions } from "../../src/simulator/driver/options";
import { createKubeletClient } from "../../src/simulator/kubelet/calls";
import { eachTest } from "../support/each-test";
import { PATIENCE_MS } from "../support/history";
import { createTestNode } from "../support/registrar-node";

const { identity, node } = protos;
const bounds = { timeoutMs: PATIENCE_MS };

const folder = eachTest(createTestNode);
let client: Client;
beforeEach(() => {
  client = createUnixClient(folder.csiAddress);
});
afterEach(() => client.close());

const start = (options: Partial<CsiDriverOptions> = {}, signal?: AbortSignal) =>
  folder.driver({ ...options, signal });
const ask = <Answer>(method: Unary<object, Answer>) => callUnary(client, method, {}, bounds);
const getPluginInfo = () => ask(identity.GetPluginInfo);
const probe = () => ask(identity.Probe);

test("the driver answers with its options, and with setAnswers' after that call", async () => {
  const topology = { zone: "a" };
  const { setAnswers } = await start({ nodeId: "n7", topology, maxVolumes: 39 });
  topology.zone = "b";
  const info = () => ask(node.NodeGetInfo);
  const before = { nodeId: "n7", accessibleTopology: { segments: { zone: "a" } } };
  expect(await info()).toEqual({ ...before, maxVolumesPerNode: 39 });
  expect(await probe()).toEqual({ ready: { value: true } });
  setAnswers({ maxVolumes: 5, nodeId: undefined });
  expect(await info()).toEqual({ ...before, maxVolumesPerNode: 5 });
  expect(() => setAnswers({ topology: {}, maxVolumes: 0.5 })).toThrow("setAnswers: maxVolumes");
  expect(() => setAnswers({ name: "y.csi" } as object)).toThrow("setAnswers: there is no option");
  expect(await info()).toEqual({ ...before, maxVolumesPerNode: 5 });
  setAnswers({ topology: {}, vendorVersion: "2" });
  expect(await info()).toEqual({ nodeId: "n7", maxVolumesPerNode: 5, accessibleTopology: null });
  expect(await getPluginInfo()).toMatchObject({ name: "x.csi", vendorVersion: "2" });
});

test("the driver's events have each call's authority and answer", async () => {
  const { events } = await start();
  for (const _time of [1, 2]) await getPluginInfo(); // The second names the first one's authority by a number.
  const oldKubelet = createKubeletClient(folder.csiAddress, folder.csiAddress);
  await callUnary(oldKubelet, node.NodeGetInfo, {}, bounds);
  oldKubelet.close();
  // As grpc-go writes 2.5 s.
  const fields = { "grpc-timeout": "2500000u" };
  await bareCall(folder.csiAddress, "/csi.v1.Node/NodeGetCapabilities", { ...bounds, fields });
  await bareCall(folder.csiAddress, "/csi.v1.Node/NodeGetVolumeStats", bounds); // With no deadline for the driver.
  const at = { atMs: expect.any(Number) };
  const answered = { ...at, kind: "answered", durationMs: expect.any(Number), result: { kind: "ok" } };
  const timeoutMs = expect.any(Number);
  const ofOldKubelet = { authority: folder.csiAddress, timeoutMs };
  expect(events.history()).toEqual([
    { ...at, kind: "listening", csiAddress: folder.csiAddress },
    ...[1, 2].flatMap(() => [
      { ...at, kind: "called", method: "GetPluginInfo", authority: "localhost", timeoutMs },
      { ...answered, method: "GetPluginInfo" },
    ]),
    { ...at, kind: "called", method: "NodeGetInfo", ...ofOldKubelet },
    { ...answered, method: "NodeGetInfo" },
    { ...at, kind: "called", method: "NodeGetCapabilities", authority: "localhost:80", timeoutMs: 2_500 },
    { ...at, kind: "called", method: "NodeGetVolumeStats", authority: "localhost:80" },
  ]);
  const [called, done] = [events.history("called"), events.history("answered")];
  for (const [nth, { atMs, durationMs }] of done.entries())
    expect(Math.abs(atMs - (called[nth]?.atMs ?? 0) - durationMs)).toBeLessThan(1_000);
});

test("a fault applies as often as it says, and setFaults replaces it", async () => {
  const { setFaults } = await start({
    faults: [{ kind: "error", method: "GetPluginInfo", code: "UNAVAILABLE", message: "starting", times: 1 }],
  });
  await expect(getPluginInfo()).rejects.toMatchObject({ code: 14, details: "starting" });
  await expect(getPluginInfo()).resolves.toMatchObject({ name: "x.csi" });
  setFaults([{ kind: "not-ready", times: 1 }]);
  await expect(probe()).resolves.toEqual({ ready: { value: false } });
  await expect(probe()).resolves.toEqual({ ready: { value: true } });
});

test("a fault cannot be the code OK", async () => {
  const faults = [{ kind: "error", method: "GetPluginInfo", code: "OK" as never }] as const;
  await expect(start({ faults })).rejects.toMatchObject({ code: "INVALID_OPTION" });
});

test("the faults hang and slow leave a call unanswered, or answer late", async () => {
  const { events } = await start({
    faults: [
      { kind: "hang", method: "GetPluginInfo", times: 1 },
      { kind: "slow", method: "GetPluginInfo", delayMs: 30, times: 1 },
    ],
  });
  const impatient = new AbortController();
  const call = callUnary(client, identity.GetPluginInfo, {}, { ...bounds, signal: impatient.signal });
  // Slow first, then hanging: given up any sooner, the fault would be left for the next call.
  await events.when("fault-applied", { where: ({ fault }) => fault.kind === "hang" });
  impatient.abort();
  await expect(call).rejects.toMatchObject({ code: 1 });
  await expect(events.when("answered")).resolves.toMatchObject({ result: { kind: "error" } });
  await expect(getPluginInfo()).resolves.toMatchObject({ name: "x.csi" });
});

test("close() removes the driver's socket, kill() leaves it", async () => {
  const first = await start();
  expect(readdirSync(folder.path).filter((name) => name.startsWith("."))).toEqual([]);
  await getPluginInfo();
  await first.kill();
  expect(lstatSync(folder.csiAddress).isSocket()).toBe(true);
  await expect(getPluginInfo()).rejects.toMatchObject({ code: 14 });
  await expect(first.events.when("stopped")).resolves.toMatchObject({ because: "kill" });

  const second = await start();
  const closing = second.close();
  expect(second.close()).toBe(closing);
  expect(second[Symbol.asyncDispose]()).toBe(closing);
  await closing;
  expect(existsSync(folder.csiAddress)).toBe(false);
  for (const change of [() => second.setAnswers({ maxVolumes: 5 }), () => second.setFaults([])])
    expect(change).toThrow("the simulated CSI driver x.csi is closed");
});

test("listenAfterMs delays the socket, and the signal closes the driver", async () => {
  const stop = new AbortController();
  const late = start({ listenAfterMs: 3_600_000 }, stop.signal);
  stop.abort();
  await expect(late).rejects.toMatchObject({ code: "ABORTED" });
  expect(existsSync(folder.csiAddress)).toBe(false);
  await expect(start({}, stop.signal)).rejects.toMatchObject({ code: "ABORTED" });
  const meanwhile = new AbortController();
  const listening = start({}, meanwhile.signal);
  setImmediate(() => meanwhile.abort());
  await expect(listening).rejects.toMatchObject({ code: "ABORTED" });
  expect(existsSync(folder.csiAddress)).toBe(false);
  const next = new AbortController();
  const { events } = await start({ listenAfterMs: 5 }, next.signal);
  await expect(getPluginInfo()).resolves.toMatchObject({ name: "x.csi" });
  next.abort();
  await expect(events.when("stopped")).resolves.toMatchObject({ because: "close" });
});
