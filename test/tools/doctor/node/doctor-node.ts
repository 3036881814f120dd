import { lstatSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { RegistrarOptions } from "../../../../src/registrar/model/options";
import type { CsiDriverOptions } from "../../../../src/simulator/driver/options";
import type { Report } from "../../../../src/tools/doctor/findings/report";
import type { Target } from "../../../../src/tools/doctor/node/read/facts";
import { gatherFacts } from "../../../../src/tools/doctor/node/read/gather";
import { reportOn } from "../../../../src/tools/doctor/node/report";
import type { FakeRegistrarOptions } from "../../../simulator/fake-registrar";
import { createTestNode, startTestRegistrar } from "../../../support/registrar-node";
import { createTempFolder } from "../../../support/temp-folder";
import { linesOf } from "./healthy-facts";

/** Long enough for whatever answers at all. */
const PATIENT_MS = 60_000;
/** For what never answers. */
export const IMPATIENT_MS = 1_000;

export type DoctorNode = Awaited<ReturnType<typeof createDoctorNode>>;

/** A node in a directory, what is wrong with it, and the doctor's look. */
export async function createDoctorNode() {
  const folder = await createTestNode();
  const { csiAddress, pluginDir: directory, keep } = folder;
  const procfs = keep(await createTempFolder());
  for (const name of ["self", "filesystems"]) symlinkSync(`/proc/${name}`, procfs.at(name));
  return {
    ...folder,
    directory,
    /** Starts a driver with its socket in this folder under kubelet's plugins; resolves with the socket's path. */
    driverUnder: async (name: string, options: Partial<CsiDriverOptions> | object = {}) => {
      mkdirSync(folder.at("plugins", name), { recursive: true });
      const csiAddress = folder.at("plugins", name, "csi.sock");
      await folder.driver({ csiAddress, ...options });
      return csiAddress;
    },
    registrar: async (options?: Partial<RegistrarOptions>) => {
      const paths = { csiAddress, pluginRegistrationPath: directory, endpoint: csiAddress };
      return keep(await startTestRegistrar({ options: paths }, options));
    },
    plugin: (
      fileName: string,
      info: FakeRegistrarOptions["info"] = {},
      headers: FakeRegistrarOptions["headers"] = {},
    ) => folder.plugin({ socketPath: join(directory, fileName), info, headers }),
    /** What is there, by kind, mode, inode and time of change. */
    tree: () =>
      readdirSync(folder.path, { recursive: true })
        .map(String)
        .sort()
        .map((name) => {
          const { mode, ino, ctimeMs } = lstatSync(join(folder.path, name));
          return [name, mode.toString(8), ino, ctimeMs].join(" ");
        }),
    /** What runs beside the test is another node's: this /proc has the processes of this one, none at first. */
    procfs: procfs.path,
    look: async (target: Partial<Target> = {}, { impatient = false, timeoutMs = 0, isLater = true } = {}) => {
      const paths = { csiSocketPath: csiAddress, kubeletRegistrationPath: csiAddress };
      const facts = await gatherFacts(
        { ...paths, pluginRegistrationPath: directory, ...target },
        {
          timeoutMs: timeoutMs || (impatient ? IMPATIENT_MS : PATIENT_MS),
          uid: 0,
          knownDirectories: [],
          procfs: procfs.path,
          // Nothing is young.
          nowMs: Date.now() + (isLater ? 60_000 : 0),
        },
      );
      const report = reportOn(facts);
      return { ...report, facts, says: (check: string) => linesOf(check, report).join("\n") };
    },
  };
}

/** Nothing named: the doctor of a whole node. */
export const WHOLE = { csiSocketPath: undefined, kubeletRegistrationPath: undefined };

/** The problems: `CSI002`, and `CSI016 of CSI002` for one that follows from it. */
export const problemsIn = ({ findings }: Report): readonly string[] =>
  findings
    .filter(({ status }) => status === "problem")
    .map(({ code, follows }) => (follows === null ? code : `${code} of ${follows}`));
