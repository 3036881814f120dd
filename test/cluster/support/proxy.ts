import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * The API server over plain HTTP on a loopback port, whatever credentials the kubeconfig has. Resolves when kubectl, by this
 * command, serves; it does so also while the API server itself is away.
 */
export async function startProxy([program = "", ...words]: readonly string[]) {
  const child = spawn(program, [...words, "proxy", "--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
  const exited = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [address] = /127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (address !== undefined)
      return {
        url: `http://${address}`,
        [Symbol.asyncDispose]: async () => {
          child.kill();
          await exited;
        },
      };
  }
  throw new Error("kubectl proxy ended before it served");
}
