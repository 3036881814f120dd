import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseLogLine } from "../../test/end-to-end/support/log-line";
import type { SoakNode } from "./node";
import type { Life } from "./statistics";

/** Warnings and errors that belong to what a soak does, and why. Any other is a finding. */
export const EXPECTED = new Map(
  Object.entries({
    "Lost connection": "a driver is stopped, killed or away",
    "Error retreiving CSI driver name": "a driver hangs when it has just come back",
    "The plugin registration directory was removed or replaced, which kubelet does not notice": "as it says",
    "Failed to listen on socket": "the plugin registration directory is away",
    "Cannot listen for exec probes, trying again": "the same",
    "Kubelet refused the driver": "a disturbance makes kubelet refuse, or the driver hangs or is away",
    "Kubelet reported no registration status, publishing again": "kubelet dies while it registers",
    "Closed a connection that broke HTTP/2 or a limit": "the crowd",
    "Too many connections, closed one": "the crowd",
    "Health check failed, registration socket does not exist": "a probe, right after the socket was removed",
    "Health check failed": "a probe, while the socket is another's or dead",
  }),
);

/** Lines that should not be there: warnings and errors that nothing explains, and whatever is no line of the log. */
export function unexpectedLines(lines: readonly string[]): readonly string[] {
  return lines.filter((text) => {
    const line = parseLogLine(text);
    return line === undefined || (line.severity !== "I" && !EXPECTED.has(line.message));
  });
}

/** Writes the logs of every registrar and kubelet, and all that was measured, into a new folder; resolves with its path. */
export async function keepLogs(node: SoakNode, lives: readonly Life[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  const logs = [...node.kubelets.map(({ log }) => ({ name: "kubelet", log })), ...node.everyone];
  await Promise.all(
    logs.map(({ name, log }, index) =>
      writeFile(join(folder, `${index} ${name}.log`), `${log.all().join("\n")}\n`),
    ),
  );
  await writeFile(join(folder, "measured.json"), JSON.stringify(lives, undefined, 2));
  return folder;
}
