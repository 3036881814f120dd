import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../../../src/doctor/findings/report";
import type { Target } from "../../../src/doctor/node/read/facts";
import { type Facts, gatherFacts } from "../../../src/doctor/node/read/gather";
import { reportOn } from "../../../src/doctor/node/report";
import type { RegistrarOptions } from "../../../src/registrar/model/options";
import type { SimulatedCsiDriver } from "../../../src/simulator/driver/csi-driver";
import type { CsiDriverOptions } from "../../../src/simulator/driver/options";
import type { SimulatedKubelet } from "../../../src/simulator/kubelet/kubelet";
import type { KubeletOptions } from "../../../src/simulator/kubelet/options";
import type { FakeRegistrar, FakeRegistrarOptions } from "../../simulator/fake-registrar";
import { createTestNode, startTestRegistrar } from "../../support/registrar-node";

/** Long enough for whatever answers at all. */
const PATIENT_MS = 60_000;
/** For what never answers. */
export const IMPATIENT_MS = 1_000;

/** A node in a folder, what is wrong with it, and the doctor's look. */
export interface DoctorNode extends AsyncDisposable {
  readonly csiAddress: string;
  readonly directory: string;
  at(...names: readonly string[]): string;
  driver(options?: Partial<CsiDriverOptions>): Promise<SimulatedCsiDriver>;
  /** Starts a driver with its socket in this folder under kubelet's plugins; resolves with the socket's path. */
  driverUnder(folder: string, options?: object): Promise<string>;
  kubelet(options?: Partial<KubeletOptions>): Promise<SimulatedKubelet>;
  /** A registrar of ours, for the driver. */
  registrar(options?: Partial<RegistrarOptions>): ReturnType<typeof startTestRegistrar>;
  /** Any plugin, on a socket of this name. */
  plugin(fileName: string, info: FakeRegistrarOptions["info"]): Promise<FakeRegistrar>;
  /** What is there, by kind, mode, inode and time of change. */
  tree(): readonly string[];
  look(target?: Partial<Target>, options?: { readonly impatient: boolean }): Promise<Look>;
}

export interface Look extends Report {
  readonly facts: Facts;
  /** `problem: x.csi has ...; fix: ...`, a line for each finding of a check. */
  says(check: string): string;
}

export async function createDoctorNode(): Promise<DoctorNode> {
  const folder = await createTestNode();
  const { csiAddress, pluginDir: directory, keep } = folder;
  const node = { csiAddress, pluginRegistrationPath: directory };
  return {
    csiAddress,
    directory,
    at: folder.at,
    driver: folder.driver,
    driverUnder: async (name, options) => {
      mkdirSync(folder.at("plugins", name), { recursive: true });
      const csiAddress = folder.at("plugins", name, "csi.sock");
      await folder.driver({ csiAddress, ...options });
      return csiAddress;
    },
    kubelet: folder.kubelet,
    registrar: async (options) => {
      const paths = { ...node, kubeletRegistrationPath: csiAddress };
      return keep(await startTestRegistrar({ options: paths }, options));
    },
    plugin: (fileName, info) => folder.plugin({ socketPath: join(directory, fileName), info }),
    tree: () =>
      readdirSync(folder.path, { recursive: true })
        .map(String)
        .sort()
        .map((name) => {
          const { mode, ino, ctimeMs } = lstatSync(join(folder.path, name));
          return [name, mode.toString(8), ino, ctimeMs].join(" ");
        }),
    look: async (target = {}, { impatient } = { impatient: false }) => {
      const paths = { csiSocketPath: csiAddress, kubeletRegistrationPath: csiAddress };
      const facts = await gatherFacts(
        { ...paths, pluginRegistrationPath: directory, ...target },
        { timeoutMs: impatient ? IMPATIENT_MS : PATIENT_MS, uid: 0, knownDirectories: [] },
      );
      const report = reportOn(facts);
      const says = (check: string) =>
        report.findings
          .filter((finding) => finding.check === check)
          .map(
            ({ status, subject, text, fix }) => `${status}: ${subject} ${text}${fix ? `; fix: ${fix}` : ""}`,
          )
          .join("\n");
      return { ...report, facts, says };
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Nothing named: the doctor of a whole node. */
export const WHOLE = { csiSocketPath: undefined, kubeletRegistrationPath: undefined };

/** The problems, each with the code of the one that it follows from. */
export function problemsIn({ findings }: Report) {
  return findings.flatMap(({ code, status, follows }) => (status === "problem" ? [[code, follows]] : []));
}
