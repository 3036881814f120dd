import { parseChoice } from "../../../flags/kinds";
import type { KubeletEvent } from "../../../simulator/kubelet/events";
import type { SimulatedKubelet } from "../../../simulator/kubelet/kubelet";
import { defaultCsiDriver } from "../../../simulator/kubelet/objects";
import { writeLine } from "../event-lines";

export const PRINTABLE = ["node", "csinode", "csidriver"] as const;
export type Printable = (typeof PRINTABLE)[number];

export function parsePrintable(text: string): readonly Printable[] {
  return text.split(",").map((name) => parseChoice(name.trim(), PRINTABLE));
}

type PrintObject = Awaited<ReturnType<typeof createObjectPrinter>>;

/** Writes objects as YAML documents. Loads the YAML library, because most runs print no object. */
export async function createObjectPrinter() {
  const { stringify } = await import("yaml");
  return (object: object, comment?: string) => {
    writeLine("---");
    if (comment !== undefined) writeLine(`# ${comment}`);
    for (const line of stringify(object, { lineWidth: 0 }).trimEnd().split("\n")) writeLine(line);
  };
}

const NO_CSI_DRIVER =
  "Kubelet does not write CSIDriver objects, it reads them. Without one it uses these defaults:";

export function printChanged(event: KubeletEvent, printed: readonly Printable[], print: PrintObject): void {
  if (event.kind === "node-changed" && printed.includes("node")) print(event.node);
  if (event.kind === "csi-node-changed" && printed.includes("csinode")) print(event.csiNode);
  if (event.kind === "registered" && event.pluginType === "CSIPlugin" && printed.includes("csidriver"))
    print(defaultCsiDriver(event.driverName), NO_CSI_DRIVER);
}

export function printFinal(
  kubelet: Pick<SimulatedKubelet, "node" | "csiNode">,
  printed: readonly Printable[],
  print: PrintObject,
): void {
  if (printed.includes("node")) print(kubelet.node(), "At the end:");
  if (printed.includes("csinode")) print(kubelet.csiNode(), "At the end:");
}
