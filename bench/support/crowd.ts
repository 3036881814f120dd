import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { nameOf, namesOf } from "../../test/kubelet/support/crowd";
import { startChildProcess } from "../../test/support/child-process";
import { createTempFolder } from "../../test/support/temp-folder";
import type { Place } from "./place";

/** Many simulated CSI drivers, in a process that is not measured. */
export interface Crowd extends AsyncDisposable {
  readonly names: readonly string[];
  /** A place for a registrar of all of them: its paths have a `*`. */
  readonly everybody: (pluginDir: string) => Place;
  /** A place for a registrar of one of them. */
  readonly single: (number: number, pluginDir: string) => Place;
  /** Makes a plugin registration directory. */
  readonly pluginDir: (name: string) => string;
}

/** Starts `count` drivers; resolves when all of them listen. */
export async function startCrowd(count: number): Promise<Crowd> {
  const folder = await createTempFolder();
  const plugins = folder.at("plugins");
  mkdirSync(plugins);
  const words = [
    "--require",
    join(__dirname, "..", "..", "scripts", "typescript.cjs"),
    join(__dirname, "drivers.ts"),
  ];
  const drivers = await startChildProcess(process.execPath, [...words, plugins, `${count}`], String);
  await drivers.stdout.waitFor((line) => line === "started");

  const place = (address: string, pluginDir: string, name: string): Place => ({
    csiAddress: address,
    pluginDir,
    socketPath: join(pluginDir, `${name}-reg.sock`),
  });
  return {
    names: namesOf(count),
    everybody: (pluginDir) => place(join(plugins, "*", "csi.sock"), pluginDir, "*"),
    single: (number, pluginDir) =>
      place(join(plugins, nameOf(number), "csi.sock"), pluginDir, nameOf(number)),
    pluginDir: (name) => {
      mkdirSync(folder.at(name));
      return folder.at(name);
    },
    [Symbol.asyncDispose]: async () => {
      await drivers.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
