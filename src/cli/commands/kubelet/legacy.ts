import { createEventLog } from "../../../simulator/event-stream";
import { type LegacyEvent, type LegacyMode, registerAsLegacy } from "../../../simulator/legacy-registrar";
import { NODE_ID_ANNOTATION } from "../../../simulator/node";
import { durationText, type Narrator, type Output, tellEvents, writeLine } from "../../event-lines";
import { unlessStopped, untilAborted, untilStopped } from "../../foreground";
import { createObjectPrinter } from "./objects";

export interface LegacyFlags {
  readonly mode: LegacyMode;
  readonly csiAddress: string;
  readonly nodeName: string;
  readonly output: Output;
}

/**
 * Shows how a driver was registered before kubelet did it, until a signal ends it. SIGINT reverts what was written;
 * SIGTERM does not, because driver-registrar ignored the signal that ends a pod.
 */
export async function runLegacy(flags: LegacyFlags): Promise<number> {
  let takesBack = false;
  const signal = untilStopped((name) => {
    takesBack = name === "SIGINT";
  });
  const log = createEventLog<LegacyEvent>("driver-registrar");
  tellEvents(log.stream, flags.output, narrateLegacy);
  if (flags.output === "text") await printObjects(log.stream.subscribe);
  const takeBack = await unlessStopped(registerAsLegacy({ ...flags, signal }, log.append));
  if (takeBack === undefined) return 0;
  await untilAborted(signal);
  if (takesBack) takeBack();
  else if (flags.output === "text")
    writeLine("What was written stays: only SIGINT reverts it, and a pod ends by SIGTERM.");
  return 0;
}

const narrateLegacy: Narrator<LegacyEvent> = (event) => {
  switch (event.kind) {
    case "started":
      return [`driver-registrar of 2018, mode ${event.mode}, waits for the driver on ${event.csiAddress}`];
    case "called":
      return [`  ${event.call} → ${JSON.stringify(event.answer)} (${durationText(event.durationMs)})`];
    case "node-changed": {
      const { name, annotations } = event.node.metadata;
      return [`writes Node ${name}: node IDs ${annotations[NODE_ID_ANNOTATION] ?? "{}"}`];
    }
    case "csi-driver-created":
      return [`creates CSIDriver ${event.csiDriver.metadata.name}`];
    case "csi-driver-deleted":
      return [`deletes CSIDriver ${event.driverName}`];
  }
};

async function printObjects(
  subscribe: (listener: (event: LegacyEvent) => void) => () => void,
): Promise<void> {
  const printer = await createObjectPrinter();
  subscribe((event) => {
    if (event.kind === "node-changed") printer.write(event.node);
    if (event.kind === "csi-driver-created") printer.write(event.csiDriver);
  });
}
