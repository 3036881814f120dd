import assert from "node:assert/strict";
import { startCli } from "../end-to-end/support/process";
import { startKubelet } from "../kubelet/support/kubelet";
import { createNodeFolder } from "../kubelet/support/node-folder";
import { minorOf } from "../kubelet/support/versions";
import { type Exit, startChildProcess } from "../support/child-process";
import type { NodeRelease } from "../support/nodes";
import type { Driver } from "./drivers";

export interface Parties {
  readonly kubelet: string;
  readonly node: NodeRelease;
  readonly cli: string;
  readonly driver: Driver;
}

/** Refused: the driver cannot take kubelet's calls, with any registrar, and the registrar logged that. */
export type Outcome = "registered" | "refused";

const NAME = "disk.csi.example.com";

/** One registration between real processes on real sockets. Rejects with what was not as it must be. */
export async function playRegistration({ kubelet: version, node, cli, driver }: Parties): Promise<Outcome> {
  const nodeId = `${driver.name} beside ${version}`;
  await using place = await createNodeFolder();
  const { args, kubeletRegistrationPath: endpoint } = await place.addDriver(NAME);
  await using kubelet = await startKubelet({ version, pluginDir: place.pluginDir });
  const [program = "", ...words] = await driver.command(node, cli);
  const flags = [driver.socketFlag, endpoint, "--name", NAME, "--node-id", nodeId];
  await using driverProcess = await startChildProcess(program, [...words, ...flags], String);
  await using registrar = startCli(args, {}, { command: driver.registrar ?? [node.path, cli] });

  // A registrar that is refused ends: what kubelet has answered by then comes first.
  const registrarEnd = registrar.exit().then((exit) => kubelet.eventsSoFar().then(() => exit));
  const answer = await Promise.race([
    kubelet.answered("register", NAME),
    untimelyEnd("the driver", driverProcess.exited, () => driverProcess.stderr.text()),
    untimelyEnd("the registrar", registrarEnd, () => registrar.stderr),
  ]);
  assert.deepEqual([answer.endpoint, ...answer.versions], [endpoint, "1.0.0"], "what GetInfo answered");
  if (driver.refusesPaths && sendsPathToDrivers(version)) {
    assert.match(answer.error ?? "it was registered", /RST_STREAM with error code: PROTOCOL_ERROR/);
    assert.deepEqual(await registrar.exit(), { code: 1, signal: null }, "how the registrar ended");
    assert.match(registrar.stderr, /RST_STREAM with error code: PROTOCOL_ERROR/);
    assert.deepEqual(place.visibleFiles(), [], "what is left of the socket");
    return "refused";
  }
  assert.equal(answer.error, null, "what kubelet's registration ended with");
  assert.equal((await kubelet.registered(NAME)).nodeID, nodeId, "the node ID in CSINode");
  if (driver.registrar === undefined) await registrar.reached("registered");

  assert.deepEqual(await registrar.stop(), { code: 0, signal: null }, "how the registrar ended");
  await kubelet.deregistered(NAME);
  assert.deepEqual(place.visibleFiles(), [], "what is left of the socket");
  return "registered";
}

/**
 * Whether it calls drivers with their socket's path as :authority, as grpc-go did: `newGrpcConn` in
 * pkg/volume/csi/csi_client.go says `localhost` since 1.26.
 */
const sendsPathToDrivers = (kubelet: string) => minorOf(kubelet) < 26;

async function untimelyEnd(who: string, exited: Promise<Exit>, stderr: () => string): Promise<never> {
  const { code, signal } = await exited;
  throw new Error(`${who} ended with ${signal ?? code}, saying: ${stderr()}`);
}
