import { once } from "node:events";
import { renameSync } from "node:fs";
import { createServer } from "node:net";

/** Leaves a socket file on which nobody listens, as a killed process does. */
export async function leaveDeadSocket(path: string): Promise<void> {
  const boundPath = `${path}-`;
  const server = createServer().listen({ path: boundPath });
  await once(server, "listening");
  // Node removes the name it was bound to when it closes.
  renameSync(boundPath, path);
  server.close();
  await once(server, "close");
}
