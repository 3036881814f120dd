import { writeFileSync } from "node:fs";
import type { SimulatedKubelet } from "../../../src/testing";
import { createTestNode as createNode, type TestNode as Node } from "../../support/registrar-node";
import { untilNotified } from "../../support/until-notified";
import { patience, startCli } from "./process";

export const DRIVER = "disk.csi.example.com";

export type TestNode = Awaited<ReturnType<typeof createTestNode>>;

/**
 * A test on a node of its own, on which nothing runs at first. Whatever it starts is ended afterwards and the folder
 * removed; a registrar that does not end well fails the test.
 */
export function nodeTest(name: string, body: (node: TestNode) => Promise<void>, timeoutMs?: number): void {
  test(name, onNode(body), timeoutMs);
}

/** The body of such a test in a table of cases. */
export function onNode<Row extends readonly unknown[]>(
  body: (node: TestNode, ...row: Row) => Promise<void>,
): (...row: Row) => Promise<void> {
  return async (...row) => {
    await using node = await createTestNode();
    await body(node, ...row);
  };
}

async function createTestNode() {
  const node = await createNode({ driverName: DRIVER, reconcilePeriodMs: 50 });
  const terminationLogPath = node.at("termination-log");
  writeFileSync(terminationLogPath, "");
  const cli = (...call: Parameters<typeof startCli>) => node.keep(startCli(...call));
  const registrar = (...flags: readonly string[]) => cli([...registrarArguments(node), ...flags]);
  return {
    ...node,
    socketPath: node.socketPath(),
    /** An empty file, as kubelet makes it before a container starts. */
    terminationLogPath,
    cli,
    /** Starts the registrar with the three flags of every chart, and these. A slow machine is no slow driver to it. */
    registrar,
    /** A driver and its registrar, whose socket is in place. */
    published: async (...flags: readonly string[]) => {
      await node.driver();
      const started = registrar(...flags);
      await started.reached("listening");
      return started;
    },
  };
}

/** What a registrar on this node is told, unless other flags follow; patterns do not replace paths, but are added. */
export const registrarArguments = (
  { pluginDir, csiAddress: own }: Pick<Node, "pluginDir" | "csiAddress">,
  csiAddress = own,
): readonly string[] => [
  `--csi-address=${csiAddress}`,
  `--kubelet-registration-path=${csiAddress}`,
  `--plugin-registration-path=${pluginDir}`,
  "--timeout=1m",
];

/** Resolves when kubelet has registered the driver and told its registrar, now or as soon as it did so for the nth time. */
export async function registered(
  kubelet: SimulatedKubelet,
  { nth = 1, driverName = DRIVER }: { readonly nth?: number; readonly driverName?: string } = {},
) {
  let times = 0;
  const event = await kubelet.events
    .when("registered", {
      where: (event) => event.driverName === driverName && ++times === nth,
      ...patience(),
    })
    .catch(inVain(kubelet));
  await untilNotified(kubelet, event, patience()).catch(inVain(kubelet));
  return event;
}

/** Resolves with kubelet's refusal of the driver, now or as soon as it comes. */
export const refused = (kubelet: SimulatedKubelet, driverName = DRIVER) =>
  kubelet.refused(driverName, patience()).catch(inVain(kubelet));

const inVain = (kubelet: SimulatedKubelet) => (cause: unknown) => {
  const last = kubelet.events.history().slice(-15);
  throw new Error(
    `${String(cause)}; its last events:\n${last.map((event) => JSON.stringify(event)).join("\n")}`,
  );
};
