import assert from "node:assert/strict";
import { startKubelet } from "../kubelet/support/kubelet";
import { createNodeFolder } from "../kubelet/support/node-folder";
import { startRegistrar } from "../kubelet/support/registrar";
import { minorOf } from "../kubelet/support/versions";
import type { NodeRelease } from "../matrix/nodes";
import { type Exit, startChildProcess } from "../support/child-process";
import type { History } from "../support/history";
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
  await using kubelet = await startKubelet({ version, pluginDir: place.pluginRegistrationPath });
  const [program = "", ...words] = driver.command({ socketPath: endpoint, name: NAME, nodeId, node, cli });
  await using driverProcess = await startChildProcess(program, words, String);
  await using registrar = await startRegistrar(args, driver.registrar ?? [node.path, cli]);

  // A registrar that is refused ends: what kubelet has answered by then comes first.
  const registrarEnd = registrar.exited.then((exit) => kubelet.eventsSoFar().then(() => exit));
  const answer = await Promise.race([
    kubelet.answered("register", NAME),
    untimelyEnd("the driver", driverProcess.exited, driverProcess.stderr),
    untimelyEnd("the registrar", registrarEnd, registrar.log),
  ]);
  assert.deepEqual([answer.endpoint, ...answer.versions], [endpoint, "1.0.0"], "what GetInfo answered");
  if (driver.refusesPaths && sendsPathToDrivers(version)) {
    assert.match(answer.error ?? "it was registered", /RST_STREAM with error code: PROTOCOL_ERROR/);
    await registrar.says("RST_STREAM with error code: PROTOCOL_ERROR");
    assert.deepEqual(await registrar.exited, { code: 1, signal: null }, "how the registrar ended");
    assert.deepEqual(await place.visibleSockets(), [], "what is left of the socket");
    return "refused";
  }
  assert.equal(answer.error, null, "what kubelet's registration ended with");
  assert.equal((await kubelet.registered(NAME)).nodeID, nodeId, "the node ID in CSINode");
  if (driver.registrar === undefined) await registrar.reached("registered");

  registrar.signal("SIGTERM");
  assert.deepEqual(await registrar.exited, { code: 0, signal: null }, "how the registrar ended");
  await kubelet.deregistered(NAME);
  assert.deepEqual(await place.visibleSockets(), [], "what is left of the socket");
  return "registered";
}

/**
 * Whether it calls drivers with their socket's path as :authority, as grpc-go did: `newGrpcConn` in
 * pkg/volume/csi/csi_client.go says `localhost` since 1.26.
 */
const sendsPathToDrivers = (kubelet: string) => minorOf(kubelet) < 26;

async function untimelyEnd(who: string, exited: Promise<Exit>, log: History<string>): Promise<never> {
  const { code, signal } = await exited;
  throw new Error(
    `${who} ended with ${signal ?? code}: ${log.all().slice(-3).join(" ") || "it said nothing"}`,
  );
}
