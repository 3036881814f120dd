import { once } from "node:events";
import { connect } from "node:net";
import { status } from "@grpc/grpc-js";
import { createRegistrationEvents } from "../../../src/registrar/model/events";
import { resolveOptions } from "../../../src/registrar/model/library-options";
import { startRegistrationLoop } from "../../../src/registrar/registration/registration";
import { getInfoCall, HELLO } from "../../grpc/wire";
import { dialRegistration, registerOnce } from "../../support/dial-registration";
import { eachTest } from "../../support/each-test";
import { eventually } from "../../support/eventually";
import {
  createTestNode,
  startListening,
  startTestRegistrar,
  type TestRegistrar,
} from "../../support/registrar-node";
import { startScriptedDriver } from "../../support/scripted-driver";

const node = eachTest(createTestNode);

const name = "x.csi";
const HISTORY_LENGTH = 50;

test("a registration keeps its latest changes of state, however many there were", async () => {
  await using started = await startListening(node);
  let changes = 0;
  started.registrar.subscribe("state-changed", () => changes++);
  await started.accept();
  while (changes <= HISTORY_LENGTH) {
    started.registrar.reregister();
    await started.state("listening");
    await started.accept();
  }
  const { history } = started.registrar.status();
  expect(history).toHaveLength(HISTORY_LENGTH);
  expect(history.at(-1)).toMatchObject({ to: "registered", reason: "accepted" });
});

test("kubelet's status over a replaced socket does not count for the new one", async () => {
  await using started = await startListening(node);
  using kubelet = dialRegistration(node.socketPath(name));
  await kubelet.getInfo();
  await started.state("asked");
  await started.driver.kill();
  await using _renamed = await startScriptedDriver(node.csiAddress, { name: "y.csi" });
  await started.log.when("Registration Server started", 2);
  await started.state("listening");

  await kubelet.notify();
  await kubelet.notify("no");
  // It would register the new name by the old one's path.
  await expect(kubelet.getInfo()).rejects.toMatchObject({ code: status.UNAVAILABLE });
  const ignored = "Kubelet's call came over a socket that is no longer ours, ignored";
  await started.log.when(ignored, 2);
  const calls = started.log.all(ignored).map(({ fields }) => fields.call);
  expect(calls).toEqual(["registration-status", "registration-status"]);
  const { state, counters } = started.registrar.status();
  expect({ state, ...counters }).toMatchObject({
    state: "listening",
    accepted: 0,
    refused: 0,
    getInfoCalls: 0,
  });
  await registerOnce(node.socketPath("y.csi"));
  await started.state("registered");
});

/** A client that calls GetInfo and, before it can be answered, breaks HTTP/2. */
async function leaveUnanswered(started: TestRegistrar, times: number, authority?: string): Promise<void> {
  const path = started.registrar.status().registrationSocketPath ?? "";
  connect({ path }).end(
    Buffer.concat([HELLO, getInfoCall(1, authority ?? encodeURIComponent(path)), Buffer.alloc(9, 0xff)]),
  );
  await eventually(() => {
    const closed = started.log.all("Closed a connection that broke HTTP/2 or a limit");
    expect(closed.filter(({ severity }) => severity === "info")).toHaveLength(times);
  });
}

test("a client that leaves before it is answered counts as kubelet if it names the socket as kubelet does", async () => {
  await using started = await startListening(node);
  const missed = () =>
    started.log.all("A client that may be kubelet ended its connection before it was answered").length;
  await leaveUnanswered(started, 1, "localhost"); // A self-check, also one of our own.
  expect([missed(), started.registrar.status().state]).toEqual([0, "listening"]);
  await leaveUnanswered(started, 2);
  await started.state("asked");
  await started.accept();
  await leaveUnanswered(started, 3, "localhost");
  expect(missed()).toBe(1);
});

test("a client that leaves over the socket of the driver's former name is no call for the new one", async () => {
  await using started = await startListening(node);
  const path = node.socketPath(name);
  const client = connect({ path });
  client.write(HELLO);
  await once(client, "data");
  await started.driver.kill();
  await using _renamed = await startScriptedDriver(node.csiAddress, { name: "y.csi" });
  await started.log.when("Registration Server started", 2);
  await started.state("listening");
  client.end(Buffer.concat([getInfoCall(1, encodeURIComponent(path)), Buffer.alloc(9, 0xff)]));
  await started.log.when("Closed a connection that broke HTTP/2 or a limit");
  await once(client.resume(), "close");
  expect(started.registrar.status().state).toBe("listening");
  expect(started.log.all("A client that may be kubelet ended its connection before it was answered")).toEqual(
    [],
  );
});

test("a registration ends when what follows its driver has ended, and nobody hears of it afterwards", async () => {
  const { signal: _, logger: log, ...options } = resolveOptions(node.options);
  const events = createRegistrationEvents(log);
  const steps: string[] = [];
  let end = () => {};
  const follow = (_inbox: unknown, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      end = resolve;
      signal.addEventListener("abort", () => steps.push("the driver is left"));
    });
  const status = () => ({ identity: undefined, connected: false, trouble: undefined });
  const registration = startRegistrationLoop(options, { driver: { follow, status }, events, log });
  void registration.close().then(() => steps.push("closed"));
  await eventually(() => expect(steps).not.toEqual([]));
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  expect(steps).toEqual(["the driver is left"]);
  end();
  await registration.closed;
  expect(steps).toEqual(["the driver is left", "closed"]);
  registration.subscribe(({ kind }) => steps.push(kind));
  events.emit({ kind: "get-info" });
  expect(steps).toHaveLength(2);
});

test("kubelet's status takes effect before its listeners run", async () => {
  await using started = await startListening(node);
  started.registrar.subscribe("registration-status", () => void started.registrar.close());
  await registerOnce(node.socketPath(name));
  await started.registrar.closed;
  expect(started.registrar.status().history.map(({ to }) => to)).toContain("registered");
});

test("a refusal of 4 MB ends a registration, which keeps 4 kB of it", async () => {
  await using started = await startListening(node, { onRegistrationFailure: "end" });
  await registerOnce(node.socketPath(name), "no".padEnd(4_194_000, "x"));
  expect(await started.registrar.closed).toMatchObject({
    kind: "refused",
    kubeletError: expect.stringMatching(/^nox{4000,} \[cut, \d+ characters in all\]$/),
  });
});

test("an ended registration is not healthy", async () => {
  const { registrar } = await startTestRegistrar(node);
  expect(await registrar.selfCheck()).toEqual({ kind: "ok" });
  await registrar.close();
  expect(await registrar.selfCheck()).toMatchObject({ kind: "missing" });
});
