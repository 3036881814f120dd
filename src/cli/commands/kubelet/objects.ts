import { defaultCsiDriver } from "../../../simulator/csi-driver-object";
import type { SimulatedKubelet } from "../../../simulator/kubelet";
import type { KubeletEvent } from "../../../simulator/kubelet-events";
import { parseChoice } from "../../command-flags";
import { writeLine } from "../../event-lines";

/** What `--print` takes. */
export const PRINTABLE = ["node", "csinode", "csidriver"] as const;
export type Printable = (typeof PRINTABLE)[number];

/** `node,csinode`. Throws for anything else. */
export function parsePrintable(text: string): readonly Printable[] {
  return text.split(",").map((name) => parseChoice(name.trim(), PRINTABLE));
}

/** Writes objects as YAML documents. */
export interface ObjectPrinter {
  write(object: object, comment?: string): void;
}

/** The YAML library is loaded here, as most runs print no object. */
export async function createObjectPrinter(): Promise<ObjectPrinter> {
  const { stringify } = await import("yaml");
  return {
    write: (object, comment) => {
      writeLine("---");
      if (comment !== undefined) writeLine(`# ${comment}`);
      for (const line of stringify(object, { lineWidth: 0 }).trimEnd().split("\n")) writeLine(line);
    },
  };
}

const NO_CSI_DRIVER =
  "Kubelet does not write CSIDriver objects, it reads them. Without one it uses these defaults:";

/** The objects that a step of kubelet's changed, as far as they are to be printed. */
export function printChanged(
  event: KubeletEvent,
  printed: readonly Printable[],
  printer: ObjectPrinter,
): void {
  if (event.kind === "node-changed" && printed.includes("node")) printer.write(event.node);
  if (event.kind === "csi-node-changed" && printed.includes("csinode")) printer.write(event.csiNode);
  if (event.kind === "registered" && event.pluginType === "CSIPlugin" && printed.includes("csidriver"))
    printer.write(defaultCsiDriver(event.driverName), NO_CSI_DRIVER);
}

/** The objects at the end. */
export function printFinal(
  kubelet: Pick<SimulatedKubelet, "node" | "csiNode">,
  printed: readonly Printable[],
  printer: ObjectPrinter,
): void {
  if (printed.includes("node")) printer.write(kubelet.node(), "At the end:");
  if (printed.includes("csinode")) printer.write(kubelet.csiNode(), "At the end:");
}
